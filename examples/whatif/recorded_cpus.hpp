// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_RECORDED_CPUS_HPP
#define TMIGR_EXAMPLES_WHATIF_RECORDED_CPUS_HPP

#include "recording.hpp"
#include "trace_events.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace whatif {

/// What each CPU did, from the lines of a trace: asleep, awake without a task, in tasks, offline.
/// Times are time stamps, here and in what comes out.
class recorded_cpus {
public:
    recorded_cpus(std::size_t count, recording& into) : cpus_(count), into_(into) {}

    /// Every line, before anything else is made of it; `time` does not go back.
    void line(const trace_event& e);
    /// That CPU's tick.
    void ticked(std::size_t index) noexcept { cpus_[index].ticked = true; }
    /// A timer of the workload was handled on that CPU for so long, nested handlers left out.
    void handled(std::size_t index, nanoseconds time);
    void finish(nanoseconds end);

private:
    enum class state : std::uint8_t { unknown, unknown_idle, idle, asleep, task };
    struct cpu {
        state now = state::unknown;
        nanoseconds since = 0;  ///< that it is in this state
        nanoseconds last = 0;   ///< its last line
        std::uint64_t pid = 0;
        bool in_migration = false;    ///< the task is the one that takes a CPU down
        nanoseconds woke = forever;   ///< first sign of life since it was asleep
        nanoseconds handlers = 0;     ///< since then
        nanoseconds stretch = 0;      ///< begin of the stretch of tasks
        bool waits_for_tick = false;  ///< it waits, or just did, with its tick running
        bool ticked = false;          ///< since it began to wait
        bool tick_stopped = true;     ///< those that sleep when the window opens have theirs stopped, mostly
        bool unavailable = false;
        bool was_offline = false;  ///< since it became unavailable
        nanoseconds unavailable_since = 0;
    };

    void spend(std::size_t index, nanoseconds until);
    void enter(cpu& c, state next, nanoseconds time) noexcept;
    void end_wait(std::size_t index) noexcept;
    void begin_stretch(cpu& c, nanoseconds time) noexcept;
    void end_stretch(std::size_t index, nanoseconds time);
    void first_line(cpu& c, const trace_event& e);
    void came_back(std::size_t index, const trace_event& e);
    void available(std::size_t index, nanoseconds time);
    using plug_kind = enum plug_event::what;
    void plug(plug_kind what, std::size_t index, nanoseconds at) {
        into_.load.plugs.push_back({what, index, at});
    }

    std::vector<cpu> cpus_;
    recording& into_;
    nanoseconds begin_ = forever;
};

}  // namespace whatif

#endif
