// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_SHAPE_HPP
#define TMIGR_SHAPE_HPP

#include <tmigr/state.hpp>
#include <tmigr/topology.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tmigr {

/// The rules of which kernels a tree follows.
enum class linux_form : std::uint8_t {
    v6_9,   ///< 6.9 to 6.12: a branch gets its mask when it is linked, newest branch first
    v6_13,  ///< 6.13 to 6.18, and later 6.12 stable kernels: a root knows its future mask
    v6_19,  ///< 6.19 and newer: nodes never mix below the cross-family level
    newest = v6_19,
};

struct shape_options {
    unsigned width = 8;  ///< children of a group, 2 to 64
    linux_form form = linux_form::newest;
};

/// How many levels Linux sets aside. Levels from `family_levels` on mix families.
struct level_estimate {
    unsigned family_levels = 0;
    unsigned cross_levels = 0;
    constexpr unsigned levels() const noexcept { return family_levels + cross_levels; }
    friend constexpr bool operator==(level_estimate, level_estimate) = default;
};

/// Levels for CPUs spread evenly over families: the smallest L with width^L enough, once
/// for the CPUs of a family and once for the families. One CPU needs none. Width >= 2.
constexpr level_estimate estimate_levels(std::size_t cpus, std::size_t families, unsigned width) noexcept {
    const auto levels_for = [width](std::size_t members) {
        unsigned levels = 0;
        for (std::size_t room = 1; room < members; ++levels)
            room = room > members / width ? members : room * width;
        return levels;
    };
    if (families == 0) families = 1;
    return {levels_for(cpus / families + (cpus % families != 0)), levels_for(families)};
}

/// A group as the builder sees it: numbers only.
struct shape_group {
    unsigned level = 0;
    bool cross = false;              ///< at or above the cross-family level: mixes families
    family_id family = no_family;    ///< `no_family` where families mix
    std::size_t parent = SIZE_MAX;   ///< index, or `tree_shape::none`
    std::uint64_t groupmask = 0;     ///< its bit in the parent; a root may know it in advance
    unsigned children = 0;           ///< places taken, one kept for an old root included
    std::uint64_t taken = 0;         ///< the bits of those places
    pick how = pick::first;          ///< how it chooses its migrator
    std::size_t tree = 0;            ///< which of the separate trees it is in; 0 where there is one
};

struct shape_cpu {
    cpu_info info;
    std::size_t group = SIZE_MAX;
    std::uint64_t childmask = 0;
};

/// A tree of groups, in order of creation, and the CPUs in it, in order of arrival.
struct tree_shape {
    static constexpr std::size_t none = SIZE_MAX;

    std::vector<shape_group> groups;
    std::vector<shape_cpu> cpus;
    std::size_t root = none;         ///< of the first tree, mostly the only one
    std::vector<std::size_t> roots;  ///< of every tree; `none` where a tree has no CPU yet

    /// Levels in use: the highest root's level plus one.
    unsigned levels() const noexcept {
        unsigned most = 0;
        for (const std::size_t r : roots)
            if (r != none) most = std::max(most, groups[r].level + 1);
        return most;
    }
};

/// One thing that happens when a CPU arrives, in the kernel's order.
struct growth_step {
    enum class kind : std::uint8_t {
        make_group,        ///< `child` was made
        connect_group,     ///< `child` got `mask` in `parent`, which has `children` places taken
        connect_cpu,       ///< the arriving CPU got `mask` in `parent`
        carry_up_old_root  ///< `child` is linked: if it is active its parents must learn of it
    };
    kind what;
    std::size_t child = tree_shape::none;
    std::size_t parent = tree_shape::none;
    std::uint64_t mask = 0;
    unsigned children = 0;
};

}  // namespace tmigr

#endif
