// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_OPERATION_COSTS_HPP
#define TMIGR_TESTS_OPERATION_COSTS_HPP

#include "support/interleaving_program.hpp"

#include <cstddef>

namespace tmigr::test {

/// The most accesses that an operation makes, plain cells included, in a tree of that size while
/// nobody else moves, in whatever state the others stopped.
struct operation_costs {
    std::size_t levels, groups, cpus;
    static constexpr std::size_t scan = 8;               ///< the slots of a group
    static constexpr std::size_t attempt = 3 + scan;     ///< S2, S3, S1 of each slot, S4
    static constexpr std::size_t refresh = 1 + attempt;  ///< with the child's bit
    static constexpr std::size_t refresh_at_worst = 1 + 2 * attempt;

    constexpr std::size_t walk_active() const { return levels * 4; }  // A1, A2, P1, bit
    constexpr std::size_t walk_inactive() const {
        return levels * (refresh + 5) + scan;
    }  // D1, D2, D3, P1, bit
    constexpr std::size_t walk_new_expiry(std::size_t one_refresh = refresh) const {
        return 2 + levels * 2 + (levels - 1) * one_refresh + scan;  // N2, N3; own slot
    }
    constexpr std::size_t expire() const {
        // Each group is worked off once: its slots, the way to it and its state, its slot above. On the way
        // up two looks at the word, the link, the bit, the earliest. Of each sleeper P2, X2, X1, S1, X4, X3
        // and `run`.
        return 1 + groups * (scan + 2 + refresh) + levels * (4 + scan + refresh) + cpus * 8;
    }
    constexpr std::size_t of(const operation& o) const {
        using enum operation::kind;
        constexpr std::size_t own = 8;  // who is awake, takes part; kicks; own slot
        switch (o.what) {
            case wake: return own + walk_active();
            case sleep: return own + walk_inactive();
            case timer: return own + walk_new_expiry();
            case interrupt: return own + expire();
            case tick: return own + levels * (3 + scan) + expire();
            case leave: return own + walk_inactive() + 1 + 2 * cpus;
            case join: return own + walk_inactive();
            case rejoin: return 2 * own + 2 * walk_inactive() + 1 + 2 * cpus;
            case forecast: return own + levels * (2 + scan);
            case kick:
            case answer: return 2;
            case query: return 4 + 4 * levels;
            // Links, ways down and bits of a new branch, G2, then the groups above the old root.
            case arrive: return 8 + 4 * levels + levels * (6 + 1 + refresh);
        }
        return 0;
    }
};

}  // namespace tmigr::test

#endif
