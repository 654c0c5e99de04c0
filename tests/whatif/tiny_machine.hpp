// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_WHATIF_TINY_MACHINE_HPP
#define TMIGR_TESTS_WHATIF_TINY_MACHINE_HPP

#include "simulate.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>

namespace whatif::test {

inline constexpr nanoseconds us = 1'000, ms = 1'000'000, second = 1'000'000'000;

/// CPUs of these capacities, 4 ms a tick. To wait costs nothing; to get out of "off" takes 100 us,
/// and it pays from 1 ms on.
inline machine tiny(std::initializer_list<unsigned> capacities) {
    machine m;
    m.name = "tiny";
    tmigr::cpu_id id = 0;
    for (const unsigned c : capacities) m.cpus.add(id++, 0, c);
    m.tables = {{{{"wait", 0, 0, 0, 10}, {"off", 0, 100 * us, 1 * ms, 1}}, 100}};
    m.table_of.assign(m.cpus.size(), 0);
    return m;
}

/// Nothing costs anything, and CPUs know how long they will sleep: for sums on paper.
inline simulation exactly(std::string policy, nanoseconds length) {
    simulation s;
    s.policy = std::move(policy);
    s.length = length;
    s.guess = predictor::perfect;
    s.costs = {0, 0};
    return s;
}

inline timer_plan global_timer(std::size_t cpu, nanoseconds first, nanoseconds period = 0) {
    timer_plan t;
    t.cpu = cpu;
    t.first = first;
    t.period = period;
    return t;
}

/// A task that runs for ever on one CPU.
inline task_plan hog(std::size_t cpu) {
    task_plan t;
    t.name = "hog";
    t.cpu = cpu;
    t.allowed = {cpu};
    t.phases = {run{1 * second}};
    return t;
}

inline std::uint64_t sum(const result& r, std::uint64_t cpu_result::*what) {
    std::uint64_t all = 0;
    for (const cpu_result& c : r.cpus) all += c.*what;
    return all;
}

}  // namespace whatif::test

#endif
