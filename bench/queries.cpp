// SPDX-License-Identifier: BSL-1.0
// What do questions cost, while nobody and while somebody changes what they ask about? 512 CPUs,
// CPU 0 awake. Meanwhile another thread does nothing (`none`), lets CPU 511 sleep and wake, whose
// branch is asleep but for it, up to the root (`root`), or lets CPU 1 do it, which changes CPU 0's
// leaf only (`leaf`).
//
// An item is one question. Floor: `bare`, one load of a word that the other thread swaps. Peers:
// all, with those questions that they answer.

#include "contenders.hpp"
#include "floors.hpp"
#include "latency.hpp"
#include "program.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace {

using namespace tmigr;
using namespace tmigr::bench;

constexpr std::size_t machine_size = 512;
constexpr ticks far_future = ticks{1} << 40;

/// Repeats something on another thread until it goes out of scope.
class meanwhile {
public:
    template <class Operation>
    explicit meanwhile(Operation operation)
        : thread_([this, operation] {
              const on_core here(1);
              while (!stop_.load(std::memory_order_relaxed)) operation();
          }) {}
    meanwhile(const meanwhile&) = delete;
    meanwhile& operator=(const meanwhile&) = delete;
    ~meanwhile() {
        stop_.store(true, std::memory_order_relaxed);
        thread_.join();
    }

private:
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

enum class question { any_active, migrator, earliest };
constexpr const char* name_of_question(question q) {
    constexpr const char* names[] = {"any_active", "migrator", "earliest"};
    return names[static_cast<int>(q)];
}

template <class P>
void ask(benchmark::State& state, question what, std::optional<std::size_t> flapping) {
    P peer(machine_size);
    peer.activate(0);
    std::optional<meanwhile> other;
    if (flapping)
        other.emplace([&peer, cpu = *flapping] {
            peer.activate(cpu);
            sleep(peer, cpu, far_future);
        });
    const on_core here(0);
    for (auto _ : state) {
        switch (what) {
            case question::any_active: benchmark::DoNotOptimize(peer.any_active()); break;
            case question::migrator:
                if constexpr (peers::has_migrator<P>) benchmark::DoNotOptimize(peer.migrator());
                break;
            case question::earliest:
                if constexpr (peers::timer_peer<P>) benchmark::DoNotOptimize(peer.earliest());
                break;
        }
        benchmark::ClobberMemory();
    }
    items(state, 1);
}

void bare(benchmark::State& state, bool swapped) {
    bare_word<> word;
    std::optional<meanwhile> other;
    if (swapped) other.emplace([&word] { word.swap(); });
    const on_core here(0);
    for (auto _ : state) {
        benchmark::DoNotOptimize(word.word.load(std::memory_order_relaxed));
        benchmark::ClobberMemory();
    }
    items(state, 1);
}

template <class Contenders>
void add_questions(int expiries) {
    Contenders::each([=]<class C>(std::type_identity<C>) {
        using P = typename C::template on<boost_atomics>;
        for (const question what : {question::any_active, question::migrator, question::earliest}) {
            if (what == question::migrator && !peers::has_migrator<P>) continue;
            if (what == question::earliest && !peers::timer_peer<P>) continue;
            for (const auto& [name, cpu] : {std::pair{"none", std::optional<std::size_t>{}},
                                            {"leaf", std::optional<std::size_t>{1}},
                                            {"root", std::optional<std::size_t>{511}}})
                add("query", {{"what", name_of_question(what)}, {"who", who<P>()}, {"expiries", expiries}, {"meanwhile", name}},
                    [what, cpu = cpu](benchmark::State& s) { ask<P>(s, what, cpu); });
        }
    });
}

void enroll() {
    add("query", {{"what", "load"}, {"who", "bare"}, {"expiries", 0}, {"meanwhile", "none"}},
        [](benchmark::State& s) { bare(s, false); });
    add("query", {{"what", "load"}, {"who", "bare"}, {"expiries", 0}, {"meanwhile", "root"}},
        [](benchmark::State& s) { bare(s, true); });
    add_questions<state_contenders>(0);
    add_questions<timer_contenders>(1);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, enroll); }
