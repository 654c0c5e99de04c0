// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_UNDO_ATOMICS_HPP
#define TMIGR_DETAIL_UNDO_ATOMICS_HPP

#include <tmigr/atomics/plain.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

namespace tmigr::detail {

/// What cells held before they were written, newest last.
class undo_log {
public:
    std::size_t mark() const noexcept { return dropped_ + entries_.size(); }
    /// Undoes all that was written since `mark`.
    void back_to(std::size_t mark) noexcept {
        for (; entries_.size() > mark - dropped_; entries_.pop_back()) entries_.back().undo(entries_.back());
    }
    /// What was written before `mark` stays.
    void keep_from(std::size_t mark) {
        entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(mark - dropped_));
        dropped_ = mark;
    }
    std::size_t size() const noexcept { return entries_.size(); }

    // sizeof(T) of a pointer is what is meant.  NOLINTBEGIN(bugprone-sizeof-expression)
    template <class T>
    void note(T& cell) {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= widest);
        entry& made = entries_.emplace_back();
        made.cell = &cell;
        std::memcpy(made.held.data(), &cell, sizeof(T));
        made.undo = [](const entry& e) { std::memcpy(e.cell, e.held.data(), sizeof(T)); };
    }
    // NOLINTEND(bugprone-sizeof-expression)
    /// Room for what one operation on the tree writes, which may not throw.
    void reserve() {
        constexpr std::size_t room = 2048;
        if (entries_.capacity() - entries_.size() < room) entries_.reserve(2 * entries_.size() + room);
    }

private:
    static constexpr std::size_t widest = 16;
    struct entry {
        void* cell = nullptr;
        void (*undo)(const entry&) = nullptr;
        std::array<std::byte, widest> held{};
    };
    std::vector<entry> entries_;
    std::size_t dropped_ = 0;
};

/// `plain_atomics` with a way back: while a log is set on this thread, every write is noted
/// there first, so that several orders of the same operations can be tried on one tree.
struct undo_atomics : plain_atomics {
    static inline thread_local undo_log* log = nullptr;

    template <class T>
    class atomic {
    public:
        atomic() = default;
        explicit atomic(T value) : value_(value) {}
        atomic(const atomic&) = delete;
        atomic& operator=(const atomic&) = delete;

        T load(order) const noexcept { return value_; }
        void store(T value, order) noexcept { put(value); }
        bool compare_exchange_weak(T& expected, T desired, order, order) noexcept {
            if (value_ == expected) {
                put(desired);
                return true;
            }
            expected = value_;
            return false;
        }
        bool compare_exchange_strong(T& expected, T desired, order success, order failure) noexcept {
            return compare_exchange_weak(expected, desired, success, failure);
        }
        /// For whoever knows better than the walks: also of a tree that is const otherwise.
        void put(T value) const noexcept {
            if (log != nullptr) log->note(value_);
            value_ = value;
        }

    private:
        mutable T value_{};
    };

    template <class T>
    class var {
    public:
        var() = default;
        explicit var(T value) : value_(value) {}
        var(const var&) = delete;
        var& operator=(const var&) = delete;

        T get() const noexcept { return value_; }
        void set(T value) noexcept {
            if (log != nullptr) log->note(value_);
            value_ = value;
        }

    private:
        T value_{};
    };
};
static_assert(atomics_backend<undo_atomics>);

}  // namespace tmigr::detail

#endif
