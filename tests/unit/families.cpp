// SPDX-License-Identifier: BSL-1.0

// Families by hand: what each policy makes of machines that one can follow on paper.

#include "catch.hpp"
#include "support/families.hpp"

#include <tmigr/atomics/plain.hpp>
#include <tmigr/hierarchy.hpp>

#include <array>

using namespace tmigr;
using namespace tmigr::families;
using test::built;
using test::cpus_file;
using test::of_classes;
using test::outline_of;

namespace {

std::vector<unsigned> prefers_low(const tree_shape& shape) {
    std::vector<unsigned> levels;
    for (const shape_group& g : shape.groups)
        if (g.how == pick::lowest) levels.push_back(g.level);
    return levels;
}

std::size_t trees(const topology& machine, const family_policy& policy) {
    const tree_builder tree = built(machine, policy);
    std::size_t count = 0;
    for (const std::size_t root : tree.shape().roots) count += root != tree_shape::none;
    return count;
}

/// Two nodes of two little and two big CPUs each.
topology two_by_two() {
    topology machine;
    for (cpu_id i = 0; i < 8; ++i) machine.add(i, static_cast<node_id>(i / 4), i % 4 < 2 ? 400 : 1024);
    return machine;
}

}  // namespace

TEST_CASE("families: Orion O6 prefers low") {
    const topology machine = cpus_file("radxa-orion-o6");
    const tree_builder tree = built(machine, prefer_low());
    CHECK(test::outline(tree.shape()) ==
          "G1.0 m1 {G0.1 n0 m1 [2 3 4 5] G0.3 n1 m2 [8 9] G0.2 n2 m4 [6 7] G0.4 n3 m8 [10 11] G0.0 n4 m10 [0 1]}");
    CHECK(prefers_low(tree.shape()) == std::vector{1u});
    CHECK(tree.shape().groups[tree.shape().root].level == 1);
    CHECK(tree.estimate() == level_estimate{1, 1});
    // The same families, whoever comes first.
    CHECK(outline_of(cpus_file("radxa-orion-o6-boot0"), prefer_low()) ==
          "G1.0 m1 {G0.1 n0 m1 [1 2 3 4] G0.3 n1 m2 [7 8] G0.2 n2 m4 [5 6] G0.4 n3 m8 [9 10] G0.0 n4 m10 [0 11]}");
    // 905 is within 10 percent of 866; 984 is not, and starts the next class.
    CHECK(outline_of(machine, tolerance(10)) ==
          "G1.0 m1 {G0.1 n0 m1 [2 3 4 5] G0.2 n1 m2 [6 7 8 9] G0.0 n2 m4 [0 1 10 11]}");
    CHECK(outline_of(machine, buckets(256)) ==
          "G1.0 m1 {G0.1 n0 m1 [2 3 4 5] G0.0 n1 m2 [0 1 6 7 8 9 10 11]}");
    CHECK(outline_of(machine, buckets(128)) ==
          "G1.0 m1 {G0.1 n0 m1 [2 3 4 5] G0.2 n1 m2 [8 9] G0.0 n2 m4 [0 1 6 7 10 11]}");
}

TEST_CASE("families: RK3576 by the presets") {
    const topology machine = cpus_file("rk3576");
    CHECK(outline_of(machine, linux_default()) == "G0.0 n0 m1 [0 1 2 3 4 5 6 7]");
    CHECK(outline_of(machine, prefer_low()) == "G1.0 m1 {G0.0 n0 m1 [0 1 2 3] G0.1 n1 m2 [4 5 6 7]}");
    CHECK(outline_of(machine, split()) == "G0.0 n0 m1 [0 1 2 3]\nG0.1 n1 m1 [4 5 6 7]");
    CHECK(outline_of(machine, gated_split()) == outline_of(machine, split()));
    CHECK(prefers_low(built(machine, prefer_low()).shape()) == std::vector{1u});
    CHECK(prefers_low(built(machine, split()).shape()).empty());
    CHECK(prefers_low(built(machine, linux_default()).shape()).empty());
}

