// SPDX-License-Identifier: BSL-1.0

// Growth with families: CPUs that come late, trees that are set up late, growth by whomever;
// and trees made anew. What is refused, or finds no memory, leaves all as it was.

#include "catch.hpp"
#include "support/families.hpp"
#include "support/family_world.hpp"
#include "support/memory.hpp"
#include "support/random_machine.hpp"

#include <tmigr/atomics/plain.hpp>
#include <tmigr/atomics/std.hpp>
#include <tmigr/draw.hpp>
#include <tmigr/hierarchy.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <sstream>
#include <thread>

using namespace tmigr;
using test::cpus_file;
using test::fail_in;
using test::of_classes;

namespace {

using plain = linux_config<plain_atomics>;
using tree_type = basic_hierarchy<plain>;

/// All that can be told of a tree from outside: its picture, lists of families, numbers.
template <class Tree>
std::string seen(const Tree& tree) {
    std::ostringstream text;
    draw_text(text, tree);
    for (family_id f = -1; f < 80; ++f)
        if (const auto idle = tree.find_idle(f)) text << f << ": " << *idle << ' ';
    const tree_shape& s = tree.shape();
    text << s.groups.size() << ' ' << s.cpus.size() << ' ' << tree.groups().size() << ' ' << tree.any_active() << ' '
         << tree.migrator().value_or(max_cpu_id) << '\n'
         << test::outline(s);
    return text.str();
}

template <class Tree>
std::string at_rest(Tree& tree) {
    const auto bad = check_at_rest(tree.groups(), [&](const auto& leaf) {
        unsigned mask = 0;
        for (const shape_cpu& cpu : tree.shape().cpus) {
            const auto handle = tree.cpu(cpu.info.id);
            if (handle.is_active() && &handle.leaf() == &leaf) mask |= handle.childmask();
        }
        return mask;
    });
    return bad ? name(bad->what) : "";
}

}  // namespace

TEST_CASE("families: CPUs come one at a time while others sleep and wake") {
    std::mt19937_64 random(5);
    for (const test::machine_facts& m : test::machines) {
        if (m.kind != test::reader::cpus || m.cpus > 144) continue;
        for (const family_policy& policy : families::presets()) {
            const topology machine = read_cpus(m.path());
            INFO(m.file << ", " << policy.name);
            tree_type tree(family_plan(machine, policy, 8));
            std::vector<char> awake(max_cpu_id);
            std::vector<cpu_id> there;
            for (const cpu_info& info : machine.cpus()) {
                const auto handle = tree.add(info);
                there.push_back(info.id);
                REQUIRE_FALSE(handle.is_active());
                for (int i = 0; i < 2; ++i) {
                    const cpu_id flip = there[random() % there.size()];
                    awake[flip] ? tree.cpu(flip).deactivate() : tree.cpu(flip).activate();
                    awake[flip] = !awake[flip];
                }
                for (const cpu_id id : there) REQUIRE(tree.cpu(id).is_active() == static_cast<bool>(awake[id]));
                REQUIRE(at_rest(tree) == "");
            }
            REQUIRE(test::breaks_rules(machine, tree.plan().policy(), [&] {
                        tree_builder same(family_plan(machine, policy, 8));
                        for (const cpu_info& info : machine.cpus()) same.add(info);
                        return same;
                    }()) == "");
        }
    }
}

TEST_CASE("families: a CPU of an unknown class is refused, and the tree is as before") {
    const topology machine = cpus_file("radxa-orion-o6");
    for (const family_policy& policy : {families::prefer_low(), families::prefer_low_per_node(), families::tolerance(3)}) {
        tree_type tree(machine, policy);
        tree.cpu(0).activate();
        const std::string before = seen(tree);
        for (const unsigned capacity : {1u, 500u, 1023u}) {
            const cpu_info late{.id = 50, .node = 0, .capacity = capacity};
            if (policy.name == "tolerance" && capacity == 1023) continue;
            try {
                tree.add(late);
                FAIL("capacity " << capacity);
            } catch (const input_error& error) {
                CHECK(error.value() == "CPU 50 of capacity " + std::to_string(capacity));
                CHECK(error.expected().find("set_possible_capacities") != std::string::npos);
                CHECK(error.expected().find("279") != std::string::npos);
            }
            CHECK(seen(tree) == before);
            CHECK_THROWS_AS(tree.cpu(50), input_error);
        }
        // Another CPU may still come.
        CHECK_NOTHROW(tree.add({.id = 50, .node = 0, .capacity = 279}));
    }
    // The same where a single class was known.
    tree_type alike(of_classes({{1024, 4}}), families::prefer_low());
    CHECK_THROWS_AS(alike.add({.id = 9, .node = 0, .capacity = 400}), input_error);
    CHECK_NOTHROW(alike.add({.id = 9, .node = 0, .capacity = 1024}));
    // In separate trees a class of its own is a tree of its own.
    tree_type apart(of_classes({{400, 4}, {1024, 4}}), families::split());
    CHECK_NOTHROW(apart.add({.id = 9, .node = 0, .capacity = 700}));
    apart.cpu(0).activate();
    apart.cpu(9).activate();
    CHECK(apart.cpu(9).migrator() == 9u);
    CHECK(apart.cpu(1).migrator() == 0u);
    CHECK_FALSE(apart.cpu(5).migrator());
}

