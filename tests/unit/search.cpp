// SPDX-License-Identifier: BSL-1.0

// Searches for idle and awake CPUs: against brute force at rest, under concurrent changes, and
// what they cost.

#include "catch.hpp"
#include "support/families.hpp"
#include "support/random_machine.hpp"

#include <tmigr/atomics/counting.hpp>
#include <tmigr/atomics/plain.hpp>
#include <tmigr/atomics/std.hpp>
#include <tmigr/hierarchy.hpp>

#include <array>
#include <atomic>
#include <thread>

using namespace tmigr;
using test::of_classes;

namespace {

using plain = linux_config<plain_atomics>;

/// A tree and the truth about its CPUs.
struct known_tree {
    basic_hierarchy<plain> tree;
    std::vector<char> awake, apart;  ///< by index in the shape

    template <class... Args>
    explicit known_tree(Args&&... args) : tree(std::forward<Args>(args)...) {}
    void know() {
        awake.assign(tree.shape().cpus.size(), false);
        apart = awake;
    }
    auto handle(std::size_t c) { return tree.cpu(id(c)); }
    cpu_id id(std::size_t c) const { return tree.shape().cpus[c].info.id; }
    std::size_t index(cpu_id cpu) const {
        std::size_t c = 0;
        while (id(c) != cpu) ++c;
        return c;
    }
    void flip(std::size_t c) {
        awake[c] ? handle(c).deactivate() : handle(c).activate();
        awake[c] = !awake[c];
    }
    void go_or_come(std::size_t c) {
        if (apart[c])
            static_cast<void>(handle(c).join());
        else
            static_cast<void>(handle(c).leave());
        apart[c] = !apart[c];
    }
    bool fits(std::size_t c, bool active) const { return !apart[c] && static_cast<bool>(awake[c]) == active; }
    /// Level on which two CPUs meet; beyond all levels where they do not.
    unsigned distance(std::size_t a, std::size_t b) const {
        const auto& groups = tree.shape().groups;
        for (std::size_t g = tree.shape().cpus[a].group; g != tree_shape::none; g = groups[g].parent)
            for (std::size_t h = tree.shape().cpus[b].group; h != tree_shape::none; h = groups[h].parent)
                if (g == h) return groups[g].level;
        return 1000;
    }
    /// The child, below the group where both meet, that `b` is in; and whether all sleep in it.
    bool is_in_idle_branch(std::size_t a, std::size_t b) const {
        const auto& groups = tree.shape().groups;
        const unsigned level = distance(a, b);
        std::size_t g = tree.shape().cpus[b].group;
        while (groups[g].level + 1 < level) g = groups[g].parent;
        return level == 0 || !tree.groups()[g].current().is_active();
    }

