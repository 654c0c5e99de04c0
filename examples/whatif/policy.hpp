// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_POLICY_HPP
#define TMIGR_EXAMPLES_WHATIF_POLICY_HPP

#include "machine.hpp"
#include "workload.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string_view>
#include <vector>

namespace whatif {

/// What a policy may see of the CPUs.
struct board {
    std::vector<std::uint8_t> idle;    ///< runs no task and has none waiting: interrupts do not count
    std::vector<std::uint8_t> online;
};

/// Runs the due global timers of a CPU that sleeps, on another or on itself.
class timer_server {
public:
    /// Returns when the next global timer of `owner` is due.
    virtual nanoseconds run_global_timers(std::size_t owner, std::size_t on, nanoseconds now) = 0;
    /// Everything global in the queue of `from` goes to the queue of `to`.
    virtual void move_global_timers(std::size_t from, std::size_t to, nanoseconds now) = 0;

protected:
    ~timer_server() = default;
};

/// Who runs the global timers. CPUs by index; times as in the simulation. A CPU is awake from the
/// start; from `sleep` to `wake` it is asleep, its tick stopped, and armed for what the latest of
/// `sleep`, `changed`, `expire`, `join` returned.
///
/// The base is R6, no policy at all: each CPU runs its own.
class policy {
public:
    virtual ~policy() = default;

    /// On whose queue a global timer goes that `cpu` arms, but from the timer's own handler.
    virtual std::size_t place(std::size_t cpu, nanoseconds /*now*/) { return cpu; }
    /// Whether timers that their own handlers arm again are placed too, after all due ones have
    /// run; else they stay where they were.
    virtual bool places_rearmed() const { return false; }

    /// An awake CPU has nothing more to do; whether it will sleep is still open.
    virtual void falls_idle(std::size_t /*cpu*/, nanoseconds /*now*/) {}
    /// What `sleep` would return.
    virtual nanoseconds forecast(std::size_t /*cpu*/, nanoseconds own) const { return own; }
    /// The CPU stops its tick; `own` is when the next of its global timers is due.
    virtual nanoseconds sleep(std::size_t /*cpu*/, nanoseconds own, nanoseconds /*now*/) { return own; }
    /// `own` has changed while it sleeps.
    virtual nanoseconds changed(std::size_t /*cpu*/, nanoseconds own, nanoseconds /*now*/) { return own; }
    virtual void wake(std::size_t /*cpu*/, nanoseconds /*now*/) {}
    /// It sleeps, and what it is armed for is due, or it was told to take over.
    virtual nanoseconds expire(std::size_t /*cpu*/, nanoseconds own, nanoseconds /*now*/) { return own; }
    /// It is awake, and its tick comes.
    virtual void tick(std::size_t /*cpu*/, nanoseconds /*now*/) {}
    /// Whether this CPU, about to sleep, has to keep its tick.
    virtual bool keeps_tick(std::size_t /*cpu*/, nanoseconds /*now*/) { return false; }

    /// Who must be interrupted, and look with `expire`, or `nobody`.
    virtual std::size_t leave(std::size_t /*cpu*/, nanoseconds /*now*/) { return nobody; }
    virtual nanoseconds join(std::size_t /*cpu*/, nanoseconds own, nanoseconds /*now*/) { return own; }

    /// Whether who is awake can lose charge to another that wakes.
    virtual bool may_miss_ticks() const { return false; }
    /// The CPU in charge of everything, or `nobody`.
    virtual std::size_t in_charge() const { return nobody; }

    std::uint64_t remote_lines = 0;  ///< cache lines of others looked at, to place timers
};

enum class kicks : std::uint8_t { none, oldest, newest };  ///< of idle big CPUs

struct policy_choice {
    std::unique_ptr<policy> timers;
    kicks kick = kicks::none;
};

/// Throws `tmigr::input_error` for a name that is not there.
policy_choice make_policy(std::string_view name, const machine& hardware, const board& cpus, timer_server& server,
                          std::ostream* trace);

/// `trace`: Linux trace text of the tree, if any.
std::unique_ptr<policy> make_tree_policy(std::string_view name, const machine& hardware, timer_server& server,
                                         std::ostream* trace);
std::unique_ptr<policy> make_push_policy(const machine& hardware, const board& cpus, bool rearmed);
std::unique_ptr<policy> make_ilb_policy(const board& cpus, timer_server& server, std::size_t always, bool moves);

}  // namespace whatif

#endif
