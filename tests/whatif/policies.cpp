// SPDX-License-Identifier: BSL-1.0

// What must hold of every policy and workload, and what the named workloads are to show.

#include "catch.hpp"
#include "idle_states.hpp"
#include "named_workloads.hpp"
#include "random.hpp"
#include "tiny_machine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

using namespace whatif;
using namespace whatif::test;

namespace {

machine random_machine(random_source& random) {
    machine m;
    m.name = "random";
    const std::uint64_t cpus = 1 + random.up_to(19);
    const unsigned capacities[] = {1024, 279, 866, 512};
    for (std::uint64_t c = 0; c < cpus; ++c)
        m.cpus.add(static_cast<tmigr::cpu_id>(2 * c), static_cast<tmigr::node_id>(c / 7),
                   capacities[random.up_to(3)]);
    m.tables = {default_idle_table(), tiny({1024}).tables[0], {{{"only", 5 * us, 2 * us, 1 * us}}}};
    for (std::uint64_t c = 0; c < cpus; ++c) m.table_of.push_back(random.up_to(2));
    const unsigned rates[] = {100, 250, 300, 1000};
    m.hertz = rates[random.up_to(3)];
    return m;
}

phase random_phase(random_source& random, std::size_t tasks) {
    switch (random.up_to(5)) {
        case 0: return sleep_for{random.up_to(20 * ms)};
        case 1: return wait_for{random.up_to(50 * ms)};
        case 2: return sleep_until_period{1 * ms + random.up_to(20 * ms)};
        case 3: return wait_for_wake{};
        case 4: return wake_task{random.up_to(tasks - 1)};
        default: return run{random.up_to(6 * ms)};
    }
}

workload random_workload(random_source& random, std::size_t cpus) {
    workload load;
    load.name = "random";
    const auto cpu = [&] { return static_cast<std::size_t>(random.up_to(cpus - 1)); };
    const std::size_t tasks = 1 + random.up_to(6);
    for (std::size_t t = 0; t < tasks; ++t) {
        task_plan plan;
        plan.name = "task";
        plan.cpu = cpu();
        if (random.up_to(2) == 0) plan.allowed = {plan.cpu, cpu()};
        if (random.up_to(1) == 0) plan.start = random.up_to(30 * ms);
        if (random.up_to(4) == 0) plan.rounds = 1 + random.up_to(9);
        plan.heavy = random.up_to(1) == 0;
        for (std::uint64_t n = random.up_to(4); n-- > 0;) plan.phases.push_back(random_phase(random, tasks));
        load.tasks.push_back(plan);
    }
    for (std::uint64_t n = random.up_to(30); n-- > 0;) {
        timer_plan t = global_timer(cpu(), 0);
        t.first = random.up_to(60 * ms);
        t.kind = static_cast<timer_kind>(random.up_to(3));
        if (random.up_to(3) != 0) t.period = 1 * ms + random.up_to(40 * ms);
        if (random.up_to(3) == 0) t.jitter = 1;
        t.random = random.up_to(2) == 0;
        t.by_work = random.up_to(2) == 0;
        t.handler = random.up_to(30 * us);
        if (random.up_to(2) == 0) t.cancelled = 0.9;
        if (random.up_to(3) == 0) t.wakes = random.up_to(tasks - 1);
        load.timers.push_back(t);
    }
    for (std::uint64_t n = random.up_to(3); n-- > 0;)
        load.interrupts.push_back({cpu(), 1 * ms + random.up_to(20 * ms), random.up_to(1) == 0, random.up_to(20 * us)});
    nanoseconds at = 0;
    for (std::uint64_t n = random.up_to(40); n-- > 0;) {
        at += random.up_to(8 * ms);
        const nanoseconds expires = at + random.up_to(80 * ms);
        load.recorded_timers.push_back({static_cast<timer_kind>(random.up_to(3)), cpu(), at, expires,
                                        random.up_to(2) == 0 ? at + random.up_to(90 * ms) : forever,
                                        random.up_to(20 * us)});
        load.recorded_busy.push_back({cpu(), at + random.up_to(4 * ms), random.up_to(3 * ms)});
    }
    std::ranges::sort(load.recorded_busy, {}, &recorded_busy::from);
    at = 0;
    // CPU 0 stays.
    if (cpus > 1)
        for (std::uint64_t n = random.up_to(12); n-- > 0;) {
            at += random.up_to(30 * ms);
            const auto what = static_cast<decltype(plug_event::what)>(random.up_to(3));
            load.plugs.push_back({what, 1 + random.up_to(cpus - 2), at});
        }
    return load;
}

std::uint64_t digest(const result& r) {
    std::uint64_t hash = 14695981039346656037u;
    const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
    for (const cpu_result& c : r.cpus) {
        for (const nanoseconds t : c.in_state) add(t);
        for (const std::uint64_t v : {c.busy, c.offline, c.idles, c.wakeups, c.ticks, c.timer_interrupts,
                                      c.other_interrupts, c.too_deep, c.too_shallow, c.timers_run, c.timers_run_for_others})
            add(v);
    }
    for (const auto& row : r.migrations)
        for (const std::uint64_t v : row) add(v);
    for (const nanoseconds t : r.migrator_time) add(t);
    for (const std::uint64_t v : {r.lateness.max(), r.lateness.count(), r.armed, r.run, r.cancelled, r.pending,
                                  r.enqueues, r.remote_lines, r.kicks, r.events})
        add(v);
    return hash;
}

machine equal_cpus(std::size_t cpus, std::size_t per_node) {
    tmigr::topology t;
    for (std::size_t c = 0; c < cpus; ++c)
        t.add(static_cast<tmigr::cpu_id>(c), static_cast<tmigr::node_id>(c / per_node));
    return make_machine(t, "equal");
}

simulation under(std::string policy, nanoseconds length) {
    simulation s;
    s.policy = std::move(policy);
    s.length = length;
    return s;
}

}  // namespace

