// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_LIVE_HPP
#define TMIGR_IO_LIVE_HPP

#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>
#include <tmigr/io/hwloc.hpp>
#include <tmigr/topology.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace tmigr {

namespace detail {

// Calls `use(line, lines)` with the first line of a sysfs file; false where the file is missing.
template <class Use>
bool with_sysfs_line(const std::filesystem::path& file, Use&& use) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return false;
    std::ifstream in = open_input(file);
    line_reader lines{in, file.string()};
    if (!lines.next()) lines.fail("end of file", "a line");
    use(lines.line(), lines);
    return true;
}

/// The capacity that Linux shows for a CPU, 1..1024; nothing where it shows none.
inline std::optional<unsigned> sysfs_capacity(const std::filesystem::path& devices, cpu_id id) {
    std::optional<unsigned> capacity;
    with_sysfs_line(devices / "cpu" / ("cpu" + std::to_string(id)) / "cpu_capacity",
                    [&](std::string_view line, const line_reader& lines) {
                        capacity = lines.number_in<unsigned>(
                            line, 1, max_capacity, "a capacity from 1 to " + std::to_string(max_capacity));
                    });
    return capacity;
}

/// How many numbers a list of Linux's such as `0-3,8` holds; 0 where the file is
/// missing. Ranges count for themselves, as Linux writes none twice.
inline std::size_t sysfs_list_size(const std::filesystem::path& file) {
    constexpr std::string_view expected = "a list of numbers, as in 0-3,8";
    std::size_t size = 0;
    with_sysfs_line(file, [&](std::string_view rest, const line_reader& lines) {
        for (bool more = true; more;) {
            const std::size_t comma = rest.find(',');
            const std::string_view range = rest.substr(0, comma);
            more = comma != std::string_view::npos;
            if (more) rest.remove_prefix(comma + 1);
            const std::size_t dash = range.find('-');
            const auto first = lines.number_in<cpu_id>(range.substr(0, dash), 0, max_cpu_id, expected);
            auto last = first;
            if (dash != std::string_view::npos)
                last = lines.number_in<cpu_id>(range.substr(dash + 1), first, max_cpu_id, expected);
            size += last - first + 1;
        }
    });
    return size;
}

}  // namespace detail

/// Reads the machine this program runs on: every online CPU, also those that the
/// process may not use, by ascending number.
///
/// hwloc finds the CPUs and their nodes. Linux's own words come first where it has
/// any: `devices/cpu/cpuN/cpu_capacity` over hwloc's `LinuxCapacity` (1024 without
/// either), `devices/{cpu,node}/possible` over hwloc's counts. As for any user of
/// hwloc, HWLOC_XMLFILE and its like in the environment put another machine in
/// place; then, `devices` is not read.
///
/// Throws `input_error` that names the file when Linux says something out of
/// range, or `this machine` when hwloc finds nothing. Takes some milliseconds.
inline topology read_live(const std::filesystem::path& devices = "/sys/devices/system") {
    const std::string name = "this machine";
    const detail::hwloc_machine machine = detail::new_hwloc_machine();
    if (hwloc_topology_load(machine.get()) != 0)
        throw input_error("a failure of hwloc", "a machine that hwloc can look at", name);
    const bool here = hwloc_topology_is_thissystem(machine.get()) != 0;
    topology result = detail::topology_of(machine.get(), name, [&](hwloc_obj_t pu) {
        if (here)
            if (const auto capacity = detail::sysfs_capacity(devices, pu->os_index)) return *capacity;
        return detail::capacity_of(machine.get(), pu, name);
    });
    if (here) {
        const std::size_t cpus = detail::sysfs_list_size(devices / "cpu" / "possible");
        const std::size_t nodes = detail::sysfs_list_size(devices / "node" / "possible");
        result.set_possible(cpus ? cpus : result.possible_cpus(), nodes ? nodes : result.possible_nodes());
    }
    return result;
}

}  // namespace tmigr

#endif
