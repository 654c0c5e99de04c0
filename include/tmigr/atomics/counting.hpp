// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_ATOMICS_COUNTING_HPP
#define TMIGR_ATOMICS_COUNTING_HPP

#include <tmigr/atomics/backend.hpp>

#include <bit>
#include <cstdint>
#include <set>

namespace tmigr {

/// What one thread did to atomics since it last reset its counts.
struct operation_counts {
    std::uint64_t loads = 0;
    std::uint64_t stores = 0;
    std::uint64_t read_modify_writes = 0;         ///< attempts, failed ones included
    std::uint64_t failed_read_modify_writes = 0;  ///< compare-and-swaps that changed nothing
    std::uint64_t group_visits = 0;               ///< groups that walks updated, with repetition
    std::uint64_t level_mask = 0;                 ///< bit l: a group of level l was updated

    /// Distinct levels that were touched.
    unsigned levels() const noexcept { return static_cast<unsigned>(std::popcount(level_mask)); }
    /// Distinct cache lines of 64 bytes in which a cell was loaded, stored to or swapped.
    std::uint64_t distinct_lines() const noexcept { return lines.size(); }

    std::set<std::uintptr_t> lines;
};

/// Counts the operations of any other backend, exactly and repeatably. Counts are kept
/// per thread, so counting adds no sharing; it does allocate and is not for timing.
template <atomics_backend Inner>
struct counting_atomics {
    /// The calling thread's counts. Reset them by assigning `{}`.
    static operation_counts& counts() noexcept {
        static thread_local operation_counts mine;
        return mine;
    }

    using order = decltype(Inner::relaxed);
    static constexpr auto relaxed = Inner::relaxed;
    static constexpr auto acquire = Inner::acquire;
    static constexpr auto release = Inner::release;
    static constexpr auto acq_rel = Inner::acq_rel;
    static constexpr auto seq_cst = Inner::seq_cst;

    template <class T>
    class atomic {
    public:
        atomic() = default;
        explicit atomic(T value) : inner_(value) {}

        T load(order o) const {
            ++counts().loads;
            touch();
            return inner_.load(o);
        }
        void store(T value, order o) {
            ++counts().stores;
            touch();
            inner_.store(value, o);
        }
        bool compare_exchange_weak(T& expected, T desired, order success, order failure) {
            return counted(inner_.compare_exchange_weak(expected, desired, success, failure));
        }
        bool compare_exchange_strong(T& expected, T desired, order success, order failure) {
            return counted(inner_.compare_exchange_strong(expected, desired, success, failure));
        }

    private:
        void touch() const { counts().lines.insert(reinterpret_cast<std::uintptr_t>(this) / 64); }
        bool counted(bool swapped) {
            ++counts().read_modify_writes;
            touch();
            if (!swapped) ++counts().failed_read_modify_writes;
            return swapped;
        }

        typename Inner::template atomic<T> inner_;
    };

    template <class T>
    using var = typename Inner::template var<T>;
    using mutex = typename Inner::mutex;

    static void pause() noexcept { Inner::pause(); }

    static void visiting(unsigned level) noexcept {
        ++counts().group_visits;
        counts().level_mask |= std::uint64_t{1} << (level & 63u);
        if constexpr (requires { Inner::visiting(level); }) Inner::visiting(level);
    }

    template <class T>
    static constexpr bool is_always_lock_free = Inner::template is_always_lock_free<T>;
};

}  // namespace tmigr

#endif