TEST_CASE("families: Grace has more classes than a group has children") {
    const topology machine = cpus_file("nvidia-grace-superchip-144");
    REQUIRE(machine.capacities().size() == 11);
    const tree_builder tree = built(machine, prefer_low());
    CHECK(test::breaks_rules(machine, prefer_low(), tree) == "");
    // Ranks 0 to 7 meet in one group, 8 to 10 in another, and these at the top.
    const tree_shape& shape = tree.shape();
    std::vector<std::pair<unsigned, unsigned>> low;
    for (const shape_group& g : shape.groups)
        if (g.how == pick::lowest) low.emplace_back(g.level, g.children);
    std::sort(low.begin(), low.end());
    const unsigned top = shape.groups[shape.root].level;
    CHECK(low == std::vector<std::pair<unsigned, unsigned>>{{top - 1, 3}, {top - 1, 8}, {top, 2}});
    CHECK(shape.groups[shape.root].how == pick::lowest);
}

TEST_CASE("families: 16 classes, and 64 of one CPU each, are in order") {
    for (const auto& [file, classes] : {std::pair{"synthetic-16class-2node-128", 16u}, {"synthetic-all-distinct-64", 64u}}) {
        const topology machine = cpus_file(file);
        REQUIRE(machine.capacities().size() == classes);
        for (const unsigned width : {2u, 4u, 8u}) {
            INFO(file << ", width " << width);
            const tree_builder tree = built(machine, prefer_low(), width);
            CHECK(test::breaks_rules(machine, prefer_low(), tree) == "");
        }
    }
    // One CPU a class: the leaves are the groups where classes meet, a rank is a CPU's place.
    const topology machine = cpus_file("synthetic-all-distinct-64");
    const tree_builder tree = built(machine, prefer_low());
    CHECK(tree.shape().levels() == 2);
    CHECK(tree.shape().groups.size() == 9);
    for (const shape_group& g : tree.shape().groups) CHECK(g.how == pick::lowest);
    for (const shape_cpu& cpu : tree.shape().cpus) {
        const std::size_t rank = machine.capacity_rank(cpu.info.capacity);
        CHECK(cpu.childmask == std::uint64_t{1} << rank % 8);
        CHECK(tree.shape().groups[cpu.group].groupmask == std::uint64_t{1} << rank / 8);
    }
}

TEST_CASE("families: the gate of gated split") {
    CHECK(trees(of_classes({{400, 4}, {1024, 4}}), gated_split()) == 2);
    CHECK(trees(of_classes({{400, 4}, {1024, 1}}), gated_split()) == 1);
    CHECK(trees(of_classes({{400, 2}, {1024, 2}}), gated_split()) == 1);
    CHECK(trees(of_classes({{400, 2}, {1024, 2}}), split()) == 2);
    for (unsigned least = 1; least <= 5; ++least)
        for (cpu_id small = 1; small <= 5; ++small)
            for (cpu_id big = 1; big <= 5; ++big) {
                INFO("at least " << least << " of " << small << " and " << big);
                const topology machine = of_classes({{400, small}, {1024, big}});
                const bool open = small >= least && big >= least;
                CHECK(trees(machine, gated_split(least)) == (open ? 2u : 1u));
                const family_plan plan(machine, gated_split(least), 8);
                CHECK(plan.gate_was_shut() == !open);
                CHECK(plan.policy().name == (open ? "gated-split" : "linux-default"));
                CHECK(plan.joined() == !open);
            }
    // A class on two nodes counts as one: nodes do not make it smaller.
    CHECK(trees(two_by_two(), gated_split(4)) == 2);
    CHECK(trees(two_by_two(), gated_split(5)) == 1);
}

TEST_CASE("families: full-dynticks CPUs shut the gate of split trees") {
    topology machine = of_classes({{400, 4}, {1024, 4}});
    const std::array<cpu_id, 1> stopped{5};
    machine.set_full_dynticks(stopped);
    CHECK(trees(machine, split()) == 1);
    CHECK(trees(machine, gated_split()) == 1);
    CHECK(family_plan(machine, split(), 8).gate_was_shut());
    CHECK_FALSE(family_plan(machine, prefer_low(), 8).gate_was_shut());
    CHECK(outline_of(machine, prefer_low()) == "G1.0 m1 {G0.0 n0 m1 [0 1 2 3] G0.1 n1 m2 [4 5 6 7]}");
    machine.set_full_dynticks({});
    CHECK(trees(machine, split()) == 2);
}

