// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_ATOMICS_BOOST_HPP
#define TMIGR_ATOMICS_BOOST_HPP

#include <tmigr/atomics/backend.hpp>

#include <boost/atomic/atomic.hpp>
#include <boost/memory_order.hpp>

#include <mutex>
#include <thread>

namespace tmigr {

/// Boost.Atomic, the default. Words of 128 bits are lock-free where the compiler may
/// use the double-width compare-and-swap: x86-64 with -mcx16, 64-bit Arm as it is.
/// Only headers are used; nothing of Boost has to be linked for lock-free words.
struct boost_atomics {
    template <class T>
    using atomic = boost::atomic<T>;
    template <class T>
    using var = unchecked_var<T>;
    using mutex = std::mutex;

    static constexpr auto relaxed = boost::memory_order_relaxed;
    static constexpr auto acquire = boost::memory_order_acquire;
    static constexpr auto release = boost::memory_order_release;
    static constexpr auto acq_rel = boost::memory_order_acq_rel;
    static constexpr auto seq_cst = boost::memory_order_seq_cst;

    static void pause() noexcept { std::this_thread::yield(); }

    template <class T>
    static constexpr bool is_always_lock_free = boost::atomic<T>::is_always_lock_free;
};
static_assert(atomics_backend<boost_atomics>);

}  // namespace tmigr

#endif
