// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_RECORDING_HPP
#define TMIGR_EXAMPLES_WHATIF_RECORDING_HPP

#include "machine.hpp"
#include "workload.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace whatif {

/// What became of the timers of one kind in a recording:
/// `armed_before + armed == expired + cancelled + moved + pending + forgotten`.
struct recorded_kind {
    std::uint64_t armed_before = 0;  ///< known by an expiry, cancel or move without a start in the file
    std::uint64_t armed = 0;         ///< starts; a timer that is moved starts again
    std::uint64_t expired = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t moved = 0;              ///< started again while armed
    std::uint64_t pending = 0;            ///< at the end
    std::uint64_t forgotten = 0;          ///< gone without a line: initialised anew while armed
    std::uint64_t expired_elsewhere = 0;  ///< of the expired: on another CPU than that of the start

    std::uint64_t in() const noexcept { return armed_before + armed; }
    std::uint64_t out() const noexcept { return expired + cancelled + moved + pending + forgotten; }
};

/// What a CPU did in the recording; the first five times add up to `window`.
struct recorded_cpu {
    nanoseconds in_tasks = 0;  ///< a task had the CPU, interrupts on top included
    nanoseconds in_idle_task =
        0;                   ///< the idle task had it, but it did not wait: handlers, on the way in and out
    nanoseconds asleep = 0;  ///< from the entry of cpu_idle to the first sign of life or the exit
    nanoseconds served_in_idle = 0;  ///< from there to the exit: interrupts, where they come before it
    nanoseconds offline = 0;

    nanoseconds busy_kept = 0;            ///< of the workload: all `recorded_busy` of this CPU
    nanoseconds in_handlers = 0;          ///< of the timers of the workload, wherever they interrupted
    std::uint64_t wakeups = 0;            ///< exits from cpu_idle
    std::uint64_t kept_tick_wakeups = 0;  ///< of these: by a tick that was not stopped while the CPU waited
    std::uint64_t stays = 0;              ///< times that the idle task got the CPU
    std::uint64_t ticks = 0;              ///< expiries of the tick's timer
    std::uint64_t tick_stops = 0;
    std::uint64_t own_expiries = 0;     ///< wheel timers run here that were of this CPU
    std::uint64_t remote_expiries = 0;  ///< wheel timers of other CPUs run here
    std::uint64_t precise_expiries = 0;
    std::uint64_t lines = 0;  ///< 0: the CPU never appears
};

/// Lines that fit nothing before them. They are counted and left out.
struct unmatched_lines {
    std::uint64_t exits = 0;                 ///< a handler's end without its begin
    std::uint64_t entries = 0;               ///< a handler's begin whose end did not come
    std::uint64_t expired_after_cancel = 0;  ///< on another CPU than the cancel: taken as armed before
    std::uint64_t unknown_cancels =
        0;                        ///< of precise timers: no start, function not known (the tick's, mostly)
    std::uint64_t restarts = 0;   ///< started while armed, though the line says that it was not
    std::uint64_t switches = 0;   ///< sched_switch from a task that was not there
    std::uint64_t backwards = 0;  ///< time stamps below the one before
};

/// A Linux trace as a workload, and what the recording itself says about wake-ups and expiries, to be
/// compared with runs of that workload.
///
/// Time 0 of the workload is the last tick before the first line. Timers of the wheel have the time of their
/// bucket as `expires`, or where they were armed before the window the time up to which their base had been
/// brought when they ran. Precise timers that ran have as `expires` the time at which their handler began:
/// they run on their own CPU under any policy, and what they cause stands in the recording at that time;
/// how late that was is in `precise_late`.
struct recording {
    workload load;
    std::array<recorded_kind, 4> timers;  ///< by `timer_kind`
    std::vector<recorded_cpu> cpus;       ///< by CPU index
    unmatched_lines unmatched;
    std::uint64_t lines = 0;
    std::uint64_t events = 0;       ///< lines that were used
    std::uint64_t tick_timers = 0;  ///< starts and cancels of the tick's own timers, left out
    std::uint64_t guessed_kinds =
        0;                   ///< armed before the window, flags never seen: as others of that function
    nanoseconds window = 0;  ///< from the first line to the last; `load.length` begins at a tick before
    std::int64_t clock_offset = 0;  ///< time stamp minus CLOCK_MONOTONIC
    nanoseconds precise_late = 0;   ///< the median, within 7 per cent

    std::uint64_t wakeups() const noexcept;
    std::uint64_t kept_tick_wakeups() const noexcept;
    std::uint64_t own_expiries() const noexcept;
    std::uint64_t remote_expiries() const noexcept;
};

/// Reads a trace in text form (`/sys/kernel/tracing/trace`, `trace-cmd report`) of a kernel whose rate of
/// ticks is that of the machine: timer_*, hrtimer_*, cpu_idle, sched_switch, tick_stop and some tmigr_*
/// lines; others are skipped.
///
/// Reads on, keeps what the workload needs: memory grows with the number of timers, not of lines.
/// Throws `tmigr::input_error` with file and line: no ftrace text, a CPU that the machine does not
/// have, values that cannot be, more than ten million timers, a recording longer than two days,
/// lines missing in the middle (`LOST EVENTS`), another rate of ticks. A last line without its end is left
/// out.
recording read_recording(std::istream& in, const std::string& file, const machine& hardware);
recording read_recording(const std::filesystem::path& file, const machine& hardware);

}  // namespace whatif

#endif
