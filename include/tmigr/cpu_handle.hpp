// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_CPU_HANDLE_HPP
#define TMIGR_CPU_HANDLE_HPP

#include <tmigr/config.hpp>
#include <tmigr/cpu_seat.hpp>
#include <tmigr/expire.hpp>
#include <tmigr/group.hpp>
#include <tmigr/query.hpp>
#include <tmigr/walk.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tmigr {

/// What a CPU that stops to take part leaves behind.
struct departure {
    /// What this CPU has to arm for itself: its own next expiry, which nobody else looks
    /// after any more. `never` when it is awake.
    ticks arm = never;
    /// The earliest expiry of others that perhaps nobody looks after now; `never`: none. (A
    /// sleeper that leaves a sleeping tree cannot know who is armed for what.)
    ticks due = never;
    /// Who is to take `due` over: a CPU of this hierarchy that takes part. It must be woken, and
    /// `activate`, or look with `expire` while it sleeps, and arm what it is told; that is all.
    /// One that leaves before it wakes need not: its own departure names the next. Of separate
    /// trees it is a CPU of the same. Empty when nobody of this tree takes part any more: then
    /// nothing is left behind, since all who left look after their own.
    std::optional<cpu_id> by{};

    friend bool operator==(const departure&, const departure&) = default;
};

/// A CPU of a hierarchy: cheap to copy, good as long as the hierarchy lives.
///
/// All but `kick` and the queries belong to the CPU's owner: one thread at a time, each call
/// ordered before the next (a scheduler that moves a CPU from thread to thread must
/// synchronise them itself). Handles of different CPUs are independent.
///
/// A CPU takes part from when it is added until it leaves. One that does not take part
/// neither serves others nor is served: `activate` and `deactivate` only note what it does,
/// expiries are handed back unchanged, and nothing is ever due that is its to run.
template <hierarchy_config Config>
class cpu_handle {
public:
    using group_type = group<Config>;
    using mask_type = typename group_type::mask_type;

    explicit cpu_handle(cpu_seat<Config>& seat) noexcept : seat_(&seat) {}

    /// The CPU leaves idle. Precondition: it is idle (checked as `Config::misuse` says).
    /// Lock-free; without contention one read-modify-write per level up to the first where
    /// somebody else is awake already. Answers kicks; else gives no ordering for the
    /// caller's own data.
    void activate() const noexcept {
        Config::misuse::check(!seat_->awake_.get(), "activate: the CPU is idle");
        seat_->awake_.set(true);
        answer_kick();
        if (seat_->takes_part_.get())
            wake_up();
        else
            seat_->armed_.set(never);
    }
    /// The CPU enters idle. Precondition: it is awake (checked as `Config::misuse` says).
    /// Lock-free; without contention one read-modify-write per level up to the first where
    /// somebody else is still awake. Gives no ordering for the caller's own data.
    void deactivate() const noexcept
        requires(!has_expiries<Config>)
    {
        fall_asleep();
        if (!seat_->takes_part_.get()) return;
        walk_inactive<Config>(*seat_->leaf_, seat_->childmask_, seat_->id_, *seat_->tracer_);
        report_idle(never, never);
    }