TEST_CASE("what-if: random workloads under all policies lose nothing, and the same happens again") {
    // `simulate` throws where timers are lost or late, or times do not add up.
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        random_source random(seed, 7);
        const machine m = random_machine(random);
        const workload load = random_workload(random, m.size());
        for (const std::string& name : policies()) {
            INFO("seed " << seed << ", " << name);
            simulation how = under(name, 300 * ms);
            how.seed = seed;
            how.guess = seed % 3 == 0 ? predictor::perfect : predictor::menu;
            how.tick_stops = seed % 7 != 0;
            const result once = simulate(m, load, how);
            CHECK(once.armed == once.run + once.cancelled + once.pending);
            if (seed < 10) CHECK(digest(simulate(m, load, how)) == digest(once));
        }
    }
}

TEST_CASE("what-if: all policies meet the same timers and interrupts") {
    const machine m = equal_cpus(8, 8);
    workload load = make_idle(m);
    for (timer_plan& t : load.timers) t.wakes = nobody;
    const result off = simulate(m, load, under("off", 20 * second));
    for (const std::string& name : policies()) {
        const result r = simulate(m, load, under(name, 20 * second));
        // A handler that runs a little later arms a little later.
        CHECK(std::abs(static_cast<double>(r.run) - static_cast<double>(off.run)) <= 0.02 * static_cast<double>(off.run));
    }
}

TEST_CASE("what-if: ilb-2009: the driver's CPU falls silent, the balancer's does not") {
    const machine m = equal_cpus(16, 16);
    const workload load = make_workload("ilb-2009", m);
    const auto interrupts = [](const cpu_result& c) { return c.timer_interrupts; };
    const result without = simulate(m, load, under("ilb:off", 10 * second));
    const result with = simulate(m, load, under("ilb:15", 10 * second));
    CHECK(interrupts(without.cpus[10]) > 2300);
    CHECK(interrupts(with.cpus[10]) < 60);
    CHECK(interrupts(without.cpus[15]) > 2300);
    CHECK(interrupts(with.cpus[15]) > 2300);
    for (const std::size_t job : {4u, 5u, 6u, 7u}) {
        CHECK(interrupts(without.cpus[job]) > 2300);
        CHECK(interrupts(with.cpus[job]) > 2300);
    }
}

TEST_CASE("what-if: what it costs to place timers, push and the tree, from 8 to 512 CPUs") {
    double before = 0;
    for (std::size_t cpus = 8; cpus <= 512; cpus *= 4) {
        const machine m = equal_cpus(cpus, 64);
        workload load = make_workload("enqueue-99", m);
        // One CPU is busy, so the search is long; what the background wakes stays.
        std::erase_if(load.tasks, [first = true](const task_plan& t) mutable {
            return t.name.starts_with("serve/") && !std::exchange(first, false);
        });
        const nanoseconds length = cpus <= 32 ? 2 * second : second / 2;
        const result push = simulate(m, load, under("push", length));
        const result tree = simulate(m, load, under("linux-default", length));
        REQUIRE(push.cancelled > 5 * push.lateness.count());
        const double by_push = static_cast<double>(push.remote_lines) / static_cast<double>(push.enqueues);
        const double by_tree = static_cast<double>(tree.remote_lines) / static_cast<double>(tree.enqueues);
        INFO(cpus << " CPUs: push " << by_push << " lines for each timer, tree " << by_tree);
        CHECK(by_push > before);
        CHECK(by_tree < 7);
        before = by_push;
        CHECK(simulate(m, load, under("push:off", length)).remote_lines == 0);
    }
    CHECK(before > 100);
}

TEST_CASE("what-if: hmp-kick: fewer interrupts to big CPUs than in the old way") {
    machine m = tiny({442, 442, 442, 442, 1024, 1024, 1024, 1024});
    const workload load = make_workload("heavy-on-little", m);
    const auto to_big = [&](const char* policy) {
        const result r = simulate(m, load, under(policy, 10 * second));
        std::uint64_t all = 0;
        for (std::size_t c = 4; c < 8; ++c) all += r.cpus[c].other_interrupts;
        return all;
    };
    const std::uint64_t old = to_big("hmp-kick-old"), now = to_big("hmp-kick");
    CHECK(4 * now < 3 * old);  // more than 25 per cent fewer were reported
    CHECK(now > 0);
}

TEST_CASE("what-if: memory does not grow with simulated time") {
    const machine m = equal_cpus(8, 8);
    const workload load = make_workload("enqueue-99", m);
    const result few = simulate(m, load, under("linux-default", 1 * second));
    const result many = simulate(m, load, under("linux-default", 20 * second));
    // What is armed at the end is what holds memory.
    CHECK(many.pending <= few.pending + 10);
    CHECK(many.armed > 15 * few.armed);
}

TEST_CASE("what-if: the same numbers on every compiler") {
    random_source random(4711, 1);
    const machine m = random_machine(random);
    const workload load = random_workload(random, m.size());
    // Read off a run; that g++ and clang agree is what matters.
    CHECK(digest(simulate(m, load, under("off", 1 * second))) == 5563675882006051377u);
    CHECK(digest(simulate(m, load, under("linux-default", 1 * second))) == 15192931132915279155u);
    CHECK(digest(simulate(m, load, under("prefer-low", 1 * second))) == 9505617269045851469u);
    CHECK(digest(simulate(m, load, under("push-rearm", 1 * second))) == 1150620447341056441u);
    CHECK(digest(simulate(m, load, under("ilb", 1 * second))) == 4038806979475960440u);
}
