// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_FLAT_EXPIRIES_HPP
#define TMIGR_BENCH_PEERS_FLAT_EXPIRIES_HPP

#include "cells.hpp"
#include "peer.hpp"

#include <algorithm>
#include <bit>
#include <optional>

namespace tmigr::peers {

/// No hierarchy: a bitmap of who is awake and an array with an expiry for each CPU. Who falls
/// asleep and finds nobody awake looks through all expiries. In charge is the lowest that is
/// awake, which looks through all of them as well.
///
/// Guarantees: `any_active` and `migrator` are exact at rest; no timer is late. Wait-free where
/// the processor has the instructions but for putting an expiry back, which is lock-free; a
/// scan takes one step for each CPU.
///
/// Words and expiries stand side by side, eight to a line, since they are scanned.
///
/// An expirer takes the expiry out, which is the claim, and puts back the earlier of what
/// `run` returned and what is there by then: early at worst. (If the owner wrote one that is due
/// already, a second expirer may run it beside the first.)
///
/// Orders: who falls asleep clears its bit and looks at all bits, then at expiries; who has
/// news while asleep writes its expiry and looks at all bits: seq_cst throughout, so that of
/// two who come at once one sees the other.
template <class Atomics>
class flat_expiries {
public:
    static const char* name() { return "array of expiries"; }

    explicit flat_expiries(std::size_t cpus) : awake_((cpus + 63) / 64, 0), due_(cpus, never), cpus_(cpus) {}

    std::size_t cpus() const noexcept { return cpus_; }
    void activate(std::size_t cpu) {
        // Relaxed: who still sees the expiry is early.
        due_[cpu].store(never, Atomics::relaxed);
        fetch_or(awake_[cpu / 64], bit(cpu), Atomics::seq_cst, Atomics::relaxed);
    }
    ticks deactivate(std::size_t cpu, ticks due) {
        // Relaxed: carried by the bit.
        due_[cpu].store(due, Atomics::relaxed);
        const std::uint64_t was = fetch_and(awake_[cpu / 64], ~bit(cpu), Atomics::seq_cst, Atomics::relaxed);
        if (was != bit(cpu)) return never;
        return arm();
    }
    ticks new_expiry(std::size_t cpu, ticks due) {
        due_[cpu].store(due, Atomics::seq_cst);
        return arm();
    }

    bool must_expire(std::size_t cpu, ticks now) const { return lowest() == cpu && is_due(earliest(), now); }
    template <class Run>
    ticks expire(std::size_t cpu, ticks now, Run&& run) {
        if (const auto first = lowest(); first && *first != cpu) return never;
        for (std::size_t sleeper = 0; sleeper < cpus_; ++sleeper) {
            auto& cell = due_[sleeper];
            ticks seen = cell.load(Atomics::seq_cst);
            if (!is_due(seen, now) || is_awake(sleeper)) continue;
            if (!cell.compare_exchange_strong(seen, never, Atomics::seq_cst, Atomics::seq_cst)) continue;
            const ticks next = run(sleeper, now);
            seen = cell.load(Atomics::seq_cst);
            while (next < seen && !cell.compare_exchange_weak(seen, next, Atomics::seq_cst, Atomics::seq_cst)) {
            }
        }
        return arm();
    }

    ticks earliest() const {
        ticks first = never;
        for (std::size_t cpu = 0; cpu < cpus_; ++cpu) first = std::min(first, due_[cpu].load(Atomics::seq_cst));
        return first;
    }
    bool any_active() const {
        for (std::size_t w = 0; w < awake_.size(); ++w)
            if (awake_[w].load(Atomics::seq_cst) != 0) return true;
        return false;
    }
    std::optional<std::size_t> migrator() const { return lowest(); }

private:
    static constexpr std::uint64_t bit(std::size_t cpu) noexcept { return std::uint64_t{1} << (cpu % 64); }

    ticks arm() const { return any_active() ? never : earliest(); }
    bool is_awake(std::size_t cpu) const { return (awake_[cpu / 64].load(Atomics::seq_cst) & bit(cpu)) != 0; }
    std::optional<std::size_t> lowest() const {
        for (std::size_t w = 0; w < awake_.size(); ++w)
            if (const std::uint64_t word = awake_[w].load(Atomics::seq_cst); word != 0)
                return w * 64 + static_cast<std::size_t>(std::countr_zero(word));
        return std::nullopt;
    }

    dense_cells<Atomics, std::uint64_t> awake_;
    dense_cells<Atomics, ticks> due_;
    std::size_t cpus_;
};

}  // namespace tmigr::peers

#endif
