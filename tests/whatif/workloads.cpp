// SPDX-License-Identifier: BSL-1.0
#include "idle_states.hpp"
#include "named_workloads.hpp"

#include <support/input.hpp>

#include <tmigr/io/cpus.hpp>

#include <catch.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <variant>

using namespace whatif;
using tmigr::test::refused;

namespace {

machine machine_of(std::size_t cpus) {
    tmigr::topology t;
    for (std::size_t i = 0; i < cpus; ++i) t.add(static_cast<tmigr::cpu_id>(i), 0);
    return make_machine(std::move(t), "uniform");
}
machine shipped(const char* file) {
    return make_machine(tmigr::read_cpus(std::filesystem::path{TMIGR_WHATIF_MACHINES} / file), file);
}

/// Everything that a simulation goes by refers to what is there and lets time pass.
void check_sound(const workload& w, const machine& m) {
    CAPTURE(w.name, m.size());
    CHECK_FALSE(w.name.empty());
    CHECK(w.length == 0);
    for (const timer_plan& t : w.timers) {
        CHECK(t.cpu < m.size());
        CHECK(t.period > 0);
        CHECK(t.first <= t.period);
        CHECK((t.wakes == nobody || t.wakes < w.tasks.size()));
        CHECK((t.jitter >= 0 && t.jitter < 1 && t.cancelled >= 0 && t.cancelled < 1));
    }
    for (const interrupt_plan& i : w.interrupts) {
        CHECK(i.cpu < m.size());
        CHECK(i.mean > 0);
    }
    std::set<std::string> names;
    for (const task_plan& t : w.tasks) {
        CHECK(names.insert(t.name).second);
        CHECK(t.cpu < m.size());
        for (const std::size_t cpu : t.allowed) CHECK(cpu < m.size());
        CHECK((t.allowed.empty() || std::ranges::find(t.allowed, t.cpu) != t.allowed.end()));
        bool takes_time = false;
        for (const phase& p : t.phases) {
            if (const auto* const wake = std::get_if<wake_task>(&p)) CHECK(wake->task < w.tasks.size());
            if (const auto* const r = std::get_if<run>(&p)) takes_time |= r->work > 0;
        }
        CHECK(takes_time);
    }
}

std::size_t timers(const workload& w, timer_kind kind) {
    return static_cast<std::size_t>(std::ranges::count(w.timers, kind, &timer_plan::kind));
}

}  // namespace

TEST_CASE("named workloads fit every machine", "[whatif][workloads]") {
    CHECK(workload_names().size() == 7);
    for (const std::size_t cpus : {1u, 2u, 15u, 16u, 512u}) {
        const machine m = machine_of(cpus);
        for (const std::string_view name : workload_names()) {
            if (name == "ilb-2009" && cpus < 16) continue;
            const workload w = make_workload(name, m);
            CHECK(w.name == name);
            check_sound(w, m);
        }
    }
    CHECK(refused([] { make_workload("ilb-2009", machine_of(15)); }).value() == "15 CPUs");
    const tmigr::input_error unknown = refused([] { make_workload("idl", machine_of(2)); });
    CHECK(unknown.value() == "idl");
    CHECK(unknown.expected() ==
          "a workload: idle, little-pin, tbench-like, schbench-like, ilb-2009, heavy-on-little, enqueue-99");
    CHECK_THROWS_AS(make_workload("idle", machine{}), tmigr::input_error);
}

