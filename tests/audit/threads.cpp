// SPDX-License-Identifier: BSL-1.0
// What threads at work print is found to be without fault, but for what the order of lines fakes.
#include "support.hpp"

#include <tmigr/atomics/std.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/text_tracer.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

using namespace tmigr;

namespace {

struct traced : expiry_config<std_atomics> {
    using tracer = text_tracer;
};

struct timers {
    std::mutex mutex;
    std::multiset<ticks> due;

    void add(ticks t) {
        const std::scoped_lock locked(mutex);
        due.insert(t);
    }
    ticks run(ticks now) {
        const std::scoped_lock locked(mutex);
        due.erase(due.begin(), due.upper_bound(now));
        return due.empty() ? never : *due.begin();
    }
};

}  // namespace

TEST_CASE("an audit finds nothing in what threads print that lasts") {
    constexpr cpu_id cpus = 4;
    constexpr std::size_t rounds = 2000;
    constexpr ticks jiffy = 100'000;
    std::ostringstream out;
    topology machine;
    for (cpu_id c = 0; c < cpus; ++c) machine.add(c, 0);
    basic_hierarchy<traced> tree(machine, {.width = 2}, text_tracer(out));
    std::vector<timers> of(cpus);
    const auto start = std::chrono::steady_clock::now();
    const auto clock = [&] {
        const auto now = static_cast<ticks>((std::chrono::steady_clock::now() - start).count());
        tree.tracer().set_time(now);
        return now;
    };
    const auto live = [&](cpu_id c) {
        std::mt19937 random{c};
        const auto cpu = tree.cpu(c);
        const auto run = [&](cpu_id sleeper, ticks now) { return of[sleeper].run(now); };
        for (std::size_t round = 0; round < rounds; ++round) {
            clock();
            cpu.activate();
            ticks next = of[c].run(clock());
            if (random() % 2 == 0) static_cast<void>(cpu.expire(clock(), run));
            if (random() % 3 == 0) of[c].add((clock() / jiffy + 1 + random() % 4) * jiffy);
            next = of[c].run(clock());
            ticks armed = cpu.deactivate(next);
            for (auto waits = random() % 20; waits > 0; --waits) {
                std::this_thread::yield();
                const ticks now = clock();
                if (armed > now && random() % 8 != 0) continue;
                static_cast<void>(cpu.expire(now, run));
                armed = cpu.new_expiry(of[c].run(clock()));
            }
        }
    };
    std::vector<std::thread> threads;
    for (cpu_id c = 0; c < cpus; ++c) threads.emplace_back(live, c);
    for (std::thread& thread : threads) thread.join();

    const auto audit = test::audited_text(out.str());
    test::tell(audit);
    // Between a step and its line a thread can be held up, so that lines stand in another order than the steps
    // that they tell of, now and then beyond what the auditor puts in order. What that fakes is over when the
    // late line comes: a few lines later.
    constexpr std::size_t few = 64;
    for (const audit_finding& f : audit.findings()) {
        CHECK(f.end.line - f.begin.line <= few);
        CHECK(f.ended_by != audit_end::trace);
    }
    CHECK(audit.counts().findings() < audit.counts().events / 100);
    CHECK(audit.counts().judged > 0);
}
