// SPDX-License-Identifier: BSL-1.0
#include "recording.hpp"
#include "idle_states.hpp"

#include <support/input.hpp>

#include <tmigr/io/cpus.hpp>

#include <catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

using namespace whatif;
using tmigr::test::refused;

namespace {

machine machine_of(std::size_t cpus) {
    tmigr::topology t;
    for (std::size_t i = 0; i < cpus; ++i) t.add(static_cast<tmigr::cpu_id>(i), 0);
    return make_machine(std::move(t), "uniform");
}

std::string line(const char* task, int cpu, const char* time, const std::string& event) {
    return std::string{"  "} + task + " [00" + std::to_string(cpu) + "] d..1. " + time + ": " + event + "\n";
}
recording read(const std::string& text, std::size_t cpus = 2) {
    std::istringstream in{text};
    return read_recording(in, "dir/a.trace", machine_of(cpus));
}
const recorded_kind& of(const recording& r, timer_kind kind) {
    return r.timers[static_cast<std::size_t>(kind)];
}

/// Jiffy 4294892296 is 0 of the monotonic clock: 1 s later, at 250 a second.
constexpr const char* jiffy_1s = "4294892546";

void check_adds_up(const recording& r) {
    std::uint64_t in = 0, ran = 0, cancelled = 0;
    for (const recorded_kind& k : r.timers) {
        CHECK(k.in() == k.out());
        in += k.in();
        ran += k.expired;
        cancelled += k.cancelled + k.moved + k.forgotten;
    }
    CHECK(r.load.recorded_timers.size() == in);
    std::uint64_t cancelled_of_load = 0;
    nanoseconds handlers = 0;
    for (const recorded_timer& t : r.load.recorded_timers) {
        CHECK(t.cpu < r.cpus.size());
        CHECK(t.armed <= t.expires);
        if (t.cancelled != forever) {
            ++cancelled_of_load;
            CHECK(t.cancelled >= t.armed);
            CHECK(t.cancelled <= r.load.length);
        }
        handlers += t.handler;
    }
    CHECK(cancelled_of_load == cancelled);

    std::uint64_t expiries = 0;
    nanoseconds in_handlers = 0, busy = 0;
    for (const recorded_cpu& c : r.cpus) {
        CHECK(c.in_tasks + c.in_idle_task + c.asleep + c.served_in_idle + c.offline == r.window);
        expiries += c.own_expiries + c.remote_expiries + c.precise_expiries;
        in_handlers += c.in_handlers;
        busy += c.busy_kept;
        // What is kept is what tasks took, with what led to them, without the timers' handlers.
        CHECK(c.busy_kept <= c.in_tasks + c.in_idle_task + c.served_in_idle);
        CHECK(c.busy_kept + c.in_handlers >= c.in_tasks);
    }
    CHECK(expiries == ran);
    CHECK(in_handlers == handlers);
    const nanoseconds busy_of_load =
        std::accumulate(r.load.recorded_busy.begin(), r.load.recorded_busy.end(), nanoseconds{0},
                        [](nanoseconds sum, const whatif::recorded_busy& b) { return sum + b.length; });
    CHECK(busy == busy_of_load);

    CHECK(std::ranges::is_sorted(r.load.recorded_timers, {}, &recorded_timer::armed));
    CHECK(std::ranges::is_sorted(r.load.recorded_busy, {}, &whatif::recorded_busy::from));
    CHECK(std::ranges::is_sorted(r.load.plugs, {}, &plug_event::at));
    CHECK(r.load.length >= r.window);
    // Stretches of a CPU do not overlap, and end before the recording does.
    std::vector<nanoseconds> free_from(r.cpus.size(), 0);
    for (const whatif::recorded_busy& b : r.load.recorded_busy) {
        CHECK(b.from >= free_from[b.cpu]);
        free_from[b.cpu] = b.from + b.length;
        CHECK(free_from[b.cpu] <= r.load.length);
    }
}

/// What the description of the captures, made by another program, counts in them.
struct facts {
    const char* name;
    std::uint64_t expiries, before, cancelled, pending, elsewhere;  ///< wheel timers
    std::uint64_t exits;                                            ///< from cpu_idle
    std::uint64_t ticks_and_precise, precise_before, restarts, unknown_cancels;
    double offset;
    std::vector<double> idle_share;
    const char* silent;  ///< the CPU that never appears
};
const facts captures[] = {
    {"8cpu-idle",
     288,
     12,
     2,
     14,
     57,
     628,
     593,
     1,
     0,
     5,
     -0.0259,
     {1.00, 1.00, 0.99, 1.00, 1.00, 0.99, 0.99, 1.00},
     "3"},
    {"8cpu-pin4ms",
     60,
     14,
     3,
     13,
     16,
     1867,
     1942,
     0,
     0,
     6,
     -0.0309,
     {0.95, 0.96, 0.97, 0.94, 0.97, 0.96, 0.99, 0.97},
     ""},
    {"16cpu-2node-mixed",
     462,
     24,
     31,
     24,
     151,
     3163,
     2970,
     1,
     0,
     7,
     -0.0296,
     {0.99, 0.92, 0.94, 0.99, 0.98, 0.98, 0.99, 0.97, 0.98, 0.99, 0.99, 1.00, 1.00, 0.98, 0.95, 0.97},
     ""},
    {"arm64-12cpu-3capacity-idle",
     291,
     20,
     0,
     13,
     50,
     702,
     688,
     5,
     0,
     6,
     0.6240,
     {0.99, 1.00, 1.00, 1.00, 1.00, 1.00, 1.00, 0.99, 1.00, 0.97, 1.00, 1.00},
     "4"},
    {"arm64-12cpu-3capacity-mixed",
     457,
     21,
     38,
     18,
     151,
     2556,
     2645,
     1,
     0,
     9,
     0.6774,
     {0.91, 0.93, 0.96, 0.96, 0.96, 0.98, 0.99, 0.96, 0.97, 0.93, 0.96, 0.87},
     ""},
    {"8cpu-hotplug",
     469,
     20,
     52,
     20,
     130,
     2683,
     2637,
     2,
     3,
     6,
     -0.0296,
     {0.84, 0.86, 0.84, 0.63, 0.84, 0.64, 0.50, 0.82},
     ""},
};

recording read_capture(const std::string& name) {
    const std::string path = std::string{TMIGR_TEST_WORKLOADS} + "/workload-7.3-" + name;
    return read_recording(std::filesystem::path{path + ".trace"},
                          make_machine(tmigr::read_cpus(std::filesystem::path{path + ".topology"}), name));
}

}  // namespace

