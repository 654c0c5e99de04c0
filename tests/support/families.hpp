// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_FAMILIES_HPP
#define TMIGR_TESTS_FAMILIES_HPP

#include "support/machines.hpp"
#include "support/shapes.hpp"

#include <tmigr/builder.hpp>
#include <tmigr/family.hpp>
#include <tmigr/family_plan.hpp>
#include <tmigr/io/cpus.hpp>
#include <tmigr/topology.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tmigr::test {

/// A machine of `.cpus` from the test data.
inline topology cpus_file(const std::string& name) {
    return read_cpus(std::filesystem::path{TMIGR_TEST_DATA} / "machines" / (name + ".cpus"));
}

/// One node, CPUs 0, 1, ...: so many of each capacity, one capacity after the other.
inline topology of_classes(const std::vector<std::pair<unsigned, cpu_id>>& classes) {
    topology machine;
    for (const auto& [capacity, count] : classes)
        for (cpu_id i = 0; i < count; ++i) machine.add(static_cast<cpu_id>(machine.size()), 0, capacity);
    return machine;
}

/// The same CPUs in another order of arrival.
inline topology shuffled(topology machine, std::mt19937_64& random) {
    std::vector<cpu_id> ids;
    for (const cpu_info& cpu : machine.cpus()) ids.push_back(cpu.id);
    std::shuffle(ids.begin(), ids.end(), random);
    machine.arrive_in_order(ids);
    return machine;
}

inline tree_builder built(const topology& machine, const family_policy& policy, unsigned width = 8) {
    tree_builder builder(family_plan(machine, policy, width));
    for (const cpu_info& cpu : machine.cpus()) builder.add(cpu);
    return builder;
}
inline std::string outline_of(const topology& machine, const family_policy& policy, unsigned width = 8) {
    return outline(built(machine, policy, width).shape());
}

/// What the keys of a policy say of a CPU, worked out by the tests: innermost first. `machine` is
/// the one that the plan was made for; classes of a tolerance depend on it.
inline std::vector<std::int64_t> values_of(const topology& machine, const family_policy& policy, const cpu_info& cpu) {
    using kind = family_key::kind;
    std::vector<std::int64_t> values;
    for (const family_key& key : policy.keys) {
        switch (key.by) {
            case kind::family: values.push_back(cpu.family); break;
            case kind::node: values.push_back(cpu.node); break;
            case kind::capacity: values.push_back(cpu.capacity); break;
            case kind::capacity_step:
                for (unsigned top = key.size;; top += key.size)
                    if (top >= cpu.capacity) {
                        values.push_back(top);
                        break;
                    }
                break;
            case kind::capacity_percent: {
                unsigned smallest = 0;
                for (const unsigned c : machine.possible_capacities())
                    if (c <= cpu.capacity && (smallest == 0 || c * 100 > smallest * (100 + key.size))) smallest = c;
                values.push_back(smallest);
                break;
            }
            case kind::user: values.push_back(key.value_of(cpu)); break;
        }
    }
    return values;
}

/// What is wrong with a machine's tree, or "": `unsound`; families that mix below the cross-family
/// level; where a key is by the lowest, bits that are not ranks; separate trees of several
/// families, or one family in several; more levels than were set aside. `policy` is the one
/// in force (a gate may have been shut) and has at most one key by the lowest.
inline std::string breaks_rules(const topology& machine, const family_policy& policy, const tree_builder& tree) {
    const tree_shape& shape = tree.shape();
    const bool ranked = std::any_of(policy.keys.begin(), policy.keys.end(),
                                    [](const family_key& k) { return k.how == pick::lowest; });
    std::string wrong = unsound(shape, tree.plan().width(), ranked || policy.filling == fill::even ? masks::ranks : masks::dense);
    if (shape.cpus.size() != machine.size()) wrong += "CPUs are missing; ";

    std::vector<std::set<std::int64_t>> known(policy.keys.size());
    for (const cpu_info& cpu : machine.cpus()) {
        const auto v = values_of(machine, policy, cpu);
        for (std::size_t k = 0; k < v.size(); ++k) known[k].insert(v[k]);
    }
    if (policy.keys.size() > 0)
        for (const unsigned c : machine.possible_capacities())
            for (std::size_t k = 0; k < policy.keys.size(); ++k)
                if (policy.keys[k].by == family_key::kind::capacity ||
                    policy.keys[k].by == family_key::kind::capacity_step)
                    known[k].insert(values_of(machine, policy, {.id = 0, .node = 0, .capacity = c})[k]);

    std::vector<std::vector<std::set<std::int64_t>>> below(shape.groups.size(),
                                                           std::vector<std::set<std::int64_t>>(policy.keys.size()));
    std::map<std::size_t, std::set<std::int64_t>> outermost;
    for (const shape_cpu& cpu : shape.cpus) {
        const auto v = values_of(machine, policy, machine.cpu(cpu.info.id));
        if (!policy.joined && !v.empty()) outermost[shape.groups[cpu.group].tree].insert(v.back());
        unsigned digits = 0;
        std::uint64_t mask = cpu.childmask;
        for (std::size_t g = cpu.group; g != tree_shape::none; g = shape.groups[g].parent) {
            for (std::size_t k = 0; k < v.size(); ++k) below[g][k].insert(v[k]);
            if (shape.groups[g].how == pick::lowest)
                for (std::size_t k = 0; k < v.size(); ++k) {
                    if (policy.keys[k].how != pick::lowest) continue;
                    auto rank = static_cast<std::size_t>(std::distance(known[k].begin(), known[k].find(v[k])));
                    for (unsigned d = 0; d < digits; ++d) rank /= tree.plan().width();
                    if (mask != std::uint64_t{1} << rank % tree.plan().width())
                        wrong += "CPU " + std::to_string(cpu.info.id) + ": not in the place of its rank; ";
                }
            digits += shape.groups[g].how == pick::lowest;
            mask = shape.groups[g].groupmask;
        }
        if (!policy.keys.empty() && policy.keys.back().how == pick::lowest && digits == 0 && known.back().size() > 1)
            wrong += "CPU " + std::to_string(cpu.info.id) + ": no group above it prefers low; ";
    }
    std::set<std::int64_t> tree_values;
    for (const auto& [t, values] : outermost) {
        if (values.size() != 1) wrong += "a tree mixes families; ";
        if (!tree_values.insert(*values.begin()).second) wrong += "two trees of one family; ";
    }
    for (std::size_t g = 0; g < shape.groups.size(); ++g) {
        const std::string who = "group " + std::to_string(g);
        const shape_group& group = shape.groups[g];
        for (std::size_t k = 0; k < policy.keys.size(); ++k) {
            if (!group.cross && below[g][k].size() > 1) wrong += who + ": families mix below; ";
            if (policy.keys[k].how != pick::lowest) continue;
            // Whoever is told apart by rank is alike in what is told apart further out, and below
            // such groups alike in rank.
            if (group.how == pick::lowest)
                for (std::size_t outer = k + 1; outer < policy.keys.size(); ++outer)
                    if (below[g][outer].size() > 1) wrong += who + ": ranks of several families; ";
            if (group.how == pick::first && group.parent != tree_shape::none &&
                shape.groups[group.parent].how == pick::lowest && below[g][k].size() > 1)
                wrong += who + ": several ranks in one place; ";
        }
    }
    const unsigned most = std::max(1u, tree.estimate().levels());
    if (policy.name != "linux-default" && shape.levels() > most)
        wrong += "more levels than set aside: " + std::to_string(shape.levels()) + " of " + std::to_string(most) + "; ";
    return wrong;
}

}  // namespace tmigr::test

#endif
