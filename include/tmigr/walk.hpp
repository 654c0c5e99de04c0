// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_WALK_HPP
#define TMIGR_WALK_HPP

#include <tmigr/config.hpp>
#include <tmigr/expiry_walk.hpp>
#include <tmigr/group.hpp>

namespace tmigr {

// The two walks. Both start at a group below which something changed and go up with one
// compare-and-swap per level, as far as something above has to change.
//
// Invariants that they keep (numbers as in invariants.hpp): 1 and 2 at every step, 3 and
// 6 whenever no walk is in flight; 7, a level at most once; 8, nothing above the first
// group that stays active (a walk that finds a group idle already goes on).
//
// Progress: lock-free. A compare-and-swap fails only because another walk changed the
// same group, or, where the hardware has no single instruction for it, spuriously. A
// thread that stops in the middle of a walk blocks nobody; the groups above it show the
// state before its walk until it goes on.

namespace detail {

template <hierarchy_config Config>
void report_visit(const group<Config>& g) noexcept {
    if constexpr (requires { Config::atomics::visiting(0u); }) Config::atomics::visiting(g.level());
}

template <class Event, hierarchy_config Config>
void report_word(typename Config::tracer& tracer, const group<Config>& g, const group<Config>* parent,
                 typename Config::state word, typename Config::state::mask_type child, cpu_id on) noexcept {
    if constexpr (Config::tracer::enabled)
        tracer.trace(Event{{g.id(), g.level(), g.family(), word.active(), word.migrator(),
                            parent != nullptr ? parent->id() : no_group, child}},
                     on);
}

/// What an activation does in one swap, in a second one: for the tests that show why not.
template <hierarchy_config Config>
void take_over_late(group<Config>& g, typename Config::state::mask_type child) noexcept {
    using state = typename Config::state;
    if (g.how() == pick::first) return;
    // (A1), (A2) as in walk_active.
    auto seen = g.word().load(Config::orders::activate_load);
    while (seen.has_migrator() && child < seen.migrator() &&
           !g.word().compare_exchange_weak(seen, state(seen.active(), child, seen.seq() + 1),
                                           Config::orders::activate_swap, Config::orders::activate_retry)) {
    }
}

}  // namespace detail

/// A child of `start` became active: tells the groups from `start` upwards, up to the
/// first that had a migrator already. In a group that prefers the lowest, a child lower than
/// the migrator takes the role over in the swap that makes it active, and the walk ends there
/// as it would have.
///
/// Called by the thread that acts for `child`, which was inactive; `on` is the CPU that
/// appears in traces. Lock-free, allocates nothing, throws nothing. Gives the caller no
/// ordering for its own data. Source: Linux 6.9, tmigr_active_up.
template <hierarchy_config Config>
void walk_active(group<Config>& start, typename Config::state::mask_type child, cpu_id on,
                 typename Config::tracer& tracer) noexcept {
    using orders = typename Config::orders;
    for (group<Config>* g = &start;;) {
        detail::report_visit(*g);
        // (A1) relaxed load of group.word: only a first guess, (A2) decides.
        auto seen = g->word().load(orders::activate_load);
        typename Config::state next;
        // (A2) acq_rel swap of group.word, relaxed on failure; pairs with (D1), (D3), (G2),
        //      (G3).
        //      carries: the words of the levels below, changed before this one is told.
        //      sees: the parent that the group got before it was swapped by (G2).
        //      killed by: activate_swap_acquire, activate_swap_release
        do next = seen.activated(child, Config::steps::take_over_at_once ? g->how() : pick::first);
        while (!g->word().compare_exchange_weak(seen, next, orders::activate_swap, orders::activate_retry));
        if constexpr (!Config::steps::take_over_at_once) detail::take_over_late(*g, child);
        const bool goes_on = !seen.has_migrator() && (Config::steps::first_wake_goes_on || g->how() == pick::first);
        group<Config>* const up = goes_on || Config::tracer::enabled ? g->parent() : nullptr;
        detail::report_word<event::group_set_cpu_active>(tracer, *g, up, next, child, on);
        if (!goes_on || up == nullptr) return;
        child = g->groupmask();
        g = up;
    }
}

/// A child of `start` became inactive: clears it in the groups from `start` upwards, up
/// to the first that stays active.
///
/// A group's bit is cleared only while the group is idle: a group that woke up again
/// behind the walk keeps it. The walk goes on from a group that was idle before: it was
/// late, or the tree grew and the parent may not know (docs/algorithm.md, "Growth").
///
/// With expiries, every group is told what the one below offers before it is told that the
/// one below sleeps, and the result is what the caller has to arm: the earliest expiry of
/// all when it leaves the whole tree idle, else `never`. Without, it is always `never`.
///
/// Called by the thread that acts for `child`, whose slot it has written. Lock-free,
/// allocates nothing, throws nothing. Gives the caller no ordering for its own data.
/// Source: Linux 6.9, tmigr_inactive_up; the rule about idle groups and the order of
/// publishing and resigning are ours (docs/algorithm.md, "Publish before you resign").
template <hierarchy_config Config>
ticks walk_inactive(group<Config>& start, typename Config::state::mask_type child, cpu_id on,
                   typename Config::tracer& tracer) noexcept {
    using orders = typename Config::orders;
    const group<Config>* below = nullptr;
    for (group<Config>* g = &start;;) {
        detail::report_visit(*g);
        if constexpr (has_expiries<Config> && Config::steps::publish_first)
            if (below != nullptr) refresh(*g, *below, on, tracer);
        // (D1) acquire load of group.word; pairs with (A2), (G2), (G5).
        //      sees: a wake-up of the group below, if its news is already in this word; so
        //      (D2) is not older than what (D3) compares with. And the parent that the group
        //      got before it was swapped by (G2).
        //      killed by: deactivate_load_relaxed
        auto seen = g->word().load(orders::deactivate_load);
        typename Config::state next;
        do {
            // (D2) relaxed load of the word below: ordered after (D1) or a failed (D3). A
            //      wake-up that it misses has not swapped this group yet, and will.
            const bool awake_again = Config::steps::clear_only_idle && below != nullptr &&
                                     below->word().load(orders::deactivate_child_load).is_active();
            next = awake_again ? seen.touched() : seen.deactivated(child);
            // (D3) acq_rel swap of group.word, acquire on failure; pairs with (A2), (G2), (G3),
            //      (G5), and with (N2), (S3), (Q3).
            //      failure: as (D1), and (D2) must be read afresh.
            //      killed by: deactivate_retry_relaxed
            //      success: carries that the groups below are idle. It acquires only because its
            //      failure does (docs/memory-orders.md, "What could be lowered").
            //      killed by: sleep_swap_acquire
            //      With expiries it is seq_cst: against (N1), (N2) and (S1) to (S4) either the
            //      one who sleeps sees the slot or the other sees the group idle.
            //      killed by: deactivate_swap_acq_rel, deactivate_swap_acquire
        } while (!g->word().compare_exchange_weak(seen, next, orders::deactivate_swap, orders::deactivate_retry));
        const bool goes_on = !next.is_active() && (Config::steps::leave_idle_groups || seen.is_active());
        group<Config>* const up = goes_on || Config::tracer::enabled ? g->parent() : nullptr;
        detail::report_word<event::group_set_cpu_inactive>(tracer, *g, up, next, child, on);
        if constexpr (has_expiries<Config> && !Config::steps::publish_first)
            if (below != nullptr) refresh(*g, *below, on, tracer);
        if (!goes_on) return never;
        if (up == nullptr) {
            if constexpr (has_expiries<Config>) return earliest(*g);
            return never;
        }
        child = g->groupmask();
        below = g;
        g = up;
    }
}

}  // namespace tmigr

#endif
