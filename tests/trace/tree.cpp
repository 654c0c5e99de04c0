// SPDX-License-Identifier: BSL-1.0
// The tree that a kernel built and the one that we build from the same arrivals must be equal.
#include <support/captures.hpp>

#include <tmigr/builder.hpp>
#include <tmigr/io/compare_trees.hpp>
#include <tmigr/io/cpus.hpp>
#include <tmigr/io/traced_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"

using namespace tmigr;
using tmigr::test::capture;
using tmigr::test::captures;

namespace {

// Windows from the middle of a run, kept without the lines that built the tree.
constexpr std::string_view without_tree[] = {"kernel-6.12-16cpu-late-timer", "kernel-7.3-16cpu-late-timer"};

bool has_tree(const capture& c) { return std::ranges::find(without_tree, c.name) == std::end(without_tree); }

linux_form form_of(const capture& c) {
    // Debian's 6.12.117 has 6.13's rules.
    return c.kernel == std::string_view{"6.12"} ? linux_form::v6_13 : linux_form::newest;
}

traced_tree traced(const capture& c) {
    return read_traced_tree(c.path(c.has_hierarchy() ? ".hierarchy" : ".trace"));
}

tree_shape built(const capture& c, linux_form form) {
    const topology machine = read_cpus(c.path(".topology"));
    tree_builder builder{machine.possible_cpus(), machine.possible_nodes(), {8, form}};
    for (const cpu_info& cpu : machine.cpus()) builder.add(cpu);
    return builder.shape();
}

const capture& named(std::string_view name) {
    return *std::ranges::find(captures, name, [](const capture& c) { return std::string_view{c.name}; });
}

// Three levels, two nodes, two groups of level 0 in each.
const capture& cpu24() { return named("kernel-7.3-24cpu-2node"); }

// The same trace with something changed in it.
template <class Change>
traced_tree retold(const capture& c, Change&& change) {
    traced_tree tree;
    for (ftrace_record& record : tmigr::test::records_of(c)) {
        change(record.event);
        tree.add(record.event);
    }
    return tree;
}

bool any_says(const std::vector<std::string>& sentences, std::string_view words) {
    return std::ranges::any_of(sentences, [&](const std::string& s) { return s.find(words) != s.npos; });
}

}  // namespace

TEST_CASE("the tree of every captured kernel is the one built from its arrivals") {
    std::size_t compared = 0, groups = 0, links = 0, cpus = 0;
    std::set<std::uint64_t> masks;
    for (const capture& c : captures) {
        INFO(c.name);
        if (!has_tree(c)) {
            CHECK_THROWS_AS(traced(c), input_error);
            continue;
        }
        const traced_tree kernel = traced(c);
        CHECK(differences(kernel, built(c, form_of(c))) == std::vector<std::string>{});
        CHECK(kernel.cpus().size() == c.cpus);
        CHECK(kernel.roots().size() == 1);
        ++compared;
        groups += kernel.groups().size();
        cpus += kernel.cpus().size();
        for (const traced_group& group : kernel.groups()) {
            links += group.parent != no_group;
            if (group.parent != no_group) masks.insert(group.groupmask);
        }
        for (const traced_cpu& cpu : kernel.cpus()) masks.insert(cpu.groupmask);
    }
    CHECK(compared == 25);
    CHECK(groups == 99);
    CHECK(links == 74);
    CHECK(cpus == 442);
    CHECK(masks.size() == 8);
}

TEST_CASE("the rules of 6.9 give other masks wherever a kernel of today linked an old root") {
    for (const capture& c : captures) {
        if (!has_tree(c)) continue;
        INFO(c.name);
        const traced_tree kernel = traced(c);
        const auto found = differences(kernel, built(c, linux_form::v6_9));
        CHECK(found.empty() == (kernel.groups().size() == 1));
        for (const std::string& sentence : found) CHECK(sentence.find("mask 0x") != sentence.npos);
    }
}

