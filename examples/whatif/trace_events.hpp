// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_TRACE_EVENTS_HPP
#define TMIGR_EXAMPLES_WHATIF_TRACE_EVENTS_HPP

#include "machine.hpp"
#include "workload.hpp"

#include <tmigr/detail/ftrace_line.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace whatif {

/// The events of a Linux trace that a workload is made of.
enum class trace_kind : std::uint8_t {
    other,  ///< something else; only its CPU and time count
    timer_init,
    timer_start,
    timer_cancel,
    timer_enter,
    timer_exit,
    hrtimer_init,
    hrtimer_start,
    hrtimer_cancel,
    hrtimer_enter,
    hrtimer_exit,
    idle_enter,
    idle_exit,
    tick_stop,
    switch_to,
    available,
    unavailable,
    remote,  ///< of the timer-migration tree
};

/// One line. Which members hold something depends on the kind; views hold until the next line.
struct trace_event {
    trace_kind kind = trace_kind::other;
    std::size_t cpu = 0;        ///< index of the CPU that printed it
    std::size_t other_cpu = 0;  ///< index: `cpu=` of a start, whose timers a remote expiry is about
    nanoseconds time = 0;       ///< time stamp
    std::uint64_t pid = 0;      ///< of the line; 0 is the idle task
    std::uint64_t timer = 0;    ///< hashed address
    std::string_view function;
    std::uint64_t expires = 0;  ///< jiffies (of the bucket), or nanoseconds
    std::uint64_t now = 0;      ///< jiffies or nanoseconds
    std::uint64_t base = 0;     ///< baseclk, jiffies
    timer_kind flags = timer_kind::global;
    bool has_was_armed = false;  ///< kernels that say so print no cancel for a move or an expiry
    bool was_armed = false;
    std::uint64_t previous = 0;  ///< pid
    std::uint64_t next = 0;      ///< pid
    std::string_view next_name;
};

/// Hands out a trace line by line. Errors are `tmigr::input_error` with file and line.
class trace_source {
public:
    trace_source(std::istream& in, std::string file, const machine& hardware);

    /// The next line of ftrace text, comments passed over; nothing at the end.
    std::optional<trace_event> next();
    std::size_t line() const noexcept { return number_; }
    [[noreturn]] void fail(std::string_view value, std::string expected) const;

private:
    trace_event event_of(const tmigr::detail::ftrace_line& parts);
    std::size_t index_of(std::string_view cpu) const;
    std::uint64_t number(std::string_view text, std::string_view what) const;

    tmigr::detail::block_reader lines_;
    std::string file_;
    std::vector<std::size_t> index_;  ///< by CPU number
    std::size_t number_ = 0;
    bool any_ = false;
};

}  // namespace whatif

#endif