TEST_CASE("families: a class that was announced gets its rank when it comes") {
    topology machine = of_classes({{400, 2}, {1024, 2}});
    const std::array<unsigned, 2> later{200, 700};
    machine.set_possible_capacities(later);
    machine.set_possible(8, 1);
    tree_type tree(machine, families::prefer_low());
    tree.cpu(2).activate();
    const auto lower = tree.add({.id = 4, .node = 0, .capacity = 700});
    const auto lowest = tree.add({.id = 5, .node = 0, .capacity = 200});
    CHECK(test::outline(tree.shape()) ==
          "G1.0 m1 {G0.3 n3 m1 [5] G0.0 n0 m2 [0 1] G0.2 n2 m4 [4] G0.1 n1 m8 [2 3]}");
    CHECK(tree.migrator() == 2u);
    lower.activate();
    CHECK(tree.migrator() == 4u);
    lowest.activate();
    CHECK(tree.migrator() == 5u);
    lowest.deactivate();
    CHECK(tree.migrator() == 4u);
    CHECK(at_rest(tree) == "");
}

TEST_CASE("families: more CPUs of a class than there is room for are refused; a new tree takes them") {
    topology machine = of_classes({{400, 2}, {1024, 2}});
    tree_type tree(machine, families::prefer_low(), {.width = 2});
    tree.cpu(0).activate();
    const std::string before = seen(tree);
    const cpu_info late{.id = 4, .node = 0, .capacity = 400};
    for (int i = 0; i < 3; ++i) {
        try {
            tree.add(late);
            FAIL("no room");
        } catch (const input_error& error) {
            CHECK(error.value() == "CPU 4 of capacity 400");
            CHECK(error.expected().find("set_possible") != std::string::npos);
            CHECK(error.expected().find("reshape") != std::string::npos);
        }
        REQUIRE(seen(tree) == before);
    }
    const auto zero = tree.cpu(0);
    machine.add(4, 0, 400);
    CHECK(tree.reshape(machine, families::prefer_low()).empty());
    CHECK(zero.is_active());
    CHECK(tree.migrator() == 0u);
    tree.cpu(4).activate();
    zero.deactivate();
    CHECK(tree.migrator() == 4u);
    CHECK(at_rest(tree) == "");
    CHECK(test::outline(tree.shape()) == test::outline_of(machine, families::prefer_low(), 2));
    // Announced, they would have had room.
    topology roomy = of_classes({{400, 2}, {1024, 2}});
    roomy.set_possible(6, 1);
    tree_type larger(roomy, families::prefer_low(), {.width = 2});
    CHECK_NOTHROW(larger.add(late));
    CHECK_NOTHROW(larger.add({.id = 5, .node = 0, .capacity = 400}));
    CHECK(test::unsound(larger.shape(), 2, test::masks::ranks) == "");
}

TEST_CASE("families: even places are for the CPUs they were planned for") {
    topology machine = of_classes({{1024, 12}});
    tree_type tree(machine, families::balanced());
    const std::string before = seen(tree);
    CHECK_THROWS_AS(tree.add({.id = 12, .node = 0}), input_error);
    CHECK(seen(tree) == before);
    machine.add(12, 0);
    tree.cpu(3).activate();
    tree.reshape(machine, families::balanced());
    CHECK(tree.cpu(3).is_active());
    CHECK(test::outline(tree.shape()) == test::outline_of(machine, families::balanced()));
}