TEST_CASE("recordings of running kernels: all that is in them is accounted for", "[whatif][recording]") {
    for (const facts& f : captures) {
        CAPTURE(f.name);
        const recording r = read_capture(f.name);
        check_adds_up(r);

        recorded_kind wheel;
        for (const timer_kind kind : {timer_kind::global, timer_kind::pinned, timer_kind::deferrable}) {
            const recorded_kind& k = of(r, kind);
            wheel.armed_before += k.armed_before;
            wheel.expired += k.expired;
            wheel.cancelled += k.cancelled;
            wheel.moved += k.moved;
            wheel.pending += k.pending;
            wheel.expired_elsewhere += k.expired_elsewhere;
            wheel.forgotten += k.forgotten;
        }
        CHECK(wheel.expired == f.expiries);
        CHECK(r.own_expiries() + r.remote_expiries() == f.expiries);
        CHECK(wheel.armed_before == f.before);
        CHECK(wheel.cancelled == f.cancelled);
        CHECK(wheel.pending == f.pending);
        CHECK(wheel.expired_elsewhere == f.elsewhere);
        CHECK(wheel.moved + wheel.forgotten == 0);
        // Only global timers are run by others.
        CHECK(of(r, timer_kind::global).expired_elsewhere == f.elsewhere);
        CHECK(r.wakeups() == f.exits);

        std::uint64_t expired = 0;
        for (const recorded_cpu& c : r.cpus) expired += c.ticks + c.precise_expiries;
        CHECK(expired == f.ticks_and_precise);
        CHECK(of(r, timer_kind::precise).armed_before == f.precise_before);
        CHECK(r.unmatched.restarts == f.restarts);
        CHECK(r.unmatched.unknown_cancels == f.unknown_cancels);
        CHECK(r.unmatched.exits + r.unmatched.entries + r.unmatched.expired_after_cancel +
                  r.unmatched.switches + r.unmatched.backwards ==
              0);
        CHECK(std::abs(static_cast<double>(r.clock_offset) * 1e-9 - f.offset) < 6e-5);

        REQUIRE(r.cpus.size() == f.idle_share.size());
        for (std::size_t i = 0; i < r.cpus.size(); ++i) {
            CAPTURE(i);
            const auto idle = static_cast<double>(r.cpus[i].asleep + r.cpus[i].served_in_idle);
            CHECK(std::abs(idle / static_cast<double>(r.window) - f.idle_share[i]) < 0.00501);
            CHECK((r.cpus[i].lines == 0) == (std::to_string(i) == f.silent));
        }
    }
}

