// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_GROWING_TREE_HPP
#define TMIGR_TESTS_GROWING_TREE_HPP

#include <tmigr/cpu_handle.hpp>
#include <tmigr/group.hpp>
#include <tmigr/growth.hpp>
#include <tmigr/invariants.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace tmigr::model {

/// A = {0, 1} is the root until it grows: then R is, over A and B = {2}, with or without one
/// more group between A and R. Made of the library's own groups, CPUs and steps; in place,
/// since every allocation would be a choice for an exhaustive search.
template <class Config, unsigned NewLevels = 1>
struct growing_tree {
    using mask_type = typename Config::state::mask_type;
    static_assert(NewLevels == 1 || NewLevels == 2);

    typename Config::tracer tracer;
    cpu_roster<Config> roster;
    std::array<group<Config>, NewLevels + 2> groups{make_groups()};
    std::array<cpu_seat<Config>, 3> seats{
        {{0, groups[0], 1, roster, tracer}, {1, groups[0], 2, roster, tracer}, {2, groups[1], 1, roster, tracer}}};
    std::array<ticks, 3> armed{never, never, never};

    growing_tree() { sit(0), sit(1); }

    /// What `basic_hierarchy::add` does when CPU 2 arrives.
    void grow() {
        group<Config>& top = root();
        link_below<Config>(groups[1], 2, top);
        sit(2);
        if constexpr (NewLevels == 2) link_below<Config>(groups[2], 1, top);
        link_below<Config>(groups[0], 1, groups[2]);
        carry_up<Config>(groups[0], 2, tracer);
    }

    group<Config>& root() { return groups.back(); }
    cpu_handle<Config> cpu(unsigned id) { return cpu_handle<Config>(seats[id]); }

    void wake(unsigned id) {
        cpu(id).activate();
        armed[id] = never;
    }
    void sleep(unsigned id, ticks due) {
        if constexpr (has_expiries<Config>)
            armed[id] = cpu(id).deactivate(due);
        else
            cpu(id).deactivate();
    }
    ticks first_armed() const { return *std::min_element(armed.begin(), armed.end()); }

    /// The shared checker; `awake` has bit i set when CPU i is awake in truth.
    bool at_rest_with(unsigned awake) const {
        return !check_at_rest(groups, [&](const auto& leaf) { return &leaf == &groups[0] ? awake & 3u : awake >> 2; });
    }

private:
    void sit(unsigned id) {
        groups[id / 2].down().set(static_cast<mask_type>(id == 1 ? 2 : 1), &seats[id]);
        roster.add(seats[id]);
    }
    static auto make_groups() {
        if constexpr (NewLevels == 1)
            return std::array<group<Config>, 3>{
                {{1, 0, no_family, pick::first}, {2, 0, no_family, pick::first}, {3, 1, no_family, pick::first}}};
        else
            return std::array<group<Config>, 4>{{{1, 0, no_family, pick::first},
                                                 {2, 0, no_family, pick::first},
                                                 {3, 1, no_family, pick::first},
                                                 {4, 2, no_family, pick::first}}};
    }
};

}  // namespace tmigr::model

#endif
