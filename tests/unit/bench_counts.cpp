// SPDX-License-Identifier: BSL-1.0

// What the benchmarks say of the library in numbers of operations, which are the same on every
// machine. Times are measured, never asserted.

#include "catch.hpp"

#include "activity.hpp"
#include "peers/enqueue_scan.hpp"

#include <tmigr/atomics/boost.hpp>
#include <tmigr/atomics/counting.hpp>
#include <tmigr/atomics/plain.hpp>
#include <tmigr/atomics/std.hpp>
#include <tmigr/hierarchy.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

using namespace tmigr;

namespace {

constexpr ticks far_future = ticks{1} << 40;

topology machine_of(std::size_t cpus) {
    topology machine;
    for (std::size_t id = 0; id < cpus; ++id) machine.add(static_cast<cpu_id>(id), 0);
    return machine;
}

template <class Backend, class Operation>
operation_counts counted(Operation operation) {
    auto& counts = counting_atomics<Backend>::counts();
    counts = {};
    operation();
    return std::exchange(counts, {});
}

/// CPU 0 sleeps and wakes, and meets somebody awake in the group of the `levels`th level.
template <class Backend>
void check_walks(unsigned levels) {
    INFO(levels << " levels");
    const std::size_t cpus = std::size_t{1} << levels;
    {
        basic_hierarchy<linux_config<counting_atomics<Backend>>> tree(machine_of(cpus), {.width = 2});
        tree.cpu(static_cast<cpu_id>(cpus / 2)).activate();
        const auto walker = tree.cpu(0);
        walker.activate();
        const auto c = counted<Backend>([&] {
            walker.deactivate();
            walker.activate();
        });
        CHECK(c.read_modify_writes == 2 * levels);
        CHECK(c.failed_read_modify_writes == 0);
        CHECK(c.stores == 0);
        CHECK(c.group_visits == 2 * levels);
        CHECK(c.distinct_lines() == levels + 1);  // a word each, and who kicked
    }
    {
        basic_hierarchy<expiry_config<counting_atomics<Backend>>> tree(machine_of(cpus), {.width = 2});
        tree.cpu(static_cast<cpu_id>(cpus / 2)).activate();
        const auto walker = tree.cpu(0);
        walker.activate();
        const auto c = counted<Backend>([&] {
            CHECK(walker.deactivate(7) == never);
            walker.activate();
        });
        // Falling asleep, a slot besides for each level above the first.
        CHECK(c.read_modify_writes == 2 * levels + (levels - 1));
        CHECK(c.failed_read_modify_writes == 0);
        CHECK(c.stores == 2);  // the own slot
        CHECK(c.group_visits == 2 * levels);
        CHECK(c.distinct_lines() == 2 * levels + 1);
    }
}

/// What a circle of changes does, one CPU after another, per change.
struct per_change {
    double levels, read_modify_writes;
    std::uint64_t changes;
};
template <template <class> class Config>
per_change random_changes(std::size_t cpus, double a) {
    using counting = counting_atomics<plain_atomics>;
    constexpr bool timed = has_expiries<Config<counting>>;
    const bench::activity all(cpus, a, 1 << 13, 42);
    basic_hierarchy<Config<counting>> tree(machine_of(cpus));
    std::vector<cpu_handle<Config<counting>>> handles;
    for (std::size_t c = 0; c < cpus; ++c) {
        handles.push_back(tree.cpu(static_cast<cpu_id>(c)));
        if (all.at_first[c]) handles[c].activate();
    }
    auto& counts = counting::counts();
    counts = {};
    for (const auto& change : all.changes) {
        if (change.wake)
            handles[change.cpu].activate();
        else if constexpr (timed)
            static_cast<void>(handles[change.cpu].deactivate(far_future));
        else
            handles[change.cpu].deactivate();
    }
    const auto n = static_cast<double>(all.changes.size());
    CHECK(counts.failed_read_modify_writes == 0);
    for (std::size_t c = 0; c < cpus; ++c)
        if (handles[c].is_active() != all.at_first[c]) FAIL("CPU " << c << " is not as at first");
    return {static_cast<double>(counts.group_visits) / n, static_cast<double>(counts.read_modify_writes) / n,
            std::exchange(counts, {}).group_visits};
}

}  // namespace

TEST_CASE("bench: a sleep and a wake through k levels, with and without expiries") {
    for (unsigned levels = 1; levels <= 5; ++levels) {
        check_walks<plain_atomics>(levels);
        check_walks<std_atomics>(levels);
        check_walks<boost_atomics>(levels);
    }
}

