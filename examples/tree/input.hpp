// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_TREE_INPUT_HPP
#define TMIGR_EXAMPLES_TREE_INPUT_HPP

#include "options.hpp"

#include <string>
#include <string_view>

namespace tree_tool {

/// The machine to build for, and by which rules.
struct machine_input {
    tmigr::topology machine;
    tmigr::linux_form form = tmigr::linux_form::newest;
};

/// Throws `tmigr::input_error` with file and line.
machine_input read_machine(const options& chosen);

/// Applies `--possible` to what the input said.
void set_possible(tmigr::topology& machine, const options& chosen);

/// Names the full-dynticks CPUs; throws `input_error` for one that is not there.
void set_full_dynticks(tmigr::topology& machine, const options& chosen);

/// A whole file of at most 1 GiB. A trace is looked at twice and may come from a pipe, so it is
/// held in memory. Throws `tmigr::input_error` for more, for a byte 0 and where reading fails.
std::string read_text(const std::string& path);

/// The rules of the kernel that printed a trace: the newest name a capacity or a family
/// where they connect something.
tmigr::linux_form form_of_trace(std::string_view text);

}  // namespace tree_tool

#endif
