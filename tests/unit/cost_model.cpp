// SPDX-License-Identifier: BSL-1.0

// The model of bigger machines on cases small enough to be worked out by hand.

#include "catch.hpp"

#include <tmigr/atomics/cost_model.hpp>
#include <tmigr/hierarchy.hpp>

#include <array>
#include <cstdint>
#include <utility>

using namespace tmigr;

namespace {

using model = cost_model_atomics;
using enum line_distance;

struct alignas(64) line_of_its_own {
    model::atomic<std::uint32_t> word{0};
    model::var<std::uint32_t> plain{0};
};

/// 4 cores below a cache, 8 on a socket: 0-3, 4-7 | 8-11, 12-15.
void new_machine() { model::machine() = line_machine(4, 8); }
line_counts take_counts() { return std::exchange(model::machine().counts(), line_counts{}); }

line_distance read_by(std::uint32_t core, const void* at) {
    model::machine().act_on(core);
    return model::machine().read(at);
}
line_distance write_by(std::uint32_t core, const void* at) {
    model::machine().act_on(core);
    return model::machine().write(at);
}

}  // namespace

TEST_CASE("cost model: distance follows caches and sockets") {
    new_machine();
    model::machine().act_on(5);
    CHECK(model::machine().distance(5) == own_core);
    CHECK(model::machine().distance(4) == same_cache);
    CHECK(model::machine().distance(7) == same_cache);
    CHECK(model::machine().distance(3) == same_socket);
    CHECK(model::machine().distance(8) == other_socket);
    CHECK(model::machine().distance(15) == other_socket);
}

TEST_CASE("cost model: a line is read from the nearest who holds it, and stays shared") {
    new_machine();
    const line_of_its_own line;
    CHECK(read_by(0, &line) == memory);
    CHECK(read_by(0, &line) == own_core);
    CHECK(read_by(12, &line) == other_socket);
    CHECK(read_by(15, &line) == same_cache);   // from 12
    CHECK(read_by(9, &line) == same_socket);   // from 12 or 15, not from 0
    CHECK(read_by(6, &line) == same_socket);   // from 0, not from 9
    CHECK(read_by(0, &line) == own_core);
    CHECK(read_by(12, &line) == own_core);
}

TEST_CASE("cost model: a write waits for the farthest copy, and leaves the line with the writer alone") {
    new_machine();
    const line_of_its_own line;
    CHECK(write_by(0, &line) == memory);
    CHECK(write_by(0, &line) == own_core);
    CHECK(write_by(1, &line) == same_cache);
    CHECK(read_by(2, &line) == same_cache);
    CHECK(read_by(1, &line) == own_core);
    CHECK(write_by(1, &line) == same_cache);  // shared with 2: a holder too must ask
    CHECK(write_by(1, &line) == own_core);
    CHECK(read_by(2, &line) == same_cache);   // driven out before
    CHECK(read_by(13, &line) == other_socket);
    CHECK(write_by(3, &line) == other_socket);  // 13, though 1 and 2 are near
    CHECK(write_by(4, &line) == same_socket);
    CHECK(write_by(12, &line) == other_socket);
}

TEST_CASE("cost model: who read a line alone writes it without asking") {
    new_machine();
    const line_of_its_own line;
    CHECK(read_by(7, &line) == memory);
    CHECK(write_by(7, &line) == own_core);
}

