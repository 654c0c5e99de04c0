// SPDX-License-Identifier: BSL-1.0
#include "rt_app.hpp"
#include "idle_states.hpp"

#include <support/input.hpp>

#include <catch.hpp>

#include <sstream>
#include <string>
#include <variant>
#include <vector>

using namespace whatif;
using tmigr::test::refused;
using tmigr::test::wrong_input;

namespace {

machine two_and_two() {
    tmigr::topology cpus;
    cpus.add(0, 0, 256), cpus.add(1, 0, 256), cpus.add(2, 0, 1024), cpus.add(5, 0, 1024);
    return make_machine(std::move(cpus), "four");
}

workload read(const std::string& text) {
    std::istringstream in{text};
    return read_rt_app(in, "dir/app.json", two_and_two());
}
std::string task(const std::string& text) { return "{\n\"tasks\": { \"t\": {\n" + text + "\n} } }\n"; }

/// Phases as text, to compare and to read.
std::string text_of(const std::vector<phase>& phases) {
    struct {
        std::string operator()(const run& p) const { return "run " + std::to_string(p.work); }
        std::string operator()(const sleep_for& p) const { return "sleep " + std::to_string(p.length); }
        std::string operator()(const wait_for& p) const { return "wait " + std::to_string(p.timeout); }
        std::string operator()(const sleep_until_period& p) const {
            return "period " + std::to_string(p.period);
        }
        std::string operator()(const wait_for_wake&) const { return "suspend"; }
        std::string operator()(const wake_task& p) const { return "wake " + std::to_string(p.task); }
    } name;
    std::string all;
    for (const phase& p : phases) all += (all.empty() ? "" : ", ") + std::visit(name, p);
    return all;
}

}  // namespace

TEST_CASE("rt-app: tasks, events, instances", "[whatif][rt-app]") {
    const workload w = read(R"({
    /* a comment */
    "global": { "duration": 7, "calibration": "CPU0", "default_policy": "SCHED_OTHER", "ftrace": "none", },
    "tasks": {
        "worker": { "instance": 3, "delay": 250, "cpus": [5, 2], "priority": -5, "policy": "SCHED_FIFO",
            "suspend": "worker", "runtime": 2000, "loop": 4 },
        // another
        "nothing": { "instance": 0, "run": 1 },
        "talker": { "run0": 1000, "resume": "listener", "run1": 500, "timer": { "ref": "unique", "period": 16666 } },
        "listener": { "cpus": [0], "suspend": "", "runtime": 1000, "sleep": 2 },
    } })");
    CHECK(w.name == "rt-app:app.json");
    CHECK(w.length == 7'000'000'000);
    REQUIRE(w.tasks.size() == 5);
    CHECK(w.tasks[0].name == "worker-0");
    CHECK(w.tasks[2].name == "worker-2");
    CHECK(w.tasks[0].allowed == std::vector<std::size_t>{2, 3});
    CHECK(w.tasks[0].cpu == 2);
    CHECK(w.tasks[1].cpu == 3);
    CHECK(w.tasks[2].cpu == 2);
    CHECK(w.tasks[0].start == 250'000);
    CHECK(w.tasks[0].rounds == 4);
    CHECK(text_of(w.tasks[1].phases) == "suspend, run 2000000");
    CHECK(w.tasks[3].name == "talker-3");
    CHECK(w.tasks[3].allowed.empty());
    CHECK(w.tasks[3].rounds == 0);
    CHECK(text_of(w.tasks[3].phases) == "run 1000000, wake 4, run 500000, period 16666000");
    // A CPU of capacity 256 gets a quarter of the work done in that time.
    CHECK(text_of(w.tasks[4].phases) == "suspend, run 250000, sleep 2000");
}

TEST_CASE("rt-app: phases and their loops are written out in order", "[whatif][rt-app]") {
    const workload w = read(R"({ "tasks": { "t": { "loop": 2, "phases": {
        "z": { "loop": 2, "run": 1, "sleep": 2 },
        "none": { "loop": 0, "run": 99 },
        "a": { "run": 3, "policy": "SCHED_OTHER" } } } } })");
    REQUIRE(w.tasks.size() == 1);
    CHECK(w.length == 0);
    CHECK(w.tasks[0].rounds == 2);
    CHECK(text_of(w.tasks[0].phases) == "run 1000, sleep 2000, run 1000, sleep 2000, run 3000");

    const workload forever_one =
        read(R"({ "tasks": { "t": { "loop": 2, "phases": { "p": { "loop": -1, "sleep": 2 } } } } })");
    CHECK(forever_one.tasks[0].rounds == 0);
    CHECK(read(R"({ "global": {"duration": -1}, "tasks": { "t": { "run": 1 } } })").length == 0);
}

