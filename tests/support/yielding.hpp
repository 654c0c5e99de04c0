// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_YIELDING_HPP
#define TMIGR_TESTS_YIELDING_HPP

#include <tmigr/atomics/backend.hpp>

#include <atomic>
#include <cstdint>

#include <sched.h>

namespace tmigr::test {

/// When a thread gives its core away: before one access in so many, at random.
class yielding {
public:
    /// For all threads; 0: never.
    static void one_in(std::uint32_t accesses) noexcept { one_in_.store(accesses, std::memory_order_relaxed); }

    static void point() noexcept {
        static thread_local std::uint32_t left = 1;
        static thread_local std::uint32_t random =
            0x9e3779b9u ^ static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&left) >> 4);
        if (--left != 0) return;
        random ^= random << 13, random ^= random >> 17, random ^= random << 5;
        const std::uint32_t usual = one_in_.load(std::memory_order_relaxed);
        left = usual == 0 ? 1000 : 1 + random % (2 * usual);
        if (usual != 0) sched_yield();
    }

private:
    static inline std::atomic<std::uint32_t> one_in_{64};
};

/// Another backend whose threads now and then give their core away between two accesses, so
/// that with few cores, too, others come in everywhere.
template <class Base>
struct yielding_atomics : Base {
    template <class T>
    class atomic {
    public:
        atomic() = default;
        explicit atomic(T value) : cell_(value) {}

        template <class Order>
        T load(Order o) const noexcept {
            yielding::point();
            return cell_.load(o);
        }
        template <class Order>
        void store(T value, Order o) noexcept {
            yielding::point();
            cell_.store(value, o);
        }
        template <class Order>
        bool compare_exchange_weak(T& expected, T desired, Order success, Order failure) noexcept {
            yielding::point();
            return cell_.compare_exchange_weak(expected, desired, success, failure);
        }
        template <class Order>
        bool compare_exchange_strong(T& expected, T desired, Order success, Order failure) noexcept {
            yielding::point();
            return cell_.compare_exchange_strong(expected, desired, success, failure);
        }

    private:
        typename Base::template atomic<T> cell_;
    };
};

}  // namespace tmigr::test

#endif