    /// The CPU enters idle; `due` is its next global expiry. Returns what it has to arm in
    /// its own hardware besides its own pinned timers: the earliest expiry of all when it
    /// leaves the whole tree idle, else `never`, since somebody awake looks after `due`. It
    /// must stay armed until an operation of this CPU returns something else, or it wakes.
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
        if (!seat_->takes_part_.get()) return alone(due);
        // (O1) release store of the own slot; pairs with (S1). Nobody else writes the slot of a
        //      CPU that is awake; (D3) makes the expiry known.
        //      carries: that this CPU is there, for whoever meets its expiry before (D3).
        //      killed by: sleep_slot_relaxed
        const auto seen = own_slot();
        own_cell().store(seen.by_owner(due), Config::orders::sleep_slot_store);
        report_own_slot(seen.due(), due);
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
        if (!seat_->takes_part_.get()) return alone(due);
        if constexpr (Config::tracer::enabled)
            if (own_slot().due() != due)
                report(event::cpu_new_timer{id(), leaf().id(), event::time(seat_->armed_.get())});
        const ticks arm = tell_new_expiry(due);
        note_armed(arm);
        report(event::cpu_new_timer_idle{id(), leaf().id(), event::time(due), event::time(arm)});
        return arm;
    }

    /// What `deactivate(due)` would return now: a forecast, early rather than late, and out
    /// of date as soon as anybody moves. Changes nothing. Wait-free.
    [[nodiscard]] ticks peek(ticks due) const noexcept
        requires has_expiries<Config>
    {
        if (!seat_->takes_part_.get()) return due;
        ticks first = due;
        mask_type mine = seat_->childmask_;
        for (const group_type* g = seat_->leaf_;;) {
            // (Q3) acquire load of group.word; pairs with (D3).
            //      sees: the expiry of whoever is seen asleep. So the forecast is not late.
            //      killed by: peek_load_relaxed
            if ((g->word().load(Config::orders::peek_load).active() & ~mine) != 0) return never;
            // (Q2) relaxed loads of the slots: a forecast.
            for (unsigned place = 0; place < group_type::state::children; ++place)
                if (mask_type{1} << place != mine)
                    first = std::min(first, g->table().slots()[place].load(Config::orders::slot_query).due());
            const group_type* const up = g->parent();
            if (up == nullptr) return first;
            mine = g->groupmask();
            g = up;
        }
    }

    /// For a CPU that is awake: whether something is due by `now` that is its to run, in its
    /// own group and on upwards as long as it is the migrator or nobody is. May be true for
    /// nothing. (A CPU that sleeps and is interrupted, or was told to take over, does not ask:
    /// it calls `expire`, due or not, and arms what that returns.)
    /// Wait-free, changes nothing.
    [[nodiscard]] bool must_expire(ticks now) const noexcept
        requires has_expiries<Config>
    {
        if (!seat_->takes_part_.get()) return false;
        mask_type mine = seat_->childmask_;
        for (const group_type* g = seat_->leaf_;;) {
            const auto word = g->current();
            if (word.has_migrator() && word.migrator() != mine) return false;
            if (anything_due(*g, now)) return true;
            const group_type* const up = g->parent();
            if (up == nullptr) return false;
            mine = g->groupmask();
            g = up;
        }
    }

    /// Runs what is due by `now` and this CPU's to run. `run(sleeper, now)` is called for
    /// every sleeper with something due, the CPU itself included when it sleeps; it runs
    /// that CPU's due timers and returns the CPU's next expiry. Each sleeper comes at most
    /// once per call, so the call ends. Returns what this CPU has to arm if it sleeps. That
    /// may be a time that has passed: somebody else is inside `run` for a sleeper, or `run`
    /// returned one; then look again after a tick rather than at once.
    ///
    /// A CPU that does not take part runs nothing here, not even its own timers, and is told
    /// what it armed.
    ///
    /// What is due after `slot::latest` was cut to it: from then on it is due at every call,
    /// and the tree has no use for its owner but early wake-ups. Choose ticks and zero so that
    /// `now` stays below.
    ///
    /// `run` may use the tree through handles of CPUs that its thread acts for, but not
    /// expire on behalf of the CPU that it is called by. When it throws, the sleeper's
    /// expiry stays where it was, the claim is given up, and the exception goes on; a caller
    /// that sleeps has been told nothing then, and has to call again, after a tick.
    /// Lock-free but for what `run` does.
    template <class Run>
    ticks expire(ticks now, Run&& run) const
        requires has_expiries<Config>
    {
        if (!seat_->takes_part_.get()) return seat_->armed_.get();
        const ticks arm =
            walk_expire<Config>(*seat_->leaf_, seat_->childmask_, now, run, id(), *seat_->tracer_);
        note_armed(arm);
        return arm;
    }

    /// The CPU stops to take part: it goes offline, or is set apart from the others. Whoever
    /// it looked after is somebody else's from now on; where nobody is awake, the result says
    /// what has to be taken over, and by whom. A CPU that does not take part leaves nothing
    /// behind but what it has to arm, so that to leave twice does no harm.
    ///
    /// Whoever begins to expire after this call leaves the CPU's timers alone. One that began
    /// before may still call `run` for it, once, also after this call: the timers must stay
    /// until every `expire` that was under way has returned. Lock-free, without contention as
    /// `deactivate` or `new_expiry`; to find a successor, two loads for each CPU asked.
    [[nodiscard]] departure leave() const noexcept {
        if (!seat_->takes_part_.get()) return {.arm = seat_->armed_.get()};
        seat_->takes_part_.set(false);
        // (V1) relaxed store of seat.available; pairs with (V2). Before the walk, whose swaps
        //      and slots carry it to whoever finds all idle after this walk did not.
        //      killed by: available_after_walk
        if constexpr (Config::steps::unavailable_first)
            seat_->available_.store(0, Config::orders::available_store);
        departure left;
        if (seat_->awake_.get()) {
            left.due = walk_inactive<Config>(*seat_->leaf_, seat_->childmask_, seat_->id_, *seat_->tracer_);
        } else if constexpr (has_expiries<Config>) {
            left.arm = own_slot().due();
            left.due = tell_new_expiry(never);
        }
        seat_->armed_.set(left.arm);
        if constexpr (!Config::steps::unavailable_first)
            seat_->available_.store(0, Config::orders::available_store);
        report(event::cpu_unavailable{id(), leaf().id(), event::never});
        if (left.due != never) left.by = seat_->roster_->first_available();
        return left;
    }

    /// The CPU takes part from now on, awake or idle as it is. Returns what it has to arm, as
    /// `deactivate` does; `never` when it is awake. For a CPU that takes part already nothing
    /// changes. Lock-free, without contention as `activate` or `new_expiry`.
    [[nodiscard]] ticks join() const noexcept {
        const bool awake = seat_->awake_.get();
        ticks due = never;
        if (!seat_->takes_part_.get()) {
            seat_->takes_part_.set(true);
            due = seat_->armed_.get();
            // (V1) before the walk, as in leave: who finds this CPU's expiry finds the CPU.
            seat_->available_.store(1, Config::orders::available_store);
            report(event::cpu_available{id(), leaf().id(), event::never});
            if (awake) wake_up();
        }
        if constexpr (has_expiries<Config>) {
            if (awake) return never;
            const ticks arm = due == never ? walk_new_expiry<Config>(*seat_->leaf_, id(), *seat_->tracer_)
                                           : tell_new_expiry(due);
            note_armed(arm);
            return arm;
        }
        return never;
    }

    /// Whether the CPU takes part. For its owner.
    bool takes_part() const noexcept { return seat_->takes_part_.get(); }

    /// Tells the CPU to wake. Returns whether the caller has to send it a signal: false when
    /// somebody told it before and it has not woken since, so that one is under way. The CPU
    /// that received the signal sees what all kickers did before, when its `activate` or
    /// `answer_kick` returns; the signal must order what was before it was sent before what
    /// is after it was received, as futexes, semaphores and file descriptors do.
    ///
    /// Any thread, at any time; also for a CPU that is awake, which then must find the signal
    /// when it next waits, or call `answer_kick` if it takes the signal earlier: a signal
    /// thrown away without that keeps all later kickers silent. A CPU that looks for work by
    /// itself while it is awake can spare others that: it kicks itself after `activate`, and
    /// before it sleeps it calls `answer_kick` and looks once more. A CPU that wakes before it
    /// received its signal can be sent another: the signal must bear that. Lock-free, one
    /// read-modify-write; no locks, no memory.
    bool kick() const noexcept {
        auto& cell = seat_->kicked_;
        // (K3) relaxed load of seat.kicked: a first guess, (K1) decides.
        std::uint32_t seen = cell.load(Config::orders::kick_load);
        // (K1) release swap of seat.kicked, also from 1 to 1; pairs with (K2).
        //      carries: what the kicker wants done.
        //      killed by: kick_swap_relaxed
        while (!cell.compare_exchange_weak(seen, 1, Config::orders::kick_swap, Config::orders::kick_retry)) {
        }
        return seen == 0;
    }

    /// Tells the CPU to wake, unless somebody did so before and it has not woken since. Returns
    /// whether this call did: then the caller, and nobody else, has to send the signal. Of
    /// several callers at once one gets true. Any thread, at any time; as `kick` otherwise, but
    /// a caller that gets false has told nothing. Wait-free, at most one read-modify-write.
    bool kick_if_first() const noexcept {
        auto& cell = seat_->kicked_;
        // (K3), (K1) as in kick.
        std::uint32_t seen = cell.load(Config::orders::kick_load);
        return seen == 0 && cell.compare_exchange_strong(seen, 1, Config::orders::kick_swap, Config::orders::kick_retry);
    }

    /// For the owner, on a signal that does not wake the CPU for good: the next kick needs a
    /// signal again. Returns whether there was a kick. `activate` does it by itself. One
    /// relaxed load when nobody kicked.
    bool answer_kick() const noexcept {
        auto& cell = seat_->kicked_;
        // (K4) relaxed load of seat.kicked: a kick that it misses has a signal under way.
        std::uint32_t seen = cell.load(Config::orders::kicked_load);
        if (seen == 0) return false;
        // (K2) acquire swap of seat.kicked; pairs with (K1).
        //      sees: what the kickers want done, the silent ones too.
        //      killed by: kicked_swap_relaxed
        while (!cell.compare_exchange_weak(seen, 0, Config::orders::kicked_swap, Config::orders::kicked_retry)) {
        }
        return true;
    }

    /// The CPU in charge of this one's tree: the only one, mostly. As `basic_hierarchy::migrator`.
    std::optional<cpu_id> migrator() const noexcept { return find_migrator(*top_of(*seat_->leaf_)); }

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
    void wake_up() const noexcept {
        // (O2) relaxed store of the own slot: who still sees the old expiry is early. Before
        //      the walk, so that an expirer's late (X4) finds another word.
        if constexpr (has_expiries<Config>) {
            const auto seen = own_slot();
            own_cell().store(seen.by_owner(never), Config::orders::wake_slot_store);
            report_own_slot(seen.due(), never);
        }
        if constexpr (Config::tracer::enabled)
            report(event::cpu_active{id(), leaf().id(), event::time(seat_->armed_.get())});
        note_armed(never);
        walk_active<Config>(*seat_->leaf_, seat_->childmask_, seat_->id_, *seat_->tracer_);
    }
    ticks tell_new_expiry(ticks due) const noexcept {
        // (N1) seq_cst store of the own slot; pairs with (S1). Before (N2), (N3).
        //      killed by: new_slot_release
        detail::about_to_write(own_cell());
        const auto seen = own_slot();
        own_cell().store(seen.by_owner(due), Config::orders::new_slot_store);
        report_own_slot(seen.due(), due);
        return walk_new_expiry<Config>(*seat_->leaf_, id(), *seat_->tracer_);
    }
    ticks alone(ticks due) const noexcept {
        seat_->armed_.set(due);
        return due;
    }
    auto& own_cell() const noexcept { return seat_->leaf_->table().slot_of(seat_->childmask_); }
    auto own_slot() const noexcept {
        // (O3) relaxed load of the own slot: only the tag matters, and it must differ only from
        //      the owner's last; a due time that is out of date is early.
        return own_cell().load(Config::orders::own_slot_load);
    }
    // Each stores for itself: an order that comes as an argument is not known when the store is
    // compiled, which then is the strongest and dearest.
    void report_own_slot([[maybe_unused]] ticks before, [[maybe_unused]] ticks due) const noexcept {
        // Linux tells of no update when a CPU wakes, which just makes it ignore its expiry.
        if constexpr (Config::tracer::enabled)
            if (!seat_->awake_.get())
                detail::report_slot<Config>(*seat_->tracer_, nullptr, id(), *seat_->leaf_, before, due, id());
    }

    template <class Event>
    void report(const Event& what) const noexcept {
        if constexpr (Config::tracer::enabled) seat_->tracer_->trace(what, id());
    }
    void report_idle(ticks due, ticks arm) const noexcept {
        note_armed(arm);
        report(event::cpu_idle{id(), leaf().id(), event::time(due), event::time(arm)});
    }
    void note_armed(ticks arm) const noexcept {
        if constexpr (Config::tracer::enabled) seat_->armed_.set(arm);
    }

    cpu_seat<Config>* seat_;
};

}  // namespace tmigr

#endif
