// SPDX-License-Identifier: BSL-1.0
#include "catch.hpp"

#include <tmigr/draw.hpp>
#include <tmigr/invariants.hpp>
#include <tmigr/text_tracer.hpp>
#include <tmigr/tmigr.hpp>
#include <tmigr/wide_state.hpp>
#include <tmigr/atomics/plain.hpp>
#include <tmigr/atomics/std.hpp>

#include <sstream>

using namespace tmigr;

namespace {

topology two_nodes() {
    topology machine;
    for (cpu_id i = 0; i < 24; ++i) machine.add(i, static_cast<node_id>(i / 12));
    return machine;
}

struct misuse_counter {
    static inline int seen = 0;
    static void check(bool used_rightly, const char*) noexcept { seen += !used_rightly; }
};
struct strict : linux_config<plain_atomics> {
    using misuse = misuse_counter;
};
struct traced : linux_config<plain_atomics> {
    using tracer = text_tracer;
};

struct wide_lines : linux_config<boost_atomics> {
    static constexpr std::size_t cache_line = 128;
};

template <class Tree>
void first_and_last(Tree& tree) {
    CHECK_FALSE(tree.any_active());
    CHECK_FALSE(tree.migrator());
    auto a = tree.cpu(13);
    auto b = tree.cpu(2);
    a.activate();
    CHECK(tree.migrator() == 13);
    b.activate();
    CHECK(tree.migrator() == 13);
    CHECK(tree.root()->current().active() == 3);
    a.deactivate();
    CHECK(tree.migrator() == 2);
    CHECK_FALSE(a.is_active());
    CHECK(b.is_active());
    b.deactivate();
    CHECK_FALSE(tree.any_active());
}

template <class Config>
void first_and_last_on() {
    if constexpr (Config::atomics::template is_always_lock_free<typename Config::state>) {
        basic_hierarchy<Config> tree(two_nodes());
        first_and_last(tree);
    }
}

template <class Backend, class State>
struct with : linux_config<Backend> {
    using state = State;
};

}  // namespace

TEST_CASE("the same behaviour on every backend and word") {
    first_and_last_on<linux_config<boost_atomics>>();
    first_and_last_on<linux_config<std_atomics>>();
    first_and_last_on<linux_config<plain_atomics>>();
    first_and_last_on<with<boost_atomics, state64>>();
    first_and_last_on<with<boost_atomics, state64x24>>();
    first_and_last_on<with<boost_atomics, state128x48>>();
    first_and_last_on<with<std_atomics, state64x16>>();
    first_and_last_on<with<plain_atomics, state128x48>>();
}

TEST_CASE("a group's word has a cache line free of what other CPUs write") {
    using boost_group = group<linux_config<boost_atomics>>;
    boost_group::layout();
    CHECK(alignof(boost_group) == 64);
    CHECK(sizeof(boost_group) == 128);
    group<wide_lines>::layout();
    CHECK(sizeof(group<wide_lines>) == 256);
    CHECK(alignof(cpu_seat<linux_config<boost_atomics>>) == 64);
    CHECK(sizeof(cpu_seat<linux_config<boost_atomics>>) == 64);

    hierarchy tree(two_nodes());
    for (const auto& g : tree.groups()) CHECK(reinterpret_cast<std::uintptr_t>(&g) % 64 == 0);
    for (const auto& g : tree.groups()) CHECK(static_cast<const void*>(&g) == static_cast<const void*>(&g.word()));
}

TEST_CASE("CPUs arrive one at a time while others are awake") {
    basic_hierarchy<linux_config<plain_atomics>> tree(48, 2);
    CHECK(tree.root() == nullptr);
    CHECK_FALSE(tree.any_active());
    auto first = tree.add({0, 0, 1024, 0});
    first.activate();
    CHECK(tree.migrator() == 0);
    // Two levels appear at once; the news goes through the group in the middle.
    tree.add({24, 1, 1024, 1});
    CHECK(tree.shape().levels() == 3);
    CHECK(tree.root()->current().active() == 1);
    CHECK(tree.migrator() == 0);
    CHECK_FALSE(check_at_rest(tree.groups(), [](const auto& leaf) { return leaf.id() == 1 ? 1 : 0; }));
    first.deactivate();
    CHECK_FALSE(tree.any_active());
    tree.add({1, 0, 1024, 0}).activate();
    CHECK(tree.migrator() == 1);
}