    std::string wrong_families() {
        std::map<family_id, std::vector<std::size_t>> members;
        for (std::size_t c = 0; c < awake.size(); ++c) members[tree.shape().cpus[c].info.family].push_back(c);
        for (const auto& [family, cpus] : members) {
            const auto handle_of = tree.family(family);
            if (handle_of.id() != family) return "another family";
            for (const bool active : {false, true}) {
                std::set<cpu_id> wanted;
                for (const std::size_t c : cpus)
                    if (fits(c, active)) wanted.insert(id(c));
                const auto found = active ? handle_of.find_active() : handle_of.find_idle();
                if (found != (active ? tree.find_active(family) : tree.find_idle(family))) return "two answers";
                if (found.has_value() != !wanted.empty()) return "found, or not found, against the truth";
                if (found && !wanted.contains(*found)) return "found one that does not fit";
                if (active) continue;
                // Each is woken once; then nobody is left to wake.
                while (const auto woken = handle_of.wake_idle()) {
                    if (wanted.erase(*woken) != 1) return "woke one twice, or one that does not fit";
                }
                if (!wanted.empty()) return "not all were woken";
                if (handle_of.find_idle() != found) return "who is being woken is idle still";
                if (tree.wake_idle(family)) return "woken twice";
                for (const std::size_t c : cpus)
                    if (handle(c).answer_kick() != fits(c, false)) return "kicked, or not, against the truth";
            }
        }
        return "";
    }
    std::string wrong_near() {
        for (std::size_t c = 0; c < awake.size(); ++c)
            for (const bool active : {false, true}) {
                unsigned nearest = 1000;
                for (std::size_t o = 0; o < awake.size(); ++o)
                    if (o != c && fits(o, active)) nearest = std::min(nearest, distance(c, o));
                const auto found = active ? tree.find_active(handle(c)) : tree.find_idle(handle(c));
                if (found.has_value() != (nearest < 1000)) return "near: found, or not found, against the truth";
                if (!found) continue;
                const std::size_t who = index(*found);
                if (who == c || !fits(who, active)) return "near: found one that does not fit";
                if (distance(c, who) != nearest) return "near: another is nearer";
                if (active || is_in_idle_branch(c, who)) continue;
                for (std::size_t o = 0; o < awake.size(); ++o)
                    if (o != c && fits(o, false) && distance(c, o) == nearest && is_in_idle_branch(c, o))
                        return "near: another is where all sleep";
            }
        return "";
    }
};

void search_all(known_tree& known, std::mt19937_64& random, bool near) {
    known.know();
    const std::size_t cpus = known.awake.size();
    REQUIRE(known.wrong_families() == "");
    for (int change = 0; change < 4; ++change) {
        for (std::size_t c = 0; c < cpus; ++c) {
            if (random() % 2 == 0) known.flip(c);
            if (random() % 8 == 0) known.go_or_come(c);
        }
        REQUIRE(known.wrong_families() == "");
        if (near) REQUIRE(known.wrong_near() == "");
    }
    for (std::size_t c = 0; c < cpus; ++c)
        if (!known.awake[c]) known.flip(c);
    REQUIRE(known.wrong_families() == "");
    for (int one = 0; one < 3; ++one) {
        const std::size_t c = random() % cpus;
        known.flip(c);
        REQUIRE(known.wrong_families() == "");
        if (near) REQUIRE(known.wrong_near() == "");
        known.flip(c);
    }
}

}  // namespace

TEST_CASE("searches find one exactly if there is one, nearest first") {
    const auto seed = test::seed();
    std::mt19937_64 random(seed);
    for (const test::machine_facts& m : test::machines) {
        if (m.kind != test::reader::cpus) continue;
        const topology machine = read_cpus(m.path());
        for (const family_policy& policy : families::presets())
            for (const unsigned width : {2u, 8u}) {
                INFO(m.file << ", " << policy.name << ", width " << width << ", seed " << seed);
                known_tree known(machine, policy, hierarchy_options{.width = width});
                search_all(known, random, machine.size() <= 20);
            }
    }
    for (int round = 0; round < 60; ++round) {
        const topology machine = test::random_machine(random, 1 + random() % 40);
        INFO("seed " << seed << ", round " << round);
        known_tree known(machine, hierarchy_options{.width = std::vector{2u, 3u, 8u}[random() % 3]});
        search_all(known, random, true);
    }
}

TEST_CASE("searches in trees of old kernels, where nodes mix below, keep to their family") {
    std::mt19937_64 random(9);
    for (const linux_form form : {linux_form::v6_9, linux_form::v6_13})
        for (int stride = 1; stride <= 2; ++stride) {
            topology machine;
            for (cpu_id i = 0; i < 24; ++i) machine.add(i, static_cast<node_id>(stride == 1 ? i % 2 : i / 12));
            known_tree known(machine, hierarchy_options{.width = 8, .form = form});
            search_all(known, random, true);
            // A whole node awake, the other asleep.
            for (std::size_t c = 0; c < 24; ++c)
                if ((known.tree.shape().cpus[c].info.node == 1) != static_cast<bool>(known.awake[c])) known.flip(c);
            for (std::size_t c = 0; c < 24; ++c)
                if (known.apart[c]) known.go_or_come(c);
            CHECK_FALSE(known.tree.find_idle(1));
            CHECK_FALSE(known.tree.find_active(0));
        }
}

TEST_CASE("searches where leaves mix families") {
    std::mt19937_64 random(10);
    // Announced as one CPU a node; two came to each.
    topology machine;
    for (cpu_id i = 0; i < 12; ++i) machine.add(i, static_cast<node_id>(i % 6));
    machine.set_possible(12, 12);
    for (const unsigned width : {2u, 8u}) {
        known_tree known(machine, hierarchy_options{.width = width});
        REQUIRE(known.tree.shape().groups[known.tree.shape().cpus[0].group].cross);
        search_all(known, random, true);
    }
    known_tree classes(test::cpus_file("synthetic-all-distinct-64"), families::prefer_low());
    search_all(classes, random, true);
}