TEST_CASE("cost model: cells, plain cells and mutexes are counted and followed by line") {
    new_machine();
    line_of_its_own a;
    alignas(64) model::mutex lock;
    std::uint32_t seen = 1;
    model::machine().act_on(0);
    CHECK_FALSE(a.word.compare_exchange_weak(seen, 2, model::acq_rel, model::acquire));
    CHECK(seen == 0);
    CHECK(a.word.compare_exchange_strong(seen, 2, model::acq_rel, model::acquire));
    a.plain.set(7);  // the same line
    CHECK(take_counts() == line_counts{.read_modify_writes = 2, .fetches = {2, 0, 0, 0, 1}});

    model::machine().act_on(1);
    CHECK(a.word.load(model::relaxed) == 2);
    CHECK(a.plain.get() == 7);
    a.word.store(3, model::release);
    CHECK(take_counts() == line_counts{.loads = 1, .stores = 1, .fetches = {1, 2, 0, 0, 0}});

    seen = 9;
    model::machine().act_on(8);
    CHECK_FALSE(a.word.compare_exchange_strong(seen, 2, model::acq_rel, model::acquire));
    CHECK(write_by(8, &a) == own_core);  // a swap that fails takes the line all the same
    CHECK(take_counts() == line_counts{.read_modify_writes = 1, .fetches = {1, 0, 0, 1, 0}});

    lock.lock();
    lock.unlock();
    model::machine().act_on(9);
    lock.lock();
    lock.unlock();
    CHECK(take_counts() == line_counts{.read_modify_writes = 4, .fetches = {2, 1, 0, 0, 1}});
}

TEST_CASE("cost model: what it costs is the fetches by distance, and the swaps") {
    const line_counts counts{.loads = 9, .read_modify_writes = 3, .fetches = {5, 4, 3, 2, 1}};
    CHECK(counts.transfers() == 9);
    CHECK(counts.cost({.fetch = {1, 10, 100, 1000, 10000}, .read_modify_write = 100000}) == 312345);
    CHECK(counts.cost({.fetch = {0, 0, 0, 0, 0}, .read_modify_write = 0}) == 0);
}

TEST_CASE("cost model: two neighbours sleep and wake in turn") {
    // One leaf, CPU 2 awake for good: each walk swaps the leaf's word and ends there.
    new_machine();
    model::machine().act_on(2);
    basic_hierarchy<linux_config<model>> tree(4, 1);
    for (cpu_id id = 0; id < 4; ++id) tree.add({.id = id});
    tree.cpu(2).activate();
    const std::array cpus{tree.cpu(0), tree.cpu(1)};
    for (std::uint32_t core : {0u, 1u}) {  // every CPU has its seat with it
        model::machine().act_on(core);
        cpus[core].activate();
    }
    take_counts();
    for (std::uint32_t core : {0u, 1u, 0u}) {
        model::machine().act_on(core);
        cpus[core].deactivate();
        const line_counts sleep = take_counts();
        CHECK(sleep.loads == 1);
        CHECK(sleep.read_modify_writes == 1);
        CHECK(sleep.group_visits == 1);
        // The word's line comes once, to be read, from the neighbour; the swap then has to drive
        // out the copy that the neighbour kept.
        CHECK(sleep.transfers() == 2);
        CHECK(sleep.of(same_cache) == 2);
        cpus[core].activate();
        const line_counts wake = take_counts();
        CHECK(wake.read_modify_writes == 1);
        CHECK(wake.transfers() == 0);
    }
}

TEST_CASE("cost model: a walk fetches a line per level, and no more") {
    // Three levels of width 2, a core for each CPU; CPUs 0 and 7 are at the ends of the tree.
    new_machine();
    basic_hierarchy<linux_config<model>> tree(8, 1, {.width = 2});
    for (cpu_id id = 0; id < 8; ++id) tree.add({.id = id});
    const auto first = tree.cpu(0);
    const auto last = tree.cpu(7);
    model::machine().act_on(7);
    last.activate();
    model::machine().act_on(0);
    first.activate();
    first.deactivate();
    first.activate();
    take_counts();
    // Nobody else was there: all that it needs is its own.
    first.deactivate();
    CHECK(take_counts().transfers() == 0);
    // CPU 7 sleeps, up to the root, whose line CPU 0 has: to read it, and to swap it.
    model::machine().act_on(7);
    last.deactivate();
    const line_counts other = take_counts();
    CHECK(other.group_visits == 3);
    CHECK(other.read_modify_writes == 3);
    CHECK(other.of(same_socket) == 2);
    CHECK(other.transfers() == 2);
}