TEST_CASE("families: a second root level is made while nobody takes part") {
    using config = expiry_config<plain_atomics>;
    topology machine = of_classes({{400, 2}, {1024, 2}});
    for (const bool asleep : {false, true}) {
        basic_hierarchy<config> tree(family_plan(machine, families::prefer_low(), 2), {.width = 2});
        auto big = tree.add(machine.cpu(2));
        big.activate();
        if (asleep) CHECK(big.deactivate(50) == 50);
        const departure left = big.leave();
        CHECK(left == departure{asleep ? ticks{50} : never, never, {}});
        auto little = tree.add(machine.cpu(0));
        REQUIRE(tree.shape().levels() == 2);
        CHECK_FALSE(tree.any_active());
        CHECK(tree.root()->how() == pick::lowest);
        CHECK(big.join() == (asleep ? 50 : never));
        CHECK(tree.any_active() == !asleep);
        CHECK(tree.migrator() == (asleep ? std::nullopt : std::optional<cpu_id>(2)));
        little.activate();
        CHECK(tree.migrator() == 0u);
        CHECK(little.must_expire(50) == asleep);
        CHECK(at_rest(tree) == "");
    }
}

TEST_CASE("families: a tree is set up after its CPUs are awake") {
    const topology machine = cpus_file("radxa-orion-o6");
    tree_type tree(family_plan(machine, families::prefer_low(), 8));
    CHECK(tree.root() == nullptr);
    CHECK_FALSE(tree.any_active());
    CHECK_FALSE(tree.migrator());
    cpu_id lowest = 0;
    for (const cpu_info& info : machine.cpus()) {
        const auto handle = tree.add(info);
        if (info.id % 2 != 0) continue;  // the others sleep in truth
        handle.activate();
        if (info.capacity < machine.cpu(lowest).capacity) lowest = info.id;
        REQUIRE(tree.migrator() == lowest);
        REQUIRE(at_rest(tree) == "");
    }
    for (const cpu_info& info : machine.cpus()) CHECK(tree.cpu(info.id).is_active() == (info.id % 2 == 0));
}

TEST_CASE("families: who makes a tree grow may belong to another, or to none") {
    using config = expiry_config<plain_atomics>;
    // The tree that grows has somebody awake, has sleepers only, or has nobody who takes part.
    for (const int state : {0, 1, 2}) {
        basic_hierarchy<config> tree(family_plan(of_classes({{400, 4}, {1024, 4}}), families::split(), 2), {.width = 2});
        auto big = tree.add({.id = 4, .node = 0, .capacity = 1024});
        big.activate();
        auto little = tree.add({.id = 0, .node = 0, .capacity = 400});
        auto other = tree.add({.id = 1, .node = 0, .capacity = 400});
        little.activate();
        other.activate();
        ticks armed = never;
        if (state > 0) {
            CHECK(other.deactivate(70) == never);
            armed = little.deactivate(60);
            CHECK(armed == 60);
        }
        if (state == 2) {
            CHECK(little.leave().by == 1u);
            CHECK(other.expire(1, [](cpu_id, ticks) { return never; }) == 70);
            CHECK(other.leave() == departure{70, never, {}});
        }
        // CPU 4, awake in its own tree, adds one: the root gets a parent.
        auto late = tree.add({.id = 2, .node = 0, .capacity = 400});
        REQUIRE(little.leaf().parent() != nullptr);
        CHECK(big.leaf().parent() == nullptr);
        CHECK(late.migrator() == (state == 0 ? std::optional<cpu_id>(0) : std::nullopt));
        CHECK(big.migrator() == 4u);
        CHECK(at_rest(tree) == "");
        late.activate();
        CHECK(late.must_expire(60) == (state == 1));
        if (state == 2) {
            CHECK(little.join() == never);
            CHECK(late.must_expire(60));
            CHECK_FALSE(late.must_expire(59));
        }
        CHECK_FALSE(big.must_expire(1000));
    }
}

