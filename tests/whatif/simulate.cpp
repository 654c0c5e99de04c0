// SPDX-License-Identifier: BSL-1.0

// Scenes of a few CPUs and timers, with every number worked out by hand.

#include "catch.hpp"
#include "timers.hpp"
#include "tiny_machine.hpp"

#include <tmigr/input_error.hpp>

using namespace whatif;
using namespace whatif::test;

TEST_CASE("what-if: timers of the wheel are due at ticks, coarser ones further away") {
    constexpr nanoseconds tick = 4 * ms;
    CHECK(wheel_time(0, 1, tick) == tick);
    CHECK(wheel_time(0, tick, tick) == tick);
    CHECK(wheel_time(0, tick + 1, tick) == 2 * tick);
    CHECK(wheel_time(0, 62 * tick, tick) == 62 * tick);
    CHECK(wheel_time(0, 63 * tick, tick) == 64 * tick);
    CHECK(wheel_time(0, 65 * tick, tick) == 72 * tick);
    CHECK(wheel_time(100 * tick, 165 * tick, tick) == 168 * tick);
    CHECK(wheel_time(0, 1000 * tick, tick) == 1024 * tick);
    for (nanoseconds wanted = 1; wanted < 3600 * second; wanted = wanted * 3 + 1)
        CHECK(wheel_time(0, wanted, tick) >= wanted);
}

TEST_CASE("what-if: without a tree the CPU wakes for its own timer") {
    workload load;
    load.timers = {global_timer(1, 10 * ms)};
    const result r = simulate(tiny({1024, 1024}), load, exactly("off", 20 * ms));
    CHECK(r.armed == 1);
    CHECK(r.run == 1);
    CHECK(r.enqueues == 1);
    CHECK(r.remote_lines == 0);
    CHECK(r.lateness.max() == 100 * us);  // due at 12 ms, and out of its state
    CHECK(r.cpus[0].wakeups == 0);
    CHECK(r.cpus[0].in_state == std::vector<nanoseconds>{0, 20 * ms});
    CHECK(r.cpus[1].wakeups == 1);
    CHECK(r.cpus[1].idles == 2);
    CHECK(r.cpus[1].in_state == std::vector<nanoseconds>{0, 20 * ms - 100 * us});
    CHECK(r.cpus[1].busy == 100 * us);
    CHECK(r.cpus[1].timers_run == 1);
    CHECK(r.cpus[1].timers_run_for_others == 0);
    CHECK(r.cpus[1].timer_interrupts == 1);
    CHECK(r.cpus[1].ticks == 0);
    CHECK(r.migrator_time == std::vector<nanoseconds>{0});
    // 40 ms, less 100 us, at 1 mW, and 100 us at 100 mW
    CHECK(r.joules == Approx((39.9 * 1 + 0.1 * 100) * 1e-6));
}

TEST_CASE("what-if: in the tree the last to fall asleep wakes for all") {
    workload load;
    load.timers = {global_timer(1, 10 * ms)};
    const result r = simulate(tiny({1024, 1024}), load, exactly("linux-default", 20 * ms));
    CHECK(r.cpus[0].wakeups == 1);  // CPU 0 fell asleep last
    CHECK(r.cpus[1].wakeups == 0);
    CHECK(r.cpus[0].timers_run == 1);
    CHECK(r.cpus[0].timers_run_for_others == 1);
    CHECK(r.migrations == std::vector<std::vector<std::uint64_t>>{{1}});
    CHECK(r.lateness.max() == 100 * us);
    CHECK(r.cpus[1].in_state == std::vector<nanoseconds>{0, 20 * ms});
}

TEST_CASE("what-if: who is awake runs the timers of sleepers at its ticks, and is in charge") {
    workload load;
    load.timers = {global_timer(1, 10 * ms, 8 * ms)};
    load.tasks = {hog(0)};
    const result r = simulate(tiny({1024, 1024}), load, exactly("linux-default", 29 * ms));
    CHECK(r.run == 3);  // at 12, 20 and 28 ms: it stays on the queue of CPU 1
    CHECK(r.lateness.max() == 0);
    CHECK(r.cpus[1].wakeups == 0);
    CHECK(r.cpus[0].timers_run_for_others == 3);
    CHECK(r.cpus[0].ticks == 7);
    CHECK(r.cpus[0].busy == 29 * ms);
    CHECK(r.migrator_time == std::vector<nanoseconds>{29 * ms});
}

