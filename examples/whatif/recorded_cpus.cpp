// SPDX-License-Identifier: BSL-1.0
#include "recorded_cpus.hpp"

#include <algorithm>

namespace whatif {

void recorded_cpus::enter(cpu& c, state next, nanoseconds time) noexcept {
    c.now = next;
    c.since = time;
}

/// A wait, and what the CPU did before it waited again or got a task, is over.
void recorded_cpus::end_wait(std::size_t index) noexcept {
    cpu& c = cpus_[index];
    if (c.waits_for_tick && c.ticked) ++into_.cpus[index].kept_tick_wakeups;
    c.waits_for_tick = false;
}

/// Accounts for the time up to now.
void recorded_cpus::spend(std::size_t index, nanoseconds until) {
    cpu& c = cpus_[index];
    recorded_cpu& r = into_.cpus[index];
    const nanoseconds time = until - c.since;
    switch (c.now) {
        case state::unknown: r.asleep += time; break;
        case state::asleep: {
            const nanoseconds served = c.woke == forever ? 0 : until - std::max(c.woke, c.since);
            r.served_in_idle += served;
            r.asleep += time - served;
            break;
        }
        case state::unknown_idle:
        case state::idle: r.in_idle_task += time; break;
        case state::task: r.in_tasks += time; break;
    }
    c.since = until;
}

void recorded_cpus::begin_stretch(cpu& c, nanoseconds time) noexcept {
    // It is busy from when it woke, if it slept; what it did between then and now belongs to it.
    if (c.woke == forever) {
        c.stretch = time;
        c.handlers = 0;
    } else {
        c.stretch = c.woke;
    }
}

void recorded_cpus::end_stretch(std::size_t index, nanoseconds time) {
    cpu& c = cpus_[index];
    const nanoseconds length = time - c.stretch;
    // The handlers run again by themselves.
    const nanoseconds kept = length - std::min(length, c.handlers);
    if (kept != 0) into_.load.recorded_busy.push_back({index, c.stretch, kept});
    into_.cpus[index].busy_kept += kept;
    c.handlers = 0;
    c.woke = forever;
}

void recorded_cpus::handled(std::size_t index, nanoseconds time) {
    into_.cpus[index].in_handlers += time;
    cpus_[index].handlers += time;
}

void recorded_cpus::first_line(cpu& c, const trace_event& e) {
    const std::uint64_t pid = e.kind == trace_kind::switch_to ? e.previous : e.pid;
    c.pid = pid;
    c.since = c.last = begin_;
    if (pid == 0) {
        c.now = state::unknown_idle;
        c.woke = e.time;
    } else {
        c.now = state::task;
        c.stretch = begin_;
        c.tick_stopped = false;
    }
}

/// The line's task is not the one that was there: the CPU was away, or lines are missing.
void recorded_cpus::came_back(std::size_t index, const trace_event& e) {
    cpu& c = cpus_[index];
    const std::uint64_t pid = e.kind == trace_kind::switch_to ? e.previous : e.pid;
    if (c.unavailable && c.in_migration) {
        spend(index, c.last);
        if (c.now == state::task) end_stretch(index, c.last);
        into_.cpus[index].offline += e.time - c.last;
        plug(plug_kind::offline, index, c.last);
        plug(plug_kind::online, index, e.time);
        c.was_offline = true;
    } else {
        spend(index, e.time);
        if (c.now == state::task) end_stretch(index, e.time);
        ++into_.unmatched.switches;
    }
    c.pid = pid;
    c.in_migration = false;
    c.woke = e.time;
    c.handlers = 0;
    enter(c, pid == 0 ? state::idle : state::task, e.time);
    if (pid != 0) begin_stretch(c, e.time);
    c.tick_stopped = false;
}

void recorded_cpus::available(std::size_t index, nanoseconds time) {
    cpu& c = cpus_[index];
    if (!c.unavailable) return;
    c.unavailable = false;
    if (!c.was_offline) {
        plug(plug_kind::isolate, index, c.unavailable_since);
        plug(plug_kind::join, index, time);
    }
}

void recorded_cpus::line(const trace_event& e) {
    if (begin_ == forever) begin_ = e.time;
    cpu& c = cpus_[e.cpu];
    recorded_cpu& r = into_.cpus[e.cpu];
    ++r.lines;
    if (c.now == state::unknown)
        first_line(c, e);
    else if ((e.kind == trace_kind::switch_to ? e.previous : e.pid) != c.pid)
        came_back(e.cpu, e);
    c.last = e.time;

    switch (e.kind) {
        case trace_kind::idle_exit:
            ++r.wakeups;
            if (c.now == state::unknown_idle) c.now = state::asleep;
            spend(e.cpu, e.time);
            if (c.now == state::asleep) enter(c, state::idle, e.time);
            if (c.woke == forever) c.woke = e.time;
            break;
        case trace_kind::idle_enter:
            spend(e.cpu, e.time);
            if (c.now == state::task) break;  // cannot be; the line is not believed
            enter(c, state::asleep, e.time);
            c.woke = forever;
            c.handlers = 0;
            end_wait(e.cpu);
            c.waits_for_tick = !c.tick_stopped;
            c.ticked = false;
            break;
        case trace_kind::switch_to:
            spend(e.cpu, e.time);
            end_wait(e.cpu);
            if (c.now == state::task && e.next == 0) {
                end_stretch(e.cpu, e.time);
                enter(c, state::idle, e.time);
            } else if (c.now != state::task && e.next != 0) {
                begin_stretch(c, e.time);
                enter(c, state::task, e.time);
            }
            if (e.next == 0)
                ++r.stays;
            else
                c.tick_stopped = false;
            c.pid = e.next;
            c.in_migration = e.next_name.starts_with("migration/");
            break;
        case trace_kind::tick_stop:
            ++r.tick_stops;
            c.tick_stopped = true;
            break;
        case trace_kind::unavailable: {
            cpu& other = cpus_[e.other_cpu];
            if (!other.unavailable) {
                other.unavailable = true;
                other.was_offline = false;
                other.unavailable_since = e.time;
            }
            break;
        }
        case trace_kind::available: available(e.other_cpu, e.time); break;
        default:
            // An interrupt is served before the exit is printed on some machines.
            if (c.now == state::asleep && c.woke == forever) c.woke = e.time;
            break;
    }
}

void recorded_cpus::finish(nanoseconds end) {
    for (std::size_t i = 0; i < cpus_.size(); ++i) {
        cpu& c = cpus_[i];
        if (c.now == state::unknown) c.since = c.last = begin_;
        const bool gone = c.unavailable && !c.was_offline && c.in_migration;
        const nanoseconds last = gone ? c.last : end;
        spend(i, last);
        if (c.now == state::task) end_stretch(i, last);
        if (gone) {
            into_.cpus[i].offline += end - last;
            plug(plug_kind::offline, i, last);
        } else if (c.unavailable && !c.was_offline) {
            plug(plug_kind::isolate, i, c.unavailable_since);
        }
    }
}

}  // namespace whatif
