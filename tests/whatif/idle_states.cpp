// SPDX-License-Identifier: BSL-1.0
#include "idle_states.hpp"
#include "json.hpp"

#include <support/input.hpp>

#include <tmigr/io/cpus.hpp>

#include <catch.hpp>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

using namespace whatif;
using tmigr::test::refused;
using tmigr::test::wrong_input;

namespace {

machine four_and_two() {
    tmigr::topology cpus;
    for (tmigr::cpu_id id = 0; id < 4; ++id) cpus.add(id, 0, 400);
    for (tmigr::cpu_id id = 8; id < 10; ++id) cpus.add(id, 0, 1024);
    return make_machine(std::move(cpus), "six");
}

machine read(const std::string& text) {
    machine hardware = four_and_two();
    std::istringstream in{text};
    read_idle_states(in, "idle.json", hardware);
    return hardware;
}

const std::string wfi = R"({"name": "WFI", "exit_us": 1, "residency_us": 1})";
std::string table(const std::string& begin, const std::string& states = wfi) {
    return "{" + begin + "\"states\": [" + states + "]}";
}
std::string tables(const std::string& text) { return "{\n\"tables\": [\n" + text + "\n]}\n"; }

std::filesystem::path shipped(const char* file) {
    return std::filesystem::path{TMIGR_WHATIF_MACHINES} / file;
}

}  // namespace

