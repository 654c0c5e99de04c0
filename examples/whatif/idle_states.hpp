// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_IDLE_STATES_HPP
#define TMIGR_EXAMPLES_WHATIF_IDLE_STATES_HPP

#include "machine.hpp"

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace whatif {

/// Reads what the CPUs of a machine can do when idle, JSON with comments:
///
///     {
///       "machine": "a name",                 // optional; becomes the machine's
///       "source": "where this comes from",   // optional, as are those below
///       "tables": [
///         {
///           "capacities": [279, 278],        // for CPUs of these; or
///           "cpus": [0, "2-5"],              // for these; or neither: for all that no table names
///           "source": "...",
///           "busy_milliwatts": 1200,         // optional
///           "states": [                      // shallowest first, at least one
///             { "name": "WFI", "entry_us": 0, "exit_us": 1, "residency_us": 1,
///               "milliwatts": 30, "source": "..." }
///           ]
///         }
///       ]
///     }
///
/// `entry_us` and `milliwatts` may be left out (0). Where a platform gives one latency, it is
/// `exit_us`. A capacity that the machine does not have is no error, so that one file serves all
/// firmware of a board; a CPU is. Every CPU must be in exactly one table; tables by CPU take it
/// from those by capacity. A name that is not in the list above is refused. At most 16 states,
/// a second each; residencies and exits must not get smaller towards the end.
///
/// Throws `tmigr::input_error` with file and line; the machine is unchanged then.
void read_idle_states(std::istream& in, const std::string& file, machine& hardware);
void read_idle_states(const std::filesystem::path& file, machine& hardware);

/// For machines without a file: a state to wait for an interrupt, which costs nothing, and one that
/// switches the CPU off. Made up; near what many Arm boards say.
idle_table default_idle_table();

/// A machine all of whose CPUs have the default table.
machine make_machine(tmigr::topology cpus, std::string name);

/// CPU numbers as text, `0,2-5`, to indexes of the machine in rising order. Throws
/// `tmigr::input_error` without place for what is no such list and for CPUs that are not there.
std::vector<std::size_t> cpu_indexes(std::string_view list, const machine& hardware);

/// The index of a CPU by its number. Throws `tmigr::input_error` without place where it is not there.
std::size_t cpu_index(std::uint64_t id, const machine& hardware);

}  // namespace whatif

#endif
