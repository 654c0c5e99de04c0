// SPDX-License-Identifier: BSL-1.0
// What happens when several CPUs sleep and wake at the same time? As many threads as `threads`
// says, each with a CPU of its own, kept on one core each; with more threads than cores they
// share. 512 CPUs.
//
// leaf      all CPUs in one leaf, where a neighbour stays awake (but with 8 threads, which fill
//           it): all walks end at one word
// leaves    one CPU in each leaf, all leaves below one group, where another leaf is awake: walks
//           meet one level up
// root      one CPU below each child of the root, nobody else awake below it, one awake below
//           another: walks go up to the root, all of them
// storm     one CPU that flaps while the machine is idle: each walk goes to the root and changes
//           whether anybody is awake; one thread
// ticks     as leaves, and all wake, and all sleep, at the same time: a barrier before each.
//           Time includes the barriers (`who:barriers` has nothing else); latency does not
//
// An item is one sleep or one wake. Counters: p50, p99, p999, latency in nanoseconds of one in
// 17 items (of all in `ticks`), less the clock's own time; clock, what was taken off; failed, compare-and-swaps
// that failed, of one item (what a lock's waiters read is not in it); with `expiries` sleepers
// have due times in the far future.
//
// Floor: `bare`, one word that everybody swaps in `leaf`; one of each thread's own besides it in
// `leaves`; the same and one more for `root`. Peers: all.

#include "contenders.hpp"
#include "floors.hpp"
#include "latency.hpp"
#include "program.hpp"
#include "tallying.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace {

using namespace tmigr;
using namespace tmigr::bench;

using backend = tallying_atomics<boost_atomics>;
constexpr ticks far_future = ticks{1} << 40;
constexpr std::size_t machine_size = 512;
constexpr int most_threads = 8;

enum class place { leaf, leaves, root, storm, ticks };
constexpr const char* name_of_place(place p) {
    constexpr const char* names[] = {"leaf", "leaves", "root", "storm", "ticks"};
    return names[static_cast<int>(p)];
}
/// How many CPUs lie between those of two threads; the one that stays awake is behind the last.
constexpr std::size_t apart(place p) {
    switch (p) {
        case place::leaf: return 1;
        case place::leaves:
        case place::ticks: return 8;
        default: return 64;
    }
}
std::optional<std::size_t> awake_for_good(place p, int threads) {
    switch (p) {
        case place::leaf:  // 8 threads fill it
            if (threads < 8) return 7;
            return std::nullopt;
        case place::leaves:
        case place::ticks: return 7 * 8 + 1;
        case place::root: return 7 * 64 + 9;
        default: return std::nullopt;
    }
}

/// What is common to all threads of a run.
struct shared_part {
    std::array<histogram, most_threads> latency;
    std::unique_ptr<std::barrier<>> barrier;
};
shared_part& common() {
    static shared_part part;
    return part;
}

template <class P>
std::unique_ptr<P>& machine_of_threads() {
    static std::unique_ptr<P> peer;
    return peer;
}

/// Nothing but the barriers.
struct nothing {
    explicit nothing(std::size_t) {}
    void activate(std::size_t) {}
    void deactivate(std::size_t) {}
};

/// The swaps that nobody can do without: of own words, and of one that all share.
template <place Where>
class bare {
public:
    explicit bare(std::size_t) : own_(2 * most_threads) {}
    void activate(std::size_t cpu) { swap(cpu); }
    void deactivate(std::size_t cpu) { swap(cpu); }

private:
    void swap(std::size_t cpu) {
        const std::size_t thread = cpu / apart(Where) % most_threads;
        if constexpr (Where != place::leaf) own_[thread].swap();
        if constexpr (Where == place::root || Where == place::storm) own_[most_threads + thread].swap();
        all_.swap();
    }
    bare_word<> all_;
    std::vector<bare_word<>> own_;
};

