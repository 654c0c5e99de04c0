// SPDX-License-Identifier: BSL-1.0

// The peers that the benchmarks compare with do what they say: random programs against a
// plain oracle, threads that rest now and then, and exact counts of read-modify-writes.

#include "catch.hpp"
#include "support/random_machine.hpp"
#include "support/yielding.hpp"

#include "peers/counting_tree.hpp"
#include "peers/enqueue_scan.hpp"
#include "peers/flat_bitmap.hpp"
#include "peers/flat_expiries.hpp"
#include "peers/global_heap.hpp"
#include "peers/hierarchy_peer.hpp"
#include "peers/linux_events.hpp"
#include "peers/locked_tree.hpp"
#include "peers/packed_word.hpp"
#include "peers/snzi.hpp"
#include "peers/two_level_bitmap.hpp"

#include <tmigr/atomics/boost.hpp>
#include <tmigr/atomics/counting.hpp>
#include <tmigr/atomics/std.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <concepts>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
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
               state_tree<A, 16>, state_tree<A, 64>, state_tree_mutex<A>, counting_tree<A, 8>,
               counting_tree<A, 2, false>, enqueue_scan<A>, enqueue_local<A>, hierarchy_peer<linux_config<A>>>;
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

/// Whether a CPU's timers are never run by two at once.
template <class P>
constexpr bool runs_alone_v = false;
template <class A, class Queues, class Lock>
constexpr bool runs_alone_v<linux_events<A, Queues, Lock>> = true;
template <class Config>
constexpr bool runs_alone_v<hierarchy_peer<Config>> = true;

using run_timers = std::function<ticks(std::size_t, ticks)>;

/// A peer behind virtual functions, so that what tests them is compiled once. Without timers
/// all expiries are `never`.
class subject {
public:
    virtual ~subject() = default;
    virtual std::string text() const = 0;
    virtual std::size_t cpus() const = 0;
    virtual void activate(std::size_t cpu) = 0;
    virtual ticks deactivate(std::size_t cpu, ticks due) = 0;
    virtual ticks new_expiry(std::size_t cpu, ticks due) = 0;
    virtual bool must_expire(std::size_t cpu, ticks now) const = 0;
    virtual ticks expire(std::size_t cpu, ticks now, const run_timers& run) = 0;
    virtual ticks earliest() const = 0;
    virtual bool any_active() const = 0;
    virtual std::optional<std::size_t> migrator() const = 0;
    virtual std::size_t target(std::size_t cpu) const = 0;

    bool timers = false, names_migrator = false, runs_alone = false, picks_target = false;
};

template <class P>
class subject_of : public subject {
public:
    explicit subject_of(std::size_t cpus) : p_(cpus) {
        timers = timer_peer<P>;
        names_migrator = has_migrator<P>;
        runs_alone = runs_alone_v<P>;
        picks_target = std::same_as<P, enqueue_scan<std_atomics>>;
    }
    std::string text() const override { return std::string(P::name()) + ", " + std::to_string(p_.cpus()) + " CPUs"; }
    std::size_t cpus() const override { return p_.cpus(); }
    void activate(std::size_t cpu) override { p_.activate(cpu); }
    ticks deactivate(std::size_t cpu, ticks due) override {
        if constexpr (timer_peer<P>) return p_.deactivate(cpu, due);
        else return p_.deactivate(cpu), never;
    }
    ticks new_expiry(std::size_t cpu, ticks due) override {
        if constexpr (timer_peer<P>) return p_.new_expiry(cpu, due);
        else return never;
    }
    bool must_expire(std::size_t cpu, ticks now) const override {
        if constexpr (timer_peer<P>) return p_.must_expire(cpu, now);
        else return false;
    }
    ticks expire(std::size_t cpu, ticks now, const run_timers& run) override {
        if constexpr (timer_peer<P>) return p_.expire(cpu, now, run);
        else return never;
    }
    ticks earliest() const override {
        if constexpr (timer_peer<P>) return p_.earliest();
        else return never;
    }
    bool any_active() const override { return p_.any_active(); }
    std::optional<std::size_t> migrator() const override {
        if constexpr (has_migrator<P>) return p_.migrator();
        else return std::nullopt;
    }
    std::size_t target(std::size_t cpu) const override {
        if constexpr (has_target<P>) return p_.target(cpu);
        else return cpu;
    }

private:
    P p_;
};