TEST_CASE("searches: who is not there is not found") {
    basic_hierarchy<plain> tree(of_classes({{400, 2}, {1024, 2}}), families::prefer_low());
    CHECK_FALSE(tree.find_idle(7));
    CHECK_FALSE(tree.find_active(7));
    CHECK_FALSE(tree.wake_idle(7));
    CHECK_THROWS_AS(tree.family(7), input_error);
    const basic_hierarchy<plain> empty(8, 1);
    CHECK_FALSE(empty.find_idle(0));
    CHECK_THROWS_AS(empty.family(0), input_error);
    const auto little = tree.family(0), big = tree.family(1);
    CHECK(little.find_idle() == 0u);
    static_cast<void>(tree.cpu(0).leave());
    CHECK(little.find_idle() == 1u);
    CHECK(little.wake_idle() == 1u);
    CHECK_FALSE(little.wake_idle());
    CHECK(little.find_idle() == 1u);
    tree.cpu(1).activate();
    CHECK_FALSE(little.find_idle());
    CHECK(little.find_active() == 1u);
    static_cast<void>(tree.cpu(1).leave());
    CHECK_FALSE(little.find_active());
    CHECK_FALSE(little.find_idle());
    CHECK(big.find_idle() == 2u);
    static_cast<void>(tree.cpu(0).join());
    CHECK(little.find_idle() == 0u);
    // A family that grows is found through the same handle.
    tree.add({.id = 9, .node = 0, .capacity = 400});
    tree.cpu(0).activate();
    CHECK(little.find_idle() == 9u);
}

TEST_CASE("what searches cost") {
    using counting = counting_atomics<plain_atomics>;
    using config = linux_config<counting>;
    const auto cost = [](auto&& what) {
        counting::counts() = {};
        what();
        return counting::counts();
    };
    for (const auto& size : {std::pair{8u, 1u}, {64u, 2u}, {512u, 3u}}) {
        const unsigned cpus = size.first, levels = size.second;
        topology machine;
        for (cpu_id i = 0; i < cpus; ++i) machine.add(i, 0);
        basic_hierarchy<config> tree(machine);
        REQUIRE(tree.shape().levels() == levels);
        const auto family = tree.family(0);
        // The list of the family's branches, the links up to its top, then a word and a way a level, and whether
        // the CPU takes part.
        const auto idle = cost([&] { CHECK(family.find_idle() == 0u); });
        CHECK(idle.loads == 1 + levels + 2 * levels + 1);
        CHECK(idle.read_modify_writes + idle.stores == 0);
        CHECK(cost([&] { CHECK(tree.find_idle(0) == 0u); }).loads == idle.loads + 1);
        // One look at the top says that nobody is awake; then the list ends.
        CHECK(cost([&] { CHECK_FALSE(family.find_active()); }).loads == 1 + levels + 1 + 1);
        tree.cpu(cpus - 1).activate();
        CHECK(cost([&] { CHECK(family.find_active() == cpus - 1); }).loads == 1 + levels + 2 * levels);
        tree.cpu(cpus - 1).deactivate();
        // To wake is to look whether it is being woken, and one swap.
        const auto woken = cost([&] { CHECK(family.wake_idle() == 0u); });
        CHECK(woken.loads == idle.loads + 1);
        CHECK(woken.read_modify_writes == 1);
        // Who is being woken is passed by: a way, whether it takes part, whether it is kicked.
        const auto second = cost([&] { CHECK(family.wake_idle() == 1u); });
        CHECK(second.loads == woken.loads + 3);
        CHECK(second.read_modify_writes == 1);
        tree.cpu(0).answer_kick();
        tree.cpu(1).answer_kick();

        // Near: CPU 1 is next to CPU 0, which is a way and its state to pass by.
        auto zero = tree.cpu(0);
        CHECK(cost([&] { CHECK(find_near<config>(zero.leaf(), 0, false) == 1u); }).loads == 1 + 2 + 2);
        for (cpu_id i = 0; i < 8; ++i) tree.cpu(i).activate();
        // The leaf is full of those awake: a word and a link a level up to where there are others, then down; on the
        // level where they meet the way to where one comes from is not looked at, since it is awake.
        if (levels > 1) CHECK(cost([&] { CHECK(find_near<config>(zero.leaf(), 0, false) == 8u); }).loads == 2 + 2 + 3);
        // Where all are awake each group is looked at once, and its ways once.
        for (cpu_id i = 8; i < cpus; ++i) tree.cpu(i).activate();
        const std::size_t groups = tree.shape().groups.size(), leaves = cpus / 8;
        const auto none = cost([&] { CHECK_FALSE(family.find_idle()); });
        CHECK(none.loads == 1 + levels + groups + (groups - leaves) * 8 + 1);
        CHECK(cost([&] { CHECK(family.find_active() == 0u); }).loads == 1 + levels + 2 * levels);
        // One that sleeps in the last leaf: the same, and its own way and state.
        tree.cpu(cpus - 1).deactivate();
        CHECK(cost([&] { CHECK(family.find_idle() == cpus - 1); }).loads == none.loads - 1 + 2);
    }
}

