// SPDX-License-Identifier: BSL-1.0

// The tree grows while CPUs of the old root sleep and wake: the library's own steps of
// growth under Relacy. At the end all agree on who is awake, and somebody has armed the
// earliest timer if nobody is. Then the same with one thing weakened at a time; each of
// these must fail.

#include "growing_tree.hpp"
#include "model.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

using namespace tmigr;
namespace model = tmigr::model;
using model::growing_tree;

namespace {

/// CPU 0 of the old root falls asleep while CPU 2 arrives, wakes and sleeps.
template <class Config, rl::test_result_e Expected, unsigned NewLevels = 1>
struct growth_against_sleep : rl::test_suite<growth_against_sleep<Config, Expected, NewLevels>, 2, Expected> {
    growing_tree<Config, NewLevels> t;
    void before() { t.wake(0); }
    void thread(unsigned i) {
        if (i == 0) {
            t.grow();
            t.wake(2);
            t.sleep(2, never);
        } else {
            t.sleep(0, 5);
        }
    }
    void after() {
        RL_ASSERT(t.at_rest_with(0));
        if constexpr (has_expiries<Config>) {
            RL_ASSERT(t.first_armed() == 5);
            RL_ASSERT(earliest(t.root()) == 5);
        }
    }
};

/// All sleep, CPU 1 has armed a timer; CPU 0 wakes while CPU 2 arrives.
template <class Config, rl::test_result_e Expected, unsigned NewLevels = 1>
struct growth_against_wake : rl::test_suite<growth_against_wake<Config, Expected, NewLevels>, 2, Expected> {
    growing_tree<Config, NewLevels> t;
    void before() {
        t.wake(1);
        t.sleep(1, 5);
    }
    void thread(unsigned i) { i == 0 ? t.grow() : t.wake(0); }
    void after() { RL_ASSERT(t.at_rest_with(1)); }
};

/// Nobody moves but the new CPU: the new root must learn of the old one's timers.
template <class Config, rl::test_result_e Expected, unsigned NewLevels = 1>
struct growth_over_sleepers : rl::test_suite<growth_over_sleepers<Config, Expected, NewLevels>, 2, Expected> {
    growing_tree<Config, NewLevels> t;
    void before() {
        t.wake(0);
        t.wake(1);
        t.sleep(0, 7);
        t.sleep(1, never);
    }
    void thread(unsigned i) {
        if (i == 0) t.grow();
        if (i == 1) t.armed[0] = t.cpu(0).new_expiry(5);
    }
    void after() {
        RL_ASSERT(t.at_rest_with(0));
        RL_ASSERT(t.first_armed() == 5);
        RL_ASSERT(earliest(t.root()) == 5);
    }
};

/// All sleep, and CPU 0 is armed for them; it has an interrupt while CPU 2 arrives.
template <class Config, rl::test_result_e Expected, unsigned NewLevels = 1>
struct growth_against_interrupt : rl::test_suite<growth_against_interrupt<Config, Expected, NewLevels>, 2, Expected> {
    growing_tree<Config, NewLevels> t;
    void before() {
        t.wake(0);
        t.sleep(0, 5);
    }
    void thread(unsigned i) {
        if (i == 0) t.grow();
        if (i == 1) t.armed[0] = t.cpu(0).expire(3, [](cpu_id, ticks) { return never; });
    }
    void after() {
        RL_ASSERT(t.first_armed() == 5);
        RL_ASSERT(earliest(t.root()) == 5);
    }
};

/// CPU 0 sleeps, wakes and sleeps, CPU 1 wakes and sleeps, CPU 2 arrives, wakes and sleeps.
template <class Config, rl::test_result_e Expected, unsigned NewLevels = 1>
struct growth_against_all : rl::test_suite<growth_against_all<Config, Expected, NewLevels>, 3, Expected> {
    growing_tree<Config, NewLevels> t;
    void before() { t.wake(0); }
    void thread(unsigned i) {
        if (i == 0) {
            t.sleep(0, 9);
            t.wake(0);
            t.sleep(0, 5);
        }
        if (i == 1) {
            t.wake(1);
            t.sleep(1, 8);
        }
        if (i == 2) {
            t.grow();
            t.wake(2);
            t.sleep(2, never);
        }
    }
    void after() {
        RL_ASSERT(t.at_rest_with(0));
        if constexpr (has_expiries<Config>) {
            RL_ASSERT(t.first_armed() == 5);
            RL_ASSERT(earliest(t.root()) == 5);
        }
    }
};

/// CPU 0 falls asleep and CPU 1 wakes while CPU 2 arrives: the new root may hear of it from
/// either of them or from the one who grows.
template <class Config, rl::test_result_e Expected, unsigned NewLevels = 1>
struct growth_against_relief : rl::test_suite<growth_against_relief<Config, Expected, NewLevels>, 3, Expected> {
    growing_tree<Config, NewLevels> t;
    void before() { t.wake(0); }
    void thread(unsigned i) {
        if (i == 0) t.sleep(0, never);
        if (i == 1) t.wake(1);
        if (i == 2) t.grow();
    }
    void after() { RL_ASSERT(t.at_rest_with(2)); }
};

/// Two threads grow the tree at once, one after the other as a lock has it: each puts a new
/// root over the one it finds, with a new CPU. A CPU at the bottom falls asleep, or sleeps
/// from the start.
template <class Config, rl::test_result_e Expected, unsigned Threads = 3>
struct two_growers : rl::test_suite<two_growers<Config, Expected, Threads>, Threads, Expected> {
    struct branch {
        group<Config> leaf, top;
        cpu_seat<Config> seat;
        branch(unsigned n, cpu_roster<Config>& roster, typename Config::tracer& tracer)
            : leaf(2 * n, 0, no_family, pick::first),
              top(2 * n + 1, n, no_family, pick::first),
              seat(n, leaf, 1, roster, tracer) {}
    };
    typename Config::tracer tracer;
    cpu_roster<Config> roster;
    group<Config> bottom{1, 0, no_family, pick::first};
    cpu_seat<Config> sleeper{0, bottom, 1, roster, tracer};
    std::array<branch, 2> grown{{{1, roster, tracer}, {2, roster, tracer}}};
    typename Config::atomics::mutex growing;
    rl::var<unsigned> next{0};
    std::array<ticks, 3> armed{never, never, never};

