// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_ATOMICS_STD_HPP
#define TMIGR_ATOMICS_STD_HPP

#include <tmigr/atomics/backend.hpp>

#include <atomic>
#include <mutex>
#include <thread>

namespace tmigr {

/// `std::atomic`. Needs nothing but the standard library. Words of 128 bits are not
/// lock-free with it on common targets; take Boost for those.
struct std_atomics {
    template <class T>
    using atomic = std::atomic<T>;
    template <class T>
    using var = unchecked_var<T>;
    using mutex = std::mutex;

    static constexpr auto relaxed = std::memory_order_relaxed;
    static constexpr auto acquire = std::memory_order_acquire;
    static constexpr auto release = std::memory_order_release;
    static constexpr auto acq_rel = std::memory_order_acq_rel;
    static constexpr auto seq_cst = std::memory_order_seq_cst;

    static void pause() noexcept { std::this_thread::yield(); }

    template <class T>
    static constexpr bool is_always_lock_free = std::atomic<T>::is_always_lock_free;
};
static_assert(atomics_backend<std_atomics>);

}  // namespace tmigr

#endif
