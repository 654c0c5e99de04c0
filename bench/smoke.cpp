// SPDX-License-Identifier: BSL-1.0
// A CPU wakes and goes to sleep again while another one of its group stays awake, so
// that both walks end at level 0: one compare-and-swap each. Every thread has a CPU of
// its own, all in one group. An item is one walk.
//
// In the same run: the floor, one word and nothing but the swaps, and the peer, the
// same tree without atomics under one mutex.

#include <tmigr/atomics/boost.hpp>
#include <tmigr/atomics/plain.hpp>
#include <tmigr/atomics/std.hpp>
#include <tmigr/hierarchy.hpp>

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace {

template <class Atomics>
using tree_on = tmigr::basic_hierarchy<tmigr::linux_config<Atomics>>;

tmigr::topology one_node() {
    tmigr::topology machine;
    for (tmigr::cpu_id id = 0; id < 64; ++id) machine.add(id, 0);
    return machine;
}

template <class Atomics>
tree_on<Atomics>& tree_with_cpu0_awake() {
    static tree_on<Atomics> tree(one_node());
    [[maybe_unused]] static const bool awake = (tree.cpu(0).activate(), true);
    return tree;
}

tmigr::cpu_id own_cpu(const benchmark::State& state) {
    return static_cast<tmigr::cpu_id>(state.thread_index() + 1);
}

void count_walks(benchmark::State& state) { state.SetItemsProcessed(2 * state.iterations()); }

template <class Atomics>
void wake_and_sleep(benchmark::State& state) {
    const auto cpu = tree_with_cpu0_awake<Atomics>().cpu(own_cpu(state));
    for (auto _ : state) {
        cpu.activate();
        cpu.deactivate();
    }
    count_walks(state);
}

void peer_under_mutex(benchmark::State& state) {
    static std::mutex mutex;
    const auto cpu = [&state] {
        const std::lock_guard lock(mutex);
        return tree_with_cpu0_awake<tmigr::plain_atomics>().cpu(own_cpu(state));
    }();
    for (auto _ : state) {
        {
            const std::lock_guard lock(mutex);
            cpu.activate();
        }
        {
            const std::lock_guard lock(mutex);
            cpu.deactivate();
        }
    }
    count_walks(state);
}

void floor_bare_swaps(benchmark::State& state) {
    alignas(64) static std::atomic<std::uint32_t> word{0};
    const auto swap = [] {
        auto seen = word.load(std::memory_order_relaxed);
        while (!word.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
        }
    };
    for (auto _ : state) {
        swap();
        swap();
    }
    count_walks(state);
}

}  // namespace

BENCHMARK(floor_bare_swaps)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK(peer_under_mutex)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK_TEMPLATE(wake_and_sleep, tmigr::boost_atomics)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK_TEMPLATE(wake_and_sleep, tmigr::std_atomics)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK_TEMPLATE(wake_and_sleep, tmigr::plain_atomics)->Threads(1)->UseRealTime();

BENCHMARK_MAIN();
