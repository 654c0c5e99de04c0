// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_QUERY_HPP
#define TMIGR_QUERY_HPP

#include <tmigr/config.hpp>
#include <tmigr/cpu_seat.hpp>
#include <tmigr/group.hpp>

#include <optional>

namespace tmigr {

// Questions to a tree in motion: any thread may ask at any time, nobody is disturbed, and an
// answer may be out of date when it is given.

/// The group at the top of the one that `g` is in. Wait-free, one load per level.
template <hierarchy_config Config>
const group<Config>* top_of(const group<Config>& g) noexcept {
    const group<Config>* top = &g;
    while (const group<Config>* const up = top->parent()) top = up;
    return top;
}

/// The CPU in charge of all below `top`: the migrator of its migrator and so on down. Empty
/// when nobody is awake, or when a walk changed the path on the way. Wait-free, two loads per
/// level.
template <hierarchy_config Config>
std::optional<cpu_id> find_migrator(const group<Config>& top) noexcept {
    for (const group<Config>* g = &top; g != nullptr;) {
        const auto word = g->current();
        if (!word.has_migrator()) return std::nullopt;
        const unsigned place = group<Config>::state::place(word.migrator());
        if (g->level() == 0) {
            const cpu_seat<Config>* const seat = g->down().cpu_at(place);
            return seat != nullptr ? std::optional(seat->id()) : std::nullopt;
        }
        g = g->down().group_at(place);
    }
    return std::nullopt;
}

}  // namespace tmigr

#endif
