// SPDX-License-Identifier: BSL-1.0
#include "catch.hpp"
#include "support/random_machine.hpp"
#include "support/shapes.hpp"

#include <tmigr/builder.hpp>

#include <random>
#include <set>

using namespace tmigr;
using tmigr::test::outline;

namespace {

tree_builder built(std::size_t possible, std::size_t nodes, linux_form form,
                   const std::vector<std::pair<cpu_id, node_id>>& arrivals, unsigned width = 8) {
    tree_builder builder(possible, nodes, {width, form});
    for (const auto& [id, node] : arrivals) builder.add({id, node, 1024, node});
    return builder;
}

template <class NodeOf>
std::vector<std::pair<cpu_id, node_id>> arrivals(cpu_id count, NodeOf node_of) {
    std::vector<std::pair<cpu_id, node_id>> list;
    for (cpu_id i = 0; i < count; ++i) list.emplace_back(i, static_cast<node_id>(node_of(i)));
    return list;
}

}  // namespace

TEST_CASE("the number of levels is Linux's estimate") {
    struct row {
        std::size_t cpus, nodes;
        unsigned family, cross;
    };
    for (const row& r : {row{1, 1, 0, 0}, row{2, 1, 1, 0}, row{8, 1, 1, 0}, row{9, 1, 2, 0}, row{64, 1, 2, 0},
                         row{65, 1, 3, 0}, row{512, 1, 3, 0}, row{513, 1, 4, 0}, row{16, 2, 1, 1}, row{24, 2, 2, 1},
                         row{48, 2, 2, 1}, row{160, 4, 2, 1}, row{256, 16, 2, 2}, row{72, 9, 1, 2},
                         row{4096, 4, 4, 1}, row{4, 4, 0, 1}, row{8, 8, 0, 1}}) {
        INFO(r.cpus << " CPUs, " << r.nodes << " nodes");
        CHECK(estimate_levels(r.cpus, r.nodes, 8) == level_estimate{r.family, r.cross});
    }
    CHECK(estimate_levels(25, 1, 24) == level_estimate{2, 0});
    CHECK(estimate_levels(24, 1, 24) == level_estimate{1, 0});
    CHECK(estimate_levels(9, 1, 2) == level_estimate{4, 0});
    CHECK(estimate_levels(SIZE_MAX, 1, 2) == level_estimate{64, 0});
    CHECK(estimate_levels(SIZE_MAX, 2, 8) == level_estimate{21, 1});
    CHECK(estimate_levels(8, 0, 8) == level_estimate{1, 0});
}

TEST_CASE("worked example: 8 CPUs, 1 node") {
    const auto all = arrivals(8, [](cpu_id) { return 0; });
    CHECK(outline(built(8, 1, linux_form::newest, all).shape()) == "G0.0 n0 m1 [0 1 2 3 4 5 6 7]");
    CHECK(outline(built(8, 1, linux_form::v6_13, all).shape()) == "G0.0 n0 m1 [0 1 2 3 4 5 6 7]");
    CHECK(outline(built(8, 1, linux_form::v6_9, all).shape()) == "G0.0 n0 m0 [0 1 2 3 4 5 6 7]");
}

TEST_CASE("worked example: 24 CPUs, 2 nodes, one after the other") {
    const auto all = arrivals(24, [](cpu_id i) { return i / 12; });
    const char* newest =
        "G2.0 m1 {"
        "G1.0 n0 m1 {G0.0 n0 m1 [0 1 2 3 4 5 6 7] G0.1 n0 m2 [8 9 10 11]} "
        "G1.1 n1 m2 {G0.2 n1 m1 [12 13 14 15 16 17 18 19] G0.3 n1 m2 [20 21 22 23]}}";
    CHECK(outline(built(24, 2, linux_form::newest, all).shape()) == newest);
    CHECK(outline(built(24, 2, linux_form::v6_13, all).shape()) == newest);
    CHECK(outline(built(24, 2, linux_form::v6_9, all).shape()) ==
          "G2.0 m0 {"
          "G1.1 n1 m1 {G0.2 n1 m1 [12 13 14 15 16 17 18 19] G0.3 n1 m2 [20 21 22 23]} "
          "G1.0 n0 m2 {G0.1 n0 m1 [8 9 10 11] G0.0 n0 m2 [0 1 2 3 4 5 6 7]}}");
}