TEST_CASE("idle states go to the CPUs that their table names", "[whatif][idle-states]") {
    const machine m = read(R"(// comments of both kinds
{
  "machine": "test", /* and commas
  behind the last */ "source": "none",
  "tables": [
    { "capacities": [400, 999], "busy_milliwatts": 100,
      "states": [ { "name": "WFI", "exit_us": 1.5, "residency_us": 2, "milliwatts": 30.5 },
                  { "name": "off", "entry_us": 100, "exit_us": 250, "residency_us": 1e3, "source": "x" }, ] },
    { "cpus": [9, "1-2"], "states": [ { "name": "nap", "exit_us": 0, "residency_us": 0 } ] },
    { "states": [ { "name": "rest", "exit_us": 7, "residency_us": 8 } ] },
  ],
})");
    CHECK(m.name == "test");
    CHECK(m.table_of == std::vector<std::size_t>{0, 1, 1, 0, 2, 1});
    REQUIRE(m.tables.size() == 3);
    REQUIRE(m.tables[0].states.size() == 2);
    CHECK(m.tables[0].busy_milliwatts == 100);
    const idle_state& first = m.tables[0].states[0];
    CHECK(first.name == "WFI");
    CHECK(first.entry == 0);
    CHECK(first.exit == 1500);
    CHECK(first.residency == 2000);
    CHECK(first.milliwatts == 30.5);
    const idle_state& second = m.tables[0].states[1];
    CHECK(second.entry == 100'000);
    CHECK(second.exit == 250'000);
    CHECK(second.residency == 1'000'000);
}

TEST_CASE("a machine without a file has the default table", "[whatif][idle-states]") {
    const machine m = four_and_two();
    CHECK(m.table_of == std::vector<std::size_t>(6, 0));
    REQUIRE(m.tables.size() == 1);
    REQUIRE(m.tables[0].states.size() == 2);
    CHECK(m.tables[0].states[0].residency < m.tables[0].states[1].residency);
}

TEST_CASE("the files of machines can be read", "[whatif][idle-states]") {
    machine orion = make_machine(tmigr::read_cpus(shipped("orion-o6.cpus")), "");
    read_idle_states(shipped("orion-o6.idle.json"), orion);
    CHECK(orion.size() == 12);
    REQUIRE(orion.tables.size() == 1);
    REQUIRE(orion.tables[0].states.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(orion.tables[0].states[i].name == "LPI-" + std::to_string(i));

    machine rock = make_machine(tmigr::read_cpus(shipped("rk3576.cpus")), "");
    read_idle_states(shipped("rk3576.idle.json"), rock);
    CHECK(rock.size() == 8);
    const std::vector<idle_state>& states = rock.tables.at(0).states;
    REQUIRE(states.size() == 2);
    CHECK(states[0].exit == 1'000);
    CHECK(states[0].residency == 1'000);
    CHECK(states[1].entry + states[1].exit == 370'000);
    CHECK(states[1].residency == 900'000);
}

TEST_CASE("lists of CPUs", "[whatif][idle-states]") {
    const machine m = four_and_two();
    CHECK(cpu_indexes("0", m) == std::vector<std::size_t>{0});
    CHECK(cpu_indexes("8-9,1,3-3", m) == std::vector<std::size_t>{1, 3, 4, 5});
    for (const char* const wrong : {"", ",", "1,", "1-", "-1", "3-1", "a", "1 ", "4294967296", "1-2-3"})
        CHECK(refused([&] { cpu_indexes(wrong, m); }).expected() == "CPU numbers, 0,2-5");
    CHECK(refused([&] { cpu_indexes("3-8", m); }).value() == "4");
    CHECK(refused([&] { cpu_indexes("0-1048575", m); }).value() == "4");
    CHECK(refused([&] { cpu_indexes("1,0-2", m); }).expected() == "each CPU once");
}

TEST_CASE("wrong files of idle states are refused with their place", "[whatif][idle-states]") {
    const std::string other = table("", R"({"name": "o", "exit_us": 1, "residency_us": 1})");
    const wrong_input inputs[] = {
        {"", 1, "", "JSON text"},
        {"{\n\"tables\": [\n{]\n", 3, "{]", "JSON text"},
        {"{\n\n\"tables\": 1\n}", 3, "1", "tables: an array"},
        {"[]", 1, "[...]", "a file of idle states: an object"},
        {"{\n\"source\": \"\"\n}", 1, "{...}", "a file of idle states: \"tables\""},
        {"{\"tables\": [],\n\"tabels\": 7}", 2, "tabels", "one of machine, source, tables"},
        {"{\"tables\": [],\n\"tables\": []}", 2, "tables",
         "each name once in an object (run0, run1, ... for several events)"},
        {tables(""), 2, "[...]", "a table for CPU 0 (capacity 400)"},
        {tables(table("\"capacities\": [400],")), 2, "[...]", "a table for CPU 8 (capacity 1024)"},
        {tables(table("\"capacities\": [0],")), 3, "0", "capacity: a whole number from 1 to 1024"},
        {tables(table("\"cpus\": [4],")), 3, "4", "the number of a CPU of this machine"},
        {tables(table("\"cpus\": [\"1-\"],")), 3, "1-", "CPU numbers, 0,2-5"},
        {tables(table("\"cpus\": [1.5],")), 3, "1.5", "CPU: a whole number from 0 to 1048575"},
        {tables(table("\"cpus\": [1], \"capacities\": [400],")), 3, "[...]", "either capacities or cpus"},
        {tables(other + ",\n" + other), 4, "{...}", "each CPU in one table only; CPU 0 is in two"},
        {tables(table("\"cpus\": [1,\n1],")), 4, "1", "each CPU in one table only; CPU 1 is in two"},
        {tables(table("", "")), 3, "[...]", "at least one idle state"},
        {tables(table("", R"({"name": "a b", "exit_us": 1, "residency_us": 1})")), 3, "a b",
         "a name of 1 to 32 printable characters without blanks, commas and quotes"},
        {tables(table("", R"({"name": "a", "exit_us": -1, "residency_us": 1})")), 3, "-1",
         "exit latency in microseconds: a number from 0 to 1000000"},
        {tables(table("", R"({"name": "a", "exit_us": 1})")), 3, "{...}", "an idle state: \"residency_us\""},
        {tables(table("", R"({"name": "a", "exit_us": "1", "residency_us": 1})")), 3, "1",
         "exit latency in microseconds: a number from 0 to 1000000"},
        {tables(table("", R"({"name": "a", "exit": 1, "residency_us": 1})")), 3, "exit",
         "one of name, entry_us, exit_us, residency_us, milliwatts, source"},
        {tables(table("", R"({"name": "a", "exit_us": 2, "residency_us": 9},
{"name": "b", "exit_us": 2, "residency_us": 8})")),
         4, "b", "states from the shallowest to the deepest: residency and exit not below those before"},
        {tables(table("", wfi + ",\n" + wfi)), 4, "WFI", "each name once in a table"},
        {tables(table("\"busy_milliwatts\": 1e400,")), 3, table("\"busy_milliwatts\": 1e400,"), "JSON text"},
        {std::string(40, '['), 1, "more", "at most 32 levels"},
        {"{\"machine\": \"\xff\"}", 1, "{\"machine\": \"\xff\"}", "JSON text"},
    };
    for (const wrong_input& input : inputs) {
        CAPTURE(input.text);
        const tmigr::input_error error = refused([&] { read(input.text); });
        CHECK(error.file() == "idle.json");
        CHECK(error.line() == input.line);
        CHECK(error.value() == input.value);
        CHECK(error.expected() == input.expected);
    }
}

TEST_CASE("a refused file leaves the machine as it was", "[whatif][idle-states]") {
    machine hardware = four_and_two();
    std::istringstream in{R"({"machine": "other", "tables": [)" + table("\"cpus\": [1],") + "]}"};
    refused([&] { read_idle_states(in, "idle.json", hardware); });
    CHECK(hardware.name == "six");
    CHECK(hardware.table_of == std::vector<std::size_t>(6, 0));
    CHECK(hardware.tables[0].states.size() == 2);
}