TEST_CASE("an old root that sleeps is not carried up") {
    basic_hierarchy<linux_config<plain_atomics>> tree(16, 1);
    for (cpu_id i = 0; i < 8; ++i) tree.add({i, 0, 1024, 0});
    tree.cpu(3).activate();
    tree.cpu(3).deactivate();
    tree.add({8, 0, 1024, 0});
    CHECK_FALSE(tree.any_active());
    CHECK(tree.root()->current().seq() == 0);
}

TEST_CASE("groups above the cross-family level can prefer the lowest child") {
    basic_hierarchy<linux_config<plain_atomics>> tree(two_nodes(), {.cross_family_pick = pick::lowest});
    tree.cpu(13).activate();
    CHECK(tree.migrator() == 13);
    tree.cpu(14).activate();
    tree.cpu(2).activate();
    CHECK(tree.migrator() == 2);
    CHECK(tree.root()->current() == state32(3, 1, 2));
    tree.cpu(1).activate();  // below, the first keeps the role
    CHECK(tree.migrator() == 2);
    tree.cpu(1).deactivate();
    tree.cpu(2).deactivate();
    CHECK(tree.migrator() == 13);
}

TEST_CASE("a CPU's family is its node unless somebody says otherwise") {
    STATIC_REQUIRE(cpu_info{.id = 1, .node = 3}.family == 3);
    STATIC_REQUIRE(cpu_info{.id = 1}.family == no_family);
    basic_hierarchy<linux_config<plain_atomics>> tree(16, 2);
    tree.add({.id = 0, .node = 0});
    tree.add({.id = 1, .node = 1});
    CHECK(tree.groups().size() == 3);
}

TEST_CASE("families that are not nodes are drawn as families") {
    topology machine;
    for (cpu_id i = 0; i < 4; ++i) machine.add(i, 0, i < 2 ? 442 : 1024);
    machine.assign_families([](const cpu_info& cpu) { return static_cast<family_id>(cpu.capacity); });
    machine.set_possible(16, 1);
    basic_hierarchy<linux_config<plain_atomics>> tree(machine);
    std::ostringstream text;
    draw_text(text, tree);
    CHECK(text.str().find("family 442  mask 0x1") != std::string::npos);
    CHECK(text.str().find("node") == std::string::npos);
}

TEST_CASE("what cannot be is refused, and nothing changes") {
    hierarchy tree(two_nodes());
    const auto groups = tree.groups().size();
    CHECK_THROWS_AS(tree.cpu(24), input_error);
    try {
        tree.add({5, 0, 1024, 0});
        FAIL("CPU 5 twice");
    } catch (const input_error& e) {
        CHECK(e.value() == "5");
    }
    CHECK(tree.groups().size() == groups);
    for (unsigned width : {1u, 9u}) {
        try {
            hierarchy(two_nodes(), {.width = width});
            FAIL("width " << width);
        } catch (const input_error& e) {
            CHECK(e.value() == std::to_string(width));
            CHECK(e.expected().find("from 2 to 8") != std::string::npos);
        }
    }
}

TEST_CASE("misuse is noticed by the configured check") {
    basic_hierarchy<strict> tree(two_nodes());
    auto cpu = tree.cpu(0);
    misuse_counter::seen = 0;
    cpu.activate();
    cpu.deactivate();
    CHECK(misuse_counter::seen == 0);
    cpu.deactivate();
    CHECK(misuse_counter::seen == 1);
    cpu.activate();
    cpu.activate();
    CHECK(misuse_counter::seen == 2);
}

