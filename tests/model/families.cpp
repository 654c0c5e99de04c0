// SPDX-License-Identifier: BSL-1.0

// Classes of CPUs under groups that prefer the lowest, under Relacy: a lower class wakes and
// takes over while others hand over, fall asleep or wake. Before every access of any thread the
// words of all groups are looked at: in one that prefers the lowest, the migrator is the lowest
// active bit. Then the same with one thing weakened at a time; each of these must fail.

#include "model.hpp"
#include "ranked_tree.hpp"

#include <tmigr/search.hpp>

#include <optional>
#include <ostream>
#include <string>

using namespace tmigr;
namespace model = tmigr::model;
using model::ranked_tree;
using model::single_cpus;
using model::three_classes;
using model::two_classes;
using model::two_ranked_levels;

namespace tmigr {
/// For what Relacy tells of a schedule that fails.
inline std::ostream& operator<<(std::ostream& out, pick how) {
    return out << (how == pick::lowest ? "lowest" : "first");
}
}  // namespace tmigr

namespace {

/// CPU 0, of the lowest class, wakes while CPU 1, in charge of all, falls asleep; CPU 2 is awake.
template <class Config, rl::test_result_e Expected, class Shape = three_classes>
struct take_over_against_hand_over
    : rl::test_suite<take_over_against_hand_over<Config, Expected, Shape>, 2, Expected> {
    ranked_tree<Config, Shape> t;
    void before() { t.wake(1), t.wake(2); }
    void thread(unsigned i) { i == 0 ? t.wake(0) : t.sleep(1, 5); }
    void invariant() { RL_ASSERT(t.words_are_right()); }
    void after() {
        RL_ASSERT(t.at_rest_with(5));
        RL_ASSERT(t.all_sleep_until(5, 5));
    }
};

/// The same where CPU 2 is the last one awake, and CPU 1 asleep until 7.
template <class Config, rl::test_result_e Expected, class Shape = three_classes>
struct take_over_against_last_sleeper
    : rl::test_suite<take_over_against_last_sleeper<Config, Expected, Shape>, 2, Expected> {
    ranked_tree<Config, Shape> t;
    void before() { t.wake(1), t.wake(2), t.sleep(1, 7); }
    void thread(unsigned i) { i == 0 ? t.wake(0) : t.sleep(2, 5); }
    void invariant() { RL_ASSERT(t.words_are_right()); }
    void after() {
        RL_ASSERT(t.at_rest_with(1));
        RL_ASSERT(t.all_sleep_until(1, 5));
    }
};

/// On two levels the group below the root prefers the lowest too.
template <class Config, rl::test_result_e Expected>
using take_over_on_two_levels = take_over_against_last_sleeper<Config, Expected, two_ranked_levels>;

/// CPU 0, in charge of all, falls asleep while CPU 1 wakes; CPU 2 is awake, and not to inherit.
template <class Config, rl::test_result_e Expected, class Shape = three_classes>
struct hand_over_against_wake : rl::test_suite<hand_over_against_wake<Config, Expected, Shape>, 2, Expected> {
    ranked_tree<Config, Shape> t;
    void before() { t.wake(0), t.wake(2); }
    void thread(unsigned i) { i == 0 ? t.sleep(0, 5) : t.wake(1); }
    void invariant() { RL_ASSERT(t.words_are_right()); }
    void after() {
        RL_ASSERT(t.at_rest_with(6));
        RL_ASSERT(t.all_sleep_until(6, 5));
    }
};

/// The two lower classes wake at once while CPU 2 is in charge.
template <class Config, rl::test_result_e Expected, class Shape = three_classes>
struct two_wakes_at_once : rl::test_suite<two_wakes_at_once<Config, Expected, Shape>, 2, Expected> {
    ranked_tree<Config, Shape> t;
    void before() { t.wake(2); }
    void thread(unsigned i) { t.wake(i); }
    void invariant() { RL_ASSERT(t.words_are_right()); }
    void after() {
        RL_ASSERT(t.at_rest_with(7));
        RL_ASSERT(t.all_sleep_until(7, never));
    }
};

/// All sleep, and wake at once.
template <class Config, rl::test_result_e Expected, class Shape = three_classes>
struct three_wakes_at_once : rl::test_suite<three_wakes_at_once<Config, Expected, Shape>, 3, Expected> {
    ranked_tree<Config, Shape> t;
    void thread(unsigned i) { t.wake(i); }
    void invariant() { RL_ASSERT(t.words_are_right()); }
    void after() {
        RL_ASSERT(t.at_rest_with(7));
        RL_ASSERT(t.all_sleep_until(7, never));
    }
};

/// The lowest class takes over and hands back, while the highest falls asleep and the one between
/// wakes.
template <class Config, rl::test_result_e Expected, class Shape = three_classes>
struct take_over_and_back : rl::test_suite<take_over_and_back<Config, Expected, Shape>, 3, Expected> {
    ranked_tree<Config, Shape> t;
    void before() { t.wake(2); }
    void thread(unsigned i) {
        if (i == 0) {
            t.wake(0);
            t.sleep(0, 6);
        }
        if (i == 1) t.wake(1);
        if (i == 2) t.sleep(2, 5);
    }
    void invariant() { RL_ASSERT(t.words_are_right()); }
    void after() {
        RL_ASSERT(t.at_rest_with(2));
        RL_ASSERT(t.all_sleep_until(2, 5));
    }
};

/// Every CPU wakes and falls asleep; CPU 1 wakes once more and sleeps or stays awake.
template <class Config, rl::test_result_e Expected, class Shape = three_classes>
struct ranked_walks : rl::test_suite<ranked_walks<Config, Expected, Shape>, 3, Expected> {
    ranked_tree<Config, Shape> t;
    unsigned awake = 0;
    void thread(unsigned i) {
        t.wake(i);
        t.sleep(i, 5 + i);
        if (i != 1) return;
        t.wake(1);
        if (rl::rand(2) == 0)
            awake = 2;
        else
            t.sleep(1, 6);
    }
    void invariant() { RL_ASSERT(t.words_are_right()); }
    void after() {
        RL_ASSERT(t.at_rest_with(awake));
        RL_ASSERT(t.all_sleep_until(awake, 5));
    }
};

/// CPU 1, in charge, looks for what is due and falls asleep; CPU 0 takes over and looks too. CPU 2
/// sleeps, and something of its is due: exactly one of them runs it.
template <class Config, rl::test_result_e Expected, class Shape = three_classes>
struct take_over_against_expiry : rl::test_suite<take_over_against_expiry<Config, Expected, Shape>, 2, Expected> {
    ranked_tree<Config, Shape> t;
    rl::var<ticks> timer{5};
    void before() { t.wake(1), t.wake(2), t.sleep(2, 5); }
    void expire(unsigned cpu) {
        t.cpu(cpu).expire(10, [this](cpu_id sleeper, ticks) {
            RL_ASSERT(sleeper == 2 && timer($).load() == 5);
            timer($) = ticks{30};
            return ticks{30};
        });
    }
    void thread(unsigned i) {
        if (i == 0) t.wake(0);
        expire(i);
        if (i == 1) t.sleep(1);
    }
    void invariant() { RL_ASSERT(t.words_are_right()); }
    void after() {
        RL_ASSERT(timer($).load() == 30);
        RL_ASSERT(t.at_rest_with(1));
        RL_ASSERT(t.all_sleep_until(1, 30));
    }
};

/// The root is told to stop preferring while a lower class takes over, and the one in charge falls
/// asleep or, with two threads, stays. Afterwards a lower class that wakes leaves the role where it is.
template <class Config, rl::test_result_e Expected, unsigned Threads>
struct stop_against_take_over : rl::test_suite<stop_against_take_over<Config, Expected, Threads>, Threads, Expected> {
    ranked_tree<Config, three_classes> t;
    void before() { t.wake(1), t.wake(2); }
    void thread(unsigned i) {
        if (i == 0) t.wake(0);
        if (i == 1) t.root().stop_preferring();
        if (i == 2) t.sleep(1, 5);
    }
    void invariant() { RL_ASSERT(t.words_are_right()); }
    void after() {
        const unsigned others = Threads == 2 ? 6 : 4;
        RL_ASSERT(t.root().how() == pick::first);
        RL_ASSERT(t.at_rest_with(others | 1));
        t.sleep(0);
        RL_ASSERT(t.at_rest_with(others));
        const auto role = t.root().current().migrator();
        t.wake(0);
        RL_ASSERT(t.at_rest_with(others | 1));
        RL_ASSERT(t.root().current().migrator() == role);
        RL_ASSERT(t.all_sleep_until(others | 1, Threads == 2 ? never : 5));
    }
};

/// Who wakes after it has told the group to stop takes nothing over, whoever else wakes too.
template <class Config, rl::test_result_e Expected>
struct wake_after_stop : rl::test_suite<wake_after_stop<Config, Expected>, 2, Expected> {
    ranked_tree<Config, three_classes> t;
    void before() { t.wake(2); }
    void thread(unsigned i) {
        if (i == 1) return t.wake(1);
        t.root().stop_preferring();
        t.wake(0);
    }
    void invariant() { RL_ASSERT(t.words_are_right()); }
    void after() {
        RL_ASSERT(t.at_rest_with(7));
        RL_ASSERT(t.root().current().migrator() != 1);
    }
};

/// The first CPU of a family arrives and wakes while somebody searches the family.
template <class Config, rl::test_result_e Expected>
struct search_against_first_of_family
    : rl::test_suite<search_against_first_of_family<Config, Expected>, 2, Expected> {
    typename Config::tracer tracer;
    cpu_roster<Config> roster;
    append_list<Config, family_branch<Config>> branches;
    family_branch<Config> branch;
    std::optional<group<Config>> leaf;
    std::optional<cpu_seat<Config>> seat;

    void thread(unsigned i) {
        if (i == 0) {
            leaf.emplace(1, 0, family_id{3}, pick::first);
            seat.emplace(7, *leaf, 1, roster, tracer);
            leaf->down().set(1, &*seat);
            branch.leaf = &*leaf;
            branches.add(branch);
            cpu_handle<Config>(*seat).activate();
        } else {
            while (branches.first() == nullptr) Config::atomics::pause();
            const family_handle<Config> family(3, branches);
            const auto awake = family.find_active();
            RL_ASSERT(!awake || *awake == 7);
            const auto idle = family.find_idle();
            RL_ASSERT(!idle || *idle == 7);
        }
    }
    void after() { RL_ASSERT((family_handle<Config>(3, branches).find_active() == cpu_id{7})); }
};

using words = model::config<>;
using words_exhaustive = model::config<cas_failures::genuine>;
using library = model::with_expiries<>;
using exhaustive = model::with_expiries<cas_failures::genuine>;
constexpr auto must_pass = rl::test_result_success;

/// Groups that can be told to stop.
template <class Base>
struct can_stop : Base {
    static constexpr bool preference_can_stop = true;
};

// One thing weakened each.
TMIGR_WITHOUT(words, late_take_over, take_over_at_once);
TMIGR_WITHOUT(words, silent_first_wake, first_wake_goes_on);
TMIGR_WEAKER(words, roster_load_relaxed, roster_load, relaxed);
TMIGR_WEAKER(words, roster_store_relaxed, roster_store, relaxed);

template <template <class, rl::test_result_e, class> class Suite, class Shape, class Random, class Exhaustive>
bool sound(const std::string& name, unsigned switches) {
    return model::sound<Suite<Random, must_pass, Shape>, Suite<Exhaustive, must_pass, Shape>>(
        name, model::asked.longer ? 1'000'000 : 50'000, switches);
}
template <template <class, rl::test_result_e, class> class Suite, class Shape>
bool both(const std::string& name, unsigned switches) {
    const bool ok = sound<Suite, Shape, words, words_exhaustive>(name + ", words only", switches);
    return sound<Suite, Shape, library, exhaustive>(name, switches) && ok;
}

template <unsigned Threads>
bool sound_stop(const char* name, unsigned switches) {
    return model::sound<stop_against_take_over<can_stop<library>, must_pass, Threads>,
                        stop_against_take_over<can_stop<exhaustive>, must_pass, Threads>>(
        name, model::asked.longer ? 1'000'000 : 50'000, switches);
}

}  // namespace

int main(int argc, char** argv) {
    model::start(argc, argv);
    const bool longer = model::asked.longer;
    const unsigned two_threads = longer ? 4 : 3, three_threads = longer ? 3 : 2;
    const rl::iteration_t executions = longer ? 1'000'000 : 50'000;
    bool ok = true;
    ok &= both<take_over_against_hand_over, three_classes>("take_over_against_hand_over", two_threads);
    ok &= both<take_over_against_hand_over, two_ranked_levels>("take_over_against_hand_over, two ranked levels", two_threads);
    ok &= sound<take_over_against_hand_over, single_cpus, library, exhaustive>("take_over_against_hand_over, single CPUs", two_threads);
    ok &= both<take_over_against_last_sleeper, two_classes>("take_over_against_last_sleeper, two classes", two_threads);
    ok &= both<take_over_against_last_sleeper, two_ranked_levels>("take_over_against_last_sleeper, two ranked levels", two_threads);
    ok &= both<hand_over_against_wake, three_classes>("hand_over_against_wake", two_threads);
    ok &= sound<hand_over_against_wake, two_ranked_levels, library, exhaustive>("hand_over_against_wake, two ranked levels", two_threads);
    ok &= sound<two_wakes_at_once, three_classes, words, words_exhaustive>("two_wakes_at_once, words only", two_threads);
    ok &= sound<two_wakes_at_once, two_ranked_levels, library, exhaustive>("two_wakes_at_once, two ranked levels", two_threads);
    ok &= sound<three_wakes_at_once, two_ranked_levels, words, words_exhaustive>("three_wakes_at_once, two ranked levels, words only", three_threads);
    ok &= sound<take_over_and_back, two_classes, words, words_exhaustive>("take_over_and_back, two classes, words only", three_threads);
    ok &= both<take_over_and_back, three_classes>("take_over_and_back", three_threads);
    ok &= sound<take_over_and_back, single_cpus, words, words_exhaustive>("take_over_and_back, single CPUs, words only", three_threads);
    ok &= model::run<ranked_walks<library, must_pass, two_ranked_levels>>("ranked_walks, two ranked levels", model::random_schedules(executions));
    ok &= sound<take_over_against_expiry, three_classes, library, exhaustive>("take_over_against_expiry", longer ? 4 : 2);
    ok &= sound_stop<2>("stop_against_take_over", two_threads);
    ok &= sound_stop<3>("stop_against_take_over, and hand-over", three_threads);
    ok &= model::sound<wake_after_stop<can_stop<words>, must_pass>, wake_after_stop<can_stop<words_exhaustive>, must_pass>>("wake_after_stop", executions, two_threads);
    ok &= model::sound<search_against_first_of_family<words, must_pass>, search_against_first_of_family<words_exhaustive, must_pass>>("search_against_first_of_family", executions, two_threads);

    const auto random = model::random_schedules(1'000'000);
    ok &= TMIGR_TWIN(take_over_against_hand_over, late_take_over, user_invariant_failed, random);
    ok &= TMIGR_TWIN(take_over_on_two_levels, silent_first_wake, user_assert_failed, random);
    ok &= TMIGR_TWIN(search_against_first_of_family, roster_load_relaxed, unitialized_access, random);
    ok &= TMIGR_TWIN(search_against_first_of_family, roster_store_relaxed, unitialized_access, random);
    return ok ? 0 : 1;
}
