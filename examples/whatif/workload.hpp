// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_WORKLOAD_HPP
#define TMIGR_EXAMPLES_WHATIF_WORKLOAD_HPP

#include "machine.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace whatif {

inline constexpr std::size_t nobody = SIZE_MAX;

/// Which CPUs may run a timer, and when.
enum class timer_kind : std::uint8_t {
    global,      ///< any CPU; due at a tick: what timer migration is about
    pinned,      ///< its own CPU only; due at a tick
    deferrable,  ///< its own CPU, and an idle one is not woken for it
    precise,     ///< an hrtimer: its own CPU, at its very nanosecond
};

/// A timer that the workload keeps going, once or again and again. Times of work are for a CPU of
/// capacity 1024; smaller ones take longer.
struct timer_plan {
    timer_kind kind = timer_kind::global;
    std::size_t cpu = 0;       ///< where it is armed first, and whose it is
    nanoseconds first = 0;     ///< it is armed at 0 for this time
    nanoseconds period = 0;    ///< 0: once; else re-armed from its own handler, that much later
    double jitter = 0;         ///< each delay is uniformly longer or shorter by up to this share
    bool random = false;       ///< delays are exponential with mean `period` instead
    nanoseconds handler = 0;   ///< work of the handler
    double cancelled = 0;      ///< share of rounds in which it is cancelled, half-way, and armed anew
    std::size_t wakes = nobody;  ///< index of a task that the handler wakes
    /// The handler only queues work on the CPU that runs it, and the work, in a task of its own,
    /// arms the timer again (delayed work): so the timer is that CPU's from then on. Else the
    /// timer stays on the queue that it was on, as in Linux where a handler arms its own timer.
    /// `handler` is the length of the work then.
    bool by_work = false;
};

/// What a task does, in order and over again.
struct run {
    nanoseconds work;
};
struct sleep_for {  ///< nanosleep: a precise timer of the CPU that the task is on
    nanoseconds length;
};
struct wait_for {  ///< a blocking call that times out: a global timer
    nanoseconds timeout;
};
struct sleep_until_period {  ///< to the next multiple of a period since the task began: a precise timer
    nanoseconds period;
};
struct wait_for_wake {};  ///< until a timer or another task wakes it; one wake that came before is remembered
struct wake_task {
    std::size_t task;
};
using phase = std::variant<run, sleep_for, wait_for, sleep_until_period, wait_for_wake, wake_task>;

struct task_plan {
    std::string name;
    std::vector<std::size_t> allowed;  ///< CPU indexes; empty: all
    std::size_t cpu = 0;               ///< where it is first
    nanoseconds start = 0;
    std::vector<phase> phases;
    std::uint64_t rounds = 0;  ///< 0: for ever
    bool heavy = false;        ///< one that wants a big CPU (hmp-kick)
};

/// A device that interrupts one CPU at random, or in a fixed rhythm.
struct interrupt_plan {
    std::size_t cpu = 0;
    nanoseconds mean = 0;
    bool random = true;
    nanoseconds handler = 0;
};

/// One arming of a timer as a recording has it.
struct recorded_timer {
    timer_kind kind = timer_kind::global;
    std::size_t cpu = 0;          ///< whose it is
    nanoseconds armed = 0;        ///< 0 for one that was armed before
    nanoseconds expires = 0;      ///< when the kernel would run it at the earliest
    nanoseconds cancelled = forever;
    nanoseconds handler = 0;
};
/// A stretch of time in which a recorded CPU was busy for reasons other than its timers. It begins when the
/// CPU woke for it: where a timer's handler woke a task of the same CPU, at that very time.
struct recorded_busy {
    std::size_t cpu = 0;
    nanoseconds from = 0;
    nanoseconds length = 0;
};

/// A CPU leaves, comes, is set apart from the others, or put back, from outside.
struct plug_event {
    enum class what : std::uint8_t { offline, online, isolate, join } what = what::offline;
    std::size_t cpu = 0;
    nanoseconds at = 0;
};

/// All that happens on a machine from outside the timer-migration policy. A plain value.
struct workload {
    std::string name;
    std::vector<timer_plan> timers;
    std::vector<task_plan> tasks;
    std::vector<interrupt_plan> interrupts;
    std::vector<recorded_timer> recorded_timers;  ///< in order of `armed`
    std::vector<whatif::recorded_busy> recorded_busy;  ///< in order of `from`
    std::vector<plug_event> plugs;                ///< in order of `at`
    nanoseconds length = 0;                       ///< of a recording; 0: as long as asked for
};

}  // namespace whatif

#endif
