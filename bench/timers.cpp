// SPDX-License-Identifier: BSL-1.0
// What do the operations with timers cost, alone and in each other's way? 512 CPUs; those that
// sleep have due times in the far future, those named below others.
//
// sleep_wake    CPU 0 sleeps with a new due time and wakes, while a neighbour stays awake
// last_sleeper  the same, and nobody else is awake: what has to be armed is found
// new_expiry    CPU 0 sleeps, a neighbour is awake, and CPU 0 gets another due time
// new_expiry_idle   the same, and nobody is awake
// must_expire   CPU 511, alone awake, asks whether anything is due; nothing is
// expire        CPU 511, alone awake, runs what is due of `due` sleepers, one to a leaf; each
//               gets its next due time by that. An item is one sleeper
// enqueue       CPU 0 sleeps and arms a timer; the nearest CPU that is awake is `distance` away.
//               Who keeps expiries tells of the new one; who does not looks for a CPU to queue
//               it on. Counters: lines touched; foreign, of these, lines that belong neither to
//               CPU 0 nor to its leaf (of the library), or are other CPUs' (of a scan);
//               transfers, lines that came from other cores after every CPU slept and woke once.
//               A CPU of the library that is awake tells nobody: there is nothing to measure.
// With `threads:2`, at the same time, each thread on a core of its own where there are two:
// sleep_wake, new_expiry and new_expiry_idle of two CPUs of one leaf;
// expire        thread 0 as above, with 8 due, thread 1 a sleep_wake below the same group; an item
//               is one sleeper, one sleep or one wake
// `work` is how many nanoseconds a thread is busy with something of its own before each
// operation, as CPUs are; `who:work` does nothing else, and is to be taken off. Without any, who
// holds a lock has it again before another core learns that it was free: what is measured is one
// thread that works while another waits.
//
// An item is one operation, if nothing else is said; a sleep and a wake are two. Floor: `bare`,
// as many bare stores and compare-and-swaps on lines of their own as the library needs. Peers:
// those that keep expiries; of `enqueue` also those that choose a target.

#include "contenders.hpp"
#include "floors.hpp"
#include "latency.hpp"
#include "program.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace {

using namespace tmigr;
using namespace tmigr::bench;

constexpr ticks far_future = ticks{1} << 40;
constexpr std::size_t machine_size = 512;
constexpr std::size_t watcher = machine_size - 1;

enum class scene { sleep_wake, last_sleeper, new_expiry, new_expiry_idle, must_expire, expire };
constexpr const char* name_of_scene(scene s) {
    constexpr const char* names[] = {"sleep_wake", "last_sleeper", "new_expiry", "new_expiry_idle", "must_expire", "expire"};
    return names[static_cast<int>(s)];
}

/// Everybody asleep, with a due time in the far future, but the one named.
template <class P>
std::unique_ptr<P> sleepers(std::size_t awake = machine_size) {
    auto peer = std::make_unique<P>(machine_size);
    for (std::size_t c = 0; c < machine_size; ++c) peer->activate(c);
    for (std::size_t c = 0; c < machine_size; ++c)
        if (c != awake) static_cast<void>(peer->deactivate(c, far_future));
    return peer;
}
constexpr std::size_t who_is_awake(scene what) {
    switch (what) {
        case scene::sleep_wake:
        case scene::new_expiry: return 7;
        case scene::must_expire:
        case scene::expire: return watcher;
        default: return machine_size;
    }
}

template <class P>
std::unique_ptr<P>& shared_machine() {
    static std::unique_ptr<P> peer;
    return peer;
}

/// Keeps the thread busy, with nothing but its registers.
class own_work {
public:
    explicit own_work(double nanoseconds) : turns_(static_cast<std::uint64_t>(nanoseconds * turns_in_a_nanosecond())) {}
    void operator()() const noexcept { spin(turns_); }

private:
    static void spin(std::uint64_t turns) noexcept {
        for (std::uint64_t i = 0; i < turns; ++i) benchmark::DoNotOptimize(i);
    }
    static double turns_in_a_nanosecond() {
        static const double measured = [] {
            constexpr std::uint64_t turns = 100'000;
            std::uint64_t least = ~std::uint64_t{0};
            for (int i = 0; i < 20; ++i) {
                const std::uint64_t begin = now();
                spin(turns);
                least = std::min(least, now() - begin);
            }
            return static_cast<double>(turns) / (static_cast<double>(least) / ticks_per_nanosecond());
        }();
        return measured;
    }
    std::uint64_t turns_;
};

