// SPDX-License-Identifier: BSL-1.0
// What does the hardware take for what everything else is made of? An item is one operation on
// one word; with `lines` more than one, on as many words in turn, each on a line of its own.
//
// These are the floors; there is nothing below them and there are no peers.
//
// `pass`: two threads, each on a core of its own where there are two, hand a word to and fro. An
// item is one passing: the new holder fetches the line to read it (it asked before, so it holds
// a copy that the giver drives out first): two transfers between the cores.
// `clock`: what it takes to look at the clock that times single operations in `contention`.

#include "floors.hpp"
#include "latency.hpp"
#include "program.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace {

using namespace tmigr::bench;

constexpr std::size_t most_lines = 64;

template <class Operation>
void on_lines(benchmark::State& state, std::size_t lines, Operation operation) {
    std::array<bare_word<std::uint32_t>, most_lines> words;
    for (auto _ : state) {
        for (std::size_t i = 0; i < lines; ++i) operation(words[i]);
        benchmark::ClobberMemory();
    }
    items(state, static_cast<std::int64_t>(lines));
}

void passing(benchmark::State& state) {
    static bare_word<std::uint32_t> turn;
    const auto mine = static_cast<std::uint32_t>(state.thread_index());
    const auto others = 1 - mine;
    if (mine == 0) turn.word.store(0);
    const on_core here(mine);
    for (auto _ : state) {
        wait_until([&] { return turn.word.load(std::memory_order_acquire) == mine; });
        turn.word.store(others, std::memory_order_release);
    }
    items(state, 1);  // each thread passes once in an iteration
}

void clock_reading(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(now());
    items(state, 1);
}

void enroll() {
    using word = bare_word<std::uint32_t>;
    for (const std::size_t lines : {1, 2, 8, 64}) {
        add("floor", {{"what", "load"}, {"lines", lines}}, [lines](benchmark::State& s) {
            on_lines(s, lines, [](word& w) { benchmark::DoNotOptimize(w.word.load(std::memory_order_acquire)); });
        });
        add("floor", {{"what", "store"}, {"lines", lines}},
            [lines](benchmark::State& s) { on_lines(s, lines, [](word& w) { w.store(1); }); });
        add("floor", {{"what", "store_seq_cst"}, {"lines", lines}}, [lines](benchmark::State& s) {
            on_lines(s, lines, [](word& w) { w.word.store(1, std::memory_order_seq_cst); });
        });
        add("floor", {{"what", "swap"}, {"lines", lines}},
            [lines](benchmark::State& s) { on_lines(s, lines, [](word& w) { w.swap(); }); });
        add("floor", {{"what", "fetch_add"}, {"lines", lines}}, [lines](benchmark::State& s) {
            on_lines(s, lines, [](word& w) { w.word.fetch_add(1, std::memory_order_acq_rel); });
        });
    }
    add("floor", {{"what", "pass"}}, passing)->Threads(2);
    add("floor", {{"what", "clock"}}, clock_reading);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, enroll); }
