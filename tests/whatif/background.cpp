// SPDX-License-Identifier: BSL-1.0
#include "background.hpp"
#include "catch.hpp"
#include "idle_states.hpp"

#include <tmigr/input_error.hpp>

#include <sstream>
#include <string>

using namespace whatif;

namespace {

idle_background read(const std::string& text) {
    std::istringstream in{text};
    return read_background(in, "b.json");
}

/// `file:line: value: expected`, of what is refused.
std::string refused(const std::string& text) {
    try {
        read(text);
    } catch (const tmigr::input_error& error) {
        return error.file() + ':' + std::to_string(error.line()) + ": " + error.value() + ": " + error.expected();
    }
    return "nothing";
}

machine two_capacities() {
    tmigr::topology cpus;
    cpus.add(0, 0, 279);
    cpus.add(1, 0, 1024);
    cpus.add(2, 0, 1024);
    return make_machine(std::move(cpus), "test");
}

}  // namespace

TEST_CASE("what-if: a background is read, and what it leaves out stays") {
    const idle_background standard;
    const idle_background empty = read("{}");
    CHECK(empty.global_mean == standard.global_mean);
    CHECK(empty.device_on_first_mean == standard.device_on_first_mean);
    CHECK(empty.device_mean_of_capacity.empty());

    const idle_background b = read(R"({ // comments
      "source": "a test", "global_mean_us": 6700, "global_period_us": 0, "global_every": 2, "pinned_period_us": 10,
      "deferrable_period_us": 20, "precise_mean_us": 30.5, "device_mean_us": [ { "capacity": 1024, "mean_us": 100 },
      { "capacity": 512, "mean_us": 0 } ], "device_on_first_mean_us": 40, "handler_us": 0.5, "task_work_us": 7 })");
    CHECK(b.global_mean == 6'700'000);
    CHECK(b.global_period == 0);
    CHECK(b.global_every == 2);
    CHECK(b.pinned_period == 10'000);
    CHECK(b.deferrable_period == 20'000);
    CHECK(b.precise_mean == 30'500);
    CHECK(b.device_mean == standard.device_mean);
    CHECK(b.device_mean_of_capacity == std::vector<std::pair<unsigned, nanoseconds>>{{1024, 100'000}, {512, 0}});
    CHECK(b.device_on_first_mean == 40'000);
    CHECK(b.handler == 500);
    CHECK(b.task_work == 7'000);
    CHECK(read(R"({ "device_mean_us": 50 })").device_mean == 50'000);
}

TEST_CASE("what-if: devices interrupt the CPUs of the capacity that the background says") {
    const workload w = make_workload(
        "idle", two_capacities(), read(R"({"device_on_first_mean_us": 0, "device_mean_us": [{"capacity": 1024, "mean_us": 100}]})"));
    REQUIRE(w.interrupts.size() == 2);
    CHECK(w.interrupts[0].cpu == 1);
    CHECK(w.interrupts[1].cpu == 2);
    CHECK(w.interrupts[0].mean == 100'000);
}

TEST_CASE("what-if: every named workload stands on the background given") {
    tmigr::topology cpus;
    for (tmigr::cpu_id id = 0; id < 16; ++id) cpus.add(id, 0, id < 8 ? 512 : 1024);
    const machine m = make_machine(std::move(cpus), "test");
    for (const std::string_view name : workload_names()) {
        INFO(std::string{name});
        const workload w = make_workload(name, m, read(R"({"device_mean_us": 100, "device_on_first_mean_us": 0})"));
        CHECK(w.interrupts.size() == 16);
        for (const interrupt_plan& i : w.interrupts) CHECK(i.mean == 100'000);
    }
}

TEST_CASE("what-if: what is no background is refused with its line") {
    CHECK(refused("[]") == "b.json:1: [...]: a file of what an idle system does: an object");
    CHECK(refused("{\n\"global_mean\": 1}").substr(0, 22) == "b.json:2: global_mean:");
    CHECK(refused("{\n\n\"pinned_period_us\": 9.999}") == "b.json:3: 9.999: 0 (none), or at least 10 us");
    CHECK(refused("{\"device_mean_us\": 1}") == "b.json:1: 1: 0 (none), or at least 10 us");
    CHECK(refused("{\"device_mean_us\": [\n{\"capacity\": 5, \"mean_us\": 10},\n{\"capacity\": 5, \"mean_us\": 10}]}") ==
          "b.json:3: 5: each capacity once");
    CHECK(refused("{\"device_mean_us\": [{\"capacity\": 0, \"mean_us\": 10}]}").substr(0, 12) == "b.json:1: 0:");
    CHECK(refused("{\"device_mean_us\": [{\"capacity\": 5}]}") != "nothing");
    CHECK(refused("{\"device_mean_us\": [{\"capacity\": 5, \"mean_us\": 10, \"cpu\": 1}]}") != "nothing");
    CHECK(refused("{\"global_mean_us\": -1}").substr(0, 13) == "b.json:1: -1:");
    CHECK(refused("{\"global_mean_us\": 1e10}") != "nothing");
    CHECK(refused("{\"task_work_us\": 1e7}") != "nothing");
    CHECK(refused("{\"global_every\": 0.5}").substr(0, 14) == "b.json:1: 0.5:");
    CHECK(refused("{\"global_mean_us\": 1000") != "nothing");
}