TEST_CASE("families: buckets and tolerance draw their lines where they say") {
    const topology step = of_classes({{250, 1}, {256, 1}, {257, 1}, {384, 1}, {385, 1}, {1, 1}, {1024, 1}});
    CHECK(outline_of(step, buckets(128)) ==
          "G1.0 m1 {G0.3 n0 m1 [5] G0.0 n1 m2 [0 1] G0.1 n2 m4 [2 3] G0.2 n3 m8 [4] G0.4 n4 m10 [6]}");
    CHECK(outline_of(step, buckets(1024)) == "G0.0 n0 m1 [0 1 2 3 4 5 6]");
    CHECK(outline_of(step, buckets(1)) == outline_of(step, prefer_low()));
    const topology percent = of_classes({{100, 1}, {110, 1}, {111, 1}, {122, 1}, {123, 1}});
    CHECK(outline_of(percent, tolerance(10)) == "G1.0 m1 {G0.0 n0 m1 [0 1] G0.1 n1 m2 [2 3] G0.2 n2 m4 [4]}");
    CHECK(outline_of(percent, tolerance(0)) == outline_of(percent, prefer_low()));
    CHECK(outline_of(percent, tolerance(23)) == "G0.0 n0 m1 [0 1 2 3 4]");
    CHECK(outline_of(percent, tolerance(22)) == "G1.0 m1 {G0.0 n0 m1 [0 1 2 3] G0.1 n1 m2 [4]}");
    for (const unsigned wrong : {0u, 1025u}) CHECK_THROWS_AS(buckets(wrong), input_error);
    CHECK_THROWS_AS(tolerance(101), input_error);
}

TEST_CASE("families: capacity above node, and node above capacity") {
    // The lowest awake serves all, or its own node.
    CHECK(outline_of(two_by_two(), prefer_low()) ==
          "G2.0 m1 {G1.1 m1 {G0.0 n0 m1 [0 1] G0.2 n1 m2 [4 5]} G1.0 m2 {G0.1 n2 m1 [2 3] G0.3 n3 m2 [6 7]}}");
    CHECK(prefers_low(built(two_by_two(), prefer_low()).shape()) == std::vector{2u});
    CHECK(outline_of(two_by_two(), prefer_low_per_node()) ==
          "G2.0 m1 {G1.0 m1 {G0.0 n0 m1 [0 1] G0.1 n1 m2 [2 3]} G1.1 m2 {G0.2 n2 m1 [4 5] G0.3 n3 m2 [6 7]}}");
    CHECK(prefers_low(built(two_by_two(), prefer_low_per_node()).shape()) == std::vector{1u, 1u});
    CHECK(outline_of(two_by_two(), split()) ==
          "G1.0 m1 {G0.0 n0 m1 [0 1] G0.2 n1 m2 [4 5]}\nG1.1 m1 {G0.1 n2 m1 [2 3] G0.3 n3 m2 [6 7]}");
}

TEST_CASE("families: by what the user says") {
    const topology machine = of_classes({{1024, 6}});
    const auto thirds = [](const cpu_info& cpu) { return -static_cast<std::int64_t>(cpu.id % 3); };
    const family_policy lowest{.name = "thirds", .keys = {by(thirds, pick::lowest)}};
    CHECK(outline_of(machine, lowest) == "G1.0 m1 {G0.2 n0 m1 [2 5] G0.1 n1 m2 [1 4] G0.0 n2 m4 [0 3]}");
    const family_policy first{.name = "thirds", .keys = {by(thirds)}};
    CHECK(outline_of(machine, first) == "G1.0 m1 {G0.0 n2 m1 [0 3] G0.1 n1 m2 [1 4] G0.2 n0 m4 [2 5]}");
    const family_policy apart{.name = "thirds", .keys = {by(thirds)}, .joined = false};
    CHECK(outline_of(machine, apart) == "G0.2 n0 m1 [2 5]\nG0.1 n1 m1 [1 4]\nG0.0 n2 m1 [0 3]");
    const family_policy nobody{.name = "all alike", .keys = {}};
    CHECK(outline_of(machine, nobody) == "G0.0 m1 [0 1 2 3 4 5]");
    const family_policy alone{.name = "all alike", .keys = {}, .joined = false};
    CHECK(outline_of(machine, alone) == "G0.0 m1 [0 1 2 3 4 5]");
    const family_policy nothing{.name = "no function", .keys = {{.by = family_key::kind::user}}};
    CHECK(outline_of(machine, nothing) == "G0.0 n0 m1 [0 1 2 3 4 5]");
    // Three keys: thirds, then node, then capacity.
    const family_policy three{.name = "three", .keys = {by(thirds), by_node(), by_capacity()}};
    CHECK(test::breaks_rules(two_by_two(), three, built(two_by_two(), three)) == "");
    CHECK(test::breaks_rules(two_by_two(), three, built(two_by_two(), three, 2)) == "");
}

