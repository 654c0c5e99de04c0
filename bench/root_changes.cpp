// SPDX-License-Identifier: BSL-1.0
// How fast one core can make a group's seq go round: CPU 3, alone in its group, sleeps and wakes
// while the other group is awake, so that each walk changes its own group and the root. An item
// is one change of the root. In the same run the floor: two words and nothing but the swaps.

#include <tmigr/atomics/boost.hpp>
#include <tmigr/hierarchy.hpp>

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>

namespace {

void root_changes(benchmark::State& state) {
    tmigr::basic_hierarchy<tmigr::linux_config<tmigr::boost_atomics>> tree(4, 1, {.width = 3});
    for (tmigr::cpu_id c = 0; c < 4; ++c) tree.add({.id = c});
    const auto flicking = tree.cpu(3);
    tree.cpu(0).activate();
    flicking.activate();
    for (auto _ : state) {
        flicking.deactivate();
        flicking.activate();
    }
    state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(root_changes)->UseRealTime();

void bare_swaps_of_two_words(benchmark::State& state) {
    alignas(64) static std::atomic<std::uint32_t> lower{0};
    alignas(64) static std::atomic<std::uint32_t> upper{0};
    for (auto _ : state)
        for (std::atomic<std::uint32_t>* word : {&lower, &upper}) {
            std::uint32_t seen = word->load(std::memory_order_relaxed);
            while (!word->compare_exchange_weak(seen, seen + 1)) {
            }
        }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(bare_swaps_of_two_words)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