TEST_CASE("what-if: a timer armed by work belongs to whoever ran the work") {
    workload load;
    load.timers = {global_timer(1, 10 * ms, 8 * ms)};
    load.timers[0].by_work = true;
    load.tasks = {hog(0)};
    const result r = simulate(tiny({1024, 1024}), load, exactly("linux-default", 29 * ms));
    CHECK(r.run == 3);
    CHECK(r.cpus[0].timers_run == 3);
    CHECK(r.cpus[0].timers_run_for_others == 1);
}

TEST_CASE("what-if: separate trees do not help each other") {
    workload load;
    load.timers = {global_timer(1, 10 * ms)};
    load.tasks = {hog(0)};
    const machine two = tiny({1024, 512});
    CHECK(simulate(two, load, exactly("linux-default", 20 * ms)).cpus[1].wakeups == 0);
    const result apart = simulate(two, load, exactly("split", 20 * ms));
    CHECK(apart.cpus[1].wakeups == 1);
    CHECK(apart.migrations == std::vector<std::vector<std::uint64_t>>{{0, 0}, {0, 0}});
    // Shut by its gate: classes of one CPU each.
    CHECK(simulate(two, load, exactly("gated-split:2", 20 * ms)).cpus[1].wakeups == 0);
}

TEST_CASE("what-if: the lowest capacity that is awake is in charge") {
    workload load;
    load.timers = {global_timer(2, 10 * ms, 8 * ms)};
    load.tasks = {hog(0), hog(1)};
    const machine three = tiny({1024, 512, 256});
    const result first = simulate(three, load, exactly("linux-default", 30 * ms));
    CHECK(first.migrator_time == std::vector<nanoseconds>{0, 0, 30 * ms});
    CHECK(first.migrations == std::vector<std::vector<std::uint64_t>>{{0, 0, 3}, {0, 0, 0}, {0, 0, 0}});
    const result low = simulate(three, load, exactly("prefer-low", 30 * ms));
    CHECK(low.migrator_time == std::vector<nanoseconds>{0, 30 * ms, 0});
    CHECK(low.migrations == std::vector<std::vector<std::uint64_t>>{{0, 3, 0}, {0, 0, 0}, {0, 0, 0}});
}

TEST_CASE("what-if: pinned and precise timers stay, deferrable ones do not wake") {
    workload load;
    load.timers = {global_timer(1, 10 * ms), global_timer(1, 10 * ms), global_timer(1, 10 * ms)};
    load.timers[0].kind = timer_kind::pinned;
    load.timers[1].kind = timer_kind::precise;
    load.timers[2].kind = timer_kind::deferrable;
    load.tasks = {hog(0)};
    const result r = simulate(tiny({1024, 1024}), load, exactly("linux-default", 20 * ms));
    // Precise at 10 ms, pinned at 12 ms, and then the deferrable one, since the CPU is at it.
    CHECK(r.cpus[1].wakeups == 2);
    CHECK(r.cpus[1].timers_run == 3);
    CHECK(r.cpus[1].busy == 200 * us);
    CHECK(r.enqueues == 0);
    CHECK(r.lateness.count() == 0);

    load.timers.erase(load.timers.begin(), load.timers.begin() + 2);
    const result alone = simulate(tiny({1024, 1024}), load, exactly("linux-default", 20 * ms));
    CHECK(alone.cpus[1].wakeups == 0);
    CHECK(alone.pending == 1);
}

TEST_CASE("what-if: a task that a remote timer wakes is woken on its own CPU") {
    workload load;
    task_plan waits;
    waits.name = "waits";
    waits.cpu = 1;
    waits.phases = {run{1 * ms}, wait_for{10 * ms}};
    load.tasks = {hog(0), waits};
    const result r = simulate(tiny({1024, 1024}), load, exactly("linux-default", 30 * ms));
    // Runs to 1 ms, waits for 11, due at 12; CPU 0 runs the timer and interrupts CPU 1, which runs
    // from 12.1 to 13.1; due at 24; runs from 24.1 to 25.1.
    CHECK(r.cpus[1].other_interrupts == 2);
    CHECK(r.cpus[1].timer_interrupts == 0);
    CHECK(r.cpus[1].wakeups == 2);
    CHECK(r.cpus[1].busy == 3 * ms + 200 * us);
    CHECK(r.cpus[0].timers_run_for_others == 2);
    CHECK(r.pending == 1);
}