TEST_CASE("families: threads make trees grow while others sleep and wake") {
    using config = expiry_config<std_atomics>;
    topology machine;
    for (cpu_id i = 0; i < 48; ++i) machine.add(i, static_cast<node_id>(i % 3), std::array{300u, 600u, 900u, 1024u}[i / 12]);
    for (const family_policy& policy : {families::split(), families::prefer_low(), families::prefer_low_per_node()})
        for (int round = 0; round < 20; ++round) {
            basic_hierarchy<config> tree(family_plan(machine, policy, 2), {.width = 2});
            std::vector<cpu_id> first{0, 13, 26, 39};
            for (const cpu_id id : first) tree.add(machine.cpu(id));
            std::atomic<bool> done{false};
            std::vector<std::thread> threads;
            std::array<std::size_t, 4> rounds{};
            for (std::size_t t = 0; t < 2; ++t)
                threads.emplace_back([&, t] {
                    auto a = tree.cpu(first[t]), b = tree.cpu(first[t + 2]);
                    while (!done || rounds[t] < 10) {
                        ++rounds[t];
                        a.activate();
                        b.activate();
                        static_cast<void>(a.deactivate(1000 + rounds[t]));
                        static_cast<void>(b.deactivate(2000 + rounds[t]));
                    }
                    a.activate();
                });
            // The thread that grows the trees acts for none of their CPUs.
            for (const cpu_info& info : machine.cpus())
                if (std::find(first.begin(), first.end(), info.id) == first.end()) tree.add(info);
            done = true;
            for (std::thread& t : threads) t.join();
            REQUIRE(at_rest(tree) == "");
            const auto next_of = [&](std::size_t c) {
                const cpu_id id = tree.shape().cpus[c].info.id;
                const auto at = std::find(first.begin(), first.end(), id);
                if (at == first.end() || tree.cpu(id).is_active()) return never;
                return 2000 + rounds[static_cast<std::size_t>(at - first.begin()) % 2];
            };
            // Those who fell asleep last in their tree armed.
            const auto bad = check_expiries(tree, next_of, ticks{0});
            if (bad) FAIL(name(bad->what));
        }
}

TEST_CASE("families: without memory a CPU is not taken in, and a tree not made anew") {
    std::size_t failures = 0;
    topology machine;
    for (cpu_id i = 0; i < 10; ++i)
        machine.add(i, static_cast<node_id>(i % 2), std::array{300u, 600u, 1024u}[i % 5 / 2]);
    for (const family_policy& policy : families::presets()) {
        INFO(policy.name);
        tree_type steady(family_plan(machine, policy, 2), {.width = 2});
        tree_type starved(family_plan(machine, policy, 2), {.width = 2});
        for (const cpu_info& info : machine.cpus()) {
            steady.add(info);
            const std::string before = seen(starved);
            for (std::size_t n = 1;; ++n) {
                bool threw = false;
                fail_in = n;
                try {
                    starved.add(info);
                } catch (const std::bad_alloc&) {
                    threw = true;
                }
                fail_in = 0;
                if (!threw) break;
                ++failures;
                REQUIRE(seen(starved) == before);
                REQUIRE_THROWS_AS(starved.cpu(info.id), input_error);
            }
            REQUIRE(seen(starved) == seen(steady));
            if (info.id % 3 == 0) {
                steady.cpu(info.id).activate();
                starved.cpu(info.id).activate();
            }
        }
        topology more = machine;
        more.add(20, 1, 450);
        more.add(21, 0, 300);
        for (const family_policy& to : families::presets()) {
            INFO(to.name);
            tree_type anew(machine, policy, {.width = 2});
            for (const cpu_id id : {0u, 3u, 6u}) anew.cpu(id).activate();
            static_cast<void>(anew.cpu(6).leave());
            const std::string before = seen(anew);
            for (std::size_t n = 1;; ++n) {
                bool threw = false;
                fail_in = n;
                try {
                    anew.reshape(more, to);
                } catch (const std::bad_alloc&) {
                    threw = true;
                }
                fail_in = 0;
                if (!threw) break;
                ++failures;
                REQUIRE(seen(anew) == before);
                REQUIRE_THROWS_AS(anew.cpu(20), input_error);
                REQUIRE(anew.plan().policy().name == tree_type(machine, policy, {.width = 2}).plan().policy().name);
            }
            REQUIRE(test::outline(anew.shape()) == test::outline_of(more, to, 2));
            REQUIRE(at_rest(anew) == "");
            REQUIRE(anew.cpu(0).is_active());
            REQUIRE_FALSE(anew.cpu(6).is_active());
            REQUIRE_FALSE(anew.cpu(6).takes_part());
        }
    }
    CHECK(failures > 3000);
}

