// SPDX-License-Identifier: BSL-1.0

// The peers that the benchmarks compare with do what they say: random programs against a
// plain oracle, threads that rest now and then, and exact counts of read-modify-writes.

#include "catch.hpp"
#include "support/random_machine.hpp"
#include "support/yielding.hpp"

#include "bench/peers/counting_tree.hpp"
#include "bench/peers/enqueue_scan.hpp"
#include "bench/peers/flat_bitmap.hpp"
#include "bench/peers/flat_expiries.hpp"
#include "bench/peers/global_heap.hpp"
#include "bench/peers/hierarchy_peer.hpp"
#include "bench/peers/linux_events.hpp"
#include "bench/peers/locked_tree.hpp"
#include "bench/peers/packed_word.hpp"
#include "bench/peers/snzi.hpp"
#include "bench/peers/two_level_bitmap.hpp"

#include <tmigr/atomics/boost.hpp>
#include <tmigr/atomics/counting.hpp>
#include <tmigr/atomics/std.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

using namespace tmigr;
using namespace tmigr::peers;

namespace {

template <class A, unsigned Fan>
using state_tree = locked_tree<A, Fan, false>;
template <class A>
using state_tree_mutex = locked_tree<A, 8, false, mutex_lock<A>>;

template <class A>
using state_peers =
    std::tuple<flat_bitmap<A>, counted_bitmap<A>, two_level_bitmap<A, 4>, two_level_bitmap<A, 8>,
               two_level_bitmap<A, 64>, packed_word<A>, snzi<A, 2>, snzi<A, 8>, state_tree<A, 2>, state_tree<A, 8>,
               state_tree<A, 16>, state_tree<A, 64>, state_tree_mutex<A>, counting_tree<A, 8>, counting_tree<A, 2, false>,
               enqueue_scan<A>, enqueue_local<A>, hierarchy_peer<linux_config<A>>>;
template <class A>
using timer_peers =
    std::tuple<locked_tree<A, 2>, locked_tree<A, 8>, locked_tree<A, 16>, locked_tree<A, 64>,
               locked_tree<A, 8, true, mutex_lock<A>>, linux_events<A, tree_queues>, linux_events<A, array_queues>,
               linux_events<A, array_queues, mutex_lock<A>>, flat_expiries<A>, global_heap<A>,
               global_heap<A, mutex_lock<A>>, hierarchy_peer<expiry_config<A>>>;

template <class... P>
constexpr bool all_state(std::tuple<P...>*) { return (state_peer<P> && ...); }
template <class... P>
constexpr bool all_timer(std::tuple<P...>*) { return ((timer_peer<P> && has_migrator<P>) && ...); }
static_assert(all_state(static_cast<state_peers<std_atomics>*>(nullptr)));
static_assert(all_state(static_cast<state_peers<counting_atomics<boost_atomics>>*>(nullptr)));
static_assert(all_timer(static_cast<timer_peers<std_atomics>*>(nullptr)));
static_assert(all_timer(static_cast<timer_peers<counting_atomics<boost_atomics>>*>(nullptr)));
static_assert(has_target<enqueue_scan<std_atomics>> && has_migrator<state_tree<std_atomics, 8>>);
static_assert(!has_migrator<flat_bitmap<std_atomics>> && !timer_peer<flat_bitmap<std_atomics>>);

/// What has to hold at rest of who is awake; what is wrong, or "".
template <class P>
std::string wrong_awake(P& p, const std::vector<char>& awake) {
    const bool any = std::find(awake.begin(), awake.end(), char{1}) != awake.end();
    if (p.any_active() != any) return "any_active";
    if constexpr (has_migrator<P>) {
        const auto migrator = p.migrator();
        if (migrator.has_value() != any) return "migrator, or none";
        if (migrator && (*migrator >= awake.size() || !awake[*migrator])) return "migrator that sleeps";
    }
    return "";
}

/// A machine that keeps every timer in a plain list and knows who is awake.
template <class P>
class machine {
public:
    machine(std::size_t cpus, std::uint64_t seed) : p_(cpus), awake_(cpus), timers_(cpus), armed_(cpus, never), random_(seed) {}