    group<Config>& top_below(unsigned n) { return n == 0 ? bottom : grown[n - 1].top; }

    void before() {
        bottom.down().set(1, &sleeper);
        roster.add(sleeper);
        cpu_handle<Config>(sleeper).activate();
        if (Threads == 2) fall_asleep();
    }
    void fall_asleep() { armed[0] = cpu_handle<Config>(sleeper).deactivate(5); }
    void thread(unsigned i) {
        if (i == 2) return fall_asleep();
        growing.lock();
        const unsigned n = next($);
        next($) = n + 1;
        branch& b = grown[n];
        link_below<Config>(b.leaf, 2, b.top);
        b.leaf.down().set(1, &b.seat);
        roster.add(b.seat);
        link_below<Config>(top_below(n), 1, b.top);
        carry_up<Config>(top_below(n), b.seat.id(), tracer);
        growing.unlock();
        cpu_handle<Config> cpu(b.seat);
        cpu.activate();
        armed[n + 1] = cpu.deactivate(6 + n);
    }
    void after() {
        for (const auto* g : {&bottom, &grown[0].leaf, &grown[0].top, &grown[1].leaf, &grown[1].top})
            RL_ASSERT(!g->current().is_active() && !broken(g->current()));
        RL_ASSERT(*std::min_element(armed.begin(), armed.end()) == 5);
        RL_ASSERT(earliest(grown[1].top) == 5);
    }
};

/// A new leaf comes below the root, and its CPU wakes, while somebody asks who is in charge.
template <class Config, rl::test_result_e Expected>
struct query_against_new_leaf : rl::test_suite<query_against_new_leaf<Config, Expected>, 2, Expected> {
    typename Config::tracer tracer;
    cpu_roster<Config> roster;
    group<Config> root{1, 1, no_family, pick::first};
    std::optional<group<Config>> leaf;
    std::optional<cpu_seat<Config>> seat;

