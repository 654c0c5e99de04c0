// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_TREE_OPTIONS_HPP
#define TMIGR_EXAMPLES_TREE_OPTIONS_HPP

#include <tmigr/family.hpp>
#include <tmigr/shape.hpp>
#include <tmigr/text_tracer.hpp>
#include <tmigr/topology.hpp>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tree_tool {

enum class input_kind { cpus, hwloc, live, trace };

/// What the command line asks for.
struct options {
    input_kind input = input_kind::live;
    std::string file;  ///< of the input; none for this machine
    std::optional<std::size_t> possible_cpus;
    std::optional<std::size_t> possible_nodes;

    std::optional<tmigr::linux_form> form;  ///< none: the newest, or what the trace looks like
    unsigned width = 8;
    std::optional<tmigr::family_policy> family;  ///< none: Linux's rules
    std::vector<tmigr::cpu_id> full_dynticks;

    std::vector<tmigr::cpu_id> activate;
    std::vector<tmigr::cpu_id> deactivate;

    bool verify = false;
    std::vector<std::string> gap_at;  ///< events behind which lines of the trace are missing
    bool quiet = false;
    std::optional<std::string> dot;  ///< "-" is standard output, here and below
    std::optional<std::string> ftrace;
    tmigr::family_field ftrace_field = tmigr::family_field::numa;
};

/// A command line that cannot be meant.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Nothing where the command line asked for help or the version, which is then printed.
/// Throws `usage_error`, or `tmigr::input_error` with the option in place of a file.
std::optional<options> read_options(int argc, char** argv);

}  // namespace tree_tool

#endif
