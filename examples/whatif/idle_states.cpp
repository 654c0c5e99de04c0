// SPDX-License-Identifier: BSL-1.0
#include "idle_states.hpp"

#include "json.hpp"

#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace whatif {

namespace {

constexpr std::size_t most_states = 16;
constexpr double longest_us = 1e6;
constexpr double most_milliwatts = 1e6;

idle_state read_state(const json_value& from) {
    from.object("an idle state");
    from.only({"name", "entry_us", "exit_us", "residency_us", "milliwatts", "source"});
    idle_state state;
    const json_value& name = from.at("name", "an idle state");
    state.name = name.string("name of an idle state");
    // The name ends up in tables, CSV and traces.
    if (state.name.empty() || state.name.size() > 32 ||
        !std::ranges::all_of(state.name, [](char c) { return c > ' ' && c < 0x7f && c != ',' && c != '"'; }))
        name.fail("a name of 1 to 32 printable characters without blanks, commas and quotes");
    if (const json_value* const entry = from.find("entry_us"))
        state.entry = entry->microseconds(longest_us, "entry");
    state.exit = from.at("exit_us", "an idle state").microseconds(longest_us, "exit latency");
    state.residency = from.at("residency_us", "an idle state").microseconds(longest_us, "target residency");
    if (const json_value* const power = from.find("milliwatts"))
        state.milliwatts = power->real(0, most_milliwatts, "milliwatts");
    if (const json_value* const source = from.find("source")) source->string("source");
    return state;
}

idle_table read_table(const json_value& from) {
    from.object("a table of idle states");
    from.only({"capacities", "cpus", "source", "busy_milliwatts", "states"});
    idle_table table;
    const json_value& states = from.at("states", "a table of idle states");
    for (const json_value& each : states.array("states")) {
        if (table.states.size() == most_states) each.fail(fmt::format("at most {} idle states", most_states));
        idle_state state = read_state(each);
        if (!table.states.empty()) {
            const idle_state& before = table.states.back();
            if (state.residency < before.residency || state.exit < before.exit)
                each.at("name", "")
                    .fail(
                        "states from the shallowest to the deepest: residency and exit not below those "
                        "before");
            if (std::ranges::find(table.states, state.name, &idle_state::name) != table.states.end())
                each.at("name", "").fail("each name once in a table");
        }
        table.states.push_back(std::move(state));
    }
    if (table.states.empty()) states.fail("at least one idle state");
    if (const json_value* const power = from.find("busy_milliwatts"))
        table.busy_milliwatts = power->real(0, most_milliwatts, "busy_milliwatts");
    if (const json_value* const source = from.find("source")) source->string("source");
    return table;
}

/// Which CPUs a table is for; stronger tables take CPUs from weaker ones.
enum class claim : std::uint8_t { none, rest, capacity, cpu };

class assignment {
public:
    explicit assignment(const machine& hardware)
        : hardware_(hardware), table_of_(hardware.size()), by_(hardware.size(), claim::none) {}

    void take(std::size_t table, const json_value& from) {
        const json_value* const capacities = from.find("capacities");
        const json_value* const cpus = from.find("cpus");
        if (capacities != nullptr && cpus != nullptr) cpus->fail("either capacities or cpus");
        if (capacities != nullptr) {
            for (const json_value& each : capacities->array("capacities")) {
                const auto capacity = each.integer(1, tmigr::max_capacity, "capacity");
                for (std::size_t i = 0; i < hardware_.size(); ++i)
                    if (hardware_.cpus.cpus()[i].capacity == static_cast<unsigned>(capacity))
                        take(table, i, claim::capacity, each);
            }
        } else if (cpus != nullptr) {
            for (const json_value& each : cpus->array("cpus"))
                for (const std::size_t i : indexes(each)) take(table, i, claim::cpu, each);
        } else {
            for (std::size_t i = 0; i < hardware_.size(); ++i) take(table, i, claim::rest, from);
        }
    }