TEST_CASE("rt-app: what is wrong or not supported is refused with its place", "[whatif][rt-app]") {
    const std::string event =
        "run, runtime, sleep, timer, suspend or resume; this event of rt-app is not supported";
    std::vector<wrong_input> inputs = {
        {"{\n\"task\": {}\n}", 2, "task", "one of tasks, global, resources"},
        {"{}", 1, "{...}", "a file of rt-app: \"tasks\""},
        {"{\n\"tasks\": {}}", 2, "{...}", "at least one task"},
        {"{\"tasks\": {}, \"resources\": {\n\"m\": {}}}", 2, "m",
         "no resources: locks and condition variables are not supported"},
        {"{\"global\": {\n\"durations\": 1}}", 2, "durations",
         "one of duration, calibration, default_policy, pi_enabled, lock_pages, logdir, log_basename, "
         "log_size, "
         "ftrace, gnuplot, io_device, mem_buffer_size, cumulative_slack"},
        {"{\"global\": {\n\"duration\": 0}}", 2, "0", "duration in seconds: above 0, or -1 for no end"},
        {"{\"global\": {\n\"default_policy\": \"SCHED_DEADLINE\"}}", 2, "SCHED_DEADLINE",
         "a policy other than SCHED_DEADLINE, which is not supported"},
        {task("\"policy\": \"EEVDF\""), 3, "EEVDF",
         "SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_RR or SCHED_FIFO"},
        {task("\"run\": 1,\n\"run\": 2"), 4, "run",
         "each name once in an object (run0, run1, ... for several events)"},
        {task("\"run\": -1"), 3, "-1", "run in microseconds: a whole number from 0 to 86400000000"},
        {task("\"run\": 1.5"), 3, "1.5", "run in microseconds: a whole number from 0 to 86400000000"},
        {task("\"run\": 86400000001"), 3, "86400000001",
         "run in microseconds: a whole number from 0 to 86400000000"},
        {task("\"runs\": 1"), 3, "runs", "a property or an event of a task"},
        {task("\"runtime\": 1"), 3, "runtime",
         "runtime only in a task whose cpus have one capacity; else run"},
        {task("\"cpus\": [1,2], \"runtime\": 1"), 3, "runtime",
         "runtime only in a task whose cpus have one capacity; else run"},
        {task("\"cpus\": [3]"), 3, "3", "the number of a CPU of this machine"},
        {task("\"cpus\": [1, 1]"), 3, "1", "each CPU once"},
        {task("\"cpus\": []"), 3, "[...]", "at least one CPU"},
        {task("\"dl-runtime\": 1"), 3, "dl-runtime", "no SCHED_DEADLINE, which is not supported"},
        {task("\"timer\": {\"ref\": \"u\"}"), 3, "{...}", "timer: \"period\""},
        {task("\"timer\": {\"ref\": \"u\", \"period\": 0}"), 3, "0", "period: above 0"},
        {task("\"timer\": {\"ref\": \"u\", \"period\": 1, \"mode\": \"x\"}"), 3, "x", "relative or absolute"},
        {task("\"timer\": {\"ref\": \"a\", \"period\": 1},\n\"timer1\": {\"ref\": \"b\", \"period\": 2}"), 4,
         "2", "one period for all timers of a task, 1 us as before"},
        {task("\"run\": 1, \"resume\": \"x\""), 3, "x", "the name of a task"},
        {"{\"tasks\": {\"a\": {\"run\": 1, \n\"resume\": \"b\"}, \"b\": {\"instance\": 2, \"run\": 1}}}", 2,
         "b", "the name of a task with one instance that runs"},
        {"{\"tasks\": {\"a\": {\"run\": 1, \n\"resume\": \"b\"}, \"b\": {\"loop\": 0, \"run\": 1}}}", 2, "b",
         "the name of a task with one instance that runs"},
        {task("\"loop\": 3"), 2, "{...}", "a task with at least one event"},
        {task("\"run\": 0"), 2, "{...}", "a task that runs, sleeps or waits for its timer in every round"},
        {task("\"suspend\": \"t\", \"resume\": \"t\""), 2, "{...}",
         "a task that runs, sleeps or waits for its timer in every round"},
        {task("\"instance\": 4097"), 3, "4097", "instance: a whole number from 0 to 4096"},
        {task("\"phases\": { \"p\": {\n\"loop\": 100001, \"run\": 1}}"), 4, "100001",
         "phases with at most 100000 events in all, loops written out"},
        {task("\"phases\": { \"p\": {\n\"loop\": -1, \"run\": 1}, \"q\": {\"run\": 1}}"), 4, "-1",
         "a phase that ends: only one without others may go on for ever"},
        {task("\"phases\": { \"p\": {\n\"cpus\": [1], \"run\": 1}}"), 4, "cpus",
         "no CPUs of a phase: only a task as a whole can be pinned"},
        {task("\"phases\": { \"p\": {\n\"delay\": 1, \"run\": 1}}"), 4, "delay",
         "a property or an event of a phase"},
        {task("\"phases\": { \"p\": {\"run\": 1}},\n\"run\": 1"), 4, "run",
         "events inside of phases, in a task with phases"},
    };
    for (const char* const name : {"lock", "unlock", "wait", "signal", "broad", "sync", "barrier", "fork",
                                   "yield", "mem", "iorun", "lock3"})
        inputs.push_back({task("\"" + std::string{name} + "\": \"x\""), 3, name, event});
    for (const wrong_input& input : inputs) {
        CAPTURE(input.text);
        const tmigr::input_error error = refused([&] { read(input.text); });
        CHECK(error.file() == "dir/app.json");
        CHECK(error.line() == input.line);
        CHECK(error.value() == input.value);
        CHECK(error.expected() == input.expected);
    }
}

TEST_CASE("rt-app: sizes are bounded before memory is taken", "[whatif][rt-app]") {
    std::string many = "{\"tasks\": {";
    for (int i = 0; i < 30; ++i)
        many += (i == 0 ? "" : ",\n") + ("\"t" + std::to_string(i)) + "\": {\"instance\": 4096, \"run\": 1}";
    CHECK(refused([&] { read(many + "}}"); }).expected() == "at most 65536 tasks");
    CHECK(refused([&] {
              read(R"({"tasks": {"t": {"instance": 4096, "phases": {"p": {"loop": 100000, "run": 1}}}}})");
          }).expected() == "at most 4000000 events in all tasks, loops of phases written out");
}
