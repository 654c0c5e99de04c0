// SPDX-License-Identifier: BSL-1.0
// Any text is either a recording in which everything is accounted for, or an input_error that names its file.
#include "idle_states.hpp"
#include "recording.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    tmigr::topology cpus;
    for (tmigr::cpu_id id = 0; id < 16; ++id) cpus.add(id, 0, 1024);
    const whatif::machine hardware = whatif::make_machine(std::move(cpus), "fuzz");
    std::istringstream in{std::string{data, data + size}};
    try {
        const whatif::recording r = whatif::read_recording(in, "input.trace", hardware);
        std::uint64_t timers = 0, expired = 0, run = 0;
        for (const whatif::recorded_kind& kind : r.timers) {
            require(kind.in() == kind.out());
            timers += kind.in();
            expired += kind.expired;
        }
        require(timers == r.load.recorded_timers.size());
        whatif::nanoseconds before = 0;
        for (const whatif::recorded_timer& timer : r.load.recorded_timers) {
            require(timer.cpu < hardware.size() && timer.armed >= before && timer.armed <= r.load.length);
            require(timer.expires >= timer.armed && timer.cancelled >= timer.armed &&
                    timer.handler <= r.window);
            before = timer.armed;
        }
        for (const whatif::recorded_cpu& cpu : r.cpus) {
            require(cpu.in_tasks + cpu.in_idle_task + cpu.asleep + cpu.served_in_idle + cpu.offline ==
                    r.window);
            run += cpu.own_expiries + cpu.remote_expiries + cpu.precise_expiries;
        }
        require(run == expired);
        std::vector<whatif::nanoseconds> free_from(hardware.size(), 0);
        for (const whatif::recorded_busy& busy : r.load.recorded_busy) {
            require(busy.from >= free_from[busy.cpu] && busy.length != 0);
            free_from[busy.cpu] = busy.from + busy.length;
            require(free_from[busy.cpu] <= r.load.length);
        }
        for (const whatif::plug_event& plug : r.load.plugs)
            require(plug.cpu < 16 && plug.at <= r.load.length);
    } catch (const tmigr::input_error& error) {
        require(error.file() == "input.trace" && !error.expected().empty());
    }
    return 0;
}
