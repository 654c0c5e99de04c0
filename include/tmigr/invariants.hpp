// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_INVARIANTS_HPP
#define TMIGR_INVARIANTS_HPP

#include <tmigr/expiry.hpp>
#include <tmigr/state.hpp>

#include <cstddef>
#include <optional>
#include <type_traits>

namespace tmigr {

/// What holds in every hierarchy. Unit, stress and model tests check them with the
/// functions below and report them by these names and numbers.
///
/// At every moment, in every word:
///   1 migrator_is_active  migrator is none exactly when active is empty, else active
///   2 one_migrator        migrator is none or one bit
///   6 low_first           in a group that prefers low, the migrator is the lowest active bit
/// Whenever no walk is in flight:
///   3 active_up           a child's bit is set in its parent exactly when it is active
///   4 covered             every expiry of a sleeper is seen by an active migrator above it,
///                         or armed by somebody
///   5 no_late             no slot of an idle child is later than what lies below it
/// Of every walk:
///   7 bounded             each level at most once
///   8 silent_top          no level above a group that was active and stays so
/// 4 and 5 are for trees with expiries (`check_expiries`).
enum class invariant {
    migrator_is_active = 1,
    one_migrator = 2,
    active_up = 3,
    covered = 4,
    no_late = 5,
    low_first = 6,
    bounded = 7,
    silent_top = 8,
};

constexpr const char* name(invariant i) noexcept {
    switch (i) {
        case invariant::migrator_is_active: return "1 migrator-is-active";
        case invariant::one_migrator: return "2 one-migrator";
        case invariant::active_up: return "3 active-up";
        case invariant::covered: return "4 covered";
        case invariant::no_late: return "5 no-late";
        case invariant::low_first: return "6 low-first";
        case invariant::bounded: return "7 bounded";
        case invariant::silent_top: return "8 silent-top";
    }
    return "unknown invariant";
}

/// The first invariant of a single word that `word` breaks, if any: one that a group holds which
/// chooses its migrator like that. Invariant 6 holds at every moment too, since each step keeps
/// it; of a group that was told to stop preferring it is not asked.
template <class State>
constexpr std::optional<invariant> broken(State word, pick how = pick::first) noexcept {
    if (word.has_migrator() != word.is_active()) return invariant::migrator_is_active;
    if (!word.has_migrator()) return std::nullopt;
    const auto migrator = word.migrator();
    if (migrator == 0 || State::lowest(migrator) != migrator) return invariant::one_migrator;
    if (!word.is_active(migrator)) return invariant::migrator_is_active;
    if (how == pick::lowest && State::lowest(word.active()) != migrator) return invariant::low_first;
    return std::nullopt;
}

/// A broken invariant and the group where it shows.
template <class Group>
struct violation {
    invariant what;
    const Group* where;
};

/// Checks 1, 2, 3 and 6 over all groups (a range of `const Group&`). No walk may be in
/// flight. Returns the first violation found.
///
/// `awake_cpus(group)` gives the mask that a group of level 0 should have: the bits of
/// the CPUs that are awake in truth.
template <class Groups, class AwakeCpus>
auto check_at_rest(const Groups& groups, AwakeCpus&& awake_cpus)
    -> std::optional<violation<std::remove_cvref_t<decltype(*groups.begin())>>> {
    using group_type = std::remove_cvref_t<decltype(*groups.begin())>;
    using mask_type = typename group_type::mask_type;
    using found = violation<group_type>;

    // Quadratic, but allocates nothing: a model checker would count that as steps.
    const auto active_groups_below = [&groups](const group_type& parent) {
        mask_type mask = 0;
        for (const group_type& g : groups)
            if (g.parent() == &parent && g.current().is_active()) mask = static_cast<mask_type>(mask | g.groupmask());
        return mask;
    };

    for (const group_type& g : groups) {
        const auto word = g.current();
        if (const auto what = broken(word, g.how())) return found{*what, &g};
        const mask_type truth = g.level() == 0 ? static_cast<mask_type>(awake_cpus(g)) : active_groups_below(g);
        if (word.active() != truth) return found{invariant::active_up, &g};
    }
    return std::nullopt;
}

/// Checks 4 and 5 in a hierarchy with expiries. No walk or expiry may be in flight.
/// `next_of(i)` is the next expiry of the CPU with index i in `tree.shape().cpus` if it
/// sleeps, `never` if it is awake; `first_armed` is the earliest that any sleeper armed, or, for
/// separate trees, a function that says it of each tree by its number (`shape_group::tree`).
template <class Tree, class NextOf, class FirstArmed>
auto check_expiries(const Tree& tree, NextOf&& next_of, FirstArmed&& first_armed)
    -> std::optional<violation<typename Tree::group_type>> {
    using mask_type = typename Tree::mask_type;
    using found = violation<typename Tree::group_type>;
    // From a group down to the CPU in charge of it: nobody on the way may have no migrator.
    const auto somebody_in_charge = [&tree](std::size_t g) {
        for (;;) {
            const auto word = tree.groups()[g].current();
            if (!word.has_migrator()) return false;
            const std::size_t child = tree.child_at(g, word.migrator());
            if (child == tree.shape().none) return false;
            if (tree.groups()[g].level() == 0) return true;
            g = child;
        }
    };
    const auto armed_in = [&]([[maybe_unused]] std::size_t g) -> ticks {
        if constexpr (std::is_convertible_v<FirstArmed, ticks>)
            return first_armed;
        else
            return first_armed(tree.shape().groups[g].tree);
    };
    for (std::size_t i = 0; i < tree.shape().cpus.size(); ++i) {
        const ticks due = next_of(i);
        if (due == never) continue;
        auto mask = static_cast<mask_type>(tree.shape().cpus[i].childmask);
        for (std::size_t g = tree.shape().cpus[i].group;;) {
            const auto& group = tree.groups()[g];
            if (group.table().offered(mask) > due) return found{invariant::no_late, &group};
            if (group.current().is_active()) {
                if (!somebody_in_charge(g)) return found{invariant::covered, &group};
                break;
            }
            if (group.parent() == nullptr) {
                if (armed_in(g) > due) return found{invariant::covered, &group};
                break;
            }
            mask = group.groupmask();
            g = tree.shape().groups[g].parent;
        }
    }
    return std::nullopt;
}

}  // namespace tmigr

#endif
