// SPDX-License-Identifier: BSL-1.0
// What threads at work print is found to be without fault.
#include "support.hpp"
#include "support/yielding.hpp"

#include <tmigr/atomics/std.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/text_tracer.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

using namespace tmigr;

namespace {

/// A thread holds this from a step that changes something until its next one, and so prints what it has
/// to say of the step before anybody else takes one: as kernels do, which hold off interrupts there. Where
/// a thread can be held up between the two, its line stands among those of later steps.
class turn {
public:
    static void next() {
        end();
        test::yielding::point();
        take();
    }
    static void take() {
        if (mine_) return;
        mutex_.lock();
        mine_ = true;
    }
    static void end() {
        if (mine_) mutex_.unlock();
        mine_ = false;
    }

private:
    static inline std::mutex mutex_;
    static inline thread_local bool mine_ = false;
};

struct told_at_once : std_atomics {
    template <class T>
    class atomic {
    public:
        atomic() = default;
        explicit atomic(T value) : cell_(value) {}

        template <class Order>
        T load(Order o) const {
            turn::take();
            return cell_.load(o);
        }
        template <class Order>
        void store(T value, Order o) {
            turn::next();
            cell_.store(value, o);
        }
        template <class Order>
        bool compare_exchange_weak(T& expected, T desired, Order success, Order failure) {
            turn::next();
            return cell_.compare_exchange_weak(expected, desired, success, failure);
        }
        template <class Order>
        bool compare_exchange_strong(T& expected, T desired, Order success, Order failure) {
            turn::next();
            return cell_.compare_exchange_strong(expected, desired, success, failure);
        }

    private:
        std_atomics::template atomic<T> cell_;
    };
};

struct traced : expiry_config<told_at_once> {
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

TEST_CASE("an audit finds nothing in what threads print") {
    constexpr cpu_id cpus = 4;
    constexpr std::size_t rounds = 2000;
    constexpr ticks jiffy = 100'000;
    std::ostringstream out;
    topology machine;
    for (cpu_id c = 0; c < cpus; ++c) machine.add(c, 0);
    basic_hierarchy<traced> tree(machine, {.width = 2}, text_tracer(out));
    turn::end();
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
        turn::end();
        const auto run = [&](cpu_id sleeper, ticks now) { return of[sleeper].run(now); };
        for (std::size_t round = 0; round < rounds; ++round) {
            clock();
            cpu.activate();
            turn::end();
            ticks next = of[c].run(clock());
            if (random() % 2 == 0) static_cast<void>(cpu.expire(clock(), run));
            turn::end();
            if (random() % 3 == 0) of[c].add((clock() / jiffy + 1 + random() % 4) * jiffy);
            next = of[c].run(clock());
            ticks armed = cpu.deactivate(next);
            turn::end();
            for (auto waits = random() % 20; waits > 0; --waits) {
                std::this_thread::yield();
                const ticks now = clock();
                if (armed > now && random() % 8 != 0) continue;
                static_cast<void>(cpu.expire(now, run));
                turn::end();
                const ticks mine = of[c].run(clock());
                armed = cpu.new_expiry(mine);
                turn::end();
            }
        }
    };
    std::vector<std::thread> threads;
    for (cpu_id c = 0; c < cpus; ++c) threads.emplace_back(live, c);
    for (std::thread& thread : threads) thread.join();

    const auto audit = test::audited_text(out.str());
    test::tell(audit);
    CHECK(audit.findings().empty());
    CHECK(audit.counts().findings() == 0);
    CHECK(audit.counts().judged > 0);
}

// The beginning of such a trace from before clocks were read in turns: CPU 2's lines 52 to 56 have times from before those of
// CPU 0, which is in the middle of falling asleep (lines 40 to 58), and covers CPU 2's timer when it is through.
TEST_CASE("times that go back a little make nobody be through before its time") {
    const auditor audit =
        test::audited(std::filesystem::path{TMIGR_TEST_DATA} / "threads-time-goes-back.trace");
    test::tell(audit);
    CHECK(audit.counts().findings() == 0);
    CHECK(audit.counts().passing > 0);
}
