// SPDX-License-Identifier: BSL-1.0
// What will an operation cost on machines that are not at hand, of 64 to 4096 CPUs? The code
// runs on the backend that follows lines between cores (tmigr/atomics/cost_model.hpp): CPU c acts
// on core c, 8 cores to a cache, 64 to a socket. CPUs sleep and wake at random, each awake with
// probability a, as in activity_sweep.
//
// `model`: an item is one change. Time is what the model predicts with its preset costs, in
// nanoseconds, not what was measured. Counters of one item: transfers between cores, and of these
// same_cache, same_socket, other_socket; rmw; loads; levels, of the library.
// `enqueue`: an item is the decision where to queue the timer of a CPU. Counters: remote, lines
// fetched that other CPUs have written, of one item.
//
// `turns`: the model against this machine. Two threads, on two cores where there are two, take
// turns: for 128 turns each only passes a word on, which takes two transfers, for the next 128 it
// changes the state of its CPU (asleep, awake) before. An item is one turn. Counters, medians of
// pairs of such stretches, so that a machine whose cores are moved about does not matter: pass
// and change, nanoseconds of a turn; solo, of a change without anybody; lines, what the change
// took more than pass and solo, in halves of a pass; transfers, what the model says that lines is.
//
// Floor: `bare`, a change of the CPU's own line and a compare-and-swap of its leaf's. Peers: all.

#include "activity.hpp"
#include "contenders.hpp"
#include "floors.hpp"
#include "latency.hpp"
#include "program.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tmigr;
using namespace tmigr::bench;

constexpr ticks far_future = ticks{1} << 40;
using model = cost_model_atomics;

/// Built by a core that owns no CPU: what is fetched for the first time is nobody's neighbour's.
template <class P>
std::unique_ptr<P> followed(std::size_t cpus) {
    model::machine() = line_machine(8, 64);
    model::machine().act_on(1u << 20);
    return std::make_unique<P>(cpus);
}

template <class P>
line_counts changes_on_lines(std::size_t cpus, double a, std::size_t how_many) {
    const activity all(cpus, a, how_many);
    const auto peer = followed<P>(cpus);
    ticks time = far_future;
    const auto change = [&](std::size_t cpu, bool wake) {
        model::machine().act_on(static_cast<std::uint32_t>(cpu));
        if (wake)
            peer->activate(cpu);
        else
            sleep(*peer, cpu, ++time);
    };
    // Everybody wakes and sleeps once, so that no line is cold.
    for (std::size_t c = 0; c < cpus; ++c) change(c, true);
    for (std::size_t c = 0; c < cpus; ++c)
        if (!all.at_first[c]) change(c, false);
    model::machine().counts() = {};
    for (const activity::change& c : all.changes) change(c.cpu, c.wake != 0);
    return model::machine().counts();
}

template <class P>
void predict(benchmark::State& state, std::size_t cpus, double a) {
    constexpr std::size_t how_many = 1 << 14;
    static std::map<std::pair<std::size_t, double>, line_counts> known;
    const auto [found, is_new] = known.try_emplace({cpus, a});
    if (is_new) found->second = changes_on_lines<P>(cpus, a, how_many);
    const line_counts& counts = found->second;
    const double cost = counts.cost({}) / how_many;
    for (auto _ : state) state.SetIterationTime(cost * 1e-9);
    items(state, 1);
    const auto each = [](std::uint64_t n) { return static_cast<double>(n) / how_many; };
    state.counters["transfers"] = each(counts.transfers());
    state.counters["same_cache"] = each(counts.of(line_distance::same_cache));
    state.counters["same_socket"] = each(counts.of(line_distance::same_socket));
    state.counters["other_socket"] = each(counts.of(line_distance::other_socket));
    state.counters["rmw"] = each(counts.read_modify_writes);
    state.counters["loads"] = each(counts.loads);
    if (is_library<P>) state.counters["levels"] = each(counts.group_visits);
}

template <class Contenders>
void add_predictions(int expiries, std::size_t cpus, double a) {
    Contenders::each([=]<class C>(std::type_identity<C>) {
        using P = typename C::template on<model>;
        benchmark::RegisterBenchmark(
            name_of("model", {{"who", who<P>()}, {"expiries", expiries}, {"cpus", cpus}, {"a", a}}).c_str(),
            [=](benchmark::State& s) { predict<P>(s, cpus, a); })
            ->UseManualTime()
            ->Iterations(1);
    });
}

// Turns: CPU 0 and CPU `other`, a third one awake for good next to each of them or not at all.

struct turns_of {
    std::size_t cpus, other, awake;
};
constexpr std::size_t nobody = ~std::size_t{0};

std::atomic<std::uint32_t>& turn() {
    alignas(64) static std::atomic<std::uint32_t> word{0};
    return word;
}

template <class P>
P*& taking_turns() {
    static P* peer = nullptr;
    return peer;
}