    void thread(unsigned i) {
        if (i == 0) {
            leaf.emplace(2, 0, no_family, pick::first);
            link_below<Config>(*leaf, 1, root);
            seat.emplace(7, *leaf, 1, roster, tracer);
            leaf->down().set(1, &*seat);
            cpu_handle<Config>(*seat).activate();
        } else {
            while (!root.current().is_active()) Config::atomics::pause();
            const auto migrator = find_migrator(root);
            RL_ASSERT(!migrator || *migrator == 7);
        }
    }
    void after() { RL_ASSERT(find_migrator(root) == cpu_id{7}); }
};

/// The first CPU of all arrives while somebody asks for the root.
template <class Config, rl::test_result_e Expected>
struct query_against_first_cpu : rl::test_suite<query_against_first_cpu<Config, Expected>, 2, Expected> {
    typename Config::tracer tracer;
    cpu_roster<Config> roster;
    std::optional<group<Config>> leaf;
    std::optional<cpu_seat<Config>> seat;

    void thread(unsigned i) {
        if (i == 0) {
            leaf.emplace(1, 0, no_family, pick::first);
            seat.emplace(7, *leaf, 1, roster, tracer);
            leaf->down().set(1, &*seat);
            roster.add(*seat);
        } else {
            while (roster.first() == nullptr) Config::atomics::pause();
            RL_ASSERT(top_of(roster.first()->leaf()) == &*leaf);
        }
    }
};

/// The whole hierarchy grows while it is asked. (Memory that is taken is a choice to the
/// checker: at random only.)
template <class Config, rl::test_result_e Expected>
struct queries_against_growth : rl::test_suite<queries_against_growth<Config, Expected>, 2, Expected> {
    std::optional<basic_hierarchy<Config>> tree;
    void before() {
        tree.emplace(8, 1, hierarchy_options{.width = 2});
        tree->add({.id = 0});
        tree->add({.id = 1});
    }
    void thread(unsigned i) {
        if (i == 0) {
            tree->add({.id = 2}).activate();
        } else {
            for (int look = 0; look < 2; ++look) {
                RL_ASSERT(tree->root()->level() <= 1);
                RL_ASSERT(!tree->migrator() || *tree->migrator() == 2);
                static_cast<void>(tree->any_active());
            }
        }
    }
    void after() {
        RL_ASSERT(tree->migrator() == cpu_id{2});
        tree.reset();
    }
};

using library = model::with_expiries<>;
using exhaustive = model::with_expiries<cas_failures::genuine>;
using words_only = model::config<>;
using words_only_exhaustive = model::config<cas_failures::genuine>;
constexpr auto must_pass = rl::test_result_success;

// One thing weakened each.
TMIGR_WEAKER(library, parent_load_relaxed, parent_load, relaxed);
TMIGR_WEAKER(words_only, parent_store_relaxed, parent_store, relaxed);
TMIGR_WEAKER(library, parent_store_release, parent_store, release);
TMIGR_WEAKER(library, new_parent_acquire, new_parent_load, acquire);
TMIGR_WEAKER(words_only, roster_load_relaxed, roster_load, relaxed);
TMIGR_WEAKER(words_only, roster_store_relaxed, roster_store, relaxed);
TMIGR_WEAKER(words_only, down_load_relaxed, down_load, relaxed);
TMIGR_WEAKER(words_only, down_store_relaxed, down_store, relaxed);
TMIGR_WEAKER(library, grow_swap_relaxed, grow_swap, relaxed);
TMIGR_WEAKER(library, activate_swap_release, activate_swap, release);
TMIGR_WEAKER(words_only, sleep_swap_acquire, deactivate_swap, acquire);
TMIGR_WEAKER(words_only, carry_load_relaxed, carry_load, relaxed);
TMIGR_WEAKER(words_only, carry_swap_acquire, carry_swap, acquire);
TMIGR_WEAKER(words_only_exhaustive, carry_retry_relaxed, carry_retry, relaxed);
// The acquire half of these two is asked for by the rule that a failure is not more ordered than
// a success; no test needs it, since a load or a failed swap before acquired the same word.
template <class Base>
struct weaker_than_the_rule : Base {
    struct orders : Base::orders {
        static constexpr auto deactivate_swap = relacy_atomics::release;
        static constexpr auto carry_swap = relacy_atomics::release;
    };
};

TMIGR_WITHOUT(library, mask_after_link, mask_before_link);
TMIGR_WITHOUT(library, load_instead_of_swap, swap_after_link);
TMIGR_WITHOUT(library, stop_at_idle_groups, leave_idle_groups);
TMIGR_WITHOUT(library, no_refresh_after_link, refresh_after_link);
TMIGR_WITHOUT(library, root_alone, remember_lower_groups);

TMIGR_WITHOUT(exhaustive, carried_blindly, carry_only_active);

template <template <class, rl::test_result_e, unsigned> class Suite, unsigned Levels, class Random, class Exhaustive>
bool sound(const char* name, unsigned switches) {
    return model::sound<Suite<Random, must_pass, Levels>, Suite<Exhaustive, must_pass, Levels>>(
        name, model::asked.longer ? 1'000'000 : 50'000, switches);
}

}  // namespace

int main(int argc, char** argv) {
    model::start(argc, argv);
    const bool longer = model::asked.longer;
    bool ok = true;
    ok &= sound<growth_against_sleep, 1, library, exhaustive>("growth_against_sleep", longer ? 4 : 2);
    ok &= sound<growth_against_sleep, 2, library, exhaustive>("growth_against_sleep, two levels", longer ? 4 : 2);
    ok &= sound<growth_against_wake, 1, library, exhaustive>("growth_against_wake", longer ? 4 : 2);
    ok &= sound<growth_against_wake, 2, library, exhaustive>("growth_against_wake, two levels", longer ? 4 : 2);
    ok &= sound<growth_over_sleepers, 1, library, exhaustive>("growth_over_sleepers", longer ? 4 : 2);
    ok &= sound<growth_over_sleepers, 2, library, exhaustive>("growth_over_sleepers, two levels", longer ? 4 : 2);
    ok &= sound<growth_against_interrupt, 1, library, exhaustive>("growth_against_interrupt", longer ? 4 : 2);
    ok &= sound<growth_against_interrupt, 2, library, exhaustive>("growth_against_interrupt, two levels", longer ? 4 : 2);
    ok &= sound<growth_against_all, 1, library, exhaustive>("growth_against_all", longer ? 2 : 1);
    ok &= sound<growth_against_all, 2, library, exhaustive>("growth_against_all, two levels", longer ? 2 : 1);
    ok &= sound<growth_against_all, 1, words_only, words_only_exhaustive>("growth_against_all, words only", longer ? 3 : 2);
    ok &= sound<two_growers, 2, library, exhaustive>("two_growers over a sleeper", longer ? 4 : 2);
    ok &= sound<growth_against_relief, 1, words_only, words_only_exhaustive>("growth_against_relief, words only", longer ? 3 : 2);
    using less = weaker_than_the_rule<words_only>;
    using less_exhaustive = weaker_than_the_rule<words_only_exhaustive>;
    ok &= sound<growth_against_all, 1, less, less_exhaustive>("growth_against_all, weaker_than_the_rule", longer ? 3 : 2);
    ok &= sound<growth_against_sleep, 2, less, less_exhaustive>("growth_against_sleep, weaker_than_the_rule", longer ? 4 : 2);
    ok &= sound<growth_against_relief, 1, less, less_exhaustive>("growth_against_relief, weaker_than_the_rule", longer ? 3 : 2);
    ok &= model::run<two_growers<library, must_pass>>("two_growers", model::random_schedules(longer ? 1'000'000 : 50'000));
    ok &= model::run<two_growers<exhaustive, must_pass>>("two_growers", model::all_schedules_with(longer ? 3 : 1));

    ok &= model::run<query_against_new_leaf<words_only, must_pass>>("query_against_new_leaf", model::random_schedules(longer ? 1'000'000 : 50'000));
    ok &= model::run<query_against_new_leaf<words_only_exhaustive, must_pass>>("query_against_new_leaf", model::all_schedules_with(4));
    ok &= model::run<query_against_first_cpu<words_only, must_pass>>("query_against_first_cpu", model::random_schedules(longer ? 1'000'000 : 50'000));
    ok &= model::run<query_against_first_cpu<words_only_exhaustive, must_pass>>("query_against_first_cpu", model::all_schedules_with(4));
    ok &= model::run<queries_against_growth<words_only, must_pass>>("queries_against_growth", model::random_schedules(longer ? 1'000'000 : 20'000));

    const auto random = model::random_schedules(1'000'000);
    ok &= TMIGR_TWIN(growth_against_sleep, parent_load_relaxed, data_race, random);
    ok &= TMIGR_TWIN(growth_against_sleep, parent_store_relaxed, data_race, random);
    ok &= TMIGR_TWIN(growth_against_sleep, mask_after_link, data_race, random);
    ok &= TMIGR_TWIN(growth_against_all, stop_at_idle_groups, user_assert_failed, random);
    ok &= TMIGR_TWIN(growth_against_wake, load_instead_of_swap, user_assert_failed, random);
    ok &= TMIGR_TWIN(growth_against_wake, grow_swap_relaxed, user_assert_failed, random);
    ok &= TMIGR_TWIN(growth_against_wake, activate_swap_release, user_assert_failed, random);
    ok &= TMIGR_TWIN(growth_over_sleepers, parent_store_release, user_assert_failed, random);
    ok &= TMIGR_TWIN(growth_over_sleepers, new_parent_acquire, user_assert_failed, random);
    ok &= TMIGR_TWIN(growth_over_sleepers, no_refresh_after_link, user_assert_failed, random);
    ok &= TMIGR_TWIN(growth_against_interrupt, root_alone, user_assert_failed, random);
    ok &= TMIGR_TWIN(growth_against_all, sleep_swap_acquire, user_assert_failed, random);
    ok &= TMIGR_TWIN(growth_against_all, carry_load_relaxed, user_assert_failed, random);
    ok &= TMIGR_TWIN(growth_against_relief, carry_swap_acquire, user_assert_failed, random);
    ok &= TMIGR_TWIN(query_against_first_cpu, roster_load_relaxed, unitialized_access, random);
    ok &= TMIGR_TWIN(query_against_first_cpu, roster_store_relaxed, unitialized_access, random);
    ok &= TMIGR_TWIN(query_against_new_leaf, down_load_relaxed, unitialized_access, random);
    ok &= TMIGR_TWIN(query_against_new_leaf, down_store_relaxed, unitialized_access, random);
    // A whole walk has to fit between two steps of the one who grows; random schedules hardly do that.
    ok &= TMIGR_TWIN(growth_against_sleep, carried_blindly, user_assert_failed, model::all_schedules_with(2));
    ok &= TMIGR_TWIN(growth_against_sleep, carry_retry_relaxed, user_assert_failed, model::all_schedules_with(2));
    return ok ? 0 : 1;
}
