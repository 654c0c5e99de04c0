// SPDX-License-Identifier: BSL-1.0
#include "chrome_trace.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace whatif {

namespace {

/// Chrome counts in microseconds.
std::string microseconds(nanoseconds time) { return fmt::format("{}.{:03}", time / 1000, time % 1000); }

std::string json_string(std::string_view text) {
    return nlohmann::json(std::string{text}).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

chrome_process::chrome_process(chrome_trace& to, const machine& hardware, std::string_view policy, unsigned process,
                               window shown)
    : to_(to), hardware_(hardware), process_(process), shown_(shown), open_(hardware.size() + 1) {
    to_.event() << fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", process_,
                               json_string(policy));
    to_.event() << fmt::format(R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
                               process_);
    const auto track = [&](std::size_t number, const std::string& name) {
        to_.event() << fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})",
                                   process_, number, json_string(name));
        to_.event() << fmt::format(
            R"({{"ph":"M","pid":{0},"tid":{1},"name":"thread_sort_index","args":{{"sort_index":{1}}}}})", process_,
            number);
    };
    for (std::size_t cpu = 0; cpu < hardware.size(); ++cpu)
        track(cpu, fmt::format("CPU {} ({})", hardware.cpus.cpus()[cpu].id, hardware.cpus.cpus()[cpu].capacity));
    track(hardware.size(), "in charge");
}

void chrome_process::end(std::size_t track, nanoseconds now) {
    slice& one = open_[track];
    const nanoseconds from = std::max(one.since, shown_.from);
    const nanoseconds to = std::min(now, shown_.to);
    if (one.since == forever || from >= to) return;
    to_.event() << fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}"}})", process_,
                               track, microseconds(from), microseconds(to - from), json_string(one.name), one.category);
}

void chrome_process::change(std::size_t track, nanoseconds now, std::string name, const char* category) {
    end(track, now);
    open_[track] = {now, std::move(name), category};
}

void chrome_process::busy(std::size_t cpu, nanoseconds now, std::string_view what) {
    change(cpu, now, what.empty() ? "busy" : std::string{what}, "busy");
}

void chrome_process::idle(std::size_t cpu, nanoseconds now, std::size_t state, bool tick_stopped) {
    const auto& states = hardware_.tables[hardware_.table_of[cpu]].states;
    const std::string name = state < states.size() ? states[state].name : fmt::format("idle state {}", state);
    change(cpu, now, tick_stopped ? name : name + ", ticking", "idle");
}

void chrome_process::offline(std::size_t cpu, nanoseconds now) { change(cpu, now, "offline", "offline"); }

void chrome_process::migrator(std::size_t cpu, nanoseconds now) {
    if (cpu < hardware_.size())
        change(hardware_.size(), now, fmt::format("CPU {}", hardware_.cpus.cpus()[cpu].id), "migrator");
    else
        change(hardware_.size(), now, "nobody", "migrator");
}

void chrome_process::timer(std::uint64_t id, std::size_t owner, std::size_t runner, nanoseconds due,
                           nanoseconds now) {
    if (owner == runner || now < shown_.from || now >= shown_.to) return;
    // An arrow that would begin outside of the picture begins at its edge.
    const nanoseconds from = std::clamp(due, shown_.from, now);
    const auto arrow = [&](const char* which, std::size_t track, nanoseconds time) {
        to_.event() << fmt::format(
            R"({{"ph":{},"pid":{},"tid":{},"ts":{},"id":{},"name":"timer","cat":"migration","args":{{"timer":{}}}}})",
            which, process_, track, microseconds(time), (std::uint64_t{process_} << 40) + flows_, id);
    };
    arrow(R"("s")", owner, from);
    arrow(R"("f","bp":"e")", runner, now);
    ++flows_;
}

void chrome_process::finish(nanoseconds now) {
    for (std::size_t track = 0; track < open_.size(); ++track) {
        end(track, now);
        open_[track].since = forever;
    }
}

}  // namespace whatif