    std::string step() {
        const std::size_t c = random_() % 3 == 0 ? random_() % cpus() : random_() % std::min<std::size_t>(cpus(), 5);
        switch (random_() % 12) {
            case 0: case 1: case 2: awake_[c] ? sleep(c) : wake(c); break;
            case 3: case 4: if (awake_[c]) sleep(c); break;
            case 5: case 6: arm(c); break;
            case 7: cancel(c); break;
            case 8: expire(c); break;
            case 9: if (random_() % 4 == 0) all_sleep(); break;
            default: if (std::string wrong = pass_time(); !wrong.empty()) return wrong;
        }
        if (wrong_run_) return "run for one who is awake, or twice in a call";
        if (std::string wrong = wrong_awake(p_, awake_); !wrong.empty()) return wrong;
        if (std::find(awake_.begin(), awake_.end(), char{1}) != awake_.end()) return "";
        if (*std::min_element(armed_.begin(), armed_.end()) > earliest()) return "nobody armed for the earliest";
        return p_.earliest() == earliest() ? "" : "earliest";
    }

private:
    std::size_t cpus() const { return awake_.size(); }
    ticks next_of(std::size_t c) const { return timers_[c].empty() ? never : *timers_[c].begin(); }
    ticks earliest() const {
        ticks first = never;
        for (std::size_t c = 0; c < cpus(); ++c) first = std::min(first, next_of(c));
        return first;
    }
    void run_due(std::size_t c) { timers_[c].erase(timers_[c].begin(), timers_[c].upper_bound(now_)); }

    void wake(std::size_t c) {
        p_.activate(c);
        awake_[c] = 1;
        armed_[c] = never;
        run_due(c);
    }
    void sleep(std::size_t c) {
        awake_[c] = 0;
        armed_[c] = p_.deactivate(c, next_of(c));
    }
    void all_sleep() {
        for (std::size_t c = 0; c < cpus(); ++c)
            if (awake_[c]) sleep(c);
    }
    void arm(std::size_t c) {
        timers_[c].insert(now_ + 1 + random_() % 12);
        if (!awake_[c]) armed_[c] = p_.new_expiry(c, next_of(c));
    }
    void cancel(std::size_t c) {
        if (timers_[c].empty()) return;
        timers_[c].erase(timers_[c].begin());
        if (!awake_[c]) armed_[c] = p_.new_expiry(c, next_of(c));
    }
    void expire(std::size_t c) {
        std::set<std::size_t> served;
        const ticks arm = p_.expire(c, now_, [&](std::size_t sleeper, ticks t) {
            wrong_run_ = wrong_run_ || awake_[sleeper] || t != now_ || !served.insert(sleeper).second;
            run_due(sleeper);
            return next_of(sleeper);
        });
        if (!awake_[c]) armed_[c] = arm;
        else wrong_run_ = wrong_run_ || arm != never;
    }
    std::string pass_time() {
        now_ += 1 + random_() % 4;
        for (std::size_t c = 0; c < cpus(); ++c)
            if (!awake_[c] && is_due(armed_[c], now_)) {
                expire(c);
                if (is_due(armed_[c], now_)) return "armed for what was run";
            }
        for (std::size_t c = 0; c < cpus(); ++c) {
            if (!awake_[c]) continue;
            run_due(c);
            if (p_.must_expire(c, now_)) {
                expire(c);
                if (p_.must_expire(c, now_)) return "must expire what was run";
            }
        }
        return is_due(earliest(), now_) ? "a timer that was not run" : "";
    }