TEST_CASE("families: after a class that found no memory another may come first") {
    const topology machine = of_classes({{400, 2}, {1024, 2}});
    for (const family_policy& policy : {families::split(), families::linux_default()})
        for (std::size_t n = 1;; ++n) {
            tree_type tree(machine, policy);
            bool threw = false;
            fail_in = n;
            try {
                tree.add({.id = 8, .node = 7, .capacity = 700});
            } catch (const std::bad_alloc&) {
                threw = true;
            }
            fail_in = 0;
            if (!threw) break;
            const auto another = tree.add({.id = 9, .node = 5, .capacity = 500});
            const auto again = tree.add({.id = 8, .node = 7, .capacity = 700});
            tree_type steady(machine, policy);
            steady.add({.id = 9, .node = 5, .capacity = 500});
            steady.add({.id = 8, .node = 7, .capacity = 700});
            REQUIRE(test::unsound(tree.shape(), 8) == "");
            REQUIRE(seen(tree) == seen(steady));
            REQUIRE(tree.shape().roots == steady.shape().roots);
            another.activate();
            again.activate();
            REQUIRE(another.migrator() == 9u);
            REQUIRE(again.migrator() == (policy.joined ? 9u : 8u));
            for (const cpu_id id : {8u, 9u})
                for (const shape_cpu& cpu : tree.shape().cpus)
                    if (cpu.info.id == id) REQUIRE(tree.find_active(cpu.info.family) == id);
            REQUIRE(at_rest(tree) == "");
        }
}

TEST_CASE("families: what cannot be made anew stays") {
    const topology machine = cpus_file("rk3576");
    tree_type tree(machine, families::prefer_low());
    tree.cpu(5).activate();
    const std::string before = seen(tree);
    topology fewer = of_classes({{442, 4}, {1024, 3}});
    try {
        tree.reshape(fewer, families::split());
        FAIL("CPU 7 is not in there");
    } catch (const input_error& error) {
        CHECK(error.value() == "7");
    }
    CHECK(seen(tree) == before);
    CHECK(tree.migrator() == 5u);
}

TEST_CASE("families: a tree made anew keeps who is awake, expiries, kicks, and says what is left to arm") {
    using config = expiry_config<plain_atomics>;
    const topology machine = of_classes({{400, 4}, {1024, 4}});
    basic_hierarchy<config> tree(machine, families::linux_default());
    auto little = tree.cpu(0), little_asleep = tree.cpu(1), big = tree.cpu(4), apart = tree.cpu(5);
    little.activate();
    CHECK(little_asleep.new_expiry(30) == never);
    CHECK(big.new_expiry(40) == never);
    CHECK(apart.new_expiry(10) == never);
    CHECK(apart.leave().arm == 10);
    CHECK(big.kick());
    const auto duties = tree.reshape(machine, families::split());
    // The big ones' tree sleeps, and nobody in it was armed for 40.
    CHECK(duties == std::vector<basic_hierarchy<config>::duty>{{40, 4}});
    CHECK(tree.shape().roots.size() == 2);
    CHECK(little.is_active());
    CHECK_FALSE(big.kick());
    CHECK(big.answer_kick());
    CHECK_FALSE(apart.takes_part());
    CHECK(apart.join() == 10);
    CHECK(apart.expire(10, [](cpu_id id, ticks) {
        CHECK(id == 5);
        return never;
    }) == 40);
    CHECK(little.must_expire(30));
    CHECK_FALSE(little.must_expire(29));
    CHECK(little.deactivate(never) == 30);
    // Back in one tree everybody's is found.
    const auto again = tree.reshape(machine, families::prefer_low());
    CHECK(again == std::vector<basic_hierarchy<config>::duty>{{30, 0}});
}

TEST_CASE("families: trees made anew again and again are those of the policies") {
    const auto seed = test::seed();
    std::mt19937_64 random(seed);
    const auto presets = families::presets();
    for (int round = 0; round < 60; ++round) {
        topology machine;
        const std::size_t cpus = 2 + random() % 30;
        for (std::size_t i = 0; i < cpus; ++i)
            machine.add(static_cast<cpu_id>(i), static_cast<node_id>(random() % 3), std::array{300u, 310u, 700u, 1024u}[random() % 4]);
        test::family_world world(machine, machine, presets[random() % presets.size()], 4);
        for (int change = 0; change < 12; ++change) {
            for (int i = 0; i < 20; ++i) {
                const std::size_t c = random() % world.cpus.size();
                world.cpus[c].awake ? world.sleep(c) : random() % 3 == 0 ? world.wake(c) : world.arm(c, world.now + 1 + random() % 50);
                if (random() % 5 == 0) world.cpus[c].in_tree.takes_part() ? world.leave(c, true) : world.join(c);
            }
            const family_policy& to = presets[random() % presets.size()];
            INFO("seed " << seed << ", round " << round << ", to " << to.name);
            world.reshape(to);
            REQUIRE(world.wrong() == "");
            REQUIRE(test::outline(world.tree.shape()) == test::outline_of(world.planned_for, to, 4));
        }
        INFO("seed " << seed << ", round " << round);
        REQUIRE(world.play_out() == "");
    }
}