TEST_CASE("what-if: work takes longer on smaller CPUs") {
    workload load;
    task_plan t;
    t.cpu = 1;
    t.allowed = {1};
    t.rounds = 1;
    t.phases = {run{3 * ms}};
    load.tasks = {t};
    const result r = simulate(tiny({1024, 512}), load, exactly("off", 20 * ms));
    CHECK(r.cpus[1].busy == 6 * ms);
    CHECK(r.cpus[1].ticks == 1);
}

TEST_CASE("what-if: push moves what an idle CPU arms in an interrupt to the nearest that is awake") {
    workload load;
    // Cancelled and armed anew at 5 ms, by an interrupt on CPU 1, and so on.
    load.timers = {global_timer(1, 10 * ms, 10 * ms)};
    load.timers[0].cancelled = 1;
    load.tasks = {hog(3)};
    const machine four = tiny({1024, 1024, 1024, 1024});
    const result r = simulate(four, load, exactly("push", 24 * ms));
    CHECK(r.cancelled == 4);  // at 5, 10, 15 and 20 ms
    CHECK(r.enqueues == 5);
    // The first is armed while all are awake; the others look at CPUs 0, 2 and 3, of which 3 is awake.
    CHECK(r.remote_lines == 4 * 3 * 3);
    CHECK(r.cpus[1].other_interrupts == 4);
    CHECK(simulate(four, load, exactly("push:off", 24 * ms)).remote_lines == 0);

    load.timers[0].cancelled = 0;
    CHECK(simulate(four, load, exactly("push", 25 * ms)).cpus[1].wakeups == 2);
}

TEST_CASE("what-if: push-rearm: a timer that re-arms itself stops waking the idle CPU") {
    workload load;
    load.timers = {global_timer(1, 8 * ms, 8 * ms)};
    load.tasks = {hog(0)};
    const machine two = tiny({1024, 1024});
    const result stays = simulate(two, load, exactly("push", 1 * second + 1 * ms));
    CHECK(stays.run > 80);
    CHECK(stays.cpus[1].wakeups == stays.run);
    const result moves = simulate(two, load, exactly("push-rearm", 1 * second + 1 * ms));
    CHECK(moves.run > 80);
    CHECK(moves.cpus[1].wakeups == 1);
    CHECK(moves.cpus[0].timers_run == moves.run - 1);
}

TEST_CASE("what-if: ilb: the timers of idle CPUs go to the balancer, which keeps its tick") {
    workload load;
    load.timers = {global_timer(1, 8 * ms, 8 * ms)};
    load.tasks = {hog(0)};
    const machine four = tiny({1024, 1024, 1024, 1024});
    const result without = simulate(four, load, exactly("ilb:off", 101 * ms));
    CHECK(without.cpus[1].wakeups == 8);  // at 8 ms, armed anew 100 us later, so at 20 ms, and so on
    CHECK(without.cpus[3].ticks == 25);  // the last CPU falls idle first
    CHECK(without.migrator_time == std::vector<nanoseconds>{101 * ms});
    const result with = simulate(four, load, exactly("ilb", 101 * ms));
    CHECK(with.cpus[1].wakeups == 0);
    CHECK(with.cpus[3].ticks == 25);
    CHECK(with.cpus[3].timers_run == 8);
    CHECK(simulate(four, load, exactly("ilb:2", 101 * ms)).cpus[2].ticks == 25);
    CHECK_THROWS_AS(simulate(four, load, exactly("ilb:4", 101 * ms)), tmigr::input_error);
}

TEST_CASE("what-if: hmp-kick kicks each idle big CPU but once") {
    workload load;
    for (const std::size_t cpu : {0u, 1u}) {
        task_plan t;
        t.name = "heavy";
        t.cpu = cpu;
        t.heavy = true;
        t.phases = {run{1 * second}};
        load.tasks.push_back(t);
    }
    const machine m = tiny({512, 512, 1024, 1024});
    // At 4 ms CPUs 0 and 1 each find two heavy tasks, and CPU 2 idle four times; it takes one task. At
    // 8 ms CPU 1 finds the other, and CPU 3, and so does CPU 2.
    const result old = simulate(m, load, exactly("hmp-kick-old", 30 * ms));
    CHECK(old.kicks == 6);
    CHECK(old.cpus[2].other_interrupts == 4);
    CHECK(old.cpus[3].other_interrupts == 2);
    CHECK(old.cpus[0].busy == 4 * ms + 100 * us);
    CHECK(old.cpus[1].busy == 8 * ms + 100 * us);
    // At 4 ms CPU 0 kicks both.
    const result now = simulate(m, load, exactly("hmp-kick", 30 * ms));
    CHECK(now.kicks == 2);
    CHECK(now.cpus[2].other_interrupts == 1);
    CHECK(now.cpus[3].other_interrupts == 1);
    CHECK(now.cpus[1].busy == 4 * ms + 100 * us);
    CHECK(simulate(m, load, exactly("push", 30 * ms)).kicks == 0);
}

