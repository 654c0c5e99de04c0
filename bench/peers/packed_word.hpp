// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_PACKED_WORD_HPP
#define TMIGR_BENCH_PEERS_PACKED_WORD_HPP

#include "cells.hpp"
#include "peer.hpp"

#include <optional>
#include <stdexcept>

namespace tmigr::peers {

/// What executors keep: the number of awake workers, a version and the top of a stack of idle
/// ones in one word, and for each worker the next below it. Everybody who wakes or falls
/// asleep swaps that word.
///
///     bit 0           16              32                              64
///     |  awake        |  top + 1      |  version                      |
///
/// Guarantees: `any_active` is exact, at rest and not; at rest `wake_one` finds a sleeper
/// while there is one that was not taken before. Lock-free. Up to 65534 CPUs.
/// Does not: name a migrator, keep expiries.
///
/// Executors wake the top of the stack. Here a CPU may wake by itself anywhere in it, so its
/// entry stays, marked as awake, and counts again when the CPU falls asleep; `wake_one` throws
/// marked ones away. The version counts pushes, so that a slow pop does not put back a `next`
/// of an earlier time (unless exactly 2^32 pushes, or a multiple, come between its load and
/// its swap).
///
/// Source: the index stack of Treiber (1986) with a tag; the rest as in the notifiers of
/// public thread pools.
template <class Atomics>
class packed_word {
    using word_type = std::uint64_t;
    enum : std::uint32_t { not_stacked, idle, awake };  // where a CPU is; `awake`: its entry is stacked
    static constexpr unsigned top_shift = 16, version_shift = 32;
    static constexpr word_type field = 0xffff;

public:
    static const char* name() { return "packed word"; }

    explicit packed_word(std::size_t cpus) : cells_(cpus), cpus_(cpus) {
        if (cpus > field - 1) throw std::length_error("packed_word: at most 65534 CPUs");
        // Relaxed stores: nobody else is there yet.
        word_type word = 0;
        for (std::size_t cpu = cpus; cpu-- > 0;) {
            cells_[cpu].below.store(static_cast<std::uint32_t>(word >> top_shift & field), Atomics::relaxed);
            cells_[cpu].where.store(idle, Atomics::relaxed);
            word = word_type{cpu + 1} << top_shift;
        }
        word_.cell.store(word, Atomics::relaxed);
    }

    std::size_t cpus() const noexcept { return cpus_; }

    void activate(std::size_t cpu) {
        std::uint32_t seen = idle;
        // Relaxed: says only that the entry counts no more. When it fails, a pop has taken it.
        cells_[cpu].where.compare_exchange_strong(seen, awake, Atomics::relaxed, Atomics::relaxed);
        // Relaxed: changes the count only; the release sequence of the push below goes on
        // through it.
        swap_loop(word_.cell, [](word_type w) { return w + 1; }, Atomics::relaxed, Atomics::relaxed, Atomics::relaxed);
    }
    void deactivate(std::size_t cpu) {
        cell& mine = cells_[cpu];
        std::uint32_t seen = awake;
        // Acquire on failure: what the pop that took the entry read of `below` comes before the
        // store to it.
        const bool stacked = mine.where.compare_exchange_strong(seen, idle, Atomics::acquire, Atomics::acquire);
        if (!stacked) mine.where.store(idle, Atomics::relaxed);  // carried by the push
        word_type word = word_.cell.load(Atomics::relaxed);
        word_type next;
        do {
            next = word - 1;
            if (!stacked) {
                mine.below.store(static_cast<std::uint32_t>(word >> top_shift & field), Atomics::relaxed);
                const word_type version = (word >> version_shift) + 1;
                next = (next & field) | word_type{cpu + 1} << top_shift | version << version_shift;
            }
            // Release: carries `below` and `where` to whoever pops.
        } while (!word_.cell.compare_exchange_weak(word, next, Atomics::release, Atomics::relaxed));
    }
    bool any_active() const { return (word_.cell.load(Atomics::relaxed) & field) != 0; }

    /// Takes a sleeper off the stack, for the caller to wake: what an executor does when it has
    /// work. Any thread. The CPU itself then activates, as always.
    std::optional<std::size_t> wake_one() {
        // Acquire, here and on failure: sees `below` of the top.
        word_type word = word_.cell.load(Atomics::acquire);
        for (;;) {
            const auto top = static_cast<std::size_t>(word >> top_shift & field);
            if (top == 0) return std::nullopt;
            cell& taken = cells_[top - 1];
            const word_type below = taken.below.load(Atomics::relaxed);
            const word_type next = (word & ~(field << top_shift)) | below << top_shift;
            if (!word_.cell.compare_exchange_weak(word, next, Atomics::acq_rel, Atomics::acquire)) continue;
            // Release: `below` was read before the CPU may be pushed again.
            const auto was = swap_loop(taken.where, [](std::uint32_t) { return not_stacked; }, Atomics::relaxed,
                                       Atomics::acq_rel, Atomics::relaxed);
            if (was == idle) return top - 1;
            word = word_.cell.load(Atomics::acquire);
        }
    }

private:
    struct alignas(line) cell {
        typename Atomics::template atomic<std::uint32_t> where{0};
        typename Atomics::template atomic<std::uint32_t> below{0};
    };
    lone_cell<Atomics, word_type> word_;
    std::vector<cell> cells_;
    std::size_t cpus_;
};

}  // namespace tmigr::peers

#endif
