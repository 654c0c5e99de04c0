// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_TALLYING_HPP
#define TMIGR_BENCH_TALLYING_HPP

#include <tmigr/atomics/backend.hpp>

#include <cstdint>

namespace tmigr::bench {

/// Another backend, where each thread counts the compare-and-swaps that fail it: cheap enough
/// to be timed, since nothing is added where a swap succeeds.
template <atomics_backend Inner>
struct tallying_atomics : Inner {
    static std::uint64_t& failed() noexcept {
        static thread_local std::uint64_t mine = 0;
        return mine;
    }

    /// All that the other's has, its single-instruction operations too.
    template <class T>
    class atomic : public Inner::template atomic<T> {
        using inner = typename Inner::template atomic<T>;
        using order = decltype(Inner::relaxed);

    public:
        atomic() = default;
        explicit atomic(T value) : inner(value) {}

        bool compare_exchange_weak(T& expected, T desired, order success, order failure) {
            return noted(inner::compare_exchange_weak(expected, desired, success, failure));
        }
        bool compare_exchange_strong(T& expected, T desired, order success, order failure) {
            return noted(inner::compare_exchange_strong(expected, desired, success, failure));
        }

    private:
        static bool noted(bool swapped) noexcept {
            if (!swapped) ++failed();
            return swapped;
        }
    };
};

}  // namespace tmigr::bench

#endif
