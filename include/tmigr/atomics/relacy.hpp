// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_ATOMICS_RELACY_HPP
#define TMIGR_ATOMICS_RELACY_HPP

#include <tmigr/atomics/backend.hpp>

#include <relacy/relacy.hpp>

// The checker replaces words of the language and of the C library for all code that
// follows. Nothing here is checked through them, and standard headers break on them.
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno

#include <source_location>

namespace tmigr {

/// Whether a weak compare-and-swap may fail for no reason. `spurious` is what the
/// standard allows; `genuine` keeps an exhaustive search small.
enum class cas_failures { spurious, genuine };

/// Relacy Race Detector: every access is a scheduling point, every order is simulated.
/// For model tests only: threads are fibres that Relacy starts. Needs g++ in C++20 mode.
///
/// A failure history names the line of the library that made the access.
template <cas_failures Failures>
struct basic_relacy_atomics {
    using order = rl::memory_order;
    static constexpr order relaxed = rl::mo_relaxed;
    static constexpr order acquire = rl::mo_acquire;
    static constexpr order release = rl::mo_release;
    static constexpr order acq_rel = rl::mo_acq_rel;
    static constexpr order seq_cst = rl::mo_seq_cst;

    static rl::debug_info at(const std::source_location& where) noexcept {
        return {where.function_name(), where.file_name(), where.line()};
    }

    /// Whether a failed swap acquires where a successful one does not. Relacy follows the rule
    /// before C++17, which forbids that; a relaxed failure and a fence come to the same.
    static bool needs_fence(order success, order failure) noexcept {
        return failure == acquire && (success == relaxed || success == release);
    }

    template <class T>
    class atomic {
    public:
        atomic() : cell_(T{}) {}
        explicit atomic(T value) : cell_(value) {}

        T load(order o, std::source_location where = std::source_location::current()) const {
            return cell_.load(o, at(where));
        }
        void store(T value, order o, std::source_location where = std::source_location::current()) {
            cell_.store(value, o, at(where));
        }
        bool compare_exchange_weak(T& expected, T desired, order success, order failure,
                                   std::source_location where = std::source_location::current()) {
            const bool fence = needs_fence(success, failure);
            const order retry = fence ? relaxed : failure;
            const bool swapped =
                Failures == cas_failures::spurious
                    ? cell_.compare_exchange_weak(expected, desired, success, at(where), retry, at(where))
                    : cell_.compare_exchange_strong(expected, desired, success, at(where), retry, at(where));
            if (fence && !swapped) rl::atomic_thread_fence(acquire, at(where));
            return swapped;
        }

        bool compare_exchange_strong(T& expected, T desired, order success, order failure,
                                     std::source_location where = std::source_location::current()) {
            const bool fence = needs_fence(success, failure);
            const bool swapped = cell_.compare_exchange_strong(expected, desired, success, at(where),
                                                               fence ? relaxed : failure, at(where));
            if (fence && !swapped) rl::atomic_thread_fence(acquire, at(where));
            return swapped;
        }

    private:
        rl::atomic<T> cell_;
    };

    template <class T>
    class var {
    public:
        var() : cell_(T{}) {}
        explicit var(T value) : cell_(value) {}

        T get(std::source_location where = std::source_location::current()) const {
            return cell_(at(where)).load();
        }
        void set(T value, std::source_location where = std::source_location::current()) {
            cell_(at(where)).store(value);
        }

    private:
        rl::var<T> cell_;
    };

    class mutex {
    public:
        void lock(std::source_location where = std::source_location::current()) {
            cell_.lock(at(where));
        }
        void unlock(std::source_location where = std::source_location::current()) {
            cell_.unlock(at(where));
        }

    private:
        rl::mutex cell_;
    };

    static void pause(std::source_location where = std::source_location::current()) noexcept {
        rl::yield(1, at(where));
    }

    template <class T>
    static constexpr bool is_always_lock_free = true;
};

using relacy_atomics = basic_relacy_atomics<cas_failures::spurious>;
static_assert(atomics_backend<relacy_atomics>);

}  // namespace tmigr

#endif
