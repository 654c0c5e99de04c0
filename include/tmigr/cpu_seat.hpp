// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_CPU_SEAT_HPP
#define TMIGR_CPU_SEAT_HPP

#include <tmigr/config.hpp>
#include <tmigr/group.hpp>

#include <cstdint>

namespace tmigr {

/// The place of one CPU in the tree, on a cache line of its own. Only the CPU's owner, the
/// thread that acts for it, writes here, and whoever claims the sleeping CPU to run its
/// timers.
template <hierarchy_config Config>
class alignas(Config::cache_line) cpu_seat {
public:
    using group_type = group<Config>;
    using mask_type = typename group_type::mask_type;
    using claim_cell = typename Config::atomics::template atomic<std::uint32_t>;

    cpu_seat(cpu_id id, group_type& leaf, mask_type childmask, typename Config::tracer& tracer) noexcept
        : leaf_(&leaf), childmask_(childmask), id_(id), tracer_(&tracer), claimed_(std::uint32_t{0}) {}
    cpu_seat(const cpu_seat&) = delete;
    cpu_seat& operator=(const cpu_seat&) = delete;

    cpu_id id() const noexcept { return id_; }
    claim_cell& claimed() noexcept { return claimed_; }

private:
    template <hierarchy_config>
    friend class cpu_handle;

    group_type* leaf_;
    mask_type childmask_;
    cpu_id id_;
    typename Config::tracer* tracer_;
    typename Config::atomics::template var<bool> awake_{false};
    claim_cell claimed_;  ///< 1 while somebody runs the CPU's timers for it
};

}  // namespace tmigr

#endif
