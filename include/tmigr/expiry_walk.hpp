// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXPIRY_WALK_HPP
#define TMIGR_EXPIRY_WALK_HPP

#include <tmigr/config.hpp>
#include <tmigr/cpu_seat.hpp>
#include <tmigr/detail/prefetch.hpp>
#include <tmigr/group.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tmigr {

// Expiries: what a group offers to its parent, and how the offer gets there.
//
// Offer of a CPU: its next expiry while it sleeps, `never` while it is awake. Offer of a
// group: `never` while it is active, since its migrator looks after what is below; else
// the earliest of its slots. What holds whenever no walk is in flight (numbers as in
// invariants.hpp):
//   4  covered  every expiry of a sleeper is below an active migrator, or armed by somebody
//   5  no-late  the slot of an idle group or CPU is not later than what lies below it
// A slot may be early: then somebody wakes for nothing. It is never late.

namespace detail {

/// The soonest of `Count` slots from `Place` on, as its word. In halves, so that no comparison
/// waits for all those before.
template <hierarchy_config Config, unsigned Place, unsigned Count>
typename Config::slot::word_type soonest(const slot_table<Config>& table) noexcept {
    if constexpr (Count == 1) {
        // (S1) seq_cst load of a slot; pairs with (N1), (S4), (O1).
        //      after (D3) or (S3): an expiry that was published before is seen, or its
        //      publisher sees in (N2), (S3) what was done before.
        //      killed by: slot_scan_acquire
        return table.slots()[Place].load(Config::orders::slot_scan).word();
    } else {
        const auto lower = soonest<Config, Place, Count / 2>(table);
        const auto upper = soonest<Config, Place + Count / 2, Count - Count / 2>(table);
        return upper < lower ? upper : lower;
    }
}

}  // namespace detail

/// The earliest expiry in the slots of a group. Wait-free, one load per child.
template <hierarchy_config Config>
    requires has_expiries<Config>
ticks earliest(const group<Config>& g) noexcept {
    return Config::slot::due_of(detail::soonest<Config, 0, slot_table<Config>::children>(g.table()));
}

/// Whether anything in the slots of a group is due by `now`. Wait-free, one load per child at most.
template <hierarchy_config Config>
    requires has_expiries<Config>
bool anything_due(const group<Config>& g, ticks now) noexcept {
    // Unrolled: a loop's own steps would take as long as the loads.
    return [&]<std::size_t... Place>(std::index_sequence<Place...>) {
        return (g.table().slots()[Place].load(Config::orders::slot_scan).is_due_by(now) || ...);  // (S1)
    }(std::make_index_sequence<slot_table<Config>::children>());
}

namespace detail {

/// What a trace tells of a slot of `g` that was just written: the one of `child`, or, where
/// that is null, of the CPU `owner`. Looks around in the tree, but only where events are made.
template <hierarchy_config Config>
void report_slot(typename Config::tracer& tracer, const group<Config>* child, cpu_id owner, const group<Config>& g,
                 ticks before, ticks offer, cpu_id on) noexcept {
    if constexpr (Config::tracer::enabled) {
        for (const group<Config>* at = child; at != nullptr;) {
            const ticks first = earliest(*at);
            const group<Config>* next = nullptr;
            // What is told may be out of date, as (Q2) says.
            for (unsigned place = 0; first != never && place < group<Config>::state::children; ++place) {
                if (at->table().slots()[place].load(Config::orders::slot_query).due() != first) continue;
                if (at->level() > 0)
                    next = at->down().group_at(place);
                else if (const auto* seat = at->down().cpu_at(place))
                    owner = seat->id();
                break;
            }
            at = next;
        }
        tracer.trace(event::update_events{child != nullptr ? child->id() : no_group, g.id(), g.level(),
                                          child != nullptr ? std::uint64_t{child->current().active()} : 0,
                                          g.current().active(), event::time(offer), event::time(earliest(g)),
                                          event::time(before), owner},
                     on);
    }
}

}  // namespace detail

/// Brings the slot that `parent` keeps for `child` up to date: afterwards it holds an offer
/// that `child` made after this call began, or a later one. Any thread, at any time.
///
/// Wait-free: two attempts are enough, because when both fail another refresh began after
/// this one did and has written. The slot is written even when the value stays the same: a
/// skipped write would let a slower refresh put an older offer over a newer one. `on` is the
/// CPU that appears in traces. The caller found the way from the child to the parent.
///
/// Source: the double refresh of f-arrays (Jayanti, PODC 2002), on one child.
template <hierarchy_config Config>
    requires has_expiries<Config>
void refresh(group<Config>& parent, const group<Config>& child, cpu_id on, typename Config::tracer& tracer) noexcept {
    auto& cell = parent.table().slot_of(child.groupmask());
    detail::about_to_write(cell);
    for (int attempt = 0; attempt < Config::steps::refresh_attempts; ++attempt) {
        // (S2) seq_cst load of the slot; pairs with (S4).
        //      an attempt counts only if it failed against a swap that came after this
        //      load: a stale value would make it void.
        //      killed by: refresh_load_acquire
        auto seen = cell.load(Config::orders::refresh_load);
        // (S3) seq_cst load of the child's word; pairs with (D3).
        //      an offer of `never` is made only while the child is active in truth.
        //      killed by: refresh_state_acquire
        const bool active = child.word().load(Config::orders::refresh_state).is_active();
        const ticks offer = active ? never : earliest(child);
        if constexpr (!Config::steps::write_unchanged_slot)
            if (seen.due() == offer) return;
        // (S4) seq_cst swap of the slot, relaxed on failure; pairs with (S1), (S2).
        //      before (N2) or (D3) one level up: published before that is looked at.
        //      killed by: refresh_swap_acq_rel
        if (cell.compare_exchange_strong(seen, seen.by_other(offer), Config::orders::refresh_swap,
                                         Config::orders::refresh_retry)) {
            detail::report_slot<Config>(tracer, &child, on, parent, seen.due(), offer, on);
            return;
        }
    }
}

/// An idle CPU wrote another expiry into its slot of `leaf`: tells the groups above, as far
/// as nobody awake would see it anyway. Returns what the caller has to arm: the earliest of
/// all when the whole tree is idle, else `never`.
///
/// Called by the CPU's owner. Wait-free, allocates nothing.
template <hierarchy_config Config>
    requires has_expiries<Config>
ticks walk_new_expiry(group<Config>& leaf, cpu_id on, typename Config::tracer& tracer) noexcept {
    for (group<Config>* g = &leaf;;) {
        // (N2) seq_cst load of group.word; pairs with (D3). After (N1) or (S4) wrote a slot of
        //      this group: either the last to leave it sees that slot, or it is seen idle.
        //      killed by: new_state_acquire
        if (g->word().load(Config::orders::new_state_load).is_active()) return never;
        // (N3) seq_cst load of group.parent; pairs with (G1). After (N1) or (S4), as (N2).
        //      killed by: new_parent_acquire
        group<Config>* const up = g->parent(Config::orders::new_parent_load);
        if (up == nullptr) return earliest(*g);
        refresh(*up, *g, on, tracer);
        g = up;
    }
}

}  // namespace tmigr

#endif