    P p_;
    std::vector<char> awake_;
    std::vector<std::multiset<ticks>> timers_;
    std::vector<ticks> armed_;
    std::mt19937_64 random_;
    ticks now_ = 0;
    bool wrong_run_ = false;
};

constexpr std::size_t sizes[] = {1, 8, 9, 64, 100, 513};

/// Threads drive CPUs of their own through random steps, and rest after each round; in every
/// other round all have fallen asleep by then.
template <class P>
class crowd {
public:
    crowd(std::size_t cpus, unsigned threads, std::uint64_t seed)
        : p_(cpus), cpus_(cpus), awake_(cpus), threads_(threads), seed_(seed),
          rest_(static_cast<std::ptrdiff_t>(threads), resting{this}) {}

    /// What was found wrong first, or "".
    std::string run(std::size_t rounds, std::size_t steps) {
        std::vector<std::thread> crew;
        for (unsigned t = 0; t < threads_; ++t)
            crew.emplace_back([this, t, rounds, steps] { work(t, rounds, steps); });
        for (std::thread& t : crew) t.join();
        return wrong_;
    }

private:
    struct cpu {
        std::mutex lock;
        std::multiset<ticks> timers;
        ticks armed = never;

        ticks next() const { return timers.empty() ? never : *timers.begin(); }
        ticks run(ticks now) {
            const std::lock_guard held(lock);
            timers.erase(timers.begin(), timers.upper_bound(now));
            return next();
        }
        ticks arm(ticks due) {
            const std::lock_guard held(lock);
            timers.insert(due);
            return next();
        }
    };
    struct resting {
        crowd* all;
        void operator()() noexcept { all->at_rest(); }
    };

    void work(unsigned me, std::size_t rounds, std::size_t steps) {
        std::mt19937_64 random(seed_ + me);
        const std::size_t mine = (cpus_.size() - me + threads_ - 1) / threads_;
        ticks now = 0;
        for (std::size_t r = 0; r < rounds; ++r) {
            for (std::size_t i = 0; i < steps; ++i) step(me + random() % mine * threads_, ++now, random);
            if (r % 2 == 0) {
                // All at once, so that nobody awake makes up for a mistake.
                ready_.fetch_add(1);
                while (ready_.load() < (r / 2 + 1) * threads_) std::this_thread::yield();
                for (std::size_t c = me; c < cpus_.size(); c += threads_)
                    if (awake_[c]) sleep(c, now + random() % 8);
            }
            rest_.arrive_and_wait();
        }
    }
    void step(std::size_t c, ticks now, std::mt19937_64& random) {
        if constexpr (timer_peer<P>) {
            if (random() % 4 == 0 && (!awake_[c] || p_.must_expire(c, now))) return expire(c, now);
            if (!awake_[c] && random() % 3 == 0) {
                cpus_[c].armed = p_.new_expiry(c, cpus_[c].arm(now + 1 + random() % 8));
                return;
            }
        }
        if (awake_[c]) return sleep(c, now + 1 + random() % 8);
        p_.activate(c);
        awake_[c] = 1;
        cpus_[c].armed = never;
        cpus_[c].run(now);
    }
    void sleep(std::size_t c, ticks due) {
        awake_[c] = 0;
        if constexpr (timer_peer<P>)
            cpus_[c].armed = p_.deactivate(c, due % 2 == 0 ? cpus_[c].arm(due) : cpus_[c].run(0));
        else
            p_.deactivate(c);
    }
    void expire(std::size_t c, ticks now) {
        if constexpr (timer_peer<P>) {
            const ticks arm = p_.expire(c, now, [this](std::size_t s, ticks t) {
                // Its owner, and other expirers, have time to come in between.
                std::this_thread::yield();
                const ticks next = cpus_[s].run(t);
                std::this_thread::yield();
                return next;
            });
            if (!awake_[c]) cpus_[c].armed = arm;
        }
    }

