// SPDX-License-Identifier: BSL-1.0

// Every preset on every machine that we have a file of, in several orders of arrival.

#include "catch.hpp"
#include "support/families.hpp"
#include "support/random_machine.hpp"

#include <tmigr/atomics/plain.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/io/hwloc.hpp>

#include <array>

using namespace tmigr;

namespace {

topology read(const test::machine_facts& m) {
    return m.kind == test::reader::hwloc ? read_hwloc(m.path()) : read_cpus(m.path());
}

/// Who shares which group, and where places are fixed, with which bits: nothing of the order in
/// which groups were made.
std::string relation(const tree_builder& tree) {
    const tree_shape& shape = tree.shape();
    std::map<cpu_id, std::string> ways;
    // A group is named by the lowest CPU in it.
    std::vector<cpu_id> lowest(shape.groups.size(), max_cpu_id);
    const auto up = [&](const shape_cpu& cpu, auto&& visit) {
        std::uint64_t mask = cpu.childmask;
        for (std::size_t g = cpu.group; g != tree_shape::none; g = shape.groups[g].parent) {
            visit(g, mask);
            mask = shape.groups[g].groupmask;
        }
    };
    for (const shape_cpu& cpu : shape.cpus)
        up(cpu, [&](std::size_t g, std::uint64_t) { lowest[g] = std::min(lowest[g], cpu.info.id); });
    for (const shape_cpu& cpu : shape.cpus)
        up(cpu, [&](std::size_t g, std::uint64_t mask) {
            ways[cpu.info.id] += " level " + std::to_string(shape.groups[g].level) + " with " + std::to_string(lowest[g]) +
                                 " as " + std::to_string(mask) + " tree " + std::to_string(shape.groups[g].tree) +
                                 " family " + std::to_string(shape.groups[g].family) + ";";
        });
    std::string all;
    for (const auto& [cpu, way] : ways) all += std::to_string(cpu) + way + '\n';
    return all;
}

/// Of families and ranks only: which bits by the lowest a CPU has above it, which tree it is in.
std::string ranks(const tree_builder& tree) {
    const tree_shape& shape = tree.shape();
    std::map<cpu_id, std::string> ways;
    for (const shape_cpu& cpu : shape.cpus) {
        std::string& way = ways[cpu.info.id];
        way = " tree " + std::to_string(shape.groups[cpu.group].tree) + " family " + std::to_string(cpu.info.family);
        std::uint64_t mask = cpu.childmask;
        for (std::size_t g = cpu.group; g != tree_shape::none; g = shape.groups[g].parent) {
            // What is above the last group by the lowest depends on how far the tree had to grow.
            if (shape.groups[g].how == pick::lowest)
                way += " level " + std::to_string(shape.groups[g].level) + " as " + std::to_string(mask);
            mask = shape.groups[g].groupmask;
        }
    }
    std::string all;
    for (const auto& [cpu, way] : ways) all += std::to_string(cpu) + way + '\n';
    return all;
}

/// Linux's estimate with the real numbers: its own goes by averages.
unsigned needed_by_linux(const topology& machine, unsigned width) {
    std::map<node_id, std::size_t> members;
    std::size_t most = 0;
    for (const cpu_info& cpu : machine.cpus()) most = std::max(most, ++members[cpu.node]);
    // Levels of nodes start where those of an average node end: the largest may need one more there.
    return estimate_levels(most, 1, width).levels() + estimate_levels(machine.size(), 1, width).levels() + 1;
}

}  // namespace

TEST_CASE("families: every preset on every machine") {
    const auto seed = test::seed();
    std::mt19937_64 random(seed);
    std::size_t built = 0;
    for (const test::machine_facts& m : test::machines) {
        const topology machine = read(m);
        for (const family_policy& asked : families::presets())
            for (const unsigned width : {2u, 4u, 8u}) {
                if (width == 4 && machine.size() > 400) continue;
                INFO(m.file << ", " << asked.name << ", width " << width << ", seed " << seed);
                const tree_builder first = test::built(machine, asked, width);
                const family_policy& policy = first.plan().policy();
                REQUIRE(test::breaks_rules(machine, policy, first) == "");
                CHECK(first.shape().levels() <= std::max(first.estimate().levels(), needed_by_linux(machine, width)));
                for (int order = 0; order < (machine.size() > 400 ? 1 : 3); ++order) {
                    const tree_builder other = test::built(test::shuffled(machine, random), asked, width);
                    REQUIRE(test::breaks_rules(machine, policy, other) == "");
                    if (policy.filling == fill::even)
                        REQUIRE(relation(other) == relation(first));
                    else if (policy.name != "linux-default")
                        REQUIRE(ranks(other) == ranks(first));
                    ++built;
                }
                ++built;
            }
    }
    CHECK(built > 2000);
}

TEST_CASE("families: every preset on random machines, one CPU after the other") {
    const auto seed = test::seed();
    std::mt19937_64 random(seed);
    for (int round = 0; round < 300; ++round) {
        const std::vector<unsigned> capacities{100, 105, 300, 310, 512, 513, 700, 900, 1000, 1024};
        const std::size_t classes = 1 + random() % capacities.size();
        topology machine;
        const topology nodes = test::random_machine(random, 1 + random() % 120);
        for (const cpu_info& cpu : nodes.cpus())
            machine.add(cpu.id, cpu.node, capacities[random() % classes]);
        for (const family_policy& asked : families::presets()) {
            const unsigned width = std::vector{2u, 3u, 4u, 8u}[random() % 4];
            INFO("seed " << seed << ", round " << round << ", " << asked.name << ", width " << width);
            tree_builder tree(family_plan(machine, asked, width));
            bool dense = asked.filling == fill::arrival;
            for (const family_key& key : tree.plan().policy().keys) dense = dense && key.how == pick::first;
            std::size_t count = 0;
            for (const cpu_info& cpu : machine.cpus()) {
                const std::string before = count % 29 == 0 ? test::outline(tree.shape()) : "";
                tree.add(cpu);
                if (count++ % 29 != 0) continue;
                REQUIRE(test::unsound(tree.shape(), width, dense ? test::masks::dense : test::masks::ranks) == "");
                const std::string after = test::outline(tree.shape());
                tree.undo();
                REQUIRE(test::outline(tree.shape()) == before);
                tree.add(cpu);
                REQUIRE(test::outline(tree.shape()) == after);
            }
            REQUIRE(test::breaks_rules(machine, tree.plan().policy(), tree) == "");
        }
    }
}

TEST_CASE("families: a great many CPUs without a node come in in reasonable time") {
    basic_hierarchy<linux_config<plain_atomics>> tree(200'000, 1);
    for (cpu_id i = 0; i < 200'000; ++i) tree.add({.id = i, .node = no_node});
    CHECK(tree.find_idle(no_family).has_value());
    CHECK_FALSE(tree.find_active(no_family).has_value());
}
