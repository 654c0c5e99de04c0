// SPDX-License-Identifier: BSL-1.0
#include "describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

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

std::string mixing(const tmigr::tree_shape& shape, tmigr::level_estimate estimate, const char* families) {
    const bool mixes = shape.levels() > estimate.family_levels;
    return fmt::format(fmt::runtime(mixes ? "{} (groups mix {} from there up)" : "{} (above the root: no group mixes {})"),
                       estimate.family_levels, families);
}

/// `0-3 8`: numbers in order, runs as ranges.
std::string ranges_of(std::vector<tmigr::cpu_id> cpus) {
    std::ranges::sort(cpus);
    std::string text;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t end = i + 1;
        while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
        text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[i]);
        if (end - i > 1) text += fmt::format("-{}", cpus[end - 1]);
        i = end;
    }
    return text;
}

}  // namespace

std::string describe(const tmigr::topology& machine, const tmigr::tree_shape& shape,
                     tmigr::level_estimate estimate, const tmigr::shape_options& how, const char* families) {
    std::string text;
    const auto line = [&](const char* what, const std::string& value) {
        text += fmt::format("{:<20}{}\n", what, value);
    };
    line("CPUs", fmt::format("{} of {} possible", machine.size(), machine.possible_cpus()));
    line("nodes", fmt::format("{} of {} possible", machine.node_count(), machine.possible_nodes()));
    line("capacity", capacities_of(machine));
    line("levels", fmt::format("{} of {} planned for the possible CPUs", shape.levels(), estimate.levels()));
    line("cross-family level", mixing(shape, estimate, families));
    line("groups", fmt::format("{}, of at most {} children each", shape.groups.size(), how.width));
    line("form", name_of(how.form));
    return text;
}

std::string describe_families(const tmigr::topology& machine, const tmigr::tree_shape& shape,
                              const tmigr::family_plan& plan, const std::string& asked_for) {
    const tmigr::family_policy& policy = plan.policy();
    const auto trees = std::ranges::count_if(shape.roots, [](std::size_t root) { return root != tmigr::tree_shape::none; });
    std::string text = fmt::format("{:<20}{}, {} {}", "policy", asked_for, trees, trees == 1 ? "tree" : "trees");
    if (plan.gate_was_shut()) text += fmt::format("; its gate is shut, so as {}", policy.name);
    text += '\n';

    struct family {
        std::vector<tmigr::cpu_id> cpus;
        std::set<unsigned> capacities;
        std::set<tmigr::node_id> nodes;
        std::optional<std::size_t> rank;
    };
    std::map<tmigr::family_id, family> families;
    for (const tmigr::shape_cpu& cpu : shape.cpus) {
        family& f = families[cpu.info.family];
        f.cpus.push_back(cpu.info.id);
        f.capacities.insert(cpu.info.capacity);
        f.nodes.insert(cpu.info.node);
        f.rank = plan.rank(machine.cpu(cpu.info.id));
    }
    for (auto& [id, f] : families) {
        text += id == tmigr::no_family ? fmt::format("  {:<18}", "no family") : fmt::format("  family {:<11}", id);
        if (f.rank) text += fmt::format("rank {}  ", *f.rank);
        text += fmt::format("capacity {}", fmt::join(f.capacities, " "));
        if (machine.node_count() > 1) text += fmt::format("  node {}", fmt::join(f.nodes, " "));
        text += fmt::format("  cpus {}\n", ranges_of(f.cpus));
    }
    std::vector<std::size_t> low;
    for (std::size_t g = 0; g < shape.groups.size(); ++g)
        if (shape.groups[g].how == tmigr::pick::lowest) low.push_back(g + 1);
    if (!low.empty())
        text += fmt::format("{:<20}{} {}\n", "prefer low", low.size() == 1 ? "group" : "groups", fmt::join(low, " "));
    return text;
}

}  // namespace tree_tool
