// SPDX-License-Identifier: BSL-1.0
#include "describe.hpp"

#include <fmt/format.h>

namespace tree_tool {

namespace {

const char* name_of(tmigr::linux_form form) {
    switch (form) {
        case tmigr::linux_form::v6_9: return "Linux 6.9 to 6.12";
        case tmigr::linux_form::v6_13: return "Linux 6.13 to 6.18 and later 6.12.x";
        case tmigr::linux_form::v6_19: break;
    }
    return "Linux 6.19 and newer";
}

std::string capacities_of(const tmigr::topology& machine) {
    const auto classes = machine.capacities();
    constexpr std::size_t most_named = 12;
    if (classes.size() > most_named)
        return fmt::format("{} classes from {} to {}", classes.size(), classes.front(), classes.back());
    std::string text = fmt::format("{} {}:", classes.size(), classes.size() == 1 ? "class" : "classes");
    for (unsigned capacity : classes) text += fmt::format(" {}", capacity);
    return text;
}

std::string mixing(const tmigr::tree_shape& shape, tmigr::level_estimate estimate) {
    return fmt::format("{} ({})", estimate.family_levels,
                       shape.levels() > estimate.family_levels ? "groups mix nodes from there up"
                                                               : "above the root: no group mixes nodes");
}

}  // namespace

std::string describe(const tmigr::topology& machine, const tmigr::tree_shape& shape,
                     tmigr::level_estimate estimate, const tmigr::shape_options& how) {
    std::string text;
    const auto line = [&](const char* what, const std::string& value) {
        text += fmt::format("{:<20}{}\n", what, value);
    };
    line("CPUs", fmt::format("{} of {} possible", machine.size(), machine.possible_cpus()));
    line("nodes", fmt::format("{} of {} possible", machine.node_count(), machine.possible_nodes()));
    line("capacity", capacities_of(machine));
    line("levels", fmt::format("{} of {} planned for the possible CPUs", shape.levels(), estimate.levels()));
    line("cross-family level", mixing(shape, estimate));
    line("groups", fmt::format("{}, of at most {} children each", shape.groups.size(), how.width));
    line("form", name_of(how.form));
    return text;
}

}  // namespace tree_tool
