// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_RANKED_TREE_HPP
#define TMIGR_TESTS_RANKED_TREE_HPP

#include <tmigr/cpu_handle.hpp>
#include <tmigr/group.hpp>
#include <tmigr/growth.hpp>
#include <tmigr/invariants.hpp>
#include <tmigr/query.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace tmigr::model {

/// A group of a shape: where it stands, and how it chooses. The last one is the root.
struct ranked_group {
    unsigned level;
    pick how;
    std::size_t parent;
    unsigned bit;  ///< in the parent
};
/// A CPU of a shape: its group, its bit there, and the rank of its class.
struct ranked_cpu {
    std::size_t group;
    unsigned bit;
    unsigned rank;
};

/// R over A = {0} and B = {1, 2}: two classes.
struct two_classes {
    static constexpr std::array<ranked_group, 3> groups{
        {{0, pick::first, 2, 0}, {0, pick::first, 2, 1}, {1, pick::lowest, 0, 0}}};
    static constexpr std::array<ranked_cpu, 3> cpus{{{0, 0, 0}, {1, 0, 1}, {1, 1, 1}}};
};
/// R over A = {0}, B = {1} and C = {2}: three classes.
struct three_classes {
    static constexpr std::array<ranked_group, 4> groups{
        {{0, pick::first, 3, 0}, {0, pick::first, 3, 1}, {0, pick::first, 3, 2}, {1, pick::lowest, 0, 0}}};
    static constexpr std::array<ranked_cpu, 3> cpus{{{0, 0, 0}, {1, 0, 1}, {2, 0, 2}}};
};
/// Three classes of one CPU each in groups of two: R over P = {0, 1} and Q = {2}, all of which
/// prefer the lowest.
struct single_cpus {
    static constexpr std::array<ranked_group, 3> groups{
        {{0, pick::lowest, 2, 0}, {0, pick::lowest, 2, 1}, {1, pick::lowest, 0, 0}}};
    static constexpr std::array<ranked_cpu, 3> cpus{{{0, 0, 0}, {0, 1, 1}, {1, 0, 2}}};
};
/// Three classes in groups of two, with leaves of their own: R over P and Q, P over A = {0} and
/// B = {1}, Q over C = {2}.
struct two_ranked_levels {
    static constexpr std::array<ranked_group, 6> groups{{{0, pick::first, 3, 0},
                                                         {0, pick::first, 3, 1},
                                                         {0, pick::first, 4, 0},
                                                         {1, pick::lowest, 5, 0},
                                                         {1, pick::lowest, 5, 1},
                                                         {2, pick::lowest, 0, 0}}};
    static constexpr std::array<ranked_cpu, 3> cpus{{{0, 0, 0}, {1, 0, 1}, {2, 0, 2}}};
};

/// A tree of capacity classes, made of the library's own groups and CPUs, with the bits that
/// `family_plan` gives them. In place, since every allocation would be a choice for an exhaustive search.
template <class Config, class Shape>
struct ranked_tree {
    using mask_type = typename Config::state::mask_type;
    static constexpr std::size_t size = Shape::groups.size();

    typename Config::tracer tracer;
    cpu_roster<Config> roster;
    std::array<group<Config>, size> groups{make_groups(std::make_index_sequence<size>())};
    std::array<cpu_seat<Config>, 3> seats{{{0, groups[Shape::cpus[0].group], mask(Shape::cpus[0].bit), roster, tracer},
                                           {1, groups[Shape::cpus[1].group], mask(Shape::cpus[1].bit), roster, tracer},
                                           {2, groups[Shape::cpus[2].group], mask(Shape::cpus[2].bit), roster, tracer}}};
    std::array<ticks, 3> armed{never, never, never};

    ranked_tree() {
        for (cpu_id id = 0; id < 3; ++id) {
            groups[Shape::cpus[id].group].down().set(mask(Shape::cpus[id].bit), &seats[id]);
            roster.add(seats[id]);
        }
        for (std::size_t g = size - 1; g-- > 0;)
            link_below<Config>(groups[g], mask(Shape::groups[g].bit), groups[Shape::groups[g].parent]);
    }

    group<Config>& root() { return groups.back(); }
    cpu_handle<Config> cpu(unsigned id) { return cpu_handle<Config>(seats[id]); }

    void wake(unsigned id) {
        cpu(id).activate();
        armed[id] = never;
    }
    void sleep(unsigned id, ticks due = never) {
        if constexpr (has_expiries<Config>)
            armed[id] = cpu(id).deactivate(due);
        else
            cpu(id).deactivate();
    }

    /// For `invariant()` of a suite, which Relacy calls before every access of any thread: the
    /// newest word of every group is a right one, and a group that prefers the lowest has it.
    bool words_are_right() const {
        return std::all_of(groups.begin(), groups.end(),
                           [](const auto& g) { return !broken(g.current(), g.how()); });
    }
    /// The shared checker, and that the CPU in charge of all is of the lowest class that is awake;
    /// `awake` has bit i set when CPU i is awake in truth.
    bool at_rest_with(unsigned awake) const {
        if (check_at_rest(groups, [&](const auto& leaf) {
                unsigned below = 0;
                for (unsigned id = 0; id < 3; ++id)
                    if (&seats[id].leaf() == &leaf && (awake >> id & 1) != 0) below |= 1u << Shape::cpus[id].bit;
                return below;
            }))
            return false;
        const auto in_charge = find_migrator(groups.back());
        if (awake == 0 || !in_charge) return awake == 0 && !in_charge;
        unsigned lowest = ~0u;
        for (unsigned id = 0; id < 3; ++id)
            if ((awake >> id & 1) != 0) lowest = std::min(lowest, Shape::cpus[id].rank);
        return (awake >> *in_charge & 1) != 0 &&
               (Shape::cpus[*in_charge].rank == lowest || groups.back().how() == pick::first);
    }
    /// With expiries: those awake fall asleep too, with no timers. Then somebody is armed for
    /// `first`, the earliest timer of all, and the slots say the same.
    bool all_sleep_until(unsigned awake, ticks first) {
        if constexpr (has_expiries<Config>) {
            for (unsigned id = 0; id < 3; ++id)
                if ((awake >> id & 1) != 0) sleep(id);
            return at_rest_with(0) && *std::min_element(armed.begin(), armed.end()) == first && earliest(root()) == first;
        }
        return true;
    }

private:
    static constexpr mask_type mask(unsigned bit) { return static_cast<mask_type>(1u << bit); }
    template <std::size_t... G>
    static auto make_groups(std::index_sequence<G...>) {
        return std::array<group<Config>, size>{
            {{G + 1, Shape::groups[G].level, no_family, Shape::groups[G].how}...}};
    }
};

}  // namespace tmigr::model

#endif