TEST_CASE("recordings of running kernels: CPUs that leave and come", "[whatif][recording]") {
    const recording r = read_capture("8cpu-hotplug");
    // The markers: 3 off, 6 off, 3 on, 5 off, 6 on, 5 on.
    const std::size_t cpus[] = {3, 6, 3, 5, 6, 5};
    const double off_after[] = {10.909, 11.728, 12.553, 13.330, 14.057, 14.849};
    const double done_before[] = {11.165, 11.984, 12.757, 13.487, 14.288, 14.926};
    REQUIRE(r.load.plugs.size() == 6);
    const double begin = 15.807 - static_cast<double>(r.load.length) * 1e-9;
    for (std::size_t i = 0; i < 6; ++i) {
        CAPTURE(i);
        const plug_event& p = r.load.plugs[i];
        CHECK(p.cpu == cpus[i]);
        CHECK((p.what == plug_event::what::offline) == (i == 0 || i == 1 || i == 3));
        CHECK(begin + static_cast<double>(p.at) * 1e-9 > off_after[i] - 0.001);
        CHECK(begin + static_cast<double>(p.at) * 1e-9 < done_before[i] + 0.001);
    }
    for (std::size_t i = 0; i < 8; ++i) CHECK((r.cpus[i].offline != 0) == (i == 3 || i == 5 || i == 6));
    for (const char* const name : {"8cpu-idle", "16cpu-2node-mixed"})
        CHECK(read_capture(name).load.plugs.empty());
}

