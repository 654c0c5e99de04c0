// SPDX-License-Identifier: BSL-1.0
#include "checks.hpp"

#include <tmigr/input_error.hpp>

#include <stdexcept>
#include <string>
#include <type_traits>

namespace whatif {

namespace {

void expect(bool right, std::uint64_t value, const std::string& expected) {
    if (!right) throw tmigr::input_error(std::to_string(value), expected);
}
void expect_time(nanoseconds value, nanoseconds least, const char* what) {
    expect(value >= least && value <= longest_run, value,
           std::string(what) + " from " + std::to_string(least) + " to " + std::to_string(longest_run) + " ns");
}
void expect_cpu(std::size_t index, std::size_t cpus) {
    expect(index < cpus, index, "a CPU index below " + std::to_string(cpus));
}
void expect_share(double value, const char* what) {
    if (!(value >= 0 && value <= 1))
        throw tmigr::input_error(std::to_string(value), std::string(what) + " from 0 to 1");
}

void check_machine(const machine& hardware) {
    expect(hardware.size() > 0, 0, "a machine with CPUs");
    expect(hardware.hertz >= 1 && hardware.hertz <= 10'000, hardware.hertz, "1 to 10000 ticks a second");
    expect(hardware.table_of.size() == hardware.size(), hardware.table_of.size(), "a table of idle states for each CPU");
    for (const std::size_t t : hardware.table_of)
        expect(t < hardware.tables.size(), t, "the index of a table of idle states");
    for (const idle_table& t : hardware.tables) {
        expect(!t.states.empty(), 0, "a table with idle states");
        for (const idle_state& s : t.states) {
            expect_time(s.entry, 0, "an entry latency");
            expect_time(s.exit, 0, "an exit latency");
            expect_time(s.residency, 0, "a residency");
        }
    }
}

void check_phase(const phase& p, std::size_t tasks) {
    std::visit(
        [&](const auto& what) {
            using kind = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<kind, run>) expect_time(what.work, 0, "a run time");
            if constexpr (std::is_same_v<kind, sleep_for>) expect_time(what.length, 0, "a sleep");
            if constexpr (std::is_same_v<kind, wait_for>) expect_time(what.timeout, 0, "a time-out");
            if constexpr (std::is_same_v<kind, sleep_until_period>) expect_time(what.period, 1'000, "a period");
            if constexpr (std::is_same_v<kind, wake_task>)
                expect(what.task < tasks, what.task, "the index of a task, below " + std::to_string(tasks));
        },
        p);
}

}  // namespace

void check_arguments(const machine& hardware, const workload& load, const simulation& how) {
    check_machine(hardware);
    const std::size_t cpus = hardware.size();
    expect_time(how.length != 0 ? how.length : load.length, 1, "a length of the simulation");
    expect_time(how.costs.interrupt, 0, "the cost of an interrupt");
    expect_time(how.costs.dispatch, 0, "the cost of a dispatch");
    for (const timer_plan& t : load.timers) {
        expect_cpu(t.cpu, cpus);
        expect_time(t.first, 0, "a first expiry");
        if (t.period != 0) expect_time(t.period, 1'000, "a period");
        expect_time(t.handler, 0, "the work of a handler");
        expect_share(t.jitter, "a jitter");
        expect_share(t.cancelled, "a share of cancelled timers");
        expect(t.wakes == nobody || t.wakes < load.tasks.size(), t.wakes, "the index of a task");
    }
    for (const task_plan& t : load.tasks) {
        for (const std::size_t c : t.allowed) expect_cpu(c, cpus);
        expect_cpu(t.cpu, cpus);
        expect_time(t.start, 0, "a start");
        for (const phase& p : t.phases) check_phase(p, load.tasks.size());
    }
    for (const interrupt_plan& i : load.interrupts) {
        expect_cpu(i.cpu, cpus);
        expect_time(i.mean, 1'000, "the mean time between interrupts");
        expect_time(i.handler, 0, "the work of a handler");
    }
    nanoseconds before = 0;
    for (const recorded_timer& t : load.recorded_timers) {
        expect_cpu(t.cpu, cpus);
        expect_time(t.armed, before, "recorded timers in order of the time when they are armed,");
        before = t.armed;
        expect_time(t.expires, 0, "an expiry");
        expect_time(t.handler, 0, "the work of a handler");
    }
    before = 0;
    for (const recorded_busy& b : load.recorded_busy) {
        expect_cpu(b.cpu, cpus);
        expect_time(b.from, before, "recorded work in order of time,");
        before = b.from;
        expect_time(b.length, 0, "the length of recorded work");
    }
    before = 0;
    for (const plug_event& p : load.plugs) {
        expect_cpu(p.cpu, cpus);
        expect_time(p.at, before, "plug events in order of time,");
        before = p.at;
    }
}

void check_result(const result& r) {
    const auto must = [&](bool holds, const std::string& what) {
        if (!holds) throw std::logic_error("simulation of " + r.workload + " under " + r.policy + ": " + what);
    };
    must(r.armed == r.run + r.cancelled + r.pending,
         std::to_string(r.armed) + " timers armed, but " + std::to_string(r.run) + " run, " +
             std::to_string(r.cancelled) + " cancelled, " + std::to_string(r.pending) + " pending");
    must(r.lateness.max() <= r.lateness_bound, "a timer was " + std::to_string(r.lateness.max()) +
                                                   " ns late, and the bound is " + std::to_string(r.lateness_bound));
    for (std::size_t c = 0; c < r.cpus.size(); ++c) {
        nanoseconds sum = r.cpus[c].busy + r.cpus[c].offline;
        bool each = r.cpus[c].busy <= r.length && r.cpus[c].offline <= r.length;
        for (const nanoseconds in : r.cpus[c].in_state) {
            sum += in;
            each = each && in <= r.length;
        }
        must(each && sum == r.length, "the times of CPU index " + std::to_string(c) + " make " + std::to_string(sum) + " ns of " +
                                  std::to_string(r.length));
    }
}

}  // namespace whatif