template <class P>
void contend(benchmark::State& state, place where) {
    const auto me = static_cast<std::size_t>(state.thread_index());
    const on_core here(static_cast<unsigned>(me));
    shared_part& all = common();
    if (me == 0) {
        machine_of_threads<P>() = std::make_unique<P>(machine_size);
        if (const auto cpu = awake_for_good(where, state.threads())) machine_of_threads<P>()->activate(*cpu);
        all.barrier = std::make_unique<std::barrier<>>(state.threads());
        static_cast<void>(clock_overhead());
    }
    all.latency[me].clear();
    const std::uint64_t failed_before = backend::failed();
    const std::size_t cpu = me * apart(where);
    P* peer = nullptr;
    std::barrier<>* barrier = nullptr;
    ticks time = far_future;
    unsigned turn = 0;

    // An odd number, so that both sleeps and wakes are timed; where there are barriers, all.
    const unsigned one_in = where == place::ticks ? 1 : 17;
    const auto timed = [&](auto operation) {
        if (++turn < one_in) return operation();
        turn = 0;
        const std::uint64_t begin = now();
        operation();
        const std::uint64_t end = now();
        all.latency[me].add(end - begin - std::min(end - begin, clock_overhead()));
    };
    for (auto _ : state) {
        if (peer == nullptr) {
            peer = machine_of_threads<P>().get();
            barrier = all.barrier.get();
        }
        if (where == place::ticks) barrier->arrive_and_wait();
        timed([&] { peer->activate(cpu); });
        if (where == place::ticks) barrier->arrive_and_wait();
        timed([&] {
            if constexpr (requires { peer->deactivate(cpu, time); })
                static_cast<void>(peer->deactivate(cpu, ++time));
            else
                peer->deactivate(cpu);
        });
    }
    items(state, 2);
    const auto failed = static_cast<double>(backend::failed() - failed_before);
    state.counters["failed"] =
        benchmark::Counter(failed / (2 * static_cast<double>(state.iterations())), benchmark::Counter::kAvgThreads);
    if (me != 0) return;
    // The loop ended with a barrier, so all that was timed is there.
    static histogram together;
    together.clear();
    for (int t = 0; t < state.threads(); ++t) together.add(all.latency[static_cast<std::size_t>(t)]);
    const auto nanoseconds = [](std::uint64_t n) { return static_cast<double>(n) / ticks_per_nanosecond(); };
    state.counters["p50"] = nanoseconds(together.quantile(0.5));
    state.counters["p99"] = nanoseconds(together.quantile(0.99));
    state.counters["p999"] = nanoseconds(together.quantile(0.999));
    state.counters["clock"] = nanoseconds(clock_overhead());
    machine_of_threads<P>().reset();
}

template <class P>
void add_contest(const std::string& name, int expiries, place where) {
    const auto with = [&](int threads) {
        add("contention", {{"where", name_of_place(where)}, {"who", name}, {"expiries", expiries}},
            [=](benchmark::State& s) { contend<P>(s, where); })
            ->Threads(threads);
    };
    if (where == place::storm) return with(1);
    for (const int threads : {2, 4, 8}) with(threads);
}

template <class Contenders>
void add_all(int expiries, place where) {
    Contenders::each([=]<class C>(std::type_identity<C>) {
        using P = typename C::template on<backend>;
        add_contest<P>(who<P>(), expiries, where);
    });
}

void enroll() {
    add_contest<bare<place::leaf>>("bare", 0, place::leaf);
    add_contest<bare<place::leaves>>("bare", 0, place::leaves);
    add_contest<bare<place::root>>("bare", 0, place::root);
    add_contest<bare<place::storm>>("bare", 0, place::storm);
    add_contest<bare<place::ticks>>("bare", 0, place::ticks);
    add_contest<nothing>("barriers", 0, place::ticks);
    for (const place where : {place::leaf, place::leaves, place::root, place::storm, place::ticks}) {
        add_all<state_contenders>(0, where);
        add_all<timer_contenders>(1, where);
    }
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, enroll); }