    std::vector<std::size_t> finish(const json_value& tables) && {
        for (std::size_t i = 0; i < hardware_.size(); ++i) {
            if (by_[i] != claim::none) continue;
            const tmigr::cpu_info& cpu = hardware_.cpus.cpus()[i];
            tables.fail(fmt::format("a table for CPU {} (capacity {})", cpu.id, cpu.capacity));
        }
        return std::move(table_of_);
    }

private:
    void take(std::size_t table, std::size_t cpu, claim by, const json_value& from) {
        if (by < by_[cpu]) return;
        if (by == by_[cpu])
            from.fail(
                fmt::format("each CPU in one table only; CPU {} is in two", hardware_.cpus.cpus()[cpu].id));
        by_[cpu] = by;
        table_of_[cpu] = table;
    }
    std::vector<std::size_t> indexes(const json_value& from) const {
        const std::string list = from.is(json_value::kind::string)
                                     ? from.string("")
                                     : fmt::format("{}", from.integer(0, tmigr::max_cpu_id, "CPU"));
        try {
            return cpu_indexes(list, hardware_);
        } catch (const tmigr::input_error& error) {
            from.fail(error.expected());
        }
    }

    const machine& hardware_;
    std::vector<std::size_t> table_of_;
    std::vector<claim> by_;
};

}  // namespace

std::size_t cpu_index(std::uint64_t id, const machine& hardware) {
    const auto cpus = hardware.cpus.cpus();
    const auto found = std::ranges::find_if(cpus, [id](const tmigr::cpu_info& cpu) { return cpu.id == id; });
    if (found == cpus.end())
        throw tmigr::input_error(std::to_string(id), "the number of a CPU of this machine");
    return static_cast<std::size_t>(found - cpus.begin());
}

std::vector<std::size_t> cpu_indexes(std::string_view list, const machine& hardware) {
    const std::string_view whole = list;
    const auto refuse = [&] { throw tmigr::input_error(std::string{whole}, "CPU numbers, 0,2-5"); };
    std::vector<std::size_t> indexes;
    for (;;) {
        const std::string_view part = list.substr(0, list.find(','));
        const std::size_t dash = part.find('-');
        const auto number = [&](std::string_view text) {
            const auto id = tmigr::detail::parse_number<tmigr::cpu_id>(text, 0, tmigr::max_cpu_id);
            if (!id) refuse();
            return id.value_or(0);
        };
        const tmigr::cpu_id from = number(part.substr(0, dash));
        const tmigr::cpu_id to = dash == part.npos ? from : number(part.substr(dash + 1));
        if (to < from) refuse();
        // The first one missing ends it: a range cannot be longer than the machine.
        for (tmigr::cpu_id id = from; id <= to; ++id) indexes.push_back(cpu_index(id, hardware));
        if (part.size() == list.size()) break;
        list.remove_prefix(part.size() + 1);
    }
    std::ranges::sort(indexes);
    if (std::ranges::adjacent_find(indexes) != indexes.end())
        throw tmigr::input_error(std::string{whole}, "each CPU once");
    return indexes;
}

void read_idle_states(std::istream& in, const std::string& file, machine& hardware) {
    const json_document document{in, file};
    const json_value& root = document.root();
    root.object("a file of idle states");
    root.only({"machine", "source", "tables"});
    std::string name = hardware.name;
    if (const json_value* const given = root.find("machine")) name = given->string("machine");
    if (const json_value* const source = root.find("source")) source->string("source");

    const json_value& from = root.at("tables", "a file of idle states");
    std::vector<idle_table> tables;
    assignment table_of{hardware};
    for (const json_value& each : from.array("tables")) {
        tables.push_back(read_table(each));
        table_of.take(tables.size() - 1, each);
    }
    hardware.table_of = std::move(table_of).finish(from);
    hardware.tables = std::move(tables);
    hardware.name = std::move(name);
}

void read_idle_states(const std::filesystem::path& file, machine& hardware) {
    std::ifstream in = tmigr::detail::open_input(file);
    read_idle_states(in, file.string(), hardware);
}

idle_table default_idle_table() {
    return {{{"WFI", 0, 1'000, 1'000, 0}, {"sleep", 100'000, 250'000, 1'000'000, 0}}, 0};
}

machine make_machine(tmigr::topology cpus, std::string name) {
    machine hardware;
    hardware.name = std::move(name);
    hardware.tables = {default_idle_table()};
    hardware.table_of.assign(cpus.size(), 0);
    hardware.cpus = std::move(cpus);
    return hardware;
}

}  // namespace whatif