TEST_CASE("worked example: 24 CPUs, 2 nodes, alternating") {
    const auto all = arrivals(24, [](cpu_id i) { return i % 2; });
    CHECK(outline(built(24, 2, linux_form::newest, all).shape()) ==
          "G2.0 m1 {"
          "G1.1 n0 m1 {G0.0 n0 m1 [0 2 4 6 8 10 12 14] G0.2 n0 m2 [16 18 20 22]} "
          "G1.0 n1 m2 {G0.1 n1 m1 [1 3 5 7 9 11 13 15] G0.3 n1 m2 [17 19 21 23]}}");
    // Before 6.19 the first leaf of node 0 ends up below node 1.
    CHECK(outline(built(24, 2, linux_form::v6_13, all).shape()) ==
          "G2.0 m1 {"
          "G1.0 n1 m1 {G0.0 n0 m1 [0 2 4 6 8 10 12 14] G0.1 n1 m2 [1 3 5 7 9 11 13 15] G0.3 n1 m4 [17 19 21 23]} "
          "G1.1 n0 m2 {G0.2 n0 m1 [16 18 20 22]}}");
    CHECK(outline(built(24, 2, linux_form::v6_9, all).shape()) ==
          "G2.0 m0 {"
          "G1.1 n0 m1 {G0.2 n0 m1 [16 18 20 22]} "
          "G1.0 n1 m2 {G0.1 n1 m1 [1 3 5 7 9 11 13 15] G0.0 n0 m2 [0 2 4 6 8 10 12 14] G0.3 n1 m4 [17 19 21 23]}}");
}

TEST_CASE("worked example: 4 nodes of 40 CPUs") {
    const auto all = arrivals(160, [](cpu_id i) { return i / 40; });
    const tree_builder tree = built(160, 4, linux_form::newest, all);
    CHECK(tree.shape().groups.size() == 25);
    CHECK(tree.shape().levels() == 3);
    for (node_id node = 0; node < 4; ++node)
        for (unsigned leaf = 0; leaf < 5; ++leaf) {
            const shape_cpu& first = tree.shape().cpus[static_cast<std::size_t>(node) * 40 + leaf * 8];
            const shape_group& g = tree.shape().groups[first.group];
            CHECK(g.groupmask == 1u << leaf);
            CHECK(tree.shape().groups[g.parent].groupmask == 1u << node);
            CHECK(tree.shape().groups[g.parent].family == node);
            CHECK(tree.shape().groups[g.parent].parent == tree.shape().root);
        }
    CHECK(outline(built(160, 4, linux_form::v6_13, all).shape()) == outline(tree.shape()));
    // The same groups in 6.9; the branch that forces a new root comes first there, the old root second.
    const tree_builder first = built(160, 4, linux_form::v6_9, all);
    CHECK(first.shape().groups.size() == 25);
    CHECK(test::unsound(first.shape(), 8) == "");
    const auto mask_above_cpu = [&first](std::size_t cpu, unsigned up) {
        std::size_t g = first.shape().cpus[cpu].group;
        while (up-- > 0) g = first.shape().groups[g].parent;
        return first.shape().groups[g].groupmask;
    };
    CHECK(mask_above_cpu(0, 0) == 2);
    CHECK(mask_above_cpu(8, 0) == 1);
    CHECK(mask_above_cpu(16, 0) == 4);
    CHECK(mask_above_cpu(0, 1) == 2);
    CHECK(mask_above_cpu(40, 1) == 1);
    CHECK(mask_above_cpu(80, 1) == 4);
    CHECK(mask_above_cpu(120, 1) == 8);
}

