// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_INTERPOSING_HPP
#define TMIGR_TESTS_INTERPOSING_HPP

#include <tmigr/atomics/plain.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace tmigr::test {

/// What happens in the middle of an operation: before the access with that number (from 0)
/// that the operation makes on `interposing_atomics`, `what` runs as a whole. A second one
/// counts its accesses from there. What happens inside `what` is not interrupted, unless it
/// sets up an interruption of its own.
///
/// One thread plays everybody: whatever is found here is found again, and needs no weak memory.
class interruption {
public:
    using action = std::function<void()>;

    interruption(std::size_t access, action what) : interruption(access, std::move(what), 0, nullptr) {}
    interruption(std::size_t access, action what, std::size_t later, action then)
        : left_{access, later},
          what_{std::move(what), std::move(then)},
          outer_(std::exchange(innermost_, this)) {}
    ~interruption() { innermost_ = outer_; }
    interruption(const interruption&) = delete;
    interruption& operator=(const interruption&) = delete;

    /// How many of the actions have run.
    std::size_t happened() const noexcept { return next_; }

    static void point() {
        interruption* const me = innermost_;
        while (me != nullptr && me->next_ < 2 && me->what_[me->next_] && me->left_[me->next_] == 0) {
            innermost_ = nullptr;
            me->what_[me->next_++]();
            innermost_ = me;
        }
        if (me != nullptr && me->next_ < 2) --me->left_[me->next_];
    }

    /// The next weak compare-and-swap fails for no reason.
    static void refuse_next_swap() noexcept { refuse_ = true; }
    static bool refused() noexcept { return std::exchange(refuse_, false); }

private:
    static inline interruption* innermost_ = nullptr;
    static inline bool refuse_ = false;
    std::array<std::size_t, 2> left_;
    std::array<action, 2> what_;
    std::size_t next_ = 0;
    interruption* outer_;
};

/// Plain atomics, each access of which can be interrupted; plain cells too, since what they
/// hold is ordered by the atomics around them, and a test may take that order away.
struct interposing_atomics : plain_atomics {
    template <class T>
    class atomic {
    public:
        atomic() = default;
        explicit atomic(T value) : inner_(value) {}

        T load(order o) const {
            interruption::point();
            return inner_.load(o);
        }
        void store(T value, order o) {
            interruption::point();
            inner_.store(value, o);
        }
        bool compare_exchange_weak(T& expected, T desired, order success, order failure) {
            interruption::point();
            if (interruption::refused()) {
                expected = inner_.load(failure);
                return false;
            }
            return inner_.compare_exchange_weak(expected, desired, success, failure);
        }
        bool compare_exchange_strong(T& expected, T desired, order success, order failure) {
            interruption::point();
            return inner_.compare_exchange_strong(expected, desired, success, failure);
        }

    private:
        plain_atomics::atomic<T> inner_;
    };

    template <class T>
    class var {
    public:
        var() = default;
        explicit var(T value) : inner_(value) {}
        T get() const {
            interruption::point();
            return inner_.get();
        }
        void set(T value) {
            interruption::point();
            inner_.set(value);
        }

    private:
        unchecked_var<T> inner_;
    };

    static void pause() noexcept {}
};
static_assert(atomics_backend<interposing_atomics>);

/// What came of a set of schedules.
struct schedules {
    std::size_t played = 0;
    std::size_t failed = 0;
    std::string wrong;  ///< of the first that failed, with the accesses where it was interrupted

    void take(const std::string& found, const std::string& where) {
        ++played;
        if (found.empty()) return;
        ++failed;
        if (wrong.empty()) wrong = found + " (" + where + ")";
    }
    schedules& operator+=(const schedules& more) {
        if (wrong.empty()) wrong = more.wrong;
        played += more.played;
        failed += more.failed;
        return *this;
    }
};

/// A fresh scene for each schedule, what somebody does in it, and what is wrong in the end, or "".
template <class Scene>
using maker = std::function<std::unique_ptr<Scene>()>;
template <class Scene>
using deed = std::type_identity_t<std::function<void(Scene&)>>;
template <class Scene>
using verdict = std::type_identity_t<std::function<std::string(Scene&)>>;

