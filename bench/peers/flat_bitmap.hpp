// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_FLAT_BITMAP_HPP
#define TMIGR_BENCH_PEERS_FLAT_BITMAP_HPP

#include "cells.hpp"
#include "peer.hpp"

namespace tmigr::peers {

/// One bit for each CPU, 64 to a word, words side by side: what a kernel's or a program's
/// CPU mask is. `Counted` adds the number of awake CPUs, on a line of its own, so that
/// `any_active` is one load instead of a scan.
///
/// Guarantees: `any_active` is exact at rest. Wait-free where the processor has the
/// instructions, else lock-free.
/// Does not: name a migrator, keep expiries, tell who was the last to fall asleep.
///
/// Orders: relaxed. A bit is written by its CPU's thread only, words and counter are each
/// right by themselves, and no order for others' data is promised.
template <class Atomics, bool Counted = false>
class flat_bitmap {
public:
    static const char* name() { return Counted ? "bitmap and counter" : "bitmap"; }

    explicit flat_bitmap(std::size_t cpus) : words_((cpus + 63) / 64, 0), cpus_(cpus) {}

    std::size_t cpus() const noexcept { return cpus_; }
    void activate(std::size_t cpu) {
        fetch_or(words_[cpu / 64], bit(cpu), Atomics::relaxed, Atomics::relaxed);
        if constexpr (Counted) fetch_add(awake_.cell, std::uint64_t{1}, Atomics::relaxed, Atomics::relaxed);
    }
    void deactivate(std::size_t cpu) {
        fetch_and(words_[cpu / 64], ~bit(cpu), Atomics::relaxed, Atomics::relaxed);
        if constexpr (Counted) fetch_add(awake_.cell, ~std::uint64_t{0}, Atomics::relaxed, Atomics::relaxed);
    }
    bool any_active() const {
        if constexpr (Counted) return awake_.cell.load(Atomics::relaxed) != 0;
        for (std::size_t w = 0; w < words_.size(); ++w)
            if (words_[w].load(Atomics::relaxed) != 0) return true;
        return false;
    }
    /// Whether that CPU is marked awake.
    bool is_active(std::size_t cpu) const { return (words_[cpu / 64].load(Atomics::relaxed) & bit(cpu)) != 0; }

private:
    static constexpr std::uint64_t bit(std::size_t cpu) noexcept { return std::uint64_t{1} << (cpu % 64); }

    dense_cells<Atomics, std::uint64_t> words_;
    lone_cell<Atomics, std::uint64_t> awake_;
    std::size_t cpus_;
};

template <class Atomics>
using counted_bitmap = flat_bitmap<Atomics, true>;

}  // namespace tmigr::peers

#endif