/// What has to hold at rest of who is awake; what is wrong, or "".
std::string wrong_awake(const subject& p, const std::vector<char>& awake) {
    const bool any = std::find(awake.begin(), awake.end(), char{1}) != awake.end();
    if (p.any_active() != any) return "any_active";
    if (p.names_migrator) {
        const auto migrator = p.migrator();
        if (migrator.has_value() != any) return "migrator, or none";
        if (migrator && (*migrator >= awake.size() || !awake[*migrator])) return "migrator that sleeps";
    }
    if (p.picks_target && any && !awake[p.target(awake.size() / 2)]) return "target that sleeps";
    return "";
}

/// A machine that keeps every timer in a plain list and knows who is awake.
class machine {
public:
    machine(subject& p, std::uint64_t seed)
        : p_(p), awake_(p.cpus()), timers_(p.cpus()), armed_(p.cpus(), never), random_(seed) {}

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

    subject& p_;
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
class crowd {
public:
    crowd(subject& p, unsigned threads, std::uint64_t seed)
        : p_(p), cpus_(p.cpus()), awake_(p.cpus()), threads_(threads), seed_(seed),
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
        std::atomic<bool> running{false};

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
                    else if (random() % 2 == 0) cpus_[c].armed = p_.new_expiry(c, cpus_[c].arm(now + random() % 8));
            }
            rest_.arrive_and_wait();
        }
    }
    void step(std::size_t c, ticks now, std::mt19937_64& random) {
        if (p_.timers) {
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
        cpus_[c].armed = p_.deactivate(c, due % 2 == 0 ? cpus_[c].arm(due) : cpus_[c].run(0));
    }
    void expire(std::size_t c, ticks now) {
        const ticks arm = p_.expire(c, now, [this](std::size_t sleeper, ticks t) {
            if (cpus_[sleeper].running.exchange(true) && p_.runs_alone) two_at_once_ = true;
            // Its owner, and other expirers, have time to come in between.
            std::this_thread::yield();
            const ticks next = cpus_[sleeper].run(t);
            std::this_thread::yield();
            cpus_[sleeper].running = false;
            return next;
        });
        if (!awake_[c]) cpus_[c].armed = arm;
    }

    void at_rest() noexcept {
        if (!wrong_.empty()) return;
        wrong_ = two_at_once_ ? "two run the timers of one" : wrong_awake(p_, awake_);
        if (p_.timers && wrong_.empty()) wrong_ = wrong_timers();
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

    subject& p_;
    std::vector<cpu> cpus_;
    std::vector<char> awake_;
    unsigned threads_;
    std::uint64_t seed_;
    std::barrier<resting> rest_;
    std::atomic<std::size_t> ready_{0};
    std::atomic<bool> two_at_once_{false};
    std::string wrong_;
};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t rounds = 100;
#else
constexpr std::size_t rounds = 1000;
#endif

using maker = std::unique_ptr<subject> (*)(std::size_t cpus);
template <class P>
std::unique_ptr<subject> make(std::size_t cpus) {
    return std::make_unique<subject_of<P>>(cpus);
}

void hammer(maker make_peer) {
    const auto seed = test::seed();
    struct size {
        std::size_t cpus;
        unsigned threads;
    };
    for (const auto& [cpus, threads] : {size{2, 2}, {4, 4}, {9, 3}, {20, 4}}) {
        const auto p = make_peer(cpus);
        INFO(p->text() << ", " << threads << " threads, seed " << seed);
        CHECK(crowd(*p, threads, seed).run(rounds, 8) == "");
    }
}

}  // namespace