/// The usual verdict.
inline constexpr auto whatever_is_wrong = [](auto& scene) { return scene.wrong(); };

/// Plays `outer` once for each of its accesses, with the whole of `inner` before that access,
/// and once with `inner` afterwards.
template <class Scene>
schedules interrupted(const maker<Scene>& make, const deed<Scene>& outer, const deed<Scene>& inner,
                      const verdict<Scene>& wrong = whatever_is_wrong) {
    schedules all;
    for (std::size_t at = 0, happened = 1; happened != 0; ++at) {
        const auto scene = make();
        {
            const interruption now(at, [&] { inner(*scene); });
            outer(*scene);
            happened = now.happened();
        }
        if (happened == 0) inner(*scene);
        all.take(wrong(*scene), "before access " + std::to_string(at));
    }
    return all;
}

/// All schedules of two operations in which one is interrupted once, by the whole of the other.
template <class Scene>
schedules race(const maker<Scene>& make, const deed<Scene>& one, const deed<Scene>& other,
               const verdict<Scene>& wrong = whatever_is_wrong) {
    schedules all = interrupted(make, one, other, wrong);
    all += interrupted(make, other, one, wrong);
    return all;
}

/// Three operations: `outer` is interrupted by `middle`, and that by `inner`.
template <class Scene>
schedules interrupted_in_turn(const maker<Scene>& make, const deed<Scene>& outer, const deed<Scene>& middle,
                              const deed<Scene>& inner, const verdict<Scene>& wrong = whatever_is_wrong) {
    schedules all;
    for (std::size_t at = 0, reached = 1; reached != 0; ++at)
        for (std::size_t then = 0;; ++then) {
            std::size_t inside = 1;
            const auto scene = make();
            const auto disturbed = [&] {
                const interruption deeper(then, [&] { inner(*scene); });
                middle(*scene);
                inside = deeper.happened();
            };
            {
                const interruption now(at, disturbed);
                outer(*scene);
                reached = now.happened();
            }
            if (reached == 0) disturbed();
            if (inside == 0) inner(*scene);
            all.take(wrong(*scene),
                     "before access " + std::to_string(at) + ", in there before " + std::to_string(then));
            if (inside == 0) break;
        }
    return all;
}

/// Three operations: `outer` is interrupted by `first`, and later by `second`.
template <class Scene>
schedules interrupted_twice(const maker<Scene>& make, const deed<Scene>& outer, const deed<Scene>& first,
                            const deed<Scene>& second, const verdict<Scene>& wrong = whatever_is_wrong) {
    schedules all;
    for (std::size_t at = 0, happened = 2; happened != 0; ++at)
        for (std::size_t later = 0;; ++later) {
            const auto scene = make();
            {
                const interruption now(
                    at, [&] { first(*scene); }, later, [&] { second(*scene); });
                outer(*scene);
                happened = now.happened();
            }
            if (happened == 0) first(*scene);
            if (happened < 2) second(*scene);
            all.take(wrong(*scene),
                     "before access " + std::to_string(at) + ", and " + std::to_string(later) + " later");
            if (happened < 2) break;
        }
    return all;
}

/// Three operations in all the ways of the two functions above, in every cast.
template <class Scene>
schedules race_of_three(const maker<Scene>& make, const deed<Scene>& a, const deed<Scene>& b,
                        const deed<Scene>& c, const verdict<Scene>& wrong = whatever_is_wrong) {
    schedules all;
    const auto cast = [&](const deed<Scene>& x, const deed<Scene>& y, const deed<Scene>& z) {
        all += interrupted_in_turn(make, x, y, z, wrong);
        all += interrupted_twice(make, x, y, z, wrong);
    };
    cast(a, b, c), cast(a, c, b), cast(b, a, c), cast(b, c, a), cast(c, a, b), cast(c, b, a);
    return all;
}

}  // namespace tmigr::test

#endif
