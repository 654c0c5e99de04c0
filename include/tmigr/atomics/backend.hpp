// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_ATOMICS_BACKEND_HPP
#define TMIGR_ATOMICS_BACKEND_HPP

#include <concepts>
#include <cstdint>

namespace tmigr {

/// Everything of a memory model that the hierarchy touches, as one type, so that the
/// same walk runs on Boost.Atomic, on `std::atomic`, without atomics, under a model
/// checker and under a counter.
///
/// A backend `B` supplies
///   B::atomic<T>   a cell shared between threads: load(order), store(value, order),
///                  compare_exchange_weak and _strong(expected, desired, success, failure);
///                  no failure order is ever stronger than its success order
///   B::var<T>      a plain cell ordered by the atomics around it: get(), set(value);
///                  a model checker reports unordered accesses to it
///   B::mutex       lock(), unlock(): serialises those who add CPUs, never a walk
///   B::relaxed ... B::seq_cst   the memory orders, of whatever type the atomics take
///   B::pause()     called between attempts that wait for another thread
///   B::is_always_lock_free<T>   whether atomic<T> needs no lock on this target
/// and may supply
///   B::visiting(level)   told of every group that a walk updates, before it does
template <class B>
concept atomics_backend =
    requires(typename B::template atomic<std::uint32_t>& word, typename B::template var<int>& cell,
             typename B::mutex& mutex, std::uint32_t& expected) {
        { word.load(B::acquire) } -> std::same_as<std::uint32_t>;
        word.store(std::uint32_t{}, B::release);
        {
            word.compare_exchange_weak(expected, std::uint32_t{}, B::acq_rel, B::acquire)
        } -> std::same_as<bool>;
        {
            word.compare_exchange_strong(expected, std::uint32_t{}, B::acq_rel, B::acquire)
        } -> std::same_as<bool>;
        { cell.get() } -> std::same_as<int>;
        cell.set(1);
        mutex.lock();
        mutex.unlock();
        B::relaxed;
        B::seq_cst;
        { B::pause() } noexcept;
        { B::template is_always_lock_free<std::uint32_t> } -> std::convertible_to<bool>;
    };

/// A plain cell for backends whose threads really run: just the value.
template <class T>
class unchecked_var {
public:
    constexpr unchecked_var() = default;
    constexpr explicit unchecked_var(T value) : value_(value) {}
    unchecked_var(const unchecked_var&) = delete;
    unchecked_var& operator=(const unchecked_var&) = delete;

    constexpr T get() const noexcept { return value_; }
    constexpr void set(T value) noexcept { value_ = value; }

private:
    T value_{};
};

}  // namespace tmigr

#endif