TEST_CASE("events are written as the kernel writes its own") {
    std::ostringstream text;
    topology machine;
    machine.add(0, 0);
    machine.add(8, 1);
    machine.set_possible(16, 2);
    basic_hierarchy<traced> tree(machine, {}, text_tracer(text));
    tree.tracer().set_time(1'234'567'890);
    tree.cpu(8).activate();
    tree.cpu(8).deactivate();
    CHECK(tree.tracer().ok());
    CHECK(text.str() ==
          "# tracer: nop\n#\n#           TASK-PID     CPU#  FLAGS   TIMESTAMP  FUNCTION\n"
          "          <idle>-0       [000] d....     0.000000: tmigr_group_set: group=0000000000000001 lvl=0 numa=0\n"
          "          <idle>-0       [000] d....     0.000000: tmigr_connect_cpu_parent: cpu=0 groupmask=1 "
          "parent=0000000000000001 lvl=0 numa=0 capacity=1024 num_children=1\n"
          "          <idle>-0       [008] d....     0.000000: tmigr_group_set: group=0000000000000002 lvl=0 numa=1\n"
          "          <idle>-0       [008] d....     0.000000: tmigr_group_set: group=0000000000000003 lvl=1 numa=-1\n"
          "          <idle>-0       [008] d....     0.000000: tmigr_connect_child_parent: group=0000000000000002 "
          "groupmask=2 parent=0000000000000003 lvl=1 numa=-1 capacity=1024 num_children=2\n"
          "          <idle>-0       [008] d....     0.000000: tmigr_connect_cpu_parent: cpu=8 groupmask=1 "
          "parent=0000000000000002 lvl=0 numa=1 capacity=1024 num_children=1\n"
          "          <idle>-0       [008] d....     0.000000: tmigr_connect_child_parent: group=0000000000000001 "
          "groupmask=1 parent=0000000000000003 lvl=1 numa=-1 capacity=1024 num_children=2\n"
          "          <idle>-0       [008] d....     1.234567: tmigr_cpu_active: cpu=8 parent=0000000000000002 "
          "wakeup=9223372036854775807\n"
          "          <idle>-0       [008] d....     1.234567: tmigr_group_set_cpu_active: group=0000000000000002 "
          "lvl=0 numa=1 active=1 migrator=1 parent=0000000000000003 childmask=1\n"
          "          <idle>-0       [008] d....     1.234567: tmigr_group_set_cpu_active: group=0000000000000003 "
          "lvl=1 numa=-1 active=2 migrator=2 parent=0000000000000000 childmask=2\n"
          "          <idle>-0       [008] d....     1.234567: tmigr_group_set_cpu_inactive: group=0000000000000002 "
          "lvl=0 numa=1 active=0 migrator=ff parent=0000000000000003 childmask=1\n"
          "          <idle>-0       [008] d....     1.234567: tmigr_group_set_cpu_inactive: group=0000000000000003 "
          "lvl=1 numa=-1 active=0 migrator=ff parent=0000000000000000 childmask=2\n"
          "          <idle>-0       [008] d....     1.234567: tmigr_cpu_idle: cpu=8 parent=0000000000000002 "
          "nextevt=9223372036854775807 wakeup=9223372036854775807\n");
}

TEST_CASE("older forms are traced without a capacity") {
    std::ostringstream text;
    topology machine;
    machine.add(0, 0);
    machine.set_possible(8, 1);
    basic_hierarchy<traced> tree(machine, {.form = linux_form::v6_13}, text_tracer(text, linux_form::v6_13));
    CHECK(text.str().find("capacity") == std::string::npos);
    CHECK(text.str().find("lvl=0 numa=0 num_children=1\n") != std::string::npos);
}

TEST_CASE("a tree is drawn as text") {
    basic_hierarchy<linux_config<plain_atomics>> tree(two_nodes());
    for (cpu_id id : {13u, 2u, 5u}) tree.cpu(id).activate();
    std::ostringstream text;
    draw_text(text, tree);
    CHECK(text.str() ==
          "group 6  level 2  active 0x3  migrator 0x2\n"
          "|- group 3  level 1  node 0  mask 0x1  active 0x1  migrator 0x1\n"
          "|  |- group 1  level 0  node 0  mask 0x1  active 0x24  migrator 0x4  cpus 0 1 >2 3 4 *5 6 7\n"
          "|  `- group 2  level 0  node 0  mask 0x2  active 0x0  migrator none  cpus 8 9 10 11\n"
          "`- group 5  level 1  node 1  mask 0x2  active 0x1  migrator 0x1\n"
          "   |- group 4  level 0  node 1  mask 0x1  active 0x2  migrator 0x2  cpus 12 >13 14 15 16 17 18 19\n"
          "   `- group 7  level 0  node 1  mask 0x2  active 0x0  migrator none  cpus 20 21 22 23\n");
    std::ostringstream nothing;
    draw_text(nothing, basic_hierarchy<linux_config<plain_atomics>>(1, 1));
    CHECK(nothing.str() == "(no CPU)\n");
}

TEST_CASE("a tree is drawn for Graphviz") {
    topology machine;
    machine.add(0, 0);
    machine.add(1, 0);
    basic_hierarchy<linux_config<plain_atomics>> tree(machine);
    tree.cpu(1).activate();
    std::ostringstream dot;
    draw_dot(dot, tree);
    CHECK(dot.str().find("g1 [shape=box, label=\"group 1\\nlevel 0, node 0\\nactive 0x2\\nmigrator 0x2\", style=filled") !=
          std::string::npos);
    CHECK(dot.str().find("g1 -> c0 [label=\"0x1\"];") != std::string::npos);
    CHECK(dot.str().find("g1 -> c1 [label=\"0x2\", penwidth=2.5];") != std::string::npos);
    CHECK(dot.str().find("c1 [label=\"CPU 1\", style=filled") != std::string::npos);
}