/// What the model says of one change, on average, when the two take turns.
template <class P>
line_counts turns_on_lines(const turns_of& t) {
    const auto peer = followed<P>(t.cpus);
    constexpr std::size_t rounds = 1000;
    for (std::size_t i = 0; i <= 2 * rounds; ++i) {
        if (i == rounds) model::machine().counts() = {};
        if (i == 0 && t.awake != nobody) peer->activate(t.awake);
        for (std::uint32_t core = 0; core < 2; ++core) {
            model::machine().act_on(core);
            const std::size_t cpu = core == 0 ? 0 : t.other;
            if (i % 2 == 0)
                peer->activate(cpu);
            else
                sleep(*peer, cpu, far_future + i);
        }
    }
    return model::machine().counts();
}

/// Nanoseconds of one change when nobody else is there.
template <class P>
double solo(const turns_of& t) {
    P peer(t.cpus);
    if (t.awake != nobody) peer.activate(t.awake);
    ticks time = far_future;
    std::uint64_t least = ~std::uint64_t{0};
    constexpr unsigned rounds = 256;
    for (int repetition = 0; repetition < 8; ++repetition) {
        const std::uint64_t begin = now();
        for (unsigned i = 0; i < rounds; ++i) {
            peer.activate(0);
            peer.activate(t.other);
            sleep(peer, 0, ++time);
            sleep(peer, t.other, ++time);
        }
        least = std::min(least, now() - begin);
    }
    return static_cast<double>(least) / (4 * rounds) / ticks_per_nanosecond();
}

double median(std::vector<double> of) {
    if (of.empty()) return 0;
    const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::nth_element(of.begin(), middle, of.end());
    return *middle;
}

/// Times of stretches, in ticks of the clock: of passing, of changing, of passing, ...
using stretches = std::vector<std::uint64_t>;

/// What changes took, next to passes that took the same before and after.
void compare_with_model(benchmark::State& state, const stretches& all, std::size_t turns, double alone, double transfers) {
    std::vector<double> passes, changes, lines;
    const double unit = static_cast<double>(2 * turns) * ticks_per_nanosecond();  // both threads' turns
    for (std::size_t i = 2; i + 1 < all.size(); i += 2) {
        const double before = static_cast<double>(all[i]) / unit;
        const double change = static_cast<double>(all[i + 1]) / unit;
        const double after = i + 2 < all.size() ? static_cast<double>(all[i + 2]) / unit : before;
        if (std::max(before, after) > 1.2 * std::min(before, after)) continue;
        const double pass = (before + after) / 2;
        passes.push_back(pass);
        changes.push_back(change);
        lines.push_back((change - pass - alone) / (pass / 2));
    }
    state.counters["pass"] = median(passes);
    state.counters["change"] = median(changes);
    state.counters["solo"] = alone;
    state.counters["lines"] = median(lines);
    state.counters["transfers"] = transfers;
}

template <class P, class Followed>
void take_turns(benchmark::State& state, const turns_of& t) {
    constexpr std::uint64_t stretch = 128;
    const auto mine = static_cast<std::uint32_t>(state.thread_index());
    const on_core here(mine);
    double alone = 0;
    stretches taken;
    if (mine == 0) {
        taking_turns<P>() = new P(t.cpus);
        if (t.awake != nobody) taking_turns<P>()->activate(t.awake);
        turn().store(0);
        alone = solo<P>(t);
        taken.reserve(1 << 16);
    }
    const std::size_t cpu = mine == 0 ? 0 : t.other;
    ticks time = far_future;
    bool awake = false;
    P* peer = nullptr;
    std::uint64_t i = 0, begin = 0;
    for (auto _ : state) {
        if (peer == nullptr) {
            peer = taking_turns<P>();
            begin = now();
        }
        wait_until([&] { return turn().load(std::memory_order_acquire) == mine; });
        if (i / stretch % 2 == 1) {
            if (awake)
                sleep(*peer, cpu, ++time);
            else
                peer->activate(cpu);
            awake = !awake;
        }
        turn().store(1 - mine, std::memory_order_release);
        if (++i % stretch == 0 && mine == 0 && taken.size() < taken.capacity()) {
            const std::uint64_t end = now();
            taken.push_back(end - begin);
            begin = end;
        }
    }
    items(state, 1);
    if (mine == 0) {
        delete peer;
        compare_with_model(state, taken, stretch, alone,
                           static_cast<double>(turns_on_lines<Followed>(t).transfers()) / 2002);
    }
}

template <class Contenders>
void add_turns(int expiries, const char* where, const turns_of& t) {
    Contenders::each([=]<class C>(std::type_identity<C>) {
        using P = typename C::template on<boost_atomics>;
        using Followed = typename C::template on<model>;
        add("turns", {{"who", who<P>()}, {"expiries", expiries}, {"where", where}}, [=](benchmark::State& s) {
            take_turns<P, Followed>(s, t);
        })->Threads(2);
    });
}

void enroll() {
    for (const std::size_t cpus : {64, 512, 4096})
        for (const double a : {0.01, 0.1, 0.5}) {
            add_predictions<state_contenders>(0, cpus, a);
            add_predictions<timer_contenders>(1, cpus, a);
        }
    for (const auto& [where, t] : {std::pair{"one_leaf", turns_of{512, 1, 2}},
                                   {"two_leaves", turns_of{512, 8, 2}},
                                   {"root", turns_of{512, 64, nobody}}}) {
        add_turns<state_contenders>(0, where, t);
        add_turns<timer_contenders>(1, where, t);
    }
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, enroll); }
