// SPDX-License-Identifier: BSL-1.0
#include "ftrace_lines.hpp"

#include <fmt/format.h>

#include <iterator>

namespace whatif {

namespace {

/// The part in front of every event, as the tree's own lines have it.
std::string stamp(std::uint32_t cpu, nanoseconds now) {
    return fmt::format("          <idle>-0       [{:03}] d.... {:5}.{:06}: ", cpu, now / 1'000'000'000,
                       now / 1000 % 1'000'000);
}

}  // namespace

ftrace_lines::ftrace_lines(std::ostream& out, const machine& hardware, bool header)
    : out_(out), hardware_(hardware), idle_(hardware.size(), false) {
    if (header) out_ << "# tracer: nop\n#\n#           TASK-PID     CPU#  FLAGS   TIMESTAMP  FUNCTION\n";
}

void ftrace_lines::leave_idle(std::size_t cpu, nanoseconds now) {
    if (!idle_[cpu]) return;
    idle_[cpu] = false;
    out_ << stamp(id_of(cpu), now) << fmt::format("cpu_idle: state=4294967295 cpu_id={}\n", id_of(cpu));
}

void ftrace_lines::busy(std::size_t cpu, nanoseconds now, std::string_view) { leave_idle(cpu, now); }

void ftrace_lines::idle(std::size_t cpu, nanoseconds now, std::size_t state, bool) {
    leave_idle(cpu, now);
    idle_[cpu] = true;
    out_ << stamp(id_of(cpu), now) << fmt::format("cpu_idle: state={} cpu_id={}\n", state, id_of(cpu));
}

void ftrace_lines::offline(std::size_t cpu, nanoseconds now) { leave_idle(cpu, now); }

void ftrace_lines::timer(std::uint64_t id, std::size_t owner, std::size_t runner, nanoseconds due, nanoseconds now) {
    out_ << stamp(id_of(runner), now)
         << fmt::format("timer_expire_entry: timer={:016x} function=whatif now={} baseclk={} owner={}\n", id, now, due,
                        id_of(owner));
}

}  // namespace whatif