TEST_CASE("worked example: one CPU first, another much later") {
    for (linux_form form : {linux_form::newest, linux_form::v6_13})
        CHECK(outline(built(16, 1, form, {{0, 0}, {1, 0}}).shape()) == "G0.0 n0 m1 [0 1]");
    CHECK(outline(built(16, 1, linux_form::v6_9, {{0, 0}, {1, 0}}).shape()) == "G0.0 n0 m0 [0 1]");
    CHECK(outline(built(16, 1, linux_form::v6_9, arrivals(9, [](cpu_id) { return 0; })).shape()) ==
          "G1.0 n0 m0 {G0.1 n0 m1 [8] G0.0 n0 m2 [0 1 2 3 4 5 6 7]}");
    CHECK(outline(built(16, 2, linux_form::v6_9, {{0, 0}, {8, 1}}).shape()) == "G1.0 m0 {G0.1 n1 m1 [8] G0.0 n0 m2 [0]}");
    CHECK(outline(built(16, 1, linux_form::newest, arrivals(9, [](cpu_id) { return 0; })).shape()) ==
          "G1.0 n0 m1 {G0.0 n0 m1 [0 1 2 3 4 5 6 7] G0.1 n0 m2 [8]}");
    for (linux_form form : {linux_form::newest, linux_form::v6_13})
        CHECK(outline(built(16, 2, form, {{0, 0}, {8, 1}}).shape()) == "G1.0 m1 {G0.0 n0 m1 [0] G0.1 n1 m2 [8]}");
    CHECK(outline(built(48, 2, linux_form::newest, {{0, 0}, {24, 1}}).shape()) ==
          "G2.0 m1 {G1.1 n0 m1 {G0.0 n0 m1 [0]} G1.0 n1 m2 {G0.1 n1 m1 [24]}}");
    CHECK(outline(built(48, 2, linux_form::v6_13, {{0, 0}, {24, 1}}).shape()) ==
          "G1.0 n1 m1 {G0.0 n0 m1 [0] G0.1 n1 m2 [24]}");
    CHECK(outline(built(48, 2, linux_form::v6_9, {{0, 0}, {24, 1}}).shape()) ==
          "G1.0 n1 m0 {G0.1 n1 m1 [24] G0.0 n0 m2 [0]}");
}

TEST_CASE("two nodes of nine: the imbalance that 6.19 mended") {
    CHECK(outline(built(18, 2, linux_form::v6_13, {{0, 0}, {9, 1}}).shape()) ==
          "G1.0 n1 m1 {G0.0 n0 m1 [0] G0.1 n1 m2 [9]}");
    CHECK(outline(built(18, 2, linux_form::newest, {{0, 0}, {9, 1}}).shape()) ==
          "G2.0 m1 {G1.1 n0 m1 {G0.0 n0 m1 [0]} G1.0 n1 m2 {G0.1 n1 m1 [9]}}");
}

TEST_CASE("growth tells its steps in the kernel's order") {
    using step = growth_step::kind;
    const auto kinds = [](const std::vector<growth_step>& steps) {
        std::vector<step> list;
        for (const growth_step& s : steps) list.push_back(s.what);
        return list;
    };
    tree_builder newest(16, 2, {8, linux_form::newest});
    CHECK(kinds(newest.add({0, 0, 1024, 0})) == std::vector{step::make_group, step::connect_cpu});
    CHECK(kinds(newest.add({8, 1, 1024, 1})) ==
          std::vector{step::make_group, step::make_group, step::connect_group, step::connect_cpu,
                      step::connect_group, step::carry_up_old_root});
    tree_builder older(16, 2, {8, linux_form::v6_13});
    older.add({0, 0, 1024, 0});
    CHECK(kinds(older.add({8, 1, 1024, 1})) ==
          std::vector{step::make_group, step::make_group, step::connect_group, step::connect_group,
                      step::carry_up_old_root, step::connect_cpu});
}

