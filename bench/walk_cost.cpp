// SPDX-License-Identifier: BSL-1.0
// What does a CPU pay that sleeps and wakes, by how far up its walks go, and how much of it is
// the hardware's? One thread, nobody in the way. CPU 0 sleeps and wakes while one CPU, the
// farthest that there is, stays awake, so that both walks end in the group of the top level
// where the two meet: `levels` groups each.
//
// An item is one sleep and the wake after it. Counters, of one item, from the counting
// backend: rmw, loads, stores, lines, levels (groups visited).
//
// Floor: as many bare compare-and-swaps, on as many lines, each read before it is swapped;
// with expiries also those of the slots above the first level, and the two stores of the own
// slot. `stores`: only a store to each of the lines. `plain` is the floor of the backend
// without atomics: the same lines read, added to and written.
//
// Peers do not have levels: activity_sweep has them.
//
// The trees are two wide whatever the word has room for, so that five levels fit; what is paid
// for room is paid in full: slots are looked at in every place.

#include "configs.hpp"
#include "floors.hpp"
#include "program.hpp"

#include <array>
#include <cstdlib>

namespace {

using namespace tmigr;
using namespace tmigr::bench;

template <class Config>
struct two_that_meet_at {
    basic_hierarchy<Config> tree;
    cpu_handle<Config> walker;

    explicit two_that_meet_at(unsigned levels)
        : tree(machine_of(std::size_t{1} << levels), {.width = 2}), walker(tree.cpu(0)) {
        if (tree.shape().levels() != levels) std::abort();
        tree.cpu((1u << levels) / 2).activate();
        walker.activate();
    }
    void sleep([[maybe_unused]] ticks due) {
        if constexpr (has_expiries<Config>)
            benchmark::DoNotOptimize(walker.deactivate(due));
        else
            walker.deactivate();
        benchmark::ClobberMemory();
    }
    void wake() {
        walker.activate();
        benchmark::ClobberMemory();
    }
};

template <class Config>
void count(benchmark::State& state, unsigned levels) {
    two_that_meet_at<Config> two(levels);
    auto& counts = Config::atomics::counts();
    counts = {};
    two.sleep(1);
    two.wake();
    state.counters["rmw"] = static_cast<double>(counts.read_modify_writes);
    state.counters["loads"] = static_cast<double>(counts.loads);
    state.counters["stores"] = static_cast<double>(counts.stores);
    state.counters["lines"] = static_cast<double>(counts.distinct_lines());
    state.counters["levels"] = static_cast<double>(counts.group_visits) / 2;
    counts = {};
}

template <class Config, class Counted>
void walk(benchmark::State& state, unsigned levels) {
    two_that_meet_at<Config> two(levels);
    ticks due = 0;
    for (auto _ : state) {
        two.sleep(++due);
        two.wake();
    }
    items(state, 1);
    count<Counted>(state, levels);
}

template <class Atomics, class State>
void add_walks(std::initializer_list<unsigned> levels) {
    for (const unsigned n : levels) {
        add("walk",
            {{"who", "tmigr"},
             {"backend", backend_name<Atomics>},
             {"word", word_bits<State>},
             {"width", State::children},
             {"expiries", 0},
             {"levels", n}},
            [n](benchmark::State& s) {
                walk<state_config<Atomics, State>, state_config<counting_atomics<plain_atomics>, State>>(s, n);
            });
        add("walk",
            {{"who", "tmigr"},
             {"backend", backend_name<Atomics>},
             {"word", word_bits<State>},
             {"width", State::children},
             {"expiries", 1},
             {"levels", n}},
            [n](benchmark::State& s) {
                using slot = slot_for<State>;
                walk<timer_config<Atomics, State, slot>,
                     timer_config<counting_atomics<plain_atomics>, State, slot>>(s, n);
            });
    }
}

enum class floor_kind { swaps, stores, plain };

template <class Word>
void floor_of(benchmark::State& state, unsigned levels, floor_kind kind, bool expiries) {
    std::array<bare_word<Word>, 5> words;
    std::array<bare_word<std::uint64_t>, 5> slots;
    const auto touch = [kind](auto& word) {
        switch (kind) {
            case floor_kind::swaps: return word.swap();
            case floor_kind::stores: return word.store(1);
            case floor_kind::plain: return word.add();
        }
    };
    std::uint64_t due = 0;
    for (auto _ : state) {
        if (expiries) slots[0].store(++due);
        touch(words[0]);
        for (unsigned l = 1; l < levels; ++l) {
            if (expiries) touch(slots[l]);
            touch(words[l]);
        }
        benchmark::ClobberMemory();
        if (expiries) slots[0].store(due);
        for (unsigned l = 0; l < levels; ++l) touch(words[l]);
        benchmark::ClobberMemory();
    }
    items(state, 1);
    state.counters["rmw"] = kind != floor_kind::swaps ? 0 : 2 * levels + (expiries ? levels - 1 : 0);
    state.counters["lines"] = expiries ? 2 * levels : levels;
}

void add_floors(unsigned levels) {
    for (const bool expiries : {false, true})
        for (const auto& [kind, name] : {std::pair{floor_kind::swaps, "bare_swaps"},
                                         {floor_kind::stores, "bare_stores"},
                                         {floor_kind::plain, "bare_plain"}}) {
            add("walk", {{"who", name}, {"word", 32}, {"expiries", expiries ? 1 : 0}, {"levels", levels}},
                [=](benchmark::State& s) { floor_of<std::uint32_t>(s, levels, kind, expiries); });
            add("walk", {{"who", name}, {"word", 64}, {"expiries", expiries ? 1 : 0}, {"levels", levels}},
                [=](benchmark::State& s) { floor_of<std::uint64_t>(s, levels, kind, expiries); });
        }
}

using state32x4 = basic_state<std::uint32_t, 4>;
using state128x8 = basic_state<uint128, 8>;
using state128x24 = basic_state<uint128, 24>;

void enroll() {
    for (unsigned levels = 1; levels <= 5; ++levels) add_floors(levels);
    const auto all = {1u, 2u, 3u, 4u, 5u};
    const auto some = {1u, 3u};
    add_walks<boost_atomics, state32>(all);
    add_walks<std_atomics, state32>(all);
    add_walks<plain_atomics, state32>(all);
    add_walks<boost_atomics, state64>(all);
    add_walks<std_atomics, state64>(some);
    add_walks<plain_atomics, state64>(some);
    add_walks<boost_atomics, state128x8>(all);
    add_walks<plain_atomics, state128x8>(some);
    add_walks<boost_atomics, state32x4>(some);
    add_walks<boost_atomics, state64x16>(some);
    add_walks<boost_atomics, state64x24>(some);
    add_walks<boost_atomics, state128x16>(some);
    add_walks<boost_atomics, state128x24>(some);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, enroll); }
