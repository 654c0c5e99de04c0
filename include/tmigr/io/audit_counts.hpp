// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_AUDIT_COUNTS_HPP
#define TMIGR_IO_AUDIT_COUNTS_HPP

#include <tmigr/io/audit_finding.hpp>
#include <tmigr/io/replay.hpp>

#include <array>
#include <cstddef>

namespace tmigr {

struct audit_options {
    std::size_t details = 1000;  ///< how many findings are kept; all are counted
    bool stories = false;        ///< keep the lines around each finding
    std::size_t story_lines = 160;
};

/// What an audit has counted.
struct audit_counts {
    std::size_t events = 0;    ///< lines of the tree's events
    std::size_t judged = 0;    ///< times that a sleeper's expiry was found covered or not
    std::size_t unjudged = 0;  ///< times that it could not be told
    std::size_t passing = 0;   ///< of these: uncovered, but only until somebody under way was through
    std::size_t dropped = 0;   ///< suspicions that were not followed up, being too many at once
    std::size_t gaps = 0;
    std::size_t served = 0;  ///< sleepers whose timers somebody ran
    std::size_t served_same_group = 0, served_same_node = 0, served_other_node = 0;
    std::size_t served_other_capacity = 0;
    std::size_t looked = 0;                    ///< times that a sleeper looked for due timers
    std::size_t looked_for_nothing = 0;        ///< and found none
    std::size_t woken_for_other_node = 0;      ///< and found only some of another node
    std::size_t woken_for_other_capacity = 0;  ///< and found only some of another capacity
    std::array<std::size_t, 4> timers{};       ///< of the wheel, by lateness: 0, 1, 2 to 9, more jiffies
    std::size_t timers_unfollowed = 0;         ///< more at once than are followed
    std::size_t stays = 0;                     ///< in an idle state, from beginning to end, by cpu_idle lines
    std::size_t stays_to_armed = 0;            ///< until what the sleeper had armed for the tree was due
    std::size_t stays_for_nothing = 0;         ///< and then it had nothing to do and idled again
    std::array<std::size_t, audit_kind_count> found{};
    replay_counts words{};  ///< of the words, as `replay` counts them

    std::size_t of(audit_kind kind) const noexcept { return found[static_cast<std::size_t>(kind)]; }
    std::size_t findings() const noexcept {
        std::size_t sum = 0;
        for (const std::size_t n : found) sum += n;
        return sum;
    }
};

}  // namespace tmigr

#endif
