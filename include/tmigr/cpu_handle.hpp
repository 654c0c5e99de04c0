// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_CPU_HANDLE_HPP
#define TMIGR_CPU_HANDLE_HPP

#include <tmigr/config.hpp>
#include <tmigr/cpu_seat.hpp>
#include <tmigr/expire.hpp>
#include <tmigr/group.hpp>
#include <tmigr/walk.hpp>

#include <algorithm>

namespace tmigr {

/// A CPU of a hierarchy: cheap to copy, good as long as the hierarchy lives.
///
/// `activate` and `deactivate` belong to the CPU's owner: one thread at a time, each call
/// ordered before the next (a scheduler that moves a CPU from thread to thread must
/// synchronise them itself). Handles of different CPUs are independent.
template <hierarchy_config Config>
class cpu_handle {
public:
    using group_type = group<Config>;
    using mask_type = typename group_type::mask_type;

    explicit cpu_handle(cpu_seat<Config>& seat) noexcept : seat_(&seat) {}

    /// The CPU leaves idle. Precondition: it is idle (checked as `Config::misuse` says).
    /// Lock-free; without contention one read-modify-write per level up to the first where
    /// somebody else is awake already. Gives no ordering for the caller's own data.
    void activate() const noexcept {
        Config::misuse::check(!seat_->awake_.get(), "activate: the CPU is idle");
        seat_->awake_.set(true);
        // (O2) relaxed store of the own slot: who still sees the old expiry is early. Before
        //      the walk, so that an expirer's late (X4) finds another word.
        if constexpr (has_expiries<Config>) store_slot(never, Config::orders::wake_slot_store);
        if constexpr (Config::tracer::enabled)
            seat_->tracer_->trace(event::cpu_active{seat_->id_, seat_->leaf_->id(), event::never}, seat_->id_);
        walk_active<Config>(*seat_->leaf_, seat_->childmask_, seat_->id_, *seat_->tracer_);
    }

    /// The CPU enters idle. Precondition: it is awake (checked as `Config::misuse` says).
    /// Lock-free; without contention one read-modify-write per level up to the first where
    /// somebody else is still awake. Gives no ordering for the caller's own data.
    void deactivate() const noexcept
        requires(!has_expiries<Config>)
    {
        fall_asleep();
        walk_inactive<Config>(*seat_->leaf_, seat_->childmask_, seat_->id_, *seat_->tracer_);
        report_idle(never, never);
    }

    /// The CPU enters idle; `due` is its next global expiry. Returns what it has to arm in
    /// its own hardware besides its own pinned timers: the earliest expiry of all when it
    /// leaves the whole tree idle, else `never`, since somebody awake looks after `due`.
    /// A `due` that has passed is allowed and may be returned at once; one beyond
    /// `slot::latest` is cut to that.
    ///
    /// Precondition: it is awake (checked as `Config::misuse` says). Lock-free; without
    /// contention one read-modify-write per level up to the first where somebody else is
    /// still awake, and one more for each of these above the first. Gives no ordering for
    /// the caller's own data.
    [[nodiscard]] ticks deactivate(ticks due) const noexcept
        requires has_expiries<Config>
    {
        fall_asleep();
        // (O1) relaxed store of the own slot: (D3) follows and releases it. Nobody else
        //      writes the slot of a CPU that is awake.
        store_slot(due, Config::orders::sleep_slot_store);
        const ticks arm = walk_inactive<Config>(*seat_->leaf_, seat_->childmask_, seat_->id_, *seat_->tracer_);
        report_idle(due, arm);
        return arm;
    }

    /// The idle CPU got another next expiry, earlier or later than before. Returns what it
    /// has to arm, as `deactivate` does.
    /// Precondition: it is idle (checked). Wait-free: one store, and two attempts of a
    /// read-modify-write for every idle level below the top.
    [[nodiscard]] ticks new_expiry(ticks due) const noexcept
        requires has_expiries<Config>
    {
        Config::misuse::check(!seat_->awake_.get(), "new_expiry: the CPU is idle");
        // (N1) seq_cst store of the own slot; pairs with (S1), before (N2).
        //      killed by: new_slot_release
        store_slot(due, Config::orders::new_slot_store);
        return walk_new_expiry<Config>(*seat_->leaf_);
    }