TEST_CASE("a changed mask in a trace is found") {
    std::size_t changed = 0;
    const auto found = differences(retold(cpu24(),
                                          [&](ftrace_event& line) {
                                              auto* const joined =
                                                  std::get_if<event::connect_cpu_parent>(&line);
                                              if (joined == nullptr || joined->cpu != 11) return;
                                              joined->groupmask = 0x80;
                                              ++changed;
                                          }),
                                   built(cpu24(), linux_form::newest));
    REQUIRE(changed == 1);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == "CPU 11: mask 0x80 in the trace, 0x8 in the tree");
    CHECK(found[1].find("masks of children 0x87 in the trace, 0xf in the tree") != std::string::npos);
}

TEST_CASE("two CPUs that changed places in a trace are found") {
    const auto found = differences(retold(cpu24(),
                                          [](ftrace_event& line) {
                                              auto* const joined =
                                                  std::get_if<event::connect_cpu_parent>(&line);
                                              if (joined == nullptr) return;
                                              if (joined->cpu == 5)
                                                  joined->cpu = 13;
                                              else if (joined->cpu == 13)
                                                  joined->cpu = 5;
                                          }),
                                   built(cpu24(), linux_form::newest));
    CHECK(any_says(found, "CPU 5: under group "));
    CHECK(any_says(found, "CPU 13: under group "));
    CHECK(any_says(found, "CPU 5: mask 0x2 in the trace, 0x20 in the tree"));
}

TEST_CASE("CPUs and groups that only one of the trees has are found") {
    const traced_tree kernel = traced(cpu24());
    const tree_shape same = built(cpu24(), linux_form::newest);

    tree_shape fewer = same;
    fewer.cpus.pop_back();
    const auto missing = differences(kernel, fewer);
    CHECK(any_says(missing, "CPU 23: in the trace, not in the tree"));
    CHECK(any_says(missing, "4 children in the trace, 3 in the tree"));

    tree_shape more = same;
    more.cpus.push_back(more.cpus.back());
    more.cpus.back().info.id = 99;
    more.cpus.back().childmask = 0x80;
    CHECK(any_says(differences(kernel, more), "CPU 99: not in the trace, in the tree"));

    more = same;
    more.groups.push_back({});
    CHECK(differences(kernel, more) == std::vector<std::string>{"group 8: not in the trace, in the tree"});

    const auto all_gone = differences(kernel, tree_shape{});
    CHECK(all_gone.size() == 24 + 7);
    CHECK(any_says(all_gone, " in the trace, not in the tree"));
    CHECK(differences(traced_tree{}, same).size() == 24 + 7);
    CHECK(differences(traced_tree{}, tree_shape{}).empty());
}

TEST_CASE("every fact of a group is compared") {
    const traced_tree kernel = traced(cpu24());
    const tree_shape same = built(cpu24(), linux_form::newest);
    REQUIRE(differences(kernel, same).empty());

    tree_shape other = same;
    other.groups[3].level += 1;
    CHECK(differences(kernel, other).size() == 1);
    CHECK(any_says(differences(kernel, other), "in the trace, " + std::to_string(other.groups[3].level)));

    other = same;
    other.groups[0].family = 7;
    CHECK(differences(kernel, other).size() == 1);
    CHECK(any_says(differences(kernel, other), ": node 0 in the trace, 7 in the tree"));

    other = same;
    other.groups[0].groupmask = 0x10;
    CHECK(any_says(differences(kernel, other), ": mask 0x1 in the trace, 0x10 in the tree"));

    other = same;
    other.groups[0].parent = tree_shape::none;
    CHECK(any_says(differences(kernel, other), ": a parent in the trace, none in the tree"));

    // A group under the parent of another node: the sentence names both parents.
    other = same;
    const auto of_node_1 = std::ranges::find_if(
        other.groups, [](const shape_group& g) { return g.level == 0 && g.family == 1; });
    other.groups[0].parent = of_node_1->parent;
    CHECK(any_says(differences(kernel, other), ": under group "));

    // The root knows a mask that no line of a trace tells.
    other = same;
    REQUIRE(other.groups[other.root].groupmask == 1);
    other.groups[other.root].groupmask = 4;
    CHECK(differences(kernel, other).empty());
}