TEST_CASE("a timer of the wheel: armed, run by another CPU, its own again", "[whatif][recording]") {
    const std::string start =
        "timer_start: timer=00000000aa function=process_timeout expires=4294892548 [timeout=2] "
        "bucket_expiry=4294892550 cpu=1 idx=3 flags=";
    const recording r =
        read(line("<idle>-0", 0, "5.000100",
                  "hrtimer_expire_entry: hrtimer=01 function=tick_nohz_handler now=1000000000") +
             line("<idle>-0", 0, "5.000110", "hrtimer_expire_exit: hrtimer=01") +
             line("a b=c-7", 1, "5.001000", start) +
             line("<idle>-0", 0, "5.018000",
                  "hrtimer_expire_entry: hrtimer=01 function=tick_nohz_handler now=1017000000") +
             line("<idle>-0", 0, "5.018010", "hrtimer_expire_exit: hrtimer=01") +
             line("<idle>-0", 0, "5.018020", "tmigr_handle_remote_cpu: cpu=1 parent=00000000bb wakeup=1") +
             line("<idle>-0", 0, "5.018030", "timer_cancel: timer=00000000aa") +
             line("<idle>-0", 0, "5.018040",
                  "timer_expire_entry: timer=00000000aa function=process_timeout now=4294892550 "
                  "baseclk=4294892550") +
             line("<idle>-0", 0, "5.018100", "timer_expire_exit: timer=00000000aa"));
    check_adds_up(r);
    CHECK(r.load.name == "trace:a.trace");
    const recorded_kind& k = of(r, timer_kind::global);
    CHECK(k.armed == 1);
    CHECK(k.expired == 1);
    CHECK(k.expired_elsewhere == 1);
    CHECK(r.cpus[0].remote_expiries == 1);
    CHECK(r.cpus[1].remote_expiries + r.cpus[1].own_expiries == 0);
    CHECK(r.cpus[0].ticks == 2);
    // The least difference of the clocks is 4.0001 s; time 0 is the tick at 1 s of the monotonic clock.
    CHECK(r.clock_offset == 4'000'100'000);
    REQUIRE(r.load.recorded_timers.size() == 1);
    const recorded_timer& t = r.load.recorded_timers[0];
    CHECK(t.cpu == 1);
    CHECK(t.armed == 900'000);
    CHECK(t.expires == 16'000'000);
    CHECK(t.cancelled == forever);
    CHECK(t.handler == 60'000);
    CHECK(r.load.length == 18'000'000);
    CHECK(r.window == 18'000'000);
    // CPU 1 ran a task for all that is known.
    CHECK(r.cpus[1].in_tasks == r.window);
}

TEST_CASE("timer_cancel is a cancel unless the same CPU runs the timer next", "[whatif][recording]") {
    const auto wheel = [](const char* time, const std::string& event) { return line("t-1", 0, time, event); };
    const std::string start =
        "timer_start: timer=aa function=f expires=4294892548 [timeout=2] bucket_expiry=4294892548 cpu=0 "
        "idx=3 flags=P|I";
    const std::string cancel = "timer_cancel: timer=aa";
    const std::string enter =
        std::string{"timer_expire_entry: timer=aa function=f now="} + jiffy_1s + " baseclk=" + jiffy_1s;
    const std::string leave = "timer_expire_exit: timer=aa";
    SECTION("moved: cancel and start") {
        const recording r = read(wheel("1.000", start) + wheel("1.001", cancel) + wheel("1.002", start) +
                                 wheel("1.003", "x: y"));
        check_adds_up(r);
        CHECK(of(r, timer_kind::pinned).armed == 2);
        CHECK(of(r, timer_kind::pinned).cancelled == 1);
        CHECK(of(r, timer_kind::pinned).pending == 1);
        CHECK(r.load.recorded_timers[0].cancelled - r.load.recorded_timers[0].armed == 1'000'000);
    }
    SECTION("run, with lines of an interrupt between") {
        const recording r =
            read(wheel("1.000", start) + wheel("1.001", cancel) +
                 wheel("1.0015", "hrtimer_expire_entry: hrtimer=bb function=g now=1000000000") +
                 wheel("1.0016", "hrtimer_expire_exit: hrtimer=bb") + wheel("1.002", enter) +
                 wheel("1.003", leave));
        check_adds_up(r);
        CHECK(of(r, timer_kind::pinned).expired == 1);
        CHECK(of(r, timer_kind::pinned).cancelled == 0);
        CHECK(of(r, timer_kind::precise).armed_before == 1);
        CHECK(of(r, timer_kind::precise).expired == 1);
    }
    SECTION("cancelled here, run there: two timers, one of them armed before") {
        const recording r = read(wheel("1.000", start) + wheel("1.001", cancel) +
                                 line("t-2", 1, "1.002", enter) + line("t-2", 1, "1.003", leave));
        check_adds_up(r);
        CHECK(r.unmatched.expired_after_cancel == 1);
        CHECK(of(r, timer_kind::pinned).cancelled == 1);
        CHECK(of(r, timer_kind::pinned).expired == 1);
    }
    SECTION("armed before the window: kind from the next start of the same timer, or of the same function") {
        const recording r = read(wheel("1.000", cancel) + wheel("1.001", enter) + wheel("1.0015", start) +
                                 wheel("1.002", leave) + wheel("1.003", "timer_cancel: timer=cc") +
                                 wheel("1.004", std::string{"timer_expire_entry: timer=cc function=f now="} +
                                                    jiffy_1s + " baseclk=" + jiffy_1s) +
                                 wheel("1.005", "timer_expire_exit: timer=cc"));
        check_adds_up(r);
        CHECK(of(r, timer_kind::pinned).armed_before == 2);
        CHECK(of(r, timer_kind::pinned).expired == 2);
        CHECK(of(r, timer_kind::pinned).pending == 1);
        CHECK(r.guessed_kinds == 1);
    }
    SECTION("initialised anew while armed: gone without a line") {
        const recording r = read(wheel("1.000", start) + wheel("1.001", "timer_init: timer=aa") +
                                 wheel("1.002", start) + wheel("1.003", "x: y"));
        check_adds_up(r);
        CHECK(of(r, timer_kind::pinned).forgotten == 1);
        CHECK(of(r, timer_kind::pinned).pending == 1);
    }
}

TEST_CASE("precise timers: moves, cancels of old kernels, ticks", "[whatif][recording]") {
    const auto of_cpu0 = [](const char* time, const std::string& event) {
        return line("t-1", 0, time, event);
    };
    const auto start = [](const char* end) {
        return std::string{
                   "hrtimer_start: hrtimer=aa function=hrtimer_wakeup expires=1010000000 "
                   "softexpires=1009950000 mode=REL"} +
               end;
    };
    const std::string enter = "hrtimer_expire_entry: hrtimer=aa function=hrtimer_wakeup now=1010200000";
    SECTION("a move is one line, a start of one armed before the window another timer") {
        const recording r =
            read(of_cpu0("1.000", start(" was_armed=1")) + of_cpu0("1.001", start(" was_armed=1")) +
                 of_cpu0("1.0102", enter) + of_cpu0("1.0103", "hrtimer_expire_exit: hrtimer=aa"));
        check_adds_up(r);
        const recorded_kind& k = of(r, timer_kind::precise);
        CHECK(k.armed_before == 1);
        CHECK(k.armed == 2);
        CHECK(k.moved == 2);
        CHECK(k.expired == 1);
        // It runs when it ran; how late that was is told apart.
        CHECK(r.precise_late > 190'000);
        CHECK(r.precise_late <= 200'000);
        CHECK(r.load.recorded_timers.back().expires == 10'200'000);
    }
    SECTION("old kernels cancel before an expiry and before a move") {
        const recording r =
            read(of_cpu0("1.000", start("")) + of_cpu0("1.001", "hrtimer_cancel: hrtimer=aa") +
                 of_cpu0("1.001", start("")) + of_cpu0("1.0101", "hrtimer_cancel: hrtimer=aa") +
                 of_cpu0("1.0102", enter) + of_cpu0("1.0103", "hrtimer_expire_exit: hrtimer=aa"));
        check_adds_up(r);
        CHECK(of(r, timer_kind::precise).cancelled == 1);
        CHECK(of(r, timer_kind::precise).expired == 1);
        CHECK(r.unmatched.restarts == 0);
    }
    SECTION("the tick's timer is none of the workload") {
        const recording r = read(
            of_cpu0("1.000",
                    "hrtimer_start: hrtimer=aa function=tick_nohz_handler expires=1010000000 softexpires=1 "
                    "mode=ABS was_armed=0") +
            of_cpu0("1.001", "hrtimer_cancel: hrtimer=aa") +
            of_cpu0("1.002", "hrtimer_expire_entry: hrtimer=aa function=tick_nohz_handler now=1000000000") +
            of_cpu0("1.003", "hrtimer_expire_exit: hrtimer=aa"));
        check_adds_up(r);
        CHECK(r.load.recorded_timers.empty());
        CHECK(r.tick_timers == 2);
        CHECK(r.cpus[0].ticks == 1);
    }
}

TEST_CASE("busy stretches begin when the CPU wakes, without its timers' handlers", "[whatif][recording]") {
    // As on x86-64, the interrupt comes before the exit from idle is printed.
    const recording r = read(
        line("<idle>-0", 1, "1.000", "cpu_idle: state=1 cpu_id=1") +
        line("<idle>-0", 1, "1.010",
             "hrtimer_expire_entry: hrtimer=aa function=hrtimer_wakeup now=1010000000") +
        line("<idle>-0", 1, "1.011", "hrtimer_expire_exit: hrtimer=aa") +
        line("<idle>-0", 1, "1.012", "cpu_idle: state=4294967295 cpu_id=1") +
        line("<idle>-0", 1, "1.013",
             "sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> "
             "next_comm=a next_pid=1 ==> next_comm=b next_pid=0 next_pid=7 next_prio=120") +
        line("x-7", 1, "1.020",
             "sched_switch: prev_comm=log writer: prev_pid=9 prev_pid=7 prev_prio=120 prev_state=S ==> "
             "next_comm=swapper/1 next_pid=0 next_prio=120") +
        line("<idle>-0", 1, "1.021", "cpu_idle: state=1 cpu_id=1") + line("<idle>-0", 1, "1.030", "x: y"));
    check_adds_up(r);
    REQUIRE(r.load.recorded_busy.size() == 1);
    CHECK(r.load.recorded_busy[0].cpu == 1);
    CHECK(r.load.recorded_busy[0].from == 10'000'000);
    CHECK(r.load.recorded_busy[0].length == 9'000'000);
    const recorded_cpu& c = r.cpus[1];
    CHECK(c.in_tasks == 7'000'000);
    CHECK(c.served_in_idle == 2'000'000);
    CHECK(c.in_idle_task == 2'000'000);
    CHECK(c.asleep == 19'000'000);
    CHECK(c.in_handlers == 1'000'000);
    CHECK(c.wakeups == 1);
    CHECK(c.stays == 1);
    CHECK(r.cpus[0].lines == 0);
    CHECK(r.cpus[0].asleep == r.window);
}

TEST_CASE("kinds of timers, by their flags", "[whatif][recording]") {
    std::string text;
    int n = 0;
    for (const char* const flags : {"", "I", "P", "P|I", "D", "D|I", "D|P|I"})
        text += line("t-1", 0, "1.000",
                     "timer_start: timer=a" + std::to_string(n++) +
                         " function=f expires=4294892548 [timeout=2] "
                         "bucket_expiry=4294892548 cpu=0 idx=3 flags=" +
                         flags);
    const recording r = read(text + line("t-1", 0, "1.001", "x: y"));
    check_adds_up(r);
    CHECK(of(r, timer_kind::global).armed == 2);
    CHECK(of(r, timer_kind::pinned).armed == 2);
    CHECK(of(r, timer_kind::deferrable).armed == 3);
    CHECK(of(r, timer_kind::precise).armed == 0);
}

TEST_CASE("a timer armed before the window belongs to the CPU for which it is run", "[whatif][recording]") {
    const std::string run =
        std::string{"timer_expire_entry: timer=aa function=f now="} + jiffy_1s + " baseclk=" + jiffy_1s;
    const std::string done = "timer_expire_exit: timer=aa";
    const std::string remote = "tmigr_handle_remote_cpu: cpu=1 parent=00000000bb wakeup=1";
    const recording other =
        read(line("t-1", 0, "1.000", remote) + line("t-1", 0, "1.001", run) + line("t-1", 0, "1.002", done));
    CHECK(other.cpus[0].remote_expiries == 1);
    CHECK(other.load.recorded_timers.at(0).cpu == 1);
    // What comes with the next interrupt is this CPU's own again.
    const recording own =
        read(line("t-1", 0, "1.000", remote) +
             line("t-1", 0, "1.0001",
                  "hrtimer_expire_entry: hrtimer=bb function=tick_nohz_handler now=1000000000") +
             line("t-1", 0, "1.0002", "hrtimer_expire_exit: hrtimer=bb") + line("t-1", 0, "1.001", run) +
             line("t-1", 0, "1.002", done));
    CHECK(own.cpus[0].own_expiries == 1);
    CHECK(own.load.recorded_timers.at(0).cpu == 0);
}

TEST_CASE("a handler that another one interrupts is charged for its own time", "[whatif][recording]") {
    const recording r = read(
        line(
            "t-1", 0, "1.000",
            std::string{"timer_expire_entry: timer=aa function=f now="} + jiffy_1s + " baseclk=" + jiffy_1s) +
        line("t-1", 0, "1.001", "hrtimer_expire_entry: hrtimer=bb function=hrtimer_wakeup now=1000000000") +
        line("t-1", 0, "1.003", "hrtimer_expire_exit: hrtimer=bb") +
        line("t-1", 0, "1.010", "timer_expire_exit: timer=aa"));
    check_adds_up(r);
    REQUIRE(r.load.recorded_timers.size() == 2);
    CHECK(r.load.recorded_timers[0].handler == 8'000'000);
    CHECK(r.load.recorded_timers[1].handler == 2'000'000);
    CHECK(r.cpus[0].in_handlers == 10'000'000);
    CHECK(r.cpus[0].busy_kept == 0);
}

TEST_CASE("sleeps that a kept tick ends are told apart", "[whatif][recording]") {
    const std::string wait = "cpu_idle: state=1 cpu_id=0", leave = "cpu_idle: state=4294967295 cpu_id=0";
    const std::string tick = "hrtimer_expire_entry: hrtimer=aa function=tick_nohz_handler now=1000000000";
    const std::string done = "hrtimer_expire_exit: hrtimer=aa";
    const auto idle = [](const char* time, const std::string& e) { return line("<idle>-0", 0, time, e); };
    const recording r = read(
        line("t-1", 0, "1.000",
             "sched_switch: prev_comm=t prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=swapper/0 "
             "next_pid=0 next_prio=120") +
        idle("1.001", wait) + idle("1.004", tick) + idle("1.0041", done) +
        idle("1.0042", leave) +                                  // kept, by it
        idle("1.005", wait) + idle("1.006", leave) +             // kept, not by it
        idle("1.006", "tick_stop: success=1 dependency=NONE") +  //
        idle("1.007", wait) + idle("1.008", leave) + idle("1.0081", tick) + idle("1.0082", done) +  // stopped
        idle("1.009",
             "sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=t "
             "next_pid=1 next_prio=120"));
    check_adds_up(r);
    CHECK(r.cpus[0].wakeups == 3);
    CHECK(r.cpus[0].kept_tick_wakeups == 1);
    CHECK(r.cpus[0].ticks == 2);
    CHECK(r.cpus[0].tick_stops == 1);
}

TEST_CASE("what is no recording is refused with its place", "[whatif][recording]") {
    struct wrong {
        std::string text;
        std::size_t line;
        std::string value, expected;
    };
    const std::string good = line("t-1", 0, "1.000", "x: y");
    const std::string end = line("t-1", 0, "2.000", "x: y");
    const auto event = [&](const std::string& e) { return good + line("t-1", 0, "1.5", e); };
    const std::string enter = "timer_expire_entry: timer=aa function=f baseclk=1 now=";
    const wrong inputs[] = {
        {"", 0, "no line of ftrace text", "a trace in text form"},
        {"# nothing\n\n", 0, "no line of ftrace text", "a trace in text form"},
        {"{\"tasks\": 1}\n", 1, "{\"tasks\": 1}",
         "a line of ftrace text: TASK-PID [CPU] FLAGS TIME: EVENT: FIELDS"},
        {good, 0, "no time between the lines", "a trace of some length"},
        {line("t-1", 2, "1.0", "x: y"), 1, "002", "the number of a CPU of this machine"},
        {good + "\n" + line("t-1", 0, "7", "x: y"), 3, "7", "a time stamp in seconds, SECONDS.MICROSECONDS"},
        {good + line("t-1", 0, "172802.5", "x: y"), 2, "172802 s", "a recording of at most 2 days"},
        {good + line("t-1", 0, "9000000000.5", "x: y"), 2, "9000000000500000000",
         "a time stamp below 2^61 nanoseconds"},
        {good + "CPU:1 [LOST 5 EVENTS]\n" + end, 2, "CPU:1 [LOST 5 EVENTS]",
         "a recording without gaps: lines were lost here"},
        {event("timer_cancel: tmr=1"), 2, "tmr=1", "the field timer= in timer_cancel"},
        {event("timer_cancel: timer=xyz"), 2, "xyz", "timer= with a pointer"},
        {event("timer_start: timer=1 function=f expires=-4 cpu=0"), 2, "-4", "expires= with a number"},
        {event("timer_start: timer=1 function=f expires=4 cpu=9"), 2, "9",
         "the number of a CPU of this machine"},
        {event("cpu_idle: state=1 cpu_id=7"), 2, "7", "the number of a CPU of this machine"},
        {event("sched_switch: prev_pid=1"), 2, "prev_pid=1", "sched_switch with ==> next_comm="},
        {event("sched_switch: prev_comm=a ==> next_comm=b next_pid=1"), 2,
         "prev_comm=a ==> next_comm=b next_pid=1", "sched_switch with prev_pid= and next_pid="},
        {event(std::string(70000, 'x')), 2, "", "a line of at most 65536 bytes"},
        {line("t-1", 0, "1.0", enter + "4294892546") + line("t-1", 0, "2.0", enter + "4294893546"), 0,
         "about 1000 ticks a second", "a recording of a kernel with 250 ticks a second"},
    };
    for (const wrong& input : inputs) {
        CAPTURE(input.text.substr(0, 300));
        const tmigr::input_error error = refused([&] { read(input.text); });
        CHECK(error.file() == "dir/a.trace");
        CHECK(error.line() == input.line);
        if (input.text.size() < 60000) CHECK(error.value() == input.value);
        CHECK(error.expected() == input.expected);
    }
}

TEST_CASE("a recording that was cut in its last line, and lines of other tools, are read",
          "[whatif][recording]") {
    const std::string text =
        "cpus=2\nCPU 1 is empty\n" + line("t-1", 0, "1.000", "x: y") + line("t-1", 0, "1.004", "x: y");
    CHECK(read(text + "   t-1  [000] d..1. 1.0").window == 4'000'000);
    CHECK(read(text + line("t-1", 0, "1.008", "timer_cancel: tim").substr(0, 40)).window == 4'000'000);
    // Time stamps that go back are counted and taken for the last one.
    const recording r = read(text + line("t-1", 0, "1.003", "x: y"));
    CHECK(r.unmatched.backwards == 1);
    check_adds_up(r);
}