TEST_CASE("random machines get sound trees, whatever the order of arrival") {
    const auto seed = test::seed();
    std::mt19937_64 random(seed);
    unsigned beyond_estimate = 0;
    for (int round = 0; round < 1500; ++round) {
        const unsigned width = std::vector{2u, 3u, 4u, 8u, 16u, 24u, 48u}[random() % 7];
        const topology machine = test::random_machine(random, 1 + random() % 300);
        tree_builder builder(machine.possible_cpus(), std::max(machine.possible_nodes(), machine.family_count()),
                             {width, linux_form::newest});
        std::size_t added = 0;
        for (const cpu_info& cpu : machine.cpus()) {
            builder.add(cpu);
            ++added;
            if (added % 37 != 0 && added != machine.size()) continue;
            INFO("seed " << seed << " round " << round << " width " << width << " after " << added);
            REQUIRE(test::unsound(builder.shape(), width) == "");
        }
        beyond_estimate += builder.shape().levels() > std::max(1u, builder.estimate().levels());
    }
    // Uneven nodes: Linux would have refused CPUs of these machines.
    CHECK(beyond_estimate > 0);
}

TEST_CASE("a machine that is uneven gets the level it needs") {
    // 9 nodes are estimated to need 2 levels above leaves of 1 CPU each; but one node has 60 CPUs.
    tree_builder builder(68, 9, {8, linux_form::newest});
    for (cpu_id i = 0; i < 8; ++i) builder.add({i, static_cast<node_id>(i), 1024, static_cast<family_id>(i)});
    for (cpu_id i = 8; i < 68; ++i) builder.add({i, 8, 1024, 8});
    CHECK(builder.estimate() == level_estimate{1, 2});
    CHECK(test::unsound(builder.shape(), 8) == "");
    // More CPUs than announced.
    tree_builder more(8, 1, {8, linux_form::newest});
    for (cpu_id i = 0; i < 100; ++i) more.add({i, 0, 1024, 0});
    CHECK(more.estimate().levels() == 1);
    CHECK(more.shape().levels() == 3);
    CHECK(test::unsound(more.shape(), 8) == "");
}

TEST_CASE("an old form refuses what it cannot place, and keeps the tree") {
    for (linux_form form : {linux_form::v6_9, linux_form::v6_13}) {
        tree_builder builder(8, 1, {8, form});
        for (cpu_id i = 0; i < 8; ++i) builder.add({i, 0, 1024, 0});
        const std::string before = outline(builder.shape());
        try {
            builder.add({8, 0, 1024, 0});
            FAIL("a ninth CPU on one level");
        } catch (const input_error& e) {
            CHECK(e.value() == "CPU 8");
        }
        CHECK(outline(builder.shape()) == before);
    }
}

TEST_CASE("undo takes the latest CPU back, and a retry gives the tree of a first success") {
    std::mt19937_64 random(7);
    for (int round = 0; round < 60; ++round) {
        const topology machine = test::random_machine(random, 1 + random() % 60);
        const shape_options options{std::vector{2u, 4u, 8u}[random() % 3], linux_form::newest};
        tree_builder steady(machine.possible_cpus(), machine.family_count(), options);
        tree_builder wavering(machine.possible_cpus(), machine.family_count(), options);
        for (const cpu_info& cpu : machine.cpus()) {
            const std::string before = outline(wavering.shape());
            wavering.add(cpu);
            if (random() % 2 == 0) {
                wavering.undo();
                REQUIRE(outline(wavering.shape()) == before);
                wavering.add(cpu);
            }
            steady.add(cpu);
            REQUIRE(outline(wavering.shape()) == outline(steady.shape()));
        }
    }
}

TEST_CASE("widths that make no tree are refused") {
    for (unsigned width : {0u, 1u, 65u})
        try {
            tree_builder(8, 1, {width, linux_form::newest});
            FAIL("width " << width);
        } catch (const input_error& e) {
            CHECK(e.value() == std::to_string(width));
            CHECK(e.expected() == "a group width from 2 to 64");
        }
}
