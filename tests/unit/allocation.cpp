// SPDX-License-Identifier: BSL-1.0

// Walks take no memory. Adding a CPU does, and when it gets none the tree is as before and
// a retry gives the tree that a first success would have given.

#include "catch.hpp"
#include "support/memory.hpp"

#include <tmigr/atomics/plain.hpp>
#include <tmigr/atomics/std.hpp>
#include <tmigr/draw.hpp>
#include <tmigr/hierarchy.hpp>

#include <memory>
#include <new>
#include <sstream>

using namespace tmigr;
using test::allocations;
using test::fail_in;

namespace {

struct watched_locks : std_atomics {
    struct mutex {
        static inline int locked = 0;
        void lock() { ++locked; }
        void unlock() {}
    };
};

template <class Tree>
std::string drawn(const Tree& tree) {
    std::ostringstream text;
    draw_text(text, tree);
    return text.str();
}

}  // namespace

TEST_CASE("walks and queries take no memory and throw nothing") {
    topology machine;
    for (cpu_id i = 0; i < 600; ++i) machine.add(i, static_cast<node_id>(i / 150));
    basic_hierarchy<linux_config<std_atomics>> tree(machine);
    auto near = tree.cpu(3);
    auto far = tree.cpu(599);
    STATIC_REQUIRE(noexcept(near.activate()));
    STATIC_REQUIRE(noexcept(near.deactivate()));
    STATIC_REQUIRE(noexcept(tree.migrator()));

    const std::size_t before = allocations;
    near.activate();
    far.activate();
    near.deactivate();
    const auto migrator = tree.migrator();
    far.deactivate();
    const bool anybody = tree.any_active();
    CHECK(allocations == before);
    CHECK(migrator == 599);
    CHECK_FALSE(anybody);
}

TEST_CASE("operations with expiries take no memory and no lock") {
    topology machine;
    for (cpu_id i = 0; i < 100; ++i) machine.add(i, 0);
    basic_hierarchy<expiry_config<watched_locks>> tree(machine, {.width = 4});
    auto near = tree.cpu(3), far = tree.cpu(99);
    STATIC_REQUIRE(noexcept(near.deactivate(1)));
    STATIC_REQUIRE(noexcept(near.new_expiry(1)));
    STATIC_REQUIRE(noexcept(near.peek(1)));
    STATIC_REQUIRE(noexcept(near.must_expire(1)));
    STATIC_REQUIRE(noexcept(near.leave()));
    STATIC_REQUIRE(noexcept(near.join()));
    STATIC_REQUIRE(noexcept(near.kick()));

    const std::size_t before = allocations;
    const int locks_before = watched_locks::mutex::locked;
    near.activate();
    far.activate();
    const ticks slept = near.deactivate(10), rearmed = near.new_expiry(8), forecast = far.peek(20);
    const bool due = far.must_expire(8);
    far.expire(9, [](cpu_id, ticks) { return ticks{30}; });
    const bool kicked = near.kick();
    const departure left = far.leave();
    near.activate();
    const ticks last = near.deactivate(12), joined = far.join();
    const ticks last_too = far.deactivate(40);
    CHECK(allocations == before);
    CHECK(watched_locks::mutex::locked == locks_before);
    CHECK(due);
    CHECK(kicked);
    CHECK(left == departure{never, 30, 0});
    CHECK(slept == never);
    CHECK(rearmed == never);
    CHECK(forecast == 8);
    CHECK(last == 12);
    CHECK(joined == never);
    CHECK(last_too == 12);
}

TEST_CASE("a CPU that finds no memory leaves the tree as it was") {
    std::size_t failures = 0;
    for (linux_form form : {linux_form::newest, linux_form::v6_13, linux_form::v6_9})
        for (unsigned width : {2u, 4u}) {
            if (form != linux_form::newest && width == 2) continue;
            const hierarchy_options options{.width = width, .form = form};
            basic_hierarchy<linux_config<plain_atomics>> steady(40, 2, options);
            basic_hierarchy<linux_config<plain_atomics>> starved(40, 2, options);
            for (cpu_id i = 0; i < 40; ++i) {
                const cpu_info cpu{.id = i, .node = static_cast<node_id>(i % 2)};
                steady.add(cpu);
                const std::string before = drawn(starved);
                for (std::size_t n = 1;; ++n) {
                    bool threw = false;
                    fail_in = n;
                    try {
                        starved.add(cpu);
                    } catch (const std::bad_alloc&) {
                        threw = true;
                    }
                    fail_in = 0;
                    if (!threw) break;
                    ++failures;
                    REQUIRE(drawn(starved) == before);
                    REQUIRE(starved.shape().cpus.size() == i);
                    REQUIRE_THROWS_AS(starved.cpu(i), input_error);
                }
                REQUIRE(drawn(starved) == drawn(steady));
                if (i % 3 == 0) {
                    steady.cpu(i).activate();
                    starved.cpu(i).activate();
                }
            }
        }
    CHECK(failures > 500);
}

TEST_CASE("after a CPU that found no memory another one may come first") {
    const auto full_leaf = [] {
        auto tree = std::make_unique<basic_hierarchy<linux_config<plain_atomics>>>(24, 2);
        for (cpu_id i = 0; i < 8; ++i) tree->add({.id = i, .node = 0});
        return tree;
    };
    const auto steady = full_leaf();
    steady->add({.id = 20, .node = 1});
    steady->add({.id = 8, .node = 0});
    for (std::size_t n = 1;; ++n) {
        const auto starved = full_leaf();
        bool threw = false;
        fail_in = n;
        try {
            starved->add({.id = 8, .node = 0});
        } catch (const std::bad_alloc&) {
            threw = true;
        }
        fail_in = 0;
        if (!threw) break;
        starved->add({.id = 20, .node = 1});
        starved->add({.id = 8, .node = 0});
        REQUIRE(drawn(*starved) == drawn(*steady));
        starved->cpu(20).activate();
        REQUIRE(starved->migrator() == 20);
    }
}
