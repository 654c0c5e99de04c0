// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_SMALL_TREE_HPP
#define TMIGR_TESTS_SMALL_TREE_HPP

#include <tmigr/cpu_handle.hpp>
#include <tmigr/group.hpp>
#include <tmigr/growth.hpp>
#include <tmigr/invariants.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace tmigr::model {

/// Root over A = {0, 1} and B = {2}, made of the library's own groups and CPUs; with three
/// levels there is one more group between A and the root; with three CPUs in A there is none
/// in B. In place, since every allocation would be a choice for an exhaustive search.
template <class Config, unsigned Levels = 2, unsigned CpusInA = 2>
struct small_tree {
    using mask_type = typename Config::state::mask_type;

    typename Config::tracer tracer;
    cpu_roster<Config> roster;
    std::array<group<Config>, Levels + 1> groups{make_groups(std::make_index_sequence<Levels - 2>())};
    std::array<cpu_seat<Config>, 3> seats{
        {{0, groups[leaf_of(0)], mask_of(0), roster, tracer},
         {1, groups[leaf_of(1)], mask_of(1), roster, tracer},
         {2, groups[leaf_of(2)], mask_of(2), roster, tracer}}};

    small_tree() {
        for (unsigned cpu = 0; cpu < 3; ++cpu) {
            groups[leaf_of(cpu)].down().set(mask_of(cpu), &seats[cpu]);
            roster.add(seats[cpu]);
        }
        link_below<Config>(groups[1], 2, groups[Levels]);
        for (unsigned below = 0, g = 2; g <= Levels; below = g, ++g) link_below<Config>(groups[below], 1, groups[g]);
    }

    group<Config>& root() { return groups[Levels]; }
    cpu_handle<Config> cpu(unsigned id) { return cpu_handle<Config>(seats[id]); }

    /// The shared checker; `awake` has bit i set when CPU i is awake in truth.
    bool at_rest_with(unsigned awake) const {
        return !check_at_rest(groups, [&](const auto& leaf) {
            return &leaf == &groups[0] ? awake & ((1u << CpusInA) - 1) : awake >> CpusInA;
        });
    }

private:
    static constexpr unsigned leaf_of(unsigned cpu) { return cpu < CpusInA ? 0 : 1; }
    static constexpr mask_type mask_of(unsigned cpu) {
        return static_cast<mask_type>(1u << (cpu < CpusInA ? cpu : cpu - CpusInA));
    }
    template <std::size_t... Middle>
    static auto make_groups(std::index_sequence<Middle...>) {
        return std::array<group<Config>, Levels + 1>{{{1, 0, no_family, pick::first},
                                                      {2, 0, no_family, pick::first},
                                                      {3 + Middle, 1 + Middle, no_family, pick::first}...,
                                                      {Levels + 1, Levels - 1, no_family, pick::first}}};
    }
};

}  // namespace tmigr::model

#endif
