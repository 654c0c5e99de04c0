// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_GROWTH_HPP
#define TMIGR_GROWTH_HPP

#include <tmigr/config.hpp>
#include <tmigr/expiry_walk.hpp>
#include <tmigr/group.hpp>
#include <tmigr/walk.hpp>

namespace tmigr {

// Growth while others walk: one thread at a time adds groups, from the top down, so that a
// link is made only when all above it is in place. Nobody waits for it.
//
// The old root is the only group with walkers that gets a parent. Whoever swaps its word
// before (G2) may have missed the link, and (G2) sees what it did; whoever swaps it after
// (G2) sees the link and tells the new root itself.

/// Puts `child` below `parent`, for all to see. Called by the one who grows the tree, once
/// for each child. Wait-free.
template <hierarchy_config Config>
void link_below(group<Config>& child, typename Config::state::mask_type mask, group<Config>& parent) noexcept {
    if constexpr (Config::steps::mask_before_link) child.set_groupmask(mask);
    parent.down().set(mask, &child);
    child.set_parent(&parent);
    if constexpr (!Config::steps::mask_before_link) child.set_groupmask(mask);
}

/// `carried` may be active without the groups above knowing of it, since it just got there:
/// tells them, up to the first that had a migrator already, as long as it is true. One
/// that falls asleep meanwhile is not made active behind its back.
///
/// Lock-free, allocates nothing. Source: ours; Linux 7.2 does it on a CPU that is awake
/// below it, so that it cannot fall asleep meanwhile.
template <hierarchy_config Config>
void walk_carried(group<Config>& carried, cpu_id on, typename Config::tracer& tracer) noexcept {
    using orders = typename Config::orders;
    group<Config>* child = &carried;
    for (group<Config>* g = child->parent(); g != nullptr; child = g, g = g->parent()) {
        detail::report_visit(*g);
        // (G3) acquire load of group.word; pairs with (A2), (D3).
        //      sees: what the child's last walk to this group left below, so that (G4) is not
        //      older than what (G5) compares with.
        //      killed by: carry_load_relaxed
        auto seen = g->word().load(orders::carry_load);
        typename Config::state next;
        do {
            // (G4) relaxed load of the child's word: ordered after (G3) or a failed (G5).
            if (Config::steps::carry_only_active && !child->word().load(orders::carry_child_load).is_active())
                return;
            next = seen.activated(child->groupmask(), g->how());
            // (G5) acq_rel swap of group.word, acquire on failure; pairs with (D1), (D3).
            //      carries: that the child was active. Failure: as (G3); it acquires because of that.
            //      killed by: carry_swap_acquire, carry_retry_relaxed
        } while (!g->word().compare_exchange_weak(seen, next, orders::carry_swap, orders::carry_retry));
        detail::report_word<event::group_set_cpu_active>(tracer, *g, g->parent(), next, child->groupmask(), on);
        if (seen.has_migrator()) return;
    }
}

/// The old root just got a parent: makes sure that whoever wakes or sleeps below it from
/// now on sees that, and tells the groups above what they have missed, whether it is active
/// and what its sleepers wait for. Called by the one who grows the tree.
///
/// Nothing is left to be armed: who armed the old root's earliest expiry still does.
/// Lock-free, allocates nothing. Source: Linux 7.2 (a swap after the link), and ours.
template <hierarchy_config Config>
void carry_up(group<Config>& old_root, cpu_id on, typename Config::tracer& tracer) noexcept {
    using orders = typename Config::orders;
    // (G2) release swap of group.word; pairs with (A2), (D1), (D3).
    //      carries: the link (G1). A walker comes before and is seen, or after and sees it.
    //      killed by: grow_swap_relaxed, load_instead_of_swap
    //      The load before is a first guess, as (A1).
    auto seen = old_root.word().load(orders::activate_load);
    if constexpr (Config::steps::swap_after_link)
        while (!old_root.word().compare_exchange_weak(seen, seen.touched(), orders::grow_swap,
                                                      orders::grow_retry)) {
        }
    if (seen.is_active()) walk_carried<Config>(old_root, on, tracer);
    if constexpr (has_expiries<Config> && Config::steps::refresh_after_link) {
        group<Config>* child = &old_root;
        for (group<Config>* g = child->parent(); g != nullptr; child = g, g = g->parent())
            refresh(*g, *child, on, tracer);
    }
}

}  // namespace tmigr

#endif