TEST_CASE("a take-over is one read-modify-write and no walk upwards") {
    using counting = counting_atomics<plain_atomics>;
    using config = linux_config<counting>;
    const auto wakes = [](basic_hierarchy<config>& tree, cpu_id id) {
        const auto cpu = tree.cpu(id);
        counting::counts() = {};
        cpu.activate();
        return counting::counts();
    };
    // Each CPU a class: ranks are places in the leaves, and leaves have the ranks above.
    const topology distinct = test::cpus_file("synthetic-all-distinct-64");
    std::vector<cpu_id> by_rank(64);
    for (const cpu_info& cpu : distinct.cpus()) by_rank[distinct.capacity_rank(cpu.capacity)] = cpu.id;
    basic_hierarchy<config> tree(distinct, families::prefer_low());
    tree.cpu(by_rank[13]).activate();
    // In the group where somebody is awake, the swap that makes it active makes it migrator; nothing above is
    // touched, not even looked at (one load of the word, one of the own line for kicks).
    auto c = wakes(tree, by_rank[10]);
    CHECK(tree.migrator() == by_rank[10]);
    CHECK(c.read_modify_writes == 1);
    CHECK(c.group_visits == 1);
    CHECK(c.loads == 2);
    CHECK(c.stores == 0);
    CHECK(c.level_mask == 1);
    // From an idle leaf the news goes up one level, and takes over there, in one swap.
    c = wakes(tree, by_rank[5]);
    CHECK(tree.migrator() == by_rank[5]);
    CHECK(c.read_modify_writes == 2);
    CHECK(c.group_visits == 2);
    CHECK(c.level_mask == 3);
    CHECK(c.loads == 4);  // two words, a link, the own line
    CHECK(c.failed_read_modify_writes == 0);
    // One that is higher costs the same and takes nothing over.
    c = wakes(tree, by_rank[6]);
    CHECK(tree.migrator() == by_rank[5]);
    CHECK(c.read_modify_writes == 1);

    // Two ranked levels below nodes: the take-over ends below the root, which has this node active.
    topology nodes;
    for (cpu_id i = 0; i < 32; ++i) nodes.add(i, static_cast<node_id>(i / 16), 1000 - i % 16);
    basic_hierarchy<config> per_node(nodes, families::prefer_low_per_node());
    REQUIRE(per_node.shape().levels() == 3);
    per_node.cpu(0).activate();  // the biggest of node 0, rank 15
    c = wakes(per_node, 15);     // the least, rank 0
    CHECK(c.level_mask == 3);
    CHECK(c.read_modify_writes == 2);
    CHECK(per_node.migrator() == 15u);
    c = wakes(per_node, 31);  // node 1 wakes: to the root, which keeps its migrator
    CHECK(c.level_mask == 7);
    CHECK(c.read_modify_writes == 3);
    CHECK(per_node.migrator() == 15u);
    // A walk that finds the role to be another's costs as much as without preference.
    basic_hierarchy<config> flat(distinct);
    flat.cpu(by_rank[13]).activate();
    CHECK(wakes(flat, by_rank[13] == 0 ? 1 : 0).read_modify_writes >= 1);
}

