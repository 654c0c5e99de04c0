// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_ATOMICS_PLAIN_HPP
#define TMIGR_ATOMICS_PLAIN_HPP

#include <tmigr/atomics/backend.hpp>

namespace tmigr {

/// No atomics: for simulators that drive every CPU from one thread, and for tests.
/// Compiles to ordinary loads and stores. Two threads must never share a hierarchy
/// with this backend.
struct plain_atomics {
    enum class order { relaxed, acquire, release, acq_rel, seq_cst };
    static constexpr order relaxed = order::relaxed;
    static constexpr order acquire = order::acquire;
    static constexpr order release = order::release;
    static constexpr order acq_rel = order::acq_rel;
    static constexpr order seq_cst = order::seq_cst;

    template <class T>
    class atomic {
    public:
        constexpr atomic() = default;
        constexpr explicit atomic(T value) : value_(value) {}
        atomic(const atomic&) = delete;
        atomic& operator=(const atomic&) = delete;

        constexpr T load(order) const noexcept { return value_; }
        constexpr void store(T value, order) noexcept { value_ = value; }
        constexpr bool compare_exchange_weak(T& expected, T desired, order, order) noexcept {
            if (value_ == expected) {
                value_ = desired;
                return true;
            }
            expected = value_;
            return false;
        }

        constexpr bool compare_exchange_strong(T& expected, T desired, order success, order failure) noexcept {
            return compare_exchange_weak(expected, desired, success, failure);
        }

    private:
        T value_{};
    };

    template <class T>
    using var = unchecked_var<T>;

    struct mutex {
        constexpr void lock() noexcept {}
        constexpr void unlock() noexcept {}
    };

    static constexpr void pause() noexcept {}

    template <class T>
    static constexpr bool is_always_lock_free = true;
};
static_assert(atomics_backend<plain_atomics>);

}  // namespace tmigr

#endif
