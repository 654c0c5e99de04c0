// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_CPUS_HPP
#define TMIGR_IO_CPUS_HPP

#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>
#include <tmigr/topology.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>

namespace tmigr {

namespace detail {

/// Most CPUs, and most nodes, that a `.cpus` file may call possible.
inline constexpr std::size_t most_possible = std::size_t{max_cpu_id} + 1;

struct possible_counts {
    std::size_t cpus = 0;
    std::size_t nodes = 0;
};

// The one comment that means something is `cpus: N nodes: M`, whatever follows.
inline void read_counts(std::string_view comment, const line_reader& lines, possible_counts& counts) {
    if (take_field(comment) != "cpus:") return;
    const std::string_view cpus = take_field(comment);
    if (take_field(comment) != "nodes:") return;
    const std::string_view nodes = take_field(comment);
    const std::string limit = std::to_string(most_possible);
    const auto count =
        lines.number_in<std::size_t>(cpus, 1, most_possible, "a number of possible CPUs from 1 to " + limit);
    counts.nodes = lines.number_in<std::size_t>(nodes, 1, most_possible,
                                                "a number of possible nodes from 1 to " + limit);
    counts.cpus = count;
}

inline void read_cpu(std::string_view data, const line_reader& lines, topology& machine) {
    constexpr std::string_view columns = "three columns: cpu node capacity";
    std::array<std::string_view, 3> field;
    std::string_view rest = data;
    for (std::string_view& each : field) {
        each = take_field(rest);
        if (each.empty()) lines.fail(data, std::string{columns});
    }
    if (!take_field(rest).empty()) lines.fail(data, std::string{columns});

    const auto id = lines.number_in<cpu_id>(field[0], 0, max_cpu_id,
                                            "a CPU number from 0 to " + std::to_string(max_cpu_id));
    const auto node = lines.number_in<node_id>(
        field[1], no_node, max_node_id,
        "a node number from 0 to " + std::to_string(max_node_id) + ", or -1 for none");
    const auto capacity = lines.number_in<unsigned>(field[2], 1, max_capacity,
                                                    "a capacity from 1 to " + std::to_string(max_capacity));
    try {
        machine.add(id, node, capacity);
    } catch (const input_error& error) {
        throw error.at(lines.name(), lines.number());
    }
}

}  // namespace detail

/// Reads a list of CPUs from `in`; `name` stands for it in errors.
///
/// Each line holds three decimal numbers, `cpu node capacity`: the CPU's number,
/// its NUMA node or -1 for none, its capacity from 1 to 1024. The order of the
/// lines is the order of arrival. `#` starts a comment, blank lines count for
/// nothing, lines end with LF or CR LF. A comment `# cpus: N nodes: M` says how
/// many CPUs and nodes are possible; without it those listed are.
///
/// Throws `input_error` with `name` and the line for anything else, a CPU named
/// twice and a list without CPUs among it.
inline topology read_cpus(std::istream& in, const std::string& name) {
    topology machine;
    detail::possible_counts possible;
    detail::line_reader lines{in, name};
    while (lines.next()) {
        const std::string_view line = lines.line();
        const std::size_t hash = std::min(line.find('#'), line.size());
        std::string_view data = line.substr(0, hash);
        if (hash < line.size()) detail::read_counts(line.substr(hash + 1), lines, possible);
        if (data.find_first_not_of(detail::blanks) != std::string_view::npos)
            detail::read_cpu(data, lines, machine);
    }
    if (machine.empty()) lines.fail("end of file", "at least one line: cpu node capacity");
    machine.set_possible(possible.cpus, possible.nodes);
    return machine;
}

/// The same from a file; also throws `input_error` (line 0) when it cannot be read.
inline topology read_cpus(const std::filesystem::path& file) {
    std::ifstream in = detail::open_input(file);
    return read_cpus(in, file.string());
}

/// Writes `machine` such that `read_cpus` gives back the same CPUs in the same
/// order and the same possible counts. Families are not kept: read back, each is
/// the node again. Throws `input_error` and writes nothing where no file can say
/// it: no CPU, or more than 2^20 possible CPUs or nodes. A failed write shows in the
/// stream's state, as with any output.
inline void write_cpus(std::ostream& out, const topology& machine) {
    if (machine.empty()) throw input_error("no CPU", "a machine with at least one CPU");
    const std::size_t cpus = machine.possible_cpus();
    const std::size_t nodes = machine.possible_nodes();
    if (std::max(cpus, nodes) > detail::most_possible)
        throw input_error(std::to_string(std::max(cpus, nodes)),
                          "at most " + std::to_string(detail::most_possible) + " possible CPUs or nodes");
    // Digits by to_string: the stream's own would follow its locale and flags.
    out << "# cpus: " + std::to_string(cpus) + " nodes: " + std::to_string(nodes) + '\n';
    out << "# columns: cpu node capacity\n";
    for (const cpu_info& cpu : machine.cpus())
        out << std::to_string(cpu.id) + ' ' + std::to_string(cpu.node) + ' ' + std::to_string(cpu.capacity) +
                   '\n';
}

}  // namespace tmigr

#endif
