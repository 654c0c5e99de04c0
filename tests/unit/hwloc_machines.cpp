// SPDX-License-Identifier: BSL-1.0

// Every real machine that we have a file of gets its tree.

#include "catch.hpp"
#include "support/machines.hpp"
#include "support/shapes.hpp"

#include <tmigr/atomics/plain.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/io/cpus.hpp>
#include <tmigr/io/hwloc.hpp>

#include <cstring>
#include <map>

using namespace tmigr;

namespace {

using tree_of_a_simulator = basic_hierarchy<linux_config<plain_atomics>>;

topology read(const test::machine_facts& m) {
    return m.kind == test::reader::hwloc ? read_hwloc(m.path()) : read_cpus(m.path());
}

topology read(const char* file) {
    for (const test::machine_facts& m : test::machines)
        if (std::strcmp(m.file, file) == 0) return read(m);
    throw std::runtime_error(file);
}

std::size_t up(std::size_t members) { return (members + 7) / 8; }

/// How many groups a machine needs, from the numbers of CPUs on its nodes alone: nodes
/// fill groups of their own below the cross-node level, everything is packed above.
std::size_t groups_needed(const topology& machine) {
    std::map<node_id, std::size_t> members;
    for (const cpu_info& cpu : machine.cpus()) ++members[cpu.node];
    const level_estimate levels =
        estimate_levels(machine.possible_cpus(), std::max(machine.possible_nodes(), members.size()), 8);

    std::size_t groups = 0;
    std::size_t on_top = machine.size();
    for (unsigned level = 0; level < levels.family_levels && (members.size() > 1 || on_top > 1); ++level) {
        on_top = 0;
        for (auto& [node, count] : members) on_top += count = up(count);
        groups += on_top;
    }
    while (on_top > 1 || groups == 0) groups += on_top = up(on_top);
    return groups;
}

}  // namespace

TEST_CASE("every machine gets a sound tree of the size it needs") {
    for (const test::machine_facts& m : test::machines) {
        INFO(m.file);
        const topology machine = read(m);
        for (linux_form form : {linux_form::newest, linux_form::v6_13, linux_form::v6_9}) {
            if (form != linux_form::newest && machine.node_count() != machine.family_count()) continue;
            const tree_of_a_simulator tree(machine, {.form = form});
            CHECK(tree.shape().cpus.size() == m.cpus);
            if (form != linux_form::newest) continue;
            CHECK(test::unsound(tree.shape(), 8) == "");
            CHECK(tree.groups().size() == groups_needed(machine));
        }
    }
}

TEST_CASE("unusual machines have the groups that paper says") {
    const std::map<std::string, std::pair<std::size_t, unsigned>> expected{
        {"cpu1-qemu-ppc-numbers.xml", {1, 1}},
        {"cpu8-1node-xeon-e5345.xml", {1, 1}},
        {"cpu16-holes-2node-power8.xml", {3, 2}},                // 2 + 1
        {"cpu17-offline-node0-xeon-e5-2680v3.xml", {6, 3}},      // 9 CPUs without a node: 2, and 1; 1 + 1; 1
        {"cpu32-holes-8node-gpumem-power9.xml", {5, 2}},         // 8 nodes, 2 with CPUs: 2 + 2; 1
        {"cpu48-8node-sparse-ids-opteron.xml", {9, 2}},          // 8; 1
        {"cpu80-4node-xeon-6230.xml", {17, 3}},                  // 4 x 3; 4; 1
        {"cpu256-64node-ia64.xml", {73, 3}},                     // 64; 8; 1
        {"cpu384-24node-xeon-e5-4640.xml", {76, 4}},             // 24 x 2; 24; 3; 1
        {"built-cpu144-2node-11cap-grace.xml", {25, 4}},         // 2 x 9; 2 x 2; 2; 1
        {"built-cpu288-36node-gh200x4.xml", {42, 3}},            // 36 nodes, 4 with CPUs: 4 x 9; 5; 1
        {"built-cpu768-2node-epyc9965.xml", {111, 4}},           // 2 x 48; 2 x 6; 2; 1
        {"synthetic-cpu1792-32node.xml", {261, 4}},              // 32 x 7; 32; 4; 1
        {"synthetic-16class-2node-128.cpus", {19, 3}},           // 2 x 8; 2; 1
        {"synthetic-all-distinct-64.cpus", {13, 3}},             // 4 x 2; 4; 1
    };
    for (const auto& [file, facts] : expected) {
        INFO(file);
        const tree_of_a_simulator tree(read(file.c_str()));
        CHECK(tree.groups().size() == facts.first);
        CHECK(tree.shape().levels() == facts.second);
    }
}

TEST_CASE("CPUs of a machine with holes are found by their own numbers") {
    tree_of_a_simulator tree(read("cpu16-holes-2node-power8.xml"));
    tree.cpu(81).activate();
    CHECK(tree.migrator() == 81);
    CHECK_THROWS_AS(tree.cpu(2), input_error);
}
