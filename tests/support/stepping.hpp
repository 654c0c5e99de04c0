// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_STEPPING_HPP
#define TMIGR_TESTS_STEPPING_HPP

#include "support/labelled_orders.hpp"

#include <tmigr/atomics/backend.hpp>
#include <tmigr/config.hpp>
#include <tmigr/expiry.hpp>

#include <boost/context/fiber.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define TMIGR_TESTS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TMIGR_TESTS_ASAN 1
#endif
#endif
#ifdef TMIGR_TESTS_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace tmigr::test {

/// What a program on `stepping_atomics` is about to do.
struct access {
    enum class kind { load, store, weak_swap, strong_swap, plain };
    std::string_view label;  ///< as in the code: "A2"; empty for plain cells
    kind what = kind::plain;
    const void* cell = nullptr;
};

/// Several programs on one thread, each with a stack of its own. Each stands before its next
/// access to a cell of `stepping_atomics`, and whoever drives says who makes the next: every
/// interleaving can be played, and played again. Programs that are left standing are run to
/// their ends when this goes out of scope: what they refer to must live longer.
///
/// Sequentially consistent: what takes weak memory is for the model tests.
class stepper {
public:
    stepper() = default;
    stepper(const stepper&) = delete;
    stepper& operator=(const stepper&) = delete;
    ~stepper() {
        for (std::size_t i = 0; i < programs_.size(); ++i)
            if (!finish(i, endless)) {
                std::fprintf(stderr, "stepper: program %zu does not end, next access (%.*s)\n", i,
                             static_cast<int>(next(i).label.size()), next(i).label.data());
                std::abort();
            }
    }

    /// Adds a program and runs it up to its first access.
    std::size_t add(std::function<void()> what) {
        programs_.push_back(std::make_unique<program>());
        const std::size_t i = programs_.size() - 1;
        program& me = *programs_.back();
        me.what = std::move(what);
        me.stack = stacks::allocate();
        me.run = boost::context::fiber(std::allocator_arg,
                                       boost::context::preallocated(me.stack.sp, me.stack.size, me.stack), stacks{},
                                       [this, &me](boost::context::fiber&& back) {
                                           entered(nullptr);
                                           back_ = std::move(back);
                                           me.what();
                                           me.done = true;
                                           leaving(nullptr);
                                           return std::move(back_);
                                       });
        resume(i);
        return i;
    }
    std::size_t size() const noexcept { return programs_.size(); }
    bool done(std::size_t i) const noexcept { return programs_[i]->done; }
    bool all_done() const noexcept {
        for (const auto& p : programs_)
            if (!p->done) return false;
        return true;
    }
    /// Where a program stands that is not done.
    const access& next(std::size_t i) const noexcept { return programs_[i]->next; }

    /// Program i makes its next access and runs up to the one behind it. A weak swap fails for
    /// no reason when the driver says so.
    void step(std::size_t i, bool fail_for_no_reason = false) {
        refuse_ = fail_for_no_reason;
        wrote_ = false;
        resume(i);
    }
    /// Whether the latest step wrote the cell: a store, or a swap that did not fail.
    bool wrote() const noexcept { return wrote_; }
    /// Runs program i up to its end; false when that takes more than `most` accesses.
    bool finish(std::size_t i, std::size_t most) {
        for (; !done(i) && most > 0; --most) step(i);
        return done(i);
    }
    /// Runs program i until it stands before an access of that label for the nth time; false
    /// when it ends before.
    bool run_to(std::size_t i, std::string_view label, std::size_t nth = 1) {
        for (; !done(i); step(i))
            if (next(i).label == label && --nth == 0) return true;
        return false;
    }

    /// For the cells: gives the driver the turn, if a program is running.
    static void point(const access& next) {
        stepper* const me = running_;
        if (me == nullptr) {
            if (--alone_left_ != 0) return;
            std::fprintf(stderr, "stepper: what nobody drives does not end, next access (%.*s)\n",
                         static_cast<int>(next.label.size()), next.label.data());
            std::abort();
        }
        program& here = *me->programs_[me->current_];
        here.next = next;
        me->leaving(&here);
        me->back_ = std::move(me->back_).resume();
        me->entered(&here);
    }
    /// From now on the process ends after so many accesses that nobody drives. Else there is no limit.
    static void limit_alone(std::size_t most) noexcept { alone_left_ = most; }
    static void wrote(bool so) noexcept {
        if (running_ != nullptr) running_->wrote_ = so;
    }
    /// For weak swaps, once: whether it is to fail for no reason.
    static bool refused() noexcept { return running_ != nullptr && std::exchange(running_->refuse_, false); }

private:
    static constexpr std::size_t endless = 1'000'000;