TEST_CASE("families: one family key gives Linux's own tree") {
    for (const char* file : {"ampere-altra-80", "rk3576", "nvidia-grace-superchip-144", "synthetic-biglittle-4node-256"}) {
        const topology machine = cpus_file(file);
        tree_builder by_linux(machine.possible_cpus(), std::max(machine.possible_nodes(), machine.family_count()), {});
        for (const cpu_info& cpu : machine.cpus()) by_linux.add(cpu);
        CHECK(outline_of(machine, linux_default()) == test::outline(by_linux.shape()));
    }
}

TEST_CASE("families: old forms know Linux's rules only") {
    const topology machine = of_classes({{400, 4}, {1024, 4}});
    for (const linux_form form : {linux_form::v6_9, linux_form::v6_13}) {
        for (const family_policy& policy : presets()) {
            INFO(policy.name);
            if (policy.name == "linux-default")
                CHECK_NOTHROW(tree_builder(family_plan(machine, policy, 8), form));
            else
                CHECK_THROWS_AS(tree_builder(family_plan(machine, policy, 8), form), input_error);
        }
        // What counts is what the policy says, not its name.
        family_policy posing = split();
        posing.name = "linux-default";
        CHECK_THROWS_AS(tree_builder(family_plan(machine, posing, 8), form), input_error);
    }
}

TEST_CASE("families: queries of capacities") {
    topology machine = cpus_file("radxa-orion-o6");
    CHECK(machine.capacities() == std::vector{279u, 866u, 905u, 984u, 1024u});
    CHECK(machine.largest_class() == 4);
    CHECK(machine.capacity_rank(279) == 0);
    CHECK(machine.capacity_rank(1024) == 4);
    CHECK_THROWS_AS(machine.capacity_rank(1000), input_error);
    const std::array<unsigned, 2> later{1000, 100};
    machine.set_possible_capacities(later);
    CHECK(machine.capacity_rank(100) == 0);
    CHECK(machine.capacity_rank(1000) == 5);
    CHECK(machine.capacity_rank(1024) == 6);
    CHECK(machine.capacities().size() == 5);
    CHECK(machine.possible_capacities().size() == 7);
    const std::array<unsigned, 2> wrong{100, 1025};
    CHECK_THROWS_AS(machine.set_possible_capacities(wrong), input_error);
    CHECK(machine.possible_capacities().size() == 7);
    CHECK(topology{}.largest_class() == 0);
    const family_plan plan(machine, prefer_low(), 8);
    CHECK(plan.rank(machine.cpu(2)) == 1u);
    CHECK(plan.rank(machine.cpu(0)) == 6u);
    CHECK_FALSE(family_plan(machine, split(), 8).rank(machine.cpu(0)));
    CHECK_THROWS_AS(plan.rank({.id = 99, .node = 0, .capacity = 7}), input_error);
}

TEST_CASE("families: names of policies") {
    for (const family_policy& p : presets()) CHECK(named(p.name).keys == p.keys);
    CHECK(named("gated-split:2").at_least == 2);
    CHECK(named("buckets:128").keys == buckets(128).keys);
    CHECK(named("tolerance:0").keys == tolerance(0).keys);
    for (const char* wrong : {"", ":", "split:2", "gated-split:0", "buckets:", "buckets:1025", "buckets:0", "tolerance:101",
                              "tolerance:-1", "buckets:12x", "Split", "prefer-low ", "gated-split:2:3"}) {
        INFO(wrong);
        CHECK_THROWS_AS(named(wrong), input_error);
    }
}