/// A peer that does nothing, to see what the work between takes.
struct nothing {
    explicit nothing(std::size_t) {}
    void activate(std::size_t) {}
    ticks deactivate(std::size_t, ticks) { return never; }
    ticks new_expiry(std::size_t, ticks) { return never; }
    bool must_expire(std::size_t, ticks) { return false; }
    template <class Run>
    ticks expire(std::size_t, ticks, Run&&) { return never; }
};

template <class P>
void perform(benchmark::State& state, scene what, std::size_t due, double nanoseconds) {
    const auto me = static_cast<std::size_t>(state.thread_index());
    const on_core here(static_cast<unsigned>(me));
    if (me == 0) {
        shared_machine<P>() = sleepers<P>(who_is_awake(what));
        for (std::size_t i = 0; what == scene::expire && i < due; ++i)
            static_cast<void>(shared_machine<P>()->new_expiry(8 * i, 1));
    }
    // Times go on from where they were: a slot that is written always changes.
    static thread_local ticks time = 0;
    P* peer = nullptr;
    std::int64_t done = 0;
    const own_work work(nanoseconds);
    const bool expires = what == scene::expire && me == 0;
    const std::size_t cpu = what == scene::expire ? 501 : me;
    ticks now = 0;
    const auto run_sleeper = [&](std::size_t, ticks at) {
        ++done;
        return at + 1;
    };
    for (auto _ : state) {
        if (peer == nullptr) peer = shared_machine<P>().get();
        work();
        if (expires) {
            benchmark::DoNotOptimize(peer->expire(watcher, ++now, run_sleeper));
            continue;
        }
        switch (what) {
            case scene::expire:
            case scene::sleep_wake:
            case scene::last_sleeper:
                peer->activate(cpu);
                work();
                benchmark::DoNotOptimize(peer->deactivate(cpu, far_future - 1 - ++time % 1024));
                done += 2;
                break;
            case scene::new_expiry:
            case scene::new_expiry_idle:
                benchmark::DoNotOptimize(peer->new_expiry(cpu, far_future - 1 - ++time % 1024));
                ++done;
                break;
            case scene::must_expire:
                benchmark::DoNotOptimize(peer->must_expire(watcher, 1));
                ++done;
                break;
        }
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(done);
    if (me == 0) shared_machine<P>().reset();
}

/// What the library's operation needs: stores and swaps.
void bare(benchmark::State& state, std::size_t stores, std::size_t swaps, std::int64_t in_one) {
    std::array<bare_word<std::uint64_t>, 16> words;
    for (auto _ : state) {
        for (std::size_t i = 0; i < stores; ++i) words[i].store(1);
        for (std::size_t i = 0; i < swaps; ++i) words[stores + i].swap();
        benchmark::ClobberMemory();
    }
    items(state, in_one);
}

template <class P>
void add_scenes(const std::string& name) {
    const auto with = [&](scene what, int threads, std::size_t due, int work = 0) {
        auto* const made =
            add("timers", {{"what", name_of_scene(what)}, {"who", name}, {"due", due}, {"work", work}},
                [=](benchmark::State& s) { perform<P>(s, what, due, work); });
        if (threads > 1) made->Threads(threads);
    };
    const auto together = [&](int work) {
        for (const scene what : {scene::sleep_wake, scene::new_expiry, scene::new_expiry_idle}) with(what, 2, 0, work);
    };
    for (const int work : {200, 500, 1000}) together(work);
    if constexpr (std::is_same_v<P, nothing>) return;
    for (const scene what : {scene::sleep_wake, scene::last_sleeper, scene::new_expiry, scene::new_expiry_idle,
                             scene::must_expire})
        with(what, 1, 0);
    for (const std::size_t due : {1, 8, 64}) with(scene::expire, 1, due);
    together(0);
    with(scene::expire, 2, 8);
}

// Where to queue a timer.

/// One CPU awake, that far from CPU 0, and everybody has slept and woken on a core of its own.
template <class P>
std::unique_ptr<P> one_awake(std::size_t distance, const std::function<void(std::size_t)>& act_on) {
    auto peer = std::make_unique<P>(machine_size);
    for (std::size_t c = 0; c < machine_size; ++c) {
        act_on(c);
        peer->activate(c);
    }
    for (std::size_t c = 0; c < machine_size; ++c) {
        if (c == distance) continue;
        act_on(c);
        sleep(*peer, c, far_future);
    }
    return peer;
}
template <class P>
void decide(P& peer, ticks due) {
    if constexpr (peers::has_target<P>)
        benchmark::DoNotOptimize(peer.target(0));
    else
        benchmark::DoNotOptimize(peer.new_expiry(0, due));
}

/// Lines that CPU 0 touches which are nobody's but others'.
template <class P>
std::uint64_t foreign_lines(P& peer, const operation_counts& counts) {
    if constexpr (is_library<P>) {
        const auto& leaf = peer.tree().cpu(0).leaf();
        const auto first = reinterpret_cast<std::uintptr_t>(&leaf) / 64;
        const auto count = sizeof leaf / 64;
        return static_cast<std::uint64_t>(std::count_if(counts.lines.begin(), counts.lines.end(), [&](std::uintptr_t l) {
            return l < first || l >= first + count;
        }));
    } else {
        return counts.distinct_lines();
    }
}

template <template <class> class P>
void enqueue(benchmark::State& state, std::size_t distance) {
    {
        const auto peer = one_awake<P<boost_atomics>>(distance, [](std::size_t) {});
        ticks time = 0;
        for (auto _ : state) {
            decide(*peer, far_future - 1 - ++time % 1024);
            benchmark::ClobberMemory();
        }
    }
    items(state, 1);
    {
        using counting = counting_atomics<plain_atomics>;
        const auto peer = one_awake<P<counting>>(distance, [](std::size_t) {});
        counting::counts() = {};
        decide(*peer, 1);
        const operation_counts counts = counting::counts();
        state.counters["lines"] = static_cast<double>(counts.distinct_lines());
        state.counters["rmw"] = static_cast<double>(counts.read_modify_writes);
        // Of a scan all are others'; where nothing is scanned, as with timers, that cannot be told.
        if (is_library<P<counting>> || peers::has_target<P<counting>>)
            state.counters["foreign"] = static_cast<double>(foreign_lines(*peer, counts));
        counting::counts() = {};
    }
    using model = cost_model_atomics;
    model::machine() = line_machine();
    const auto peer = one_awake<P<model>>(
        distance, [](std::size_t cpu) { model::machine().act_on(static_cast<std::uint32_t>(cpu)); });
    model::machine().act_on(0);
    model::machine().counts() = {};
    decide(*peer, 1);
    state.counters["transfers"] = static_cast<double>(model::machine().counts().transfers());
}

template <template <class> class P>
void add_enqueue() {
    for (const std::size_t distance : {1, 8, 64, 511})
        add("enqueue", {{"who", who<P<boost_atomics>>()}, {"distance", distance}},
            [distance](benchmark::State& s) { enqueue<P>(s, distance); });
}

void enroll() {
    timer_contenders::each([]<class C>(std::type_identity<C>) {
        using P = typename C::template on<boost_atomics>;
        add_scenes<P>(who<P>());
    });
    add_scenes<nothing>("work");
    // 512 CPUs are three levels: (stores, swaps).
    const auto floor = [](scene what, std::size_t stores, std::size_t swaps, std::int64_t in_one) {
        add("timers", {{"what", name_of_scene(what)}, {"who", "bare"}, {"due", what == scene::expire ? 1 : 0}, {"work", 0}},
            [=](benchmark::State& s) { bare(s, stores, swaps, in_one); });
    };
    floor(scene::sleep_wake, 2, 2, 2);
    floor(scene::last_sleeper, 2, 3 + 3 + 2, 2);
    floor(scene::new_expiry, 1, 0, 1);
    floor(scene::new_expiry_idle, 1, 2, 1);
    floor(scene::expire, 1, 1 + 1 + 2, 1);  // the claim and back, the slot, two above it
    add_enqueue<library_timers>();
    add_enqueue<scan>();
    add_enqueue<events_tree>();
    add_enqueue<events_array>();
    add_enqueue<peers::flat_expiries>();
    add_enqueue<heap>();
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, enroll); }