namespace {

void random_waking(maker make_peer) {
    const auto seed = test::seed();
    for (const std::size_t n : sizes) {
        const auto p = make_peer(n);
        INFO(p->text() << ", seed " << seed);
        REQUIRE(p->cpus() == n);
        std::vector<char> awake(n);
        std::mt19937_64 random(seed);
        std::string wrong;
        for (int i = 0; i < 20'000 && wrong.empty(); ++i) {
            const std::size_t c = random() % 2 == 0 ? random() % n : random() % std::min<std::size_t>(n, 3);
            if (awake[c]) static_cast<void>(p->deactivate(c, never));
            else p->activate(c);
            awake[c] = !awake[c];
            if (random() % 32 == 0)
                for (std::size_t s = 0; s < n; ++s)
                    if (std::exchange(awake[s], char{0})) static_cast<void>(p->deactivate(s, never));
            wrong = wrong_awake(*p, awake);
        }
        CHECK(wrong == "");
    }
}
void random_timers(maker make_peer) {
    const auto seed = test::seed();
    for (const std::size_t n : sizes) {
        const auto p = make_peer(n);
        INFO(p->text() << ", seed " << seed);
        machine m(*p, seed);
        std::string wrong;
        for (int i = 0; i < (n > 200 ? 5'000 : 20'000) && wrong.empty(); ++i) wrong = m.step();
        CHECK(wrong == "");
    }
}

using yielding = test::yielding_atomics<std_atomics>;
void hammer_yielding(maker make_peer) {
    test::yielding::one_in(8);
    hammer(make_peer);
    test::yielding::one_in(64);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("peers without timers know who is awake", "", state_peers<std_atomics>) {
    random_waking(make<TestType>);
}
TEMPLATE_LIST_TEST_CASE("peers with timers run what is due, once, and lose none", "", timer_peers<std_atomics>) {
    random_timers(make<TestType>);
}
TEMPLATE_LIST_TEST_CASE("threads on peers without timers agree when they rest", "", state_peers<std_atomics>) {
    hammer(make<TestType>);
}
TEMPLATE_LIST_TEST_CASE("threads that yield on peers without timers agree when they rest", "", state_peers<yielding>) {
    hammer_yielding(make<TestType>);
}
TEMPLATE_LIST_TEST_CASE("threads on peers with timers lose none", "", timer_peers<std_atomics>) {
    hammer(make<TestType>);
}
TEMPLATE_LIST_TEST_CASE("threads that yield on peers with timers lose none", "", timer_peers<yielding>) {
    hammer_yielding(make<TestType>);
}

namespace {

using counted = counting_atomics<std_atomics>;

/// Swaps that changed something when CPU 0 wakes and when it falls asleep; the locks of the
/// standard library are not seen.
struct swaps {
    std::uint64_t wake, sleep;
    friend bool operator==(const swaps&, const swaps&) = default;
    friend std::ostream& operator<<(std::ostream& out, const swaps& s) { return out << s.wake << ", " << s.sleep; }
};
template <class P>
void fall_asleep(P& p, std::size_t cpu) {
    if constexpr (timer_peer<P>)
        static_cast<void>(p.deactivate(cpu, 5));
    else
        p.deactivate(cpu);
}
template <class P>
swaps count(std::optional<std::size_t> awake) {
    P p(64);
    if (awake) p.activate(*awake);
    const auto done = [] { return counted::counts().read_modify_writes - counted::counts().failed_read_modify_writes; };
    swaps s{};
    // The second time round, so that there is an expiry to withdraw.
    for (int i = 0; i < 2; ++i) {
        counted::counts() = {};
        p.activate(0);
        s.wake = done();
        counted::counts() = {};
        fall_asleep(p, 0);
        s.sleep = done();
    }
    return s;
}
/// Of 64 CPUs nobody else is awake; CPU 1 is; CPU 63 is.
template <class P>
void check_counts(swaps alone, swaps near, swaps far) {
    INFO(P::name());
    CHECK(count<P>(std::nullopt) == alone);
    CHECK(count<P>(1) == near);
    CHECK(count<P>(63) == far);
}

}  // namespace

TEST_CASE("what waking and falling asleep cost with each peer") {
    using A = counted;
    check_counts<flat_bitmap<A>>({1, 1}, {1, 1}, {1, 1});
    check_counts<counted_bitmap<A>>({2, 2}, {2, 2}, {2, 2});
    check_counts<two_level_bitmap<A, 8>>({2, 2}, {1, 1}, {2, 2});
    check_counts<two_level_bitmap<A, 64>>({2, 2}, {1, 1}, {1, 1});
    check_counts<packed_word<A>>({2, 2}, {2, 2}, {2, 2});
    check_counts<counting_tree<A, 8>>({2, 2}, {1, 1}, {2, 2});
    // Two for each of five levels to announce a half and make it whole; three at the root.
    check_counts<snzi<A, 2>>({13, 7}, {1, 1}, {11, 6});
    check_counts<snzi<A, 8>>({5, 3}, {1, 1}, {3, 2});
    check_counts<state_tree<A, 8>>({2, 2}, {1, 1}, {2, 2});
    check_counts<state_tree<A, 64>>({1, 1}, {1, 1}, {1, 1});
    check_counts<enqueue_scan<A>>({0, 0}, {0, 0}, {0, 0});
    check_counts<hierarchy_peer<linux_config<A>>>({2, 2}, {1, 1}, {2, 2});

    check_counts<locked_tree<A, 2>>({6, 6}, {1, 1}, {6, 6});
    check_counts<locked_tree<A, 8>>({2, 2}, {1, 1}, {2, 2});
    check_counts<locked_tree<A, 64>>({1, 1}, {1, 1}, {1, 1});
    // The CPU's lock, then a swap for each level; falling asleep the leaf's lock, two locks for
    // each link, and the root's to read it.
    check_counts<linux_events<A, tree_queues>>({3, 7}, {2, 3}, {3, 6});
    check_counts<linux_events<A, array_queues>>({3, 7}, {2, 3}, {3, 6});
    check_counts<flat_expiries<A>>({1, 1}, {1, 1}, {1, 1});
    check_counts<global_heap<A>>({1, 1}, {1, 1}, {1, 1});
    check_counts<hierarchy_peer<expiry_config<A>>>({2, 3}, {1, 1}, {2, 3});
}

TEST_CASE("an executor's stack hands out each sleeper once, and those who woke by themselves not at all") {
    packed_word<std_atomics> p(4);
    CHECK(p.wake_one() == std::optional<std::size_t>(0));
    p.activate(0);
    p.activate(1);  // its entry stays, marked
    CHECK(p.wake_one() == std::optional<std::size_t>(2));
    p.activate(2);
    p.deactivate(1);
    p.deactivate(0);
    CHECK(p.wake_one() == std::optional<std::size_t>(0));
    CHECK(p.wake_one() == std::optional<std::size_t>(1));
    CHECK(p.wake_one() == std::optional<std::size_t>(3));
    CHECK(p.wake_one() == std::nullopt);
    CHECK(p.any_active());  // CPU 2; who was taken has not woken yet
    CHECK_THROWS_AS(packed_word<std_atomics>(65'535), std::length_error);
}

TEST_CASE("threads that take sleepers off a stack wake each of them, and at rest none is lost") {
    constexpr std::size_t cpus = 6, threads = 3;
    packed_word<yielding> p(cpus);
    struct alignas(64) cpu {
        std::atomic<int> signals{0};
        bool awake = false;
    };
    std::vector<cpu> c(cpus);
    std::vector<std::thread> crew;
    for (std::size_t t = 0; t < threads; ++t)
        crew.emplace_back([&, t] {
            std::mt19937_64 random(test::seed() + t);
            for (int i = 0; i < 4000; ++i) {
                if (random() % 3 == 0) {
                    if (const auto taken = p.wake_one()) ++c[*taken].signals;
                }
                const std::size_t mine = t + threads * (random() % (cpus / threads));
                if (c[mine].signals.exchange(0) > 0 && !c[mine].awake) {
                    p.activate(mine);
                    c[mine].awake = true;
                } else if (random() % 2 == 0) {
                    c[mine].awake ? p.deactivate(mine) : p.activate(mine);
                    c[mine].awake = !c[mine].awake;
                }
            }
        });
    for (std::thread& t : crew) t.join();
    // Every sleeper is on the stack still, or was taken and has a signal.
    std::vector<int> found(cpus);
    while (const auto taken = p.wake_one()) ++found[*taken];
    for (std::size_t i = 0; i < cpus; ++i) {
        INFO("CPU " << i);
        CHECK(found[i] <= (c[i].awake ? 0 : 1));
        if (!c[i].awake) CHECK(found[i] + c[i].signals.load() >= 1);
    }
}

TEST_CASE("a timer's target is oneself, else the nearest who is awake") {
    enqueue_scan<std_atomics> p(100);
    CHECK(p.target(10) == 10);  // nobody is awake
    p.activate(99);
    CHECK(p.target(10) == 99);
    p.activate(3);  // same 64, another cluster
    CHECK(p.target(10) == 3);
    p.activate(12);
    CHECK(p.target(10) == 12);
    CHECK(p.target(99) == 99);
    CHECK(p.target(98) == 99);
    p.deactivate(12);
    p.deactivate(3);
    p.activate(63);
    CHECK(p.target(10) == 63);
    enqueue_local<std_atomics> off(100);
    off.activate(3);
    CHECK(off.target(10) == 10);
    CHECK(off.any_active());
}