    void at_rest() noexcept {
        if (!wrong_.empty()) return;
        wrong_ = wrong_awake(p_, awake_);
        if constexpr (timer_peer<P>) {
            if (wrong_.empty()) wrong_ = wrong_timers();
        }
    }
    ticks earliest() const {
        ticks first = never;
        for (std::size_t c = 0; c < cpus_.size(); ++c)
            if (!awake_[c]) first = std::min(first, cpus_[c].next());
        return first;
    }
    /// Everything that waits is run by those who are awake, or by those who are armed.
    std::string wrong_timers() {
        const auto someone = std::find(awake_.begin(), awake_.end(), char{1});
        if (someone == awake_.end()) {
            ticks armed = never;
            for (const cpu& c : cpus_) armed = std::min(armed, c.armed);
            if (armed > earliest()) return "nobody armed for the earliest";
            if (p_.earliest() > earliest()) return "earliest is late";
            const ticks now = earliest();
            for (std::size_t c = 0; c < cpus_.size(); ++c)
                if (is_due(cpus_[c].armed, now)) expire(c, now);
            return is_due(earliest(), now) ? "a timer that was not run by whoever was armed" : "";
        }
        // Everything due by then, and nothing is left of what it was.
        const ticks now = earliest();
        for (std::size_t c = 0; c < cpus_.size(); ++c)
            if (awake_[c]) expire(c, now);
        return is_due(earliest(), now) ? "a timer that was not run by those awake" : "";
    }

    P p_;
    std::vector<cpu> cpus_;
    std::vector<char> awake_;
    unsigned threads_;
    std::uint64_t seed_;
    std::barrier<resting> rest_;
    std::atomic<std::size_t> ready_{0};
    std::string wrong_;
};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t rounds = 60;
#else
constexpr std::size_t rounds = 400;
#endif

template <class P>
void hammer() {
    const auto seed = test::seed();
    struct size {
        std::size_t cpus;
        unsigned threads;
    };
    for (const auto& [cpus, threads] : {size{2, 2}, {4, 4}, {9, 3}, {20, 4}}) {
        INFO(P::name() << ", " << cpus << " CPUs, " << threads << " threads, seed " << seed);
        CHECK(crowd<P>(cpus, threads, seed).run(rounds, 24) == "");
    }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("peers without timers know who is awake", "", state_peers<std_atomics>) {
    const auto seed = test::seed();
    for (const std::size_t n : sizes) {
        INFO(TestType::name() << ", " << n << " CPUs, seed " << seed);
        TestType p(n);
        REQUIRE(p.cpus() == n);
        std::vector<char> awake(n);
        std::mt19937_64 random(seed);
        std::string wrong;
        for (int i = 0; i < 20'000 && wrong.empty(); ++i) {
            const std::size_t c = random() % 2 == 0 ? random() % n : random() % std::min<std::size_t>(n, 3);
            awake[c] ? p.deactivate(c) : p.activate(c);
            awake[c] = !awake[c];
            if (random() % 32 == 0)
                for (std::size_t s = 0; s < n; ++s)
                    if (std::exchange(awake[s], char{0})) p.deactivate(s);
            wrong = wrong_awake(p, awake);
        }
        CHECK(wrong == "");
    }
}

TEMPLATE_LIST_TEST_CASE("peers with timers run what is due, once, and lose none", "", timer_peers<std_atomics>) {
    const auto seed = test::seed();
    for (const std::size_t n : sizes) {
        INFO(TestType::name() << ", " << n << " CPUs, seed " << seed);
        machine<TestType> m(n, seed);
        std::string wrong;
        for (int i = 0; i < (n > 200 ? 5'000 : 20'000) && wrong.empty(); ++i) wrong = m.step();
        CHECK(wrong == "");
    }
}

using yielding = test::yielding_atomics<std_atomics>;

TEMPLATE_LIST_TEST_CASE("threads on peers without timers agree when they rest", "", state_peers<std_atomics>) {
    hammer<TestType>();
}
TEMPLATE_LIST_TEST_CASE("threads that yield on peers without timers agree when they rest", "", state_peers<yielding>) {
    hammer<TestType>();
}
TEMPLATE_LIST_TEST_CASE("threads on peers with timers lose none", "", timer_peers<std_atomics>) { hammer<TestType>(); }
TEMPLATE_LIST_TEST_CASE("threads that yield on peers with timers lose none", "", timer_peers<yielding>) {
    hammer<TestType>();
}
