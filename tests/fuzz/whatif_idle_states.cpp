// SPDX-License-Identifier: BSL-1.0
// Any text is either a file of idle states, after which every CPU has a sound table, or an input_error that
// names its file, after which the machine is what it was.
#include "idle_states.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

whatif::machine machine() {
    tmigr::topology cpus;
    for (tmigr::cpu_id id = 0; id < 4; ++id) cpus.add(id, 0, 442);
    for (tmigr::cpu_id id = 4; id < 8; ++id) cpus.add(id, 0, 1024);
    return whatif::make_machine(std::move(cpus), "fuzz");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    whatif::machine hardware = machine();
    std::istringstream in{std::string{data, data + size}};
    try {
        whatif::read_idle_states(in, "input.json", hardware);
        require(hardware.table_of.size() == hardware.size());
        for (const std::size_t table : hardware.table_of) require(table < hardware.tables.size());
        for (const whatif::idle_table& table : hardware.tables) {
            require(!table.states.empty());
            for (std::size_t i = 0; i < table.states.size(); ++i) {
                const whatif::idle_state& state = table.states[i];
                require(!state.name.empty() && state.entry <= 1'000'000'000 && state.exit <= 1'000'000'000);
                require(i == 0 || state.residency >= table.states[i - 1].residency);
            }
        }
    } catch (const tmigr::input_error& error) {
        require(error.file() == "input.json" && !error.expected().empty());
        require(hardware.name == "fuzz" && hardware.tables.size() == 1);
    }
    return 0;
}
