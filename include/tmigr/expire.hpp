// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXPIRE_HPP
#define TMIGR_EXPIRE_HPP

#include <tmigr/cpu_seat.hpp>
#include <tmigr/expiry_walk.hpp>
#include <tmigr/group.hpp>

#include <algorithm>

namespace tmigr {

// Remote expiry: somebody awake, or the one who armed, runs the due timers of sleepers.
//
// Orders. What an expirer reads too late or writes too late only makes a slot early: due
// times that it works on have passed, those that it writes are later. So (X1) and (X4) are
// relaxed, and what must not be missed goes up through refresh, with (S1) to (S4).

namespace detail {

/// The claim on a sleeper: one expirer at a time works on it. Given up when the scope ends,
/// however it ends.
template <hierarchy_config Config>
class claim {
public:
    explicit claim(cpu_seat<Config>& seat) noexcept : cell_(seat.claimed()) {
        if constexpr (!Config::steps::claim_sleepers) return;
        std::uint32_t free = 0;
        // (X2) acquire swap of seat.claimed; pairs with (X3).
        //      sees: what the previous expirer of this CPU did to its timers.
        //      killed by: claim_swap_relaxed
        held_ = cell_.compare_exchange_strong(free, 1, Config::orders::claim_swap, Config::orders::claim_retry);
    }
    claim(const claim&) = delete;
    claim& operator=(const claim&) = delete;
    ~claim() {
        // (X3) release store of seat.claimed; pairs with (X2).
        //      carries: what `run` did to the timers of the CPU.
        //      killed by: claim_release_relaxed
        if (Config::steps::claim_sleepers && held_) cell_.store(0, Config::orders::claim_release);
    }
    explicit operator bool() const noexcept { return held_; }

private:
    typename cpu_seat<Config>::flag_cell& cell_;
    bool held_ = true;
};

/// The one who expires: what a walk needs to know of it.
template <hierarchy_config Config, class Run>
struct expirer {
    ticks now;
    Run& run;
    cpu_id on;
    typename Config::tracer& tracer;

    template <class Event>
    void report(const Event& what) const noexcept {
        if constexpr (Config::tracer::enabled) tracer.trace(what, on);
    }
};

template <hierarchy_config Config, class Run>
void expire_cpu(group<Config>& leaf, unsigned place, const expirer<Config, Run>& me) {
    using mask_type = typename group<Config>::mask_type;
    auto& cell = leaf.table().slot(place);
    // Not null: whoever wrote a due slot, (O1) or (N1), had its seat.
    cpu_seat<Config>& sleeper = *leaf.down().cpu_at(place);
    {
        const claim<Config> mine(sleeper);
        if (!mine) return;
        // A CPU whose bit is set may just have published on its way to sleep: its slot is
        // its own, and its own walk makes it known. (X1) relaxed load of the word: when it is
        // stale, (X4) finds what the owner wrote on waking.
        if (leaf.word().load(Config::orders::expire_state_load).is_active(static_cast<mask_type>(mask_type{1} << place)))
            return;
        auto seen = cell.load(Config::orders::slot_scan);  // (S1)
        if (!is_due(seen.due(), me.now)) return;
        me.report(event::handle_remote_cpu{sleeper.id(), leaf.id(), event::never});
        const ticks next = me.run(sleeper.id(), me.now);
        if constexpr (!Config::steps::owner_wins) {
            cell.store(seen.by_other(next), Config::orders::expire_slot_swap);
            return;
        }
        // (X4) relaxed swap of the slot: when the owner wrote meanwhile its word stays.
        if (cell.compare_exchange_strong(seen, seen.by_other(next), Config::orders::expire_slot_swap,
                                         Config::orders::expire_slot_retry))
            detail::report_slot<Config>(me.tracer, nullptr, sleeper.id(), leaf, seen.due(), next, me.on);
    }
}

/// Works off what is due in the slots of a group, each slot once, and says whether anything
/// was. `done` is the child whose own slots were worked off before, if any: what is due there
/// still is not for this call. The group's slot in its parent is the caller's to refresh.
template <hierarchy_config Config, class Run>
bool expire_due(group<Config>& g, const expirer<Config, Run>& me, const group<Config>* done = nullptr) {
    me.report(event::handle_remote{g.id(), g.level()});
    bool any = false;
    // (S1) of the slots, (X1) of the words, as where they are explained.
    for (unsigned place = 0; place < group<Config>::state::children; ++place) {
        if (!is_due(g.table().slot(place).load(Config::orders::slot_scan).due(), me.now)) continue;
        any = true;
        if (g.level() == 0) {
            expire_cpu(g, place, me);
        } else {
            // Not null: whoever wrote the slot had found the link, which is made later.
            group<Config>& child = *g.down().group_at(place);
            // The slot of an active group is out of date: its own migrator sees to it.
            if (&child != done && !child.word().load(Config::orders::expire_state_load).is_active())
                expire_due(child, me);
            refresh(g, child, me.on, me.tracer);  // NOLINT(clang-analyzer-core.NonNullParamChecker): as said above
        }
    }
    return any;
}

}  // namespace detail

/// Runs what is due below the groups that `child` of `leaf` looks after: from the bottom up,
/// every group where it is migrator, or nobody is. Returns what the caller has to arm if it
/// sleeps: the earliest of all when the whole tree is idle, else `never`.
///
/// Ends: each slot on the way is looked at once. Lock-free but for what `run` does. When
/// `run` throws, the slot of the sleeper stays, its claim is given up, and groups above
/// may be left with slots that are early.
template <hierarchy_config Config, class Run>
    requires has_expiries<Config>
ticks walk_expire(group<Config>& leaf, typename group<Config>::mask_type child, ticks now, Run& run, cpu_id on,
                  typename Config::tracer& tracer) {
    const detail::expirer<Config, Run> me{now, run, on, tracer};
    const group<Config>* below = nullptr;
    ticks first = never;
    for (group<Config>* g = &leaf;;) {
        // (X1) relaxed load of the word: whoever is in charge in truth looks for itself.
        const auto word = g->word().load(Config::orders::expire_state_load);
        if (word.has_migrator() && word.migrator() != child) return never;
        const bool any = detail::expire_due(*g, me, below);
        const bool idle = !g->word().load(Config::orders::expire_state_load).is_active();
        group<Config>* const up = g->parent();
        // On every level: a new root may not know yet what the groups below it wait for, and
        // whoever grows the tree relies on it that who armed that keeps it armed (carry_up).
        if (idle && (Config::steps::remember_lower_groups || up == nullptr))
            first = std::min(first, earliest(*g));
        if (up == nullptr) return idle ? first : never;
        if (any) refresh(*up, *g, on, tracer);
        child = g->groupmask();
        below = g;
        g = up;
    }
}

}  // namespace tmigr

#endif
