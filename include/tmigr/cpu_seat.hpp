// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_CPU_SEAT_HPP
#define TMIGR_CPU_SEAT_HPP

#include <tmigr/append_list.hpp>
#include <tmigr/config.hpp>
#include <tmigr/group.hpp>

#include <cstdint>
#include <optional>

namespace tmigr {

template <hierarchy_config Config>
class cpu_roster;

template <hierarchy_config Config>
class basic_hierarchy;

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
    cpu_roster<Config>* roster() const noexcept { return roster_; }
    flag_cell& claimed() noexcept { return claimed_; }
    /// Whether the CPU takes part, as others know it. One relaxed load.
    bool available() const noexcept {
        // (V2) relaxed load of seat.available; pairs with (V1). After (S1) at the root: of two
        //      that leave at once, the one who finds all idle knows of the other.
        return available_.load(Config::orders::available_load) != 0;
    }

private:
    template <hierarchy_config>
    friend class cpu_handle;
    template <hierarchy_config>
    friend class basic_hierarchy;

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

public:
    append_link<Config, cpu_seat> link;  ///< of the roster
};

/// The CPUs of one tree in order of arrival, for all to read while one adds more.
template <hierarchy_config Config>
class cpu_roster : public append_list<Config, cpu_seat<Config>> {
public:
    using seat_type = cpu_seat<Config>;

    /// The first CPU that takes part, in order of arrival. Wait-free, looks at each once.
    std::optional<cpu_id> first_available() const noexcept {
        for (const seat_type* s = this->first(); s != nullptr; s = this->next(*s))
            if (s->available()) return s->id();
        return std::nullopt;
    }

    append_link<Config, cpu_roster> link;  ///< to the roster of another tree
};

}  // namespace tmigr

#endif
