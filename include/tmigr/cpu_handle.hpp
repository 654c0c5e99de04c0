// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_CPU_HANDLE_HPP
#define TMIGR_CPU_HANDLE_HPP

#include <tmigr/config.hpp>
#include <tmigr/group.hpp>
#include <tmigr/walk.hpp>

namespace tmigr {

/// The place of one CPU in the tree, on a cache line of its own. Only the CPU's owner,
/// the thread that acts for it, writes here.
template <hierarchy_config Config>
class alignas(Config::cache_line) cpu_seat {
public:
    using group_type = group<Config>;
    using mask_type = typename group_type::mask_type;

    cpu_seat(cpu_id id, group_type& leaf, mask_type childmask, typename Config::tracer& tracer) noexcept
        : leaf_(&leaf), childmask_(childmask), id_(id), tracer_(&tracer) {}
    cpu_seat(const cpu_seat&) = delete;
    cpu_seat& operator=(const cpu_seat&) = delete;

private:
    template <hierarchy_config>
    friend class cpu_handle;

    group_type* leaf_;
    mask_type childmask_;
    cpu_id id_;
    typename Config::tracer* tracer_;
    typename Config::atomics::template var<bool> awake_{false};
};

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
        if constexpr (Config::tracer::enabled)
            seat_->tracer_->trace(event::cpu_active{seat_->id_, seat_->leaf_->id(), event::never}, seat_->id_);
        walk_active<Config>(*seat_->leaf_, seat_->childmask_, seat_->id_, *seat_->tracer_);
    }

    /// The CPU enters idle. Precondition: it is awake (checked as `Config::misuse` says).
    /// Lock-free; without contention one read-modify-write per level up to the first where
    /// somebody else is still awake. Gives no ordering for the caller's own data.
    void deactivate() const noexcept {
        Config::misuse::check(seat_->awake_.get(), "deactivate: the CPU is awake");
        seat_->awake_.set(false);
        walk_inactive<Config>(*seat_->leaf_, seat_->childmask_, seat_->id_, *seat_->tracer_);
        if constexpr (Config::tracer::enabled)
            seat_->tracer_->trace(
                event::cpu_idle{seat_->id_, seat_->leaf_->id(), event::never, event::never}, seat_->id_);
    }

    /// Whether the CPU counts as awake in its group: any thread may ask, the answer may
    /// be stale when it returns. One relaxed load.
    bool is_active() const noexcept { return seat_->leaf_->current().is_active(seat_->childmask_); }

    cpu_id id() const noexcept { return seat_->id_; }
    /// The group of level 0 that the CPU is a child of, by the bit `childmask()`.
    const group_type& leaf() const noexcept { return *seat_->leaf_; }
    mask_type childmask() const noexcept { return seat_->childmask_; }

private:
    cpu_seat<Config>* seat_;
};

}  // namespace tmigr

#endif