    /// What `deactivate(due)` would return now: a forecast, early rather than late, and out
    /// of date as soon as anybody moves. Changes nothing. Wait-free.
    [[nodiscard]] ticks peek(ticks due) const noexcept
        requires has_expiries<Config>
    {
        ticks first = due;
        mask_type mine = seat_->childmask_;
        for (const group_type* g = seat_->leaf_;; mine = g->groupmask(), g = g->parent()) {
            if ((g->current().active() & ~mine) != 0) return never;
            for (unsigned place = 0; place < group_type::state::children; ++place)
                if (mask_type{1} << place != mine)
                    first = std::min(first, g->table().slots()[place].load(Config::orders::query_load).due());
            if (g->parent() == nullptr) return first;
        }
    }

    /// Whether something is due by `now` that is this CPU's to run: in its own group, or in
    /// one above as long as it is the migrator there or nobody is. May be true for nothing.
    /// Wait-free, changes nothing.
    [[nodiscard]] bool must_expire(ticks now) const noexcept
        requires has_expiries<Config>
    {
        mask_type mine = seat_->childmask_;
        for (const group_type* g = seat_->leaf_; g != nullptr; mine = g->groupmask(), g = g->parent()) {
            const auto word = g->current();
            if (word.has_migrator() && word.migrator() != mine) return false;
            if (is_due(earliest(*g), now)) return true;
        }
        return false;
    }

    /// Runs what is due by `now` and this CPU's to run. `run(sleeper, now)` is called for
    /// every sleeper with something due, the CPU itself included when it sleeps; it runs
    /// that CPU's due timers and returns the CPU's next expiry. Each sleeper comes at most
    /// once per call, so the call ends. Returns what this CPU has to arm if it sleeps.
    ///
    /// `run` may use the tree through handles of CPUs that its thread acts for, but not
    /// expire on behalf of the CPU that it is called by. When it throws, the sleeper's
    /// expiry stays where it was, the claim is given up, and the exception goes on.
    /// Lock-free but for what `run` does.
    template <class Run>
    ticks expire(ticks now, Run&& run) const
        requires has_expiries<Config>
    {
        return walk_expire<Config>(*seat_->leaf_, seat_->childmask_, now, run);
    }

    /// Whether the CPU counts as awake in its group: any thread may ask, the answer may
    /// be stale when it returns. One relaxed load.
    bool is_active() const noexcept { return seat_->leaf_->current().is_active(seat_->childmask_); }

    cpu_id id() const noexcept { return seat_->id_; }
    /// The group of level 0 that the CPU is a child of, by the bit `childmask()`.
    const group_type& leaf() const noexcept { return *seat_->leaf_; }
    mask_type childmask() const noexcept { return seat_->childmask_; }

private:
    void fall_asleep() const noexcept {
        Config::misuse::check(seat_->awake_.get(), "deactivate: the CPU is awake");
        seat_->awake_.set(false);
    }
    void report_idle(ticks due, ticks arm) const noexcept {
        if constexpr (Config::tracer::enabled)
            seat_->tracer_->trace(event::cpu_idle{seat_->id_, seat_->leaf_->id(), event::time(due), event::time(arm)},
                                  seat_->id_);
    }
    template <class Order>
    void store_slot(ticks due, Order order) const noexcept {
        auto& cell = seat_->leaf_->table().slot_of(seat_->childmask_);
        // relaxed: only the tag matters, and it must differ only from the owner's last.
        cell.store(cell.load(Config::atomics::relaxed).by_owner(due), order);
    }

    cpu_seat<Config>* seat_;
};

}  // namespace tmigr

#endif
