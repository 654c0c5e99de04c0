// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_FLOORS_HPP
#define TMIGR_BENCH_FLOORS_HPP

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>

namespace tmigr::bench {

/// What the hardware takes for what a walk cannot do without: words on lines of their own,
/// each read and swapped for one made of what was read.
template <class Word = std::uint32_t>
struct alignas(64) bare_word {
    std::atomic<Word> word{0};

    void swap() noexcept {
        Word seen = word.load(std::memory_order_relaxed);
        while (!word.compare_exchange_weak(seen, static_cast<Word>(seen + 1), std::memory_order_acq_rel,
                                           std::memory_order_acquire)) {
        }
    }
    void store(Word value) noexcept { word.store(value, std::memory_order_release); }
    /// What is left of the swap without atomics.
    void add() noexcept { word.store(static_cast<Word>(word.load(std::memory_order_relaxed) + 1), std::memory_order_relaxed); }
};

}  // namespace tmigr::bench

#endif
