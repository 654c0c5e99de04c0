// SPDX-License-Identifier: BSL-1.0
// What does a change cost when CPUs sleep and wake at random, each awake with probability a, in
// trees of 8 to 4096 CPUs? One thread drives them all, from a sequence made in advance; most
// of what it touches at 4096 CPUs is in no near cache.
//
// An item is one change: somebody wakes, or falls asleep (with `expiries`, with a due time in
// the far future). Counters of the library: levels, the groups visited by a change;
// formula, the sum over levels l of (1-a)^(8^l - 1) that says what it should be; rmw.
//
// Floor: `bare`, a change of the CPU's own line and a bare compare-and-swap on the line of its
// leaf, to which the own line leads; same sequence. It grows with the number of CPUs by what
// it takes to get two lines of so many. Peers: all, those that keep expiries where there are expiries.

#include "activity.hpp"
#include "contenders.hpp"
#include "floors.hpp"
#include "program.hpp"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace tmigr;
using namespace tmigr::bench;

constexpr std::size_t changes_in_a_circle = 1 << 15;
constexpr ticks far_future = ticks{1} << 40;

const activity& sequence(std::size_t cpus, double a) {
    static std::map<std::pair<std::size_t, double>, activity> made;
    return made.try_emplace({cpus, a}, cpus, a, changes_in_a_circle).first->second;
}

template <class P>
class driven {
public:
    driven(std::size_t cpus, const activity& a) : peer_(cpus), activity_(a) {
        for (std::size_t c = 0; c < cpus; ++c)
            if (a.at_first[c]) peer_.activate(c);
    }
    void next() {
        const activity::change change = activity_.changes[at_];
        if (++at_ == activity_.changes.size()) at_ = 0;
        if (change.wake)
            peer_.activate(change.cpu);
        else
            sleep(peer_, change.cpu, far_future + ++time_);
    }

private:
    P peer_;
    const activity& activity_;
    std::size_t at_ = 0;
    ticks time_ = 0;
};

/// A line for each CPU, and in it the way to the line of its leaf.
class bare {
public:
    explicit bare(std::size_t cpus) : leaves_((cpus + 7) / 8) {
        seats_.reserve(cpus);
        for (std::size_t c = 0; c < cpus; ++c) seats_.push_back({&leaves_[c / 8], 0});
    }
    void activate(std::size_t cpu) { touch(cpu); }
    void deactivate(std::size_t cpu) { touch(cpu); }

private:
    void touch(std::size_t cpu) {
        ++seats_[cpu].changes;
        seats_[cpu].leaf->swap();
    }
    struct alignas(64) seat {
        bare_word<>* leaf;
        std::uint64_t changes;
    };
    std::vector<bare_word<>> leaves_;
    std::vector<seat> seats_;
};

template <class P>
void sweep(benchmark::State& state, std::size_t cpus, double a) {
    driven<P> all(cpus, sequence(cpus, a));
    for (auto _ : state) {
        all.next();
        benchmark::ClobberMemory();
    }
    items(state, 1);
}

/// What the whole circle does to groups, on the counting backend; once for each question.
template <class P>
void count(benchmark::State& state, std::size_t cpus, double a) {
    static std::map<std::pair<std::size_t, double>, line_counts> counted;
    const auto [found, is_new] = counted.try_emplace({cpus, a});
    if (is_new) {
        cost_model_atomics::machine() = line_machine();
        driven<P> all(cpus, sequence(cpus, a));
        cost_model_atomics::machine().counts() = {};
        for (std::size_t i = 0; i < changes_in_a_circle; ++i) all.next();
        found->second = cost_model_atomics::machine().counts();
    }
    const auto each = [](std::uint64_t n) { return static_cast<double>(n) / changes_in_a_circle; };
    state.counters["levels"] = each(found->second.group_visits);
    state.counters["formula"] = expected_levels(a, cpus);
    state.counters["rmw"] = each(found->second.read_modify_writes);
}

template <template <class> class P, class Atomics>
void add_library(int expiries, std::size_t cpus, double a) {
    add("sweep",
        {{"who", "tmigr"}, {"backend", backend_name<Atomics>}, {"expiries", expiries}, {"cpus", cpus}, {"a", a}},
        [=](benchmark::State& s) {
            sweep<P<Atomics>>(s, cpus, a);
            count<P<cost_model_atomics>>(s, cpus, a);
        });
}

template <class Peers>
void add_peers(int expiries, std::size_t cpus, double a) {
    Peers::each([=]<class C>(std::type_identity<C>) {
        using P = typename C::template on<boost_atomics>;
        add("sweep",
            {{"who", who<P>()}, {"backend", "boost"}, {"expiries", expiries}, {"cpus", cpus}, {"a", a}},
            [=](benchmark::State& s) { sweep<P>(s, cpus, a); });
    });
}

void enroll() {
    for (const std::size_t cpus : {8, 64, 512, 4096})
        for (const double a : {0.001, 0.01, 0.05, 0.1, 0.5, 0.9}) {
            add("sweep", {{"who", "bare"}, {"backend", "std"}, {"expiries", 0}, {"cpus", cpus}, {"a", a}},
                [=](benchmark::State& s) { sweep<bare>(s, cpus, a); });
            add_library<library_states, boost_atomics>(0, cpus, a);
            add_library<library_states, plain_atomics>(0, cpus, a);
            add_library<library_timers, boost_atomics>(1, cpus, a);
            add_peers<state_peers>(0, cpus, a);
            add_peers<timer_peers>(1, cpus, a);
        }
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, enroll); }