    /// Stacks are used again: a fuzzer makes millions of programs.
    struct stacks {
        struct kept : std::vector<boost::context::stack_context> {
            ~kept() {
                for (auto& stack : *this) boost::context::fixedsize_stack().deallocate(stack);
            }
        };
        static boost::context::stack_context allocate() {
            if (free().empty()) return boost::context::fixedsize_stack(128 * 1024).allocate();
            const auto stack = free().back();
            free().pop_back();
            return stack;
        }
        static void deallocate(boost::context::stack_context& stack) { free().push_back(stack); }
        static kept& free() {
            static kept unused;
            return unused;
        }
    };
    struct program {
        std::function<void()> what;
        boost::context::stack_context stack;
        boost::context::fiber run;
        access next;
        bool done = false;
        void* fake_stack = nullptr;
    };

    void resume(std::size_t i) {
        program& me = *programs_[i];
        const std::size_t outer_current = std::exchange(current_, i);
        stepper* const outer = std::exchange(running_, this);
#ifdef TMIGR_TESTS_ASAN
        void* fake_stack = nullptr;
        __sanitizer_start_switch_fiber(&fake_stack, static_cast<char*>(me.stack.sp) - me.stack.size, me.stack.size);
#endif
        me.run = std::move(me.run).resume();
#ifdef TMIGR_TESTS_ASAN
        __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
        running_ = outer;
        current_ = outer_current;
        refuse_ = false;
    }
    // The address sanitizer has to know which stack is in use.
    void leaving([[maybe_unused]] program* here) {
#ifdef TMIGR_TESTS_ASAN
        __sanitizer_start_switch_fiber(here != nullptr ? &here->fake_stack : nullptr, driver_stack_, driver_size_);
#endif
    }
    void entered([[maybe_unused]] program* here) {
#ifdef TMIGR_TESTS_ASAN
        __sanitizer_finish_switch_fiber(here != nullptr ? here->fake_stack : nullptr, &driver_stack_, &driver_size_);
#endif
    }

    static inline stepper* running_ = nullptr;
    static inline std::size_t alone_left_ = ~std::size_t{0};
    std::vector<std::unique_ptr<program>> programs_;
    boost::context::fiber back_;
    std::size_t current_ = 0;
    bool refuse_ = false;
    bool wrote_ = false;
#ifdef TMIGR_TESTS_ASAN
    const void* driver_stack_ = nullptr;
    std::size_t driver_size_ = 0;
#endif
};

/// Plain cells; before each access the driver of the `stepper` has the turn. Orders are labels.
struct stepping_atomics {
    using order = labelled;
    static constexpr order relaxed{"relaxed"}, acquire{"acquire"}, release{"release"}, acq_rel{"acq_rel"},
        seq_cst{"seq_cst"};

    template <class T>
    class atomic {
    public:
        atomic() = default;
        explicit atomic(T value) : value_(value) {}
        atomic(const atomic&) = delete;
        atomic& operator=(const atomic&) = delete;

        T load(order o) const {
            stepper::point({o.label, access::kind::load, this});
            return value_;
        }
        void store(T value, order o) {
            stepper::point({o.label, access::kind::store, this});
            stepper::wrote(true);
            value_ = value;
        }
        bool compare_exchange_weak(T& expected, T desired, order o, order) {
            stepper::point({o.label, access::kind::weak_swap, this});
            if (stepper::refused()) {
                expected = value_;
                return false;
            }
            return swap(expected, desired);
        }
        bool compare_exchange_strong(T& expected, T desired, order o, order) {
            stepper::point({o.label, access::kind::strong_swap, this});
            return swap(expected, desired);
        }

    private:
        bool swap(T& expected, T desired) {
            stepper::wrote(value_ == expected);
            if (value_ == expected) {
                value_ = desired;
                return true;
            }
            expected = value_;
            return false;
        }
        T value_{};
    };

    /// Also the plain cells, since a test may take away the order that the atomics around give.
    template <class T>
    class var {
    public:
        var() = default;
        explicit var(T value) : value_(value) {}
        T get() const {
            stepper::point({"", access::kind::plain, this});
            return value_;
        }
        void set(T value) {
            stepper::point({"", access::kind::plain, this});
            value_ = value;
        }

    private:
        T value_{};
    };

    struct mutex {
        void lock() noexcept {}
        void unlock() noexcept {}
    };
    static void pause() noexcept {}
    template <class T>
    static constexpr bool is_always_lock_free = true;
};
static_assert(atomics_backend<stepping_atomics>);

/// The library's own configurations, to be driven step by step.
struct stepping_words : linux_config<stepping_atomics> {
    using orders = labelled_orders;
};
struct stepping_expiries : stepping_words {
    using slot = slot64;
};

}  // namespace tmigr::test

#endif
