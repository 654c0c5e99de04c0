// SPDX-License-Identifier: BSL-1.0
// What do padding, the place of the slots and the width of groups cost and bring? The library with
// expiries, with other values of one knob each:
//
// padding  bytes that groups, seats and the tables of slots are aligned to and padded to. 64: a
//          line each (the default). 128: pairs of lines, which some processors fetch together.
//          16: packed; slots stand behind the word, seats of neighbours side by side
// width    children of a group; 16 and 24 take words of 64 bits
//
// sleep_wake  CPU 0 of 512 sleeps and wakes next to one that stays awake. An item is both
// sweep       512 CPUs at random, one in ten awake; one thread. An item is one change
// contend     two threads, each sleeps and wakes; CPUs of one leaf (`leaf`) or of different leaves
//             (`leaves`), one of each leaf's others awake, so that in `leaves` nothing that a walk
//             needs is shared. An item is both
// Counters of sweep: transfers and predicted, of one change when each CPU is a core (8 to a cache,
// 64 to a socket; the model's preset costs, ns); bytes, of groups and seats per CPU; levels of
// the tree.
//
// There are no peers. Floor: that of walk_cost.

#include "activity.hpp"
#include "contenders.hpp"
#include "latency.hpp"
#include "program.hpp"

#include <memory>

namespace {

using namespace tmigr;
using namespace tmigr::bench;

constexpr std::size_t machine_size = 512;
constexpr ticks far_future = ticks{1} << 40;
constexpr std::size_t how_many = 1 << 14;

using state32x4 = basic_state<std::uint32_t, 4>;

template <class State, std::size_t Line>
struct knobs {
    using state = State;
    static constexpr std::size_t line = Line;
    template <class Atomics>
    using config = timer_config<Atomics, State, slot64, Line>;
    template <class Atomics>
    using tree = peers::hierarchy_peer<config<Atomics>>;
};

const activity& changes() {
    static const activity made(machine_size, 0.1, how_many);
    return made;
}

template <class P>
void play(P& peer, const activity::change& change, ticks due) {
    if (change.wake)
        peer.activate(change.cpu);
    else
        static_cast<void>(peer.deactivate(change.cpu, due));
}

template <class Knobs>
void sleep_wake(benchmark::State& state) {
    typename Knobs::template tree<boost_atomics> tree(machine_size);
    tree.activate(1);
    ticks time = far_future;
    for (auto _ : state) {
        tree.activate(0);
        benchmark::DoNotOptimize(tree.deactivate(0, ++time));
    }
    items(state, 1);
}

template <class Knobs>
line_counts predicted() {
    using model = cost_model_atomics;
    model::machine() = line_machine();
    model::machine().act_on(1u << 20);
    typename Knobs::template tree<model> tree(machine_size);
    const auto on_its_core = [&](const activity::change& c, ticks due) {
        model::machine().act_on(c.cpu);
        play(tree, c, due);
    };
    for (std::size_t c = 0; c < machine_size; ++c) on_its_core(activity::change::of(c, true), 0);
    for (std::size_t c = 0; c < machine_size; ++c)
        if (!changes().at_first[c]) on_its_core(activity::change::of(c, false), far_future);
    model::machine().counts() = {};
    ticks time = far_future;
    for (const activity::change& c : changes().changes) on_its_core(c, ++time);
    return model::machine().counts();
}

template <class Knobs>
void sweep(benchmark::State& state) {
    using config = typename Knobs::template config<boost_atomics>;
    typename Knobs::template tree<boost_atomics> tree(machine_size);
    for (std::size_t c = 0; c < machine_size; ++c)
        if (changes().at_first[c]) tree.activate(c);
    ticks time = far_future;
    std::size_t at = 0;
    for (auto _ : state) {
        play(tree, changes().changes[at], ++time);
        at = (at + 1) % how_many;
    }
    items(state, 1);
    static const line_counts counts = predicted<Knobs>();
    state.counters["transfers"] = static_cast<double>(counts.transfers()) / how_many;
    state.counters["predicted"] = counts.cost({}) / how_many;
    state.counters["bytes"] =
        static_cast<double>(tree.tree().groups().size() * sizeof(group<config>)) / machine_size + sizeof(cpu_seat<config>);
    state.counters["levels"] = tree.tree().shape().levels();
}

template <class Knobs>
void contend(benchmark::State& state, std::size_t apart) {
    using tree_type = typename Knobs::template tree<boost_atomics>;
    static std::unique_ptr<tree_type> tree;
    const auto me = static_cast<std::size_t>(state.thread_index());
    const on_core here(static_cast<unsigned>(me));
    if (me == 0) {
        tree = std::make_unique<tree_type>(machine_size);
        tree->activate(2);
        if (apart > 1) tree->activate(apart + 1);
    }
    const std::size_t cpu = me * apart;
    ticks time = far_future;
    for (auto _ : state) {
        tree->activate(cpu);
        benchmark::DoNotOptimize(tree->deactivate(cpu, ++time));
    }
    items(state, 1);
}

template <class Knobs>
void add_layout() {
    const label padding{"padding", Knobs::line}, width{"width", Knobs::state::children};
    add("layout", {{"what", "sleep_wake"}, padding, width}, sleep_wake<Knobs>);
    add("layout", {{"what", "sweep"}, padding, width}, sweep<Knobs>);
    add("layout", {{"what", "contend_leaf"}, padding, width}, [](benchmark::State& s) { contend<Knobs>(s, 1); })
        ->Threads(2);
    add("layout", {{"what", "contend_leaves"}, padding, width}, [](benchmark::State& s) {
        contend<Knobs>(s, Knobs::state::children);
    })->Threads(2);
}

void enroll() {
    add_layout<knobs<state32, 64>>();
    add_layout<knobs<state32, 128>>();
    add_layout<knobs<state32, 16>>();
    add_layout<knobs<state32x4, 64>>();
    add_layout<knobs<state64x16, 64>>();
    add_layout<knobs<state64x24, 64>>();
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, enroll); }