TEST_CASE("bench: a sleeper's new timer touches its own leaf only while a neighbour is awake") {
    using counting = counting_atomics<std_atomics>;
    basic_hierarchy<expiry_config<counting>> tree(machine_of(512));
    tree.cpu(7).activate();
    const auto sleeper = tree.cpu(0);
    const auto c = counted<std_atomics>([&] { CHECK(sleeper.new_expiry(5) == never); });
    CHECK(c.read_modify_writes == 0);
    CHECK(c.stores == 1);  // the own slot
    CHECK(c.loads == 2);   // the own slot's tag, the leaf's word
    const auto line_of = [](const auto& cell) { return reinterpret_cast<std::uintptr_t>(&cell) / 64; };
    const auto& leaf = sleeper.leaf();
    CHECK(c.lines == std::set<std::uintptr_t>{line_of(leaf.word()), line_of(leaf.table().slots()[0])});

    // Where the nearest who is awake is in another leaf, the groups on the way learn of it.
    static_cast<void>(tree.cpu(7).deactivate(never));
    tree.cpu(8).activate();
    CHECK(counted<std_atomics>([&] { CHECK(sleeper.new_expiry(4) == never); }).read_modify_writes == 1);
}

TEST_CASE("bench: choosing a target by a scan touches a line for each CPU looked at") {
    using counting = counting_atomics<std_atomics>;
    for (const std::size_t distance : {1u, 7u, 8u, 64u, 511u}) {
        INFO("the nearest CPU that is awake is " << distance << " away");
        peers::enqueue_scan<counting> peer(512);
        peer.activate(distance);
        std::size_t target = 0;
        const auto c = counted<std_atomics>([&] { target = peer.target(0); });
        CHECK(target == distance);
        CHECK(c.distinct_lines() >= distance + 1);
        CHECK(c.distinct_lines() <= 512);
    }
}

TEST_CASE("bench: the work of a change does not grow with the machine while one CPU in ten is awake") {
    for (const double a : {0.1, 0.5, 0.9}) {
        INFO("a = " << a);
        const per_change small = random_changes<linux_config>(512, a);
        const per_change big = random_changes<linux_config>(4096, a);
        CHECK(big.read_modify_writes == big.levels);  // one for each level
        CHECK(big.read_modify_writes / small.read_modify_writes < 1.1);
        CHECK(big.read_modify_writes / small.read_modify_writes > 0.9);
        const per_change small_timed = random_changes<expiry_config>(512, a);
        const per_change big_timed = random_changes<expiry_config>(4096, a);
        CHECK(big_timed.levels == big.levels);
        CHECK(big_timed.read_modify_writes / small_timed.read_modify_writes < 1.1);
        CHECK(big_timed.read_modify_writes / small_timed.read_modify_writes > 0.9);
    }
}

TEST_CASE("bench: below that at most one read-modify-write for each level more") {
    for (const double a : {0.001, 0.01, 0.05}) {
        INFO("a = " << a);
        std::vector<double> before;
        for (const std::size_t cpus : {8u, 64u, 512u, 4096u}) {
            const double now = random_changes<linux_config>(cpus, a).read_modify_writes;
            if (!before.empty()) CHECK(now - before.back() <= 1);
            before.push_back(now);
        }
    }
}

TEST_CASE("bench: levels visited are those of the formula") {
    for (const double a : {0.001, 0.01, 0.1, 0.5, 0.9})
        for (const std::size_t cpus : {8u, 64u, 512u, 4096u}) {
            INFO(cpus << " CPUs, a = " << a);
            CHECK(random_changes<linux_config>(cpus, a).levels == Approx(bench::expected_levels(a, cpus)).epsilon(0.03));
        }
    // By hand: 1 + 0.9^7 + 0.9^63.
    CHECK(bench::expected_levels(0.1, 512) == Approx(1.479607));
    CHECK(bench::expected_levels(0.1, 8) == 1);
    CHECK(bench::expected_levels(0, 4096) == 4);
}

TEST_CASE("bench: the same seed gives the same changes") {
    const bench::activity one(64, 0.1, 1000, 42), same(64, 0.1, 1000, 42), other(64, 0.1, 1000, 43);
    REQUIRE(one.changes.size() == 1000);
    const auto equal = [](const bench::activity& x, const bench::activity& y) {
        for (std::size_t i = 0; i < x.changes.size(); ++i)
            if (x.changes[i].cpu != y.changes[i].cpu || x.changes[i].wake != y.changes[i].wake) return false;
        return x.at_first == y.at_first;
    };
    CHECK(equal(one, same));
    CHECK_FALSE(equal(one, other));
    // Nobody wakes who is awake, and all is as at first in the end.
    std::vector<bool> now = one.at_first;
    for (const auto& change : one.changes) {
        REQUIRE(now[change.cpu] != (change.wake != 0));
        now[change.cpu] = change.wake != 0;
    }
    CHECK(now == one.at_first);
    // Exactly these, on every machine.
    CHECK(random_changes<linux_config>(512, 0.1).changes == 12206);
}
