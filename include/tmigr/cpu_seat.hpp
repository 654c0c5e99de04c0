// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_CPU_SEAT_HPP
#define TMIGR_CPU_SEAT_HPP

#include <tmigr/config.hpp>
#include <tmigr/group.hpp>

#include <cstdint>
#include <optional>

namespace tmigr {

template <hierarchy_config Config>
class cpu_roster;

/// The place of one CPU in the tree, on a cache line of its own. The CPU's owner, the
/// thread that acts for it, writes here; whoever claims the sleeping CPU to run its timers;
/// and whoever tells it to wake.
template <hierarchy_config Config>
class alignas(Config::cache_line) cpu_seat {
public:
    using group_type = group<Config>;
    using mask_type = typename group_type::mask_type;
    using flag_cell = typename Config::atomics::template atomic<std::uint32_t>;

    cpu_seat(cpu_id id, group_type& leaf, mask_type childmask, cpu_roster<Config>& roster,
             typename Config::tracer& tracer) noexcept
        : leaf_(&leaf), roster_(&roster), tracer_(&tracer), id_(id), childmask_(childmask) {}
    cpu_seat(const cpu_seat&) = delete;
    cpu_seat& operator=(const cpu_seat&) = delete;

    cpu_id id() const noexcept { return id_; }
    const group_type& leaf() const noexcept { return *leaf_; }
    flag_cell& claimed() noexcept { return claimed_; }

private:
    template <hierarchy_config>
    friend class cpu_handle;
    template <hierarchy_config>
    friend class cpu_roster;

    template <class T>
    using owned = typename Config::atomics::template var<T>;

    group_type* leaf_;
    cpu_roster<Config>* roster_;
    typename Config::tracer* tracer_;
    cpu_id id_;
    mask_type childmask_;
    owned<bool> awake_{false};
    owned<bool> takes_part_{true};
    owned<ticks> armed_{never};  ///< while it takes part, for traces only
    flag_cell claimed_{std::uint32_t{0}};    ///< 1 while somebody runs the CPU's timers for it
    flag_cell available_{std::uint32_t{1}};  ///< what others know of takes_part_
    flag_cell kicked_{std::uint32_t{0}};     ///< 1 from the first kick until the CPU knows
    typename Config::atomics::template atomic<cpu_seat*> next_{nullptr};
};

/// The CPUs of a hierarchy in order of arrival, for all to read while one adds more.
template <hierarchy_config Config>
class cpu_roster {
public:
    using seat_type = cpu_seat<Config>;

    cpu_roster() noexcept = default;
    cpu_roster(const cpu_roster&) = delete;
    cpu_roster& operator=(const cpu_roster&) = delete;

    /// Called by one thread at a time.
    void add(seat_type& seat) noexcept {
        // (G7) release store of a seat; pairs with (P3).
        //      carries: the seat as it was made.
        //      killed by: roster_store_relaxed
        (last_ == nullptr ? first_ : last_->next_).store(&seat, Config::orders::roster_store);
        last_ = &seat;
    }

    /// The CPU that arrived first; null while there is none. Wait-free.
    const seat_type* first() const noexcept {
        // (P3) acquire load of a seat; pairs with (G7).
        //      sees: the seat, and its group, as they were made.
        //      killed by: roster_load_relaxed
        return first_.load(Config::orders::roster_load);
    }

    /// The first CPU that takes part, in order of arrival. Wait-free, looks at each once.
    std::optional<cpu_id> first_available() const noexcept {
        // (P3) as in first.
        for (const seat_type* s = first(); s != nullptr; s = s->next_.load(Config::orders::roster_load))
            // (V2) relaxed load of seat.available; pairs with (V1). After (S1) at the root: of two
            //      that leave at once, the one who finds all idle knows of the other.
            if (s->available_.load(Config::orders::available_load) != 0) return s->id();
        return std::nullopt;
    }

private:
    typename Config::atomics::template atomic<seat_type*> first_{nullptr};
    seat_type* last_ = nullptr;  ///< of the one who adds
};

}  // namespace tmigr

#endif