TEST_CASE("what-if: who leaves hands over to somebody who looks after the rest") {
    workload load;
    load.timers = {global_timer(1, 10 * ms), global_timer(0, 30 * ms)};
    load.plugs = {{plug_event::what::offline, 0, 5 * ms}};
    // CPU 0 was armed for all. CPU 1 takes over its timer and the looking after.
    const result r = simulate(tiny({1024, 1024, 1024}), load, exactly("linux-default", 50 * ms));
    CHECK(r.run == 2);
    CHECK(r.lateness.max() == 100 * us);
    CHECK(r.cpus[0].offline == 45 * ms);
    CHECK(r.cpus[0].timers_run == 0);

    // Set apart it wakes for its own, and for nobody else.
    load.plugs[0].what = plug_event::what::isolate;
    const result apart = simulate(tiny({1024, 1024, 1024}), load, exactly("linux-default", 50 * ms));
    CHECK(apart.run == 2);
    CHECK(apart.cpus[0].timers_run == 1);
    CHECK(apart.cpus[0].timers_run_for_others == 0);

    load.plugs.push_back({plug_event::what::join, 0, 15 * ms});
    CHECK(simulate(tiny({1024, 1024, 1024}), load, exactly("linux-default", 50 * ms)).run == 2);
    load.plugs = {{plug_event::what::offline, 0, 5 * ms}, {plug_event::what::online, 0, 9 * ms}};
    const result back = simulate(tiny({1024, 1024, 1024}), load, exactly("linux-default", 50 * ms));
    CHECK(back.run == 2);
    CHECK(back.cpus[0].offline == 4 * ms);

    load.timers.clear();
    load.plugs = {{plug_event::what::offline, 0, 5 * ms}};
    CHECK_THROWS_AS(simulate(tiny({1024}), load, exactly("off", 50 * ms)), tmigr::input_error);
}

TEST_CASE("what-if: recorded timers and work") {
    workload load;
    load.recorded_timers = {{timer_kind::global, 1, 0, 8 * ms, forever, 0},
                            {timer_kind::global, 1, 2 * ms, 16 * ms, 12 * ms, 0},
                            {timer_kind::precise, 1, 3 * ms, 17 * ms, forever, 50 * us},
                            {timer_kind::pinned, 1, 3 * ms, 17 * ms, forever, 0}};
    load.recorded_busy = {{1, 4 * ms, 1 * ms}};
    load.length = 30 * ms;
    const result r = simulate(tiny({1024, 1024}), load, exactly("off", 0));
    CHECK(r.length == 30 * ms);
    CHECK(r.armed == 4);
    CHECK(r.run == 3);
    CHECK(r.cancelled == 1);
    // At 4 ms for the work, at 8 for the first timer, at 17 for the precise one, at 20 for the pinned one.
    CHECK(r.cpus[1].wakeups == 4);
    CHECK(r.cpus[1].busy == 1 * ms + 50 * us + 4 * 100 * us);
}

TEST_CASE("what-if: what no simulation can be made of") {
    const workload none;
    const machine one = tiny({1024});
    CHECK_THROWS_AS(simulate(one, none, exactly("off", 0)), tmigr::input_error);
    CHECK_THROWS_AS(simulate(one, none, exactly("of", 1 * ms)), tmigr::input_error);
    CHECK_THROWS_AS(simulate(machine{}, none, exactly("off", 1 * ms)), tmigr::input_error);
    CHECK_THROWS_AS(simulate(one, none, exactly("off", forever)), tmigr::input_error);
    workload bad;
    bad.timers = {global_timer(1, 1)};
    CHECK_THROWS_AS(simulate(one, bad, exactly("off", 1 * ms)), tmigr::input_error);
    bad.timers = {global_timer(0, 1, 1)};
    CHECK_THROWS_AS(simulate(one, bad, exactly("off", 1 * ms)), tmigr::input_error);
    bad.timers.clear();
    bad.tasks = {hog(1)};
    CHECK_THROWS_AS(simulate(one, bad, exactly("off", 1 * ms)), tmigr::input_error);
}
