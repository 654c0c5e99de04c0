// SPDX-License-Identifier: BSL-1.0

// Real threads sleep with expiries, change them while idle, wake, and run each other's
// timers; in rounds, with the shared checkers at the end of each, when all is at rest.

#include "catch.hpp"
#include "support/random_machine.hpp"

#include <tmigr/atomics/boost.hpp>
#include <tmigr/atomics/std.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/invariants.hpp>

#include <algorithm>
#include <barrier>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

using namespace tmigr;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int rounds = 300;
#else
constexpr int rounds = 3000;
#endif
constexpr int steps = 20;

/// The global timers of one CPU, as a program would keep them: a list and a lock.
struct timer_list {
    std::mutex lock;
    std::vector<ticks> due;

    ticks next() const { return due.empty() ? never : *std::min_element(due.begin(), due.end()); }
    ticks run(ticks now) {
        const std::lock_guard held(lock);
        std::erase_if(due, [now](ticks t) { return t <= now; });
        return next();
    }
    ticks arm(ticks t) {
        const std::lock_guard held(lock);
        due.push_back(t);
        return next();
    }
};

template <class Backend>
void hammer(cpu_id cpus, unsigned width, unsigned threads, std::uint64_t seed) {
    topology machine;
    for (cpu_id i = 0; i < cpus; ++i) machine.add(i, 0);
    basic_hierarchy<expiry_config<Backend>> tree(machine, {.width = width});
    std::vector<timer_list> timers(cpus);
    std::vector<char> awake(cpus);
    std::vector<ticks> armed(cpus, never);
    std::string wrong;
    int round = 0;

    const auto at_rest = [&]() noexcept {
        ticks first_armed = never;
        for (cpu_id c = 0; c < cpus; ++c)
            if (!awake[c]) first_armed = std::min(first_armed, armed[c]);
        const auto next_of = [&](std::size_t c) { return awake[c] ? never : timers[c].next(); };
        if (const auto bad = check_expiries(tree, next_of, first_armed); bad && wrong.empty())
            wrong = std::string(name(bad->what)) + " in round " + std::to_string(round);
        ++round;
    };
    std::barrier rest(static_cast<std::ptrdiff_t>(threads), at_rest);

    const auto work = [&](unsigned me) {
        std::mt19937_64 random(seed + me);
        for (int r = 0; r < rounds; ++r) {
            for (int i = 0; i < steps; ++i) {
                const auto now = static_cast<ticks>(r) * 100 + static_cast<ticks>(i);
                const auto c = static_cast<cpu_id>(me + random() % ((cpus - me + threads - 1) / threads) * threads);
                auto cpu = tree.cpu(c);
                const auto expire = [&] {
                    const ticks arm = cpu.expire(now, [&](cpu_id sleeper, ticks t) { return timers[sleeper].run(t); });
                    if (!awake[c]) armed[c] = arm;
                };
                if (awake[c]) {
                    timers[c].run(now);
                    if (cpu.must_expire(now)) expire();
                    if (random() % 2 == 0) continue;
                    const ticks due = random() % 2 == 0 ? timers[c].arm(now + 1 + random() % 8) : timers[c].run(now);
                    armed[c] = cpu.deactivate(due);
                    awake[c] = 0;
                } else if (random() % 3 == 0) {
                    armed[c] = cpu.new_expiry(timers[c].arm(now + 1 + random() % 8));
                } else if (random() % 3 == 0) {
                    expire();
                } else {
                    cpu.activate();
                    awake[c] = 1;
                    armed[c] = never;
                }
            }
            rest.arrive_and_wait();
        }
    };
    std::vector<std::thread> crew;
    for (unsigned t = 0; t < threads; ++t) crew.emplace_back(work, t);
    for (std::thread& t : crew) t.join();
    INFO("seed " << seed << ", " << cpus << " CPUs, width " << width << ", " << threads << " threads");
    CHECK(wrong == "");
    CHECK(round == rounds);
}

template <class Backend>
void hammer_all() {
    const auto seed = test::seed();
    hammer<Backend>(2, 8, 2, seed);
    hammer<Backend>(4, 2, 2, seed);
    hammer<Backend>(6, 2, 3, seed);
    hammer<Backend>(40, 4, 4, seed);
}

}  // namespace

TEST_CASE("threads on Boost.Atomic lose no expiry") { hammer_all<boost_atomics>(); }
TEST_CASE("threads on std::atomic lose no expiry") { hammer_all<std_atomics>(); }
