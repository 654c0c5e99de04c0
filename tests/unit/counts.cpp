// SPDX-License-Identifier: BSL-1.0

// Exact costs of walks, the same on every machine: one read-modify-write for every level
// that is visited, no store, and no visit above a group that neither woke nor fell idle.

#include "catch.hpp"

#include <tmigr/atomics/boost.hpp>
#include <tmigr/atomics/counting.hpp>
#include <tmigr/atomics/plain.hpp>
#include <tmigr/atomics/std.hpp>
#include <tmigr/hierarchy.hpp>

using namespace tmigr;

namespace {

template <class Backend>
struct cost {
    using counting = counting_atomics<Backend>;
    basic_hierarchy<linux_config<counting>> tree;

    static topology machine(cpu_id cpus) {
        topology t;
        for (cpu_id i = 0; i < cpus; ++i) t.add(i, 0);
        return t;
    }
    explicit cost(cpu_id cpus) : tree(machine(cpus)) {}

    operation_counts wake(cpu_id id) {
        auto cpu = tree.cpu(id);
        counting::counts() = {};
        cpu.activate();
        return counting::counts();
    }
    operation_counts sleep(cpu_id id) {
        auto cpu = tree.cpu(id);
        counting::counts() = {};
        cpu.deactivate();
        return counting::counts();
    }
};

/// `links`: of the groups visited, those from which the walk went on or would have.
void check(const operation_counts& c, unsigned levels, unsigned links, unsigned other_loads, unsigned other_lines) {
    CHECK(c.read_modify_writes == levels);
    CHECK(c.failed_read_modify_writes == 0);
    CHECK(c.stores == 0);
    CHECK(c.loads == levels + links + other_loads);
    CHECK(c.group_visits == levels);
    CHECK(c.levels() == levels);
    CHECK(c.distinct_lines() == levels + other_lines);
}

template <class Backend>
void check_costs(cpu_id cpus, unsigned levels) {
    INFO(cpus << " CPUs, " << levels << " levels");
    cost<Backend> c(cpus);
    REQUIRE(c.tree.shape().levels() == levels);
    // First up and last down reach the root; falling asleep looks once at each group it just left idle, waking
    // once at the CPU's own line, whether somebody kicked it.
    check(c.wake(0), levels, levels, 1, 1);
    check(c.sleep(0), levels, levels, levels - 1, 0);
    // With a neighbour awake both end on level 0.
    c.wake(1);
    check(c.wake(0), 1, 0, 1, 1);
    check(c.sleep(0), 1, 0, 0, 0);
    check(c.wake(0), 1, 0, 1, 1);
    check(c.sleep(1), 1, 0, 0, 0);  // hands the role to CPU 0
    // From another leaf it takes one level more, and so on up.
    cpu_id far = 8;
    for (unsigned level = 1; level < levels; ++level, far *= 8) {
        check(c.wake(far), level + 1, level, 1, 1);
        check(c.sleep(far), level + 1, level, level, 0);
    }
}

}  // namespace

TEST_CASE("walks cost one read-modify-write per level visited") {
    for (const auto& [cpus, levels] : {std::pair{8u, 1u}, {64u, 2u}, {512u, 3u}, {4096u, 4u}}) {
        check_costs<plain_atomics>(cpus, levels);
        check_costs<std_atomics>(cpus, levels);
        check_costs<boost_atomics>(cpus, levels);
    }
}

TEST_CASE("counts tell failed attempts from successful ones") {
    counting_atomics<std_atomics>::atomic<int> cell(1);
    using counting = counting_atomics<std_atomics>;
    counting::counts() = {};
    int expected = 2;
    CHECK_FALSE(cell.compare_exchange_weak(expected, 3, counting::acq_rel, counting::acquire));
    CHECK(expected == 1);
    CHECK(counting::counts().read_modify_writes == 1);
    CHECK(counting::counts().failed_read_modify_writes == 1);
    while (!cell.compare_exchange_weak(expected, 3, counting::acq_rel, counting::acquire)) {
    }
    CHECK(cell.load(counting::acquire) == 3);
    cell.store(4, counting::release);
    CHECK(counting::counts().loads == 1);
    CHECK(counting::counts().stores == 1);
    CHECK(counting::counts().distinct_lines() == 1);
}
