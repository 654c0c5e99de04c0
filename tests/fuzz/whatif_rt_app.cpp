// SPDX-License-Identifier: BSL-1.0
// Any text is either a workload whose tasks refer to what is there and let time pass, or an input_error that
// names its file.
#include "idle_states.hpp"
#include "rt_app.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <variant>

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    tmigr::topology cpus;
    for (tmigr::cpu_id id = 0; id < 8; ++id) cpus.add(id, 0, id < 4 ? 442 : 1024);
    const whatif::machine hardware = whatif::make_machine(std::move(cpus), "fuzz");
    std::istringstream in{std::string{data, data + size}};
    try {
        const whatif::workload load = whatif::read_rt_app(in, "input.json", hardware);
        require(!load.tasks.empty());
        for (const whatif::task_plan& task : load.tasks) {
            require(task.cpu < hardware.size() && !task.phases.empty());
            for (const std::size_t cpu : task.allowed) require(cpu < hardware.size());
            whatif::nanoseconds round = 0;
            for (const whatif::phase& phase : task.phases) {
                if (const auto* const r = std::get_if<whatif::run>(&phase)) round += r->work;
                if (const auto* const s = std::get_if<whatif::sleep_for>(&phase)) round += s->length;
                if (const auto* const s = std::get_if<whatif::sleep_until_period>(&phase)) round += s->period;
                if (const auto* const w = std::get_if<whatif::wake_task>(&phase))
                    require(w->task < load.tasks.size());
            }
            require(task.rounds == 1 || round != 0);
        }
    } catch (const tmigr::input_error& error) {
        require(error.file() == "input.json" && !error.expected().empty());
    }
    return 0;
}
