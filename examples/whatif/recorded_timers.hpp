// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_RECORDED_TIMERS_HPP
#define TMIGR_EXAMPLES_WHATIF_RECORDED_TIMERS_HPP

#include "recorded_cpus.hpp"
#include "recording.hpp"
#include "result.hpp"
#include "trace_events.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace whatif {

/// What became of each timer, from the lines of a trace.
///
/// A timer is its address since it was last initialised. `timer_cancel` (and `hrtimer_cancel` of kernels that
/// do not say `was_armed=`) stands before an expiry too: it is a cancel once the next line of that timer
/// is no expiry on that CPU.
class recorded_timers {
public:
    recorded_timers(std::size_t cpus, nanoseconds tick, recording& into, recorded_cpus& clocks)
        : cpus_(cpus), tick_(tick), into_(into), clocks_(clocks) {}

    /// False: there are too many timers.
    [[nodiscard]] bool line(const trace_event& e);
    /// `begin` and `end` are the first and last time stamp; sets the timers of the workload, in its times.
    void finish(nanoseconds begin, nanoseconds end);

    /// Jiffies a second, as the recording has it; 0 where it is too short to tell.
    double hertz() const noexcept;

private:
    static constexpr std::size_t none = SIZE_MAX;
    struct record {
        recorded_timer timer;        ///< times are time stamps
        std::uint64_t due = 0;       ///< CLOCK_MONOTONIC
        std::uint64_t function = 0;  ///< of those whose kind must be guessed
        bool due_known = true;
        bool before = false;
        bool kind_known = true;
        nanoseconds ran = forever;  ///< time stamp
    };
    struct live {
        std::size_t armed = none;   ///< its record while it is armed
        std::size_t unsure = none;  ///< its record while it was cancelled, or is about to expire
        nanoseconds since = 0;      ///< when that was
        std::size_t cpu = 0;        ///< and where
        std::size_t guess = none;   ///< a record whose kind its next start tells
        bool tick = false;
    };
    struct handler {
        std::uint64_t timer;
        bool precise;
        std::size_t record;
        nanoseconds begin;
        nanoseconds nested;
    };
    struct cpu {
        std::vector<handler> handlers;
        std::size_t remote_of = none;  ///< whose timers it runs just now
    };

    using table = std::unordered_map<std::uint64_t, live>;
    recorded_kind& counts(std::size_t which) noexcept;
    std::size_t open(timer_kind kind, std::size_t owner, const trace_event& e, bool before);
    void close_cancelled(std::size_t which, nanoseconds time) noexcept;
    void settle(live& timer);
    void start(const trace_event& e, bool precise);
    void cancel(const trace_event& e, bool precise);
    void expire(const trace_event& e, bool precise);
    void leave_handler(const trace_event& e, bool precise);
    void initialise(table& timers, const trace_event& e);
    void drop_handlers(cpu& c) noexcept;
    void learn_clock(const trace_event& e);
    std::uint64_t jiffies_to_monotonic(std::uint64_t jiffies) const noexcept;
    void guess_kinds();

    std::vector<cpu> cpus_;
    nanoseconds tick_;
    recording& into_;
    recorded_cpus& clocks_;
    table wheel_, precise_;
    std::vector<record> records_;
    std::unordered_map<std::uint64_t, std::array<std::uint64_t, 4>> kinds_of_;  ///< by hash of the function
    histogram late_;
    bool has_offset_ = false;
    std::int64_t jiffy_offset_ = 0;  ///< for recordings without precise timers
    bool has_jiffy_offset_ = false;
    std::uint64_t first_jiffy_ = 0, last_jiffy_ = 0;
    nanoseconds first_jiffy_at_ = forever, last_jiffy_at_ = 0;
};

}  // namespace whatif

#endif