namespace {

/// What a CPU's owner says of it: a number whose last two bits tell idle, waking, awake, falling
/// asleep. A search that began and ended at the same number saw the CPU in that one state.
struct alignas(64) said {
    std::atomic<std::uint64_t> number{0};
    void next() { number.fetch_add(1); }
};

}  // namespace

TEST_CASE("who is found while others change was in that state during the search") {
    using config = linux_config<std_atomics>;
    for (const family_policy& policy : {families::linux_default(), families::prefer_low()}) {
        topology machine;
        for (cpu_id i = 0; i < 24; ++i) machine.add(i, 0, i < 12 ? 400 : 1024);
        basic_hierarchy<config> tree(machine, policy, {.width = 4});
        std::array<said, 24> says;
        std::vector<basic_hierarchy<config>::handle> cpus;
        for (cpu_id i = 0; i < 24; ++i) cpus.push_back(tree.cpu(i));
        std::atomic<bool> done{false};
        std::atomic<std::size_t> wrong{0};
        std::array<std::size_t, 3> found{};
        std::vector<std::thread> threads;
        for (cpu_id owner = 0; owner < 2; ++owner)
            threads.emplace_back([&, owner] {
                std::mt19937_64 random(owner + 1);
                std::array<char, 24> awake{};
                while (!done) {
                    const auto id = static_cast<cpu_id>(random() % 12 * 2 + owner);
                    const auto cpu = cpus[id];
                    says[id].next();
                    awake[id] ? cpu.deactivate() : cpu.activate();
                    says[id].next();
                    awake[id] = !awake[id];
                }
            });
        threads.emplace_back([&] {
            const auto check = [&](std::size_t kind, std::uint64_t forbidden, auto&& search) {
                std::array<std::uint64_t, 24> before;
                for (cpu_id i = 0; i < 24; ++i) before[i] = says[i].number.load();
                const auto who = search();
                if (!who) return;
                ++found[kind];
                if (before[*who] == says[*who].number.load() && before[*who] % 4 == forbidden) ++wrong;
            };
            const auto leaf = cpus[5];
            for (std::size_t i = 0; i < 60'000; ++i) {
                const auto family = static_cast<family_id>(policy.keys.size() > 1 ? i % 2 : 0);
                check(0, 2, [&] { return tree.find_idle(family); });
                check(1, 0, [&] { return tree.find_active(family); });
                check(2, 2, [&] { return find_near<config>(leaf.leaf(), 5, false); });
                check(2, 0, [&] { return find_near<config>(leaf.leaf(), 5, true); });
            }
            done = true;
        });
        for (std::thread& t : threads) t.join();
        CHECK(wrong == 0);
        for (const std::size_t times : found) CHECK(times > 1000);
    }
}

TEST_CASE("of several who want to wake an idle CPU each gets another kick") {
    using config = linux_config<std_atomics>;
    basic_hierarchy<config> tree(of_classes({{1024, 6}}), families::linux_default(), {.width = 4});
    const auto family = tree.family(0);
    std::vector<basic_hierarchy<config>::handle> cpus;
    for (cpu_id i = 0; i < 6; ++i) cpus.push_back(tree.cpu(i));
    std::array<std::atomic<std::size_t>, 6> granted{};
    std::array<std::size_t, 6> answered{};
    std::atomic<std::size_t> running{2};
    std::vector<std::thread> threads;
    for (int waker = 0; waker < 2; ++waker)
        threads.emplace_back([&] {
            for (std::size_t got = 0; got < 2'000;) {
                if (const auto who = family.wake_idle()) {
                    ++granted[*who];
                    ++got;
                } else {
                    std::this_thread::yield();
                }
            }
            --running;
        });
    threads.emplace_back([&] {
        while (running > 0)
            for (cpu_id i = 0; i < 6; ++i) answered[i] += cpus[i].answer_kick();
    });
    for (std::thread& t : threads) t.join();
    std::size_t sum = 0;
    for (cpu_id i = 0; i < 6; ++i) {
        answered[i] += cpus[i].answer_kick();
        // Every kick that was answered had been given to one, and to one only.
        CHECK(granted[i] == answered[i]);
        sum += granted[i];
    }
    CHECK(sum == 4'000);
}
