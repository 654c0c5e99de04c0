// SPDX-License-Identifier: BSL-1.0

// Real threads hammer one tree: at the end, at rest, the shared invariants hold. The same
// body runs on every backend whose threads are real; ThreadSanitizer and Address+UB
// sanitizers run it too.

#include "catch.hpp"
#include "support/random_machine.hpp"

#include <tmigr/atomics/boost.hpp>
#include <tmigr/atomics/std.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/invariants.hpp>
#include <tmigr/wide_state.hpp>

#include <atomic>
#include <latch>
#include <random>
#include <thread>
#include <vector>

using namespace tmigr;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t operations = 20'000;
#else
constexpr std::size_t operations = 300'000;
#endif

template <class Backend, class State>
struct config : linux_config<Backend> {
    using state = State;
};

/// Each thread drives its own CPUs; all threads but the last leave some awake at the end.
template <class Config>
void hammer(const topology& machine, hierarchy_options options, unsigned threads, std::uint64_t seed) {
    using mask_type = typename Config::state::mask_type;
    basic_hierarchy<Config> tree(machine, options);
    const std::size_t cpus = machine.size();
    std::vector<char> awake(cpus);
    std::atomic<bool> illegal{false};
    std::latch start(threads);

    const auto work = [&](unsigned me) {
        std::mt19937_64 random(seed + me);
        std::vector<std::size_t> mine;
        for (std::size_t c = me; c < cpus; c += threads) mine.push_back(c);
        start.arrive_and_wait();
        for (std::size_t i = 0; i < operations; ++i) {
            const std::size_t c = mine[random() % mine.size()];
            auto cpu = tree.cpu(machine.cpus()[c].id);
            awake[c] ? cpu.deactivate() : cpu.activate();
            awake[c] = !awake[c];
            if (cpu.is_active() != (awake[c] != 0)) illegal = true;
            if (i % 16 == 0 && broken(tree.root()->current())) illegal = true;
        }
        if (me + 1 == threads)
            for (std::size_t c : mine)
                if (awake[c]) {
                    tree.cpu(machine.cpus()[c].id).deactivate();
                    awake[c] = 0;
                }
    };
    std::vector<std::thread> crew;
    for (unsigned t = 0; t < threads; ++t) crew.emplace_back(work, t);
    for (std::thread& t : crew) t.join();

    INFO("seed " << seed << ", " << cpus << " CPUs, " << threads << " threads");
    CHECK_FALSE(illegal);
    const auto bad = check_at_rest(tree.groups(), [&](const auto& leaf) {
        mask_type mask = 0;
        for (std::size_t c = 0; c < cpus; ++c)
            if (awake[c] && tree.shape().cpus[c].group + 1 == leaf.id())
                mask = static_cast<mask_type>(mask | tree.shape().cpus[c].childmask);
        return mask;
    });
    INFO((bad ? name(bad->what) : "at rest"));
    CHECK_FALSE(bad);
}

topology row_of(cpu_id cpus, cpu_id per_node) {
    topology machine;
    for (cpu_id i = 0; i < cpus; ++i) machine.add(i, static_cast<node_id>(i / per_node));
    return machine;
}

template <class Config>
void hammer_all_shapes(unsigned width) {
    const auto seed = test::seed();
    hammer<Config>(row_of(2, 2), {}, 2, seed);                                         // one leaf
    hammer<Config>(row_of(2, 1), {}, 2, seed);                                         // a leaf mixing nodes
    hammer<Config>(row_of(16, 8), {}, 2, seed);                                        // two leaves, shared
    hammer<Config>(row_of(9, 9), {.width = 2}, 3, seed);                               // deep and narrow
    hammer<Config>(row_of(12, 6), {.width = 2, .cross_family_pick = pick::lowest}, 4, seed);
    hammer<Config>(row_of(600, 150), {.width = width}, 4, seed);
}

}  // namespace

TEST_CASE("threads on Boost.Atomic keep the invariants") { hammer_all_shapes<config<boost_atomics, state32>>(8); }
TEST_CASE("threads on std::atomic keep the invariants") { hammer_all_shapes<config<std_atomics, state32>>(8); }
TEST_CASE("threads on 64-bit words keep the invariants") {
    hammer_all_shapes<config<boost_atomics, state64x24>>(24);
    hammer_all_shapes<config<std_atomics, state64x16>>(16);
}
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
TEST_CASE("threads on 128-bit words keep the invariants") { hammer_all_shapes<config<boost_atomics, state128x48>>(48); }
#endif