TEST_CASE("idle has timers of each kind on each CPU, spread over their period", "[whatif][workloads]") {
    const machine m = machine_of(8);
    const workload w = make_idle(m);
    CHECK(timers(w, timer_kind::global) == 8 + 2);
    CHECK(timers(w, timer_kind::pinned) == 8);
    CHECK(timers(w, timer_kind::deferrable) == 8);
    CHECK(timers(w, timer_kind::precise) == 8);
    CHECK(w.tasks.size() == 8);
    CHECK(w.interrupts.size() == 1);
    std::set<nanoseconds> firsts;
    for (const timer_plan& t : w.timers)
        if (t.kind == timer_kind::pinned) firsts.insert(t.first);
    CHECK(firsts.size() == 8);
    CHECK(*firsts.begin() < idle_background{}.pinned_period / 8);
    CHECK(*firsts.rbegin() > idle_background{}.pinned_period / 8 * 7);

    idle_background none{};
    none.global_mean = none.global_every = none.pinned_period = none.deferrable_period = none.precise_mean =
        none.device_on_first_mean = 0;
    const workload nothing = make_idle(m, none);
    CHECK((nothing.timers.empty() && nothing.tasks.empty() && nothing.interrupts.empty()));
}

TEST_CASE("little-pin has a loop on each of four little CPUs", "[whatif][workloads]") {
    const machine rock = shipped("rk3576.cpus");
    const workload w = make_workload("little-pin", rock);
    REQUIRE(w.tasks.size() == 8 + 4);
    for (std::size_t i = 0; i < 4; ++i) {
        const task_plan& t = w.tasks[8 + i];
        CHECK(t.allowed == std::vector<std::size_t>{i});
        CHECK(std::get<sleep_for>(t.phases.at(1)).length == 4'000'000);
    }
    // On the Orion O6 the little CPUs are 2 to 5.
    const workload orion = make_workload("little-pin", shipped("orion-o6.cpus"));
    CHECK(orion.tasks.at(12).allowed == std::vector<std::size_t>{2});
    CHECK(orion.tasks.at(15).allowed == std::vector<std::size_t>{5});
}

TEST_CASE("ilb-2009 is the experiment of 2009", "[whatif][workloads]") {
    const machine m = machine_of(16);
    const workload w = make_workload("ilb-2009", m);
    const auto pinned_to = [&](std::size_t cpu) {
        return std::ranges::count_if(w.tasks,
                                     [&](const task_plan& t) { return t.allowed == std::vector{cpu}; });
    };
    for (std::size_t cpu = 0; cpu < 16; ++cpu)
        CHECK(pinned_to(cpu) == ((cpu >= 4 && cpu < 8) || cpu == 15 ? 1 : 0));
    const auto driver = std::ranges::find_if(
        w.timers, [&](const timer_plan& t) { return t.kind == timer_kind::global && t.period < m.tick(); });
    REQUIRE(driver != w.timers.end());
    CHECK(driver->cpu == 10);
}

TEST_CASE("heavy tasks begin on little CPUs and may go anywhere", "[whatif][workloads]") {
    const workload w = make_workload("heavy-on-little", shipped("rk3576.cpus"));
    std::size_t heavy = 0;
    for (const task_plan& t : w.tasks) {
        if (!t.heavy) continue;
        CHECK(t.cpu == heavy);
        CHECK(t.allowed.empty());
        ++heavy;
    }
    CHECK(heavy == 4);
}

TEST_CASE("enqueue-99 cancels 99 of 100", "[whatif][workloads]") {
    const workload w = make_workload("enqueue-99", machine_of(8));
    CHECK(std::ranges::count(w.timers, 0.99, &timer_plan::cancelled) == 32);
    CHECK(std::ranges::count_if(w.tasks, [](const task_plan& t) { return !t.allowed.empty(); }) == 2);
}

TEST_CASE("the same machine gives the same workload", "[whatif][workloads]") {
    for (const std::string_view name : workload_names()) {
        const workload a = make_workload(name, machine_of(16)), b = make_workload(name, machine_of(16));
        REQUIRE(a.timers.size() == b.timers.size());
        for (std::size_t i = 0; i < a.timers.size(); ++i) CHECK(a.timers[i].first == b.timers[i].first);
        REQUIRE(a.tasks.size() == b.tasks.size());
        for (std::size_t i = 0; i < a.tasks.size(); ++i) CHECK(a.tasks[i].start == b.tasks[i].start);
    }
}
