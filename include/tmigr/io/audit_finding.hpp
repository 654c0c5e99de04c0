// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_AUDIT_FINDING_HPP
#define TMIGR_IO_AUDIT_FINDING_HPP

#include <tmigr/io/audit_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tmigr {

/// What an audit can find wrong.
enum class audit_kind : std::uint8_t {
    /// An expiry of a sleeper is in an idle group, and nobody is armed for it or earlier.
    uncovered,
    /// A word that cannot be: a migrator that is not active, not one bit, or missing.
    bad_migrator,
    /// A word that does not follow from the words before it, in no order of the lines around.
    wrong_word,
    /// Somebody below a child is awake, and the child's parent says that the child is idle.
    awake_untold,
    /// Nobody below a child is awake, and the child's parent says that the child is active.
    idle_untold,
    /// Two groups without a parent have CPUs below.
    two_roots,
    /// A group of one node has a parent of another.
    mixed_nodes,
    /// An expiry in a group names a CPU that has none such, while another has it.
    stale_owner,
    /// Timers of a sleeper were run, and the groups above were not told what comes next.
    unpublished,
    /// A CPU arms again and again for a time that has passed.
    rearming,
    /// The same expiry is run again and again.
    reserving,
};
inline constexpr std::size_t audit_kind_count = static_cast<std::size_t>(audit_kind::reserving) + 1;

/// The name of a kind, for people and for machines.
constexpr const char* name_of(audit_kind kind) noexcept {
    constexpr const char* names[] = {"uncovered expiry",  "bad migrator", "wrong word",  "awake untold",
                                     "idle untold",       "two roots",    "mixed nodes", "stale owner",
                                     "unpublished timer", "re-arming",    "re-serving"};
    return names[static_cast<std::size_t>(kind)];
}

/// What ended a finding.
enum class audit_end : std::uint8_t {
    moment,     ///< it is of one line
    woke,       ///< the CPU concerned woke by itself
    served,     ///< its timers were run
    covered,    ///< somebody became responsible
    withdrawn,  ///< the expiry is no more
    put_right,  ///< the words agree again
    gap,        ///< lines are missing behind
    trace,      ///< the trace ends
};
constexpr const char* name_of(audit_end end) noexcept {
    constexpr const char* names[] = {
        "one line",          "the CPU woke",       "its timers were run",   "somebody became responsible",
        "the expiry is gone", "the words agree", "lines are missing here", "end of the trace"};
    return names[static_cast<std::size_t>(end)];
}

/// A line that has to do with a finding, and why it matters.
struct audit_evidence {
    audit_place at{};
    std::string what;
};

/// Lines around a finding, and the tree before the first of them.
struct audit_story {
    audit_tree before;
    std::vector<ftrace_record> lines;
    bool cut = false;  ///< lines between the first and the last are left out
};

/// Something that is wrong.
struct audit_finding {
    audit_kind kind = audit_kind::uncovered;
    const char* fault = "unknown";  ///< the known fault it matches: "K71"
    const char* cause = "";         ///< in words, what that fault is
    cpu_id cpu = 0;                 ///< whose expiry it is, or who printed the line
    group_id group = no_group;      ///< where it shows
    group_id parent = no_group;     ///< of that group, if it matters
    std::uint64_t due = event::never;
    audit_place begin{};
    audit_place end{};
    audit_end ended_by = audit_end::moment;
    /// How late the timer ran, by lines of its own. Nanoseconds.
    std::optional<std::uint64_t> late;
    /// How late it was at least when the finding ended; by the least distance of the clocks. Nanoseconds.
    std::optional<std::uint64_t> late_at_least;
    std::size_t silent = 0;  ///< CPUs without any line, taken to have nothing armed
    std::string detail;
    std::vector<audit_evidence> evidence;
    std::optional<audit_story> story{};

    std::uint64_t lasted() const noexcept { return end.time > begin.time ? end.time - begin.time : 0; }
};

}  // namespace tmigr

#endif
