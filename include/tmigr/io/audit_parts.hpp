// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_AUDIT_PARTS_HPP
#define TMIGR_IO_AUDIT_PARTS_HPP

#include <tmigr/topology.hpp>
#include <tmigr/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tmigr {

/// The place of a group or a CPU in an `audit_tree`.
using audit_index = std::uint32_t;
inline constexpr audit_index no_index = std::numeric_limits<audit_index>::max();

/// A line of a trace.
struct audit_place {
    std::size_t line = 0;
    std::uint64_t time = 0;
    cpu_id on = 0;  ///< the CPU that printed it
};

/// What a CPU is in the middle of, as far as its lines tell.
enum class audit_walk : std::uint8_t { none, waking, sleeping, telling, looking, linking };

/// What a child offers to its parent, as a tmigr_update_events line said last.
struct audit_offer {
    bool known = false;
    bool published_idle = false;  ///< the parent was idle when it was written
    audit_walk during = audit_walk::none;
    std::uint64_t due = event::never;
    cpu_id owner = 0;  ///< the CPU that the line names, or that it is about
    audit_place at{};
};

/// A group, as the lines before tell of it.
struct audit_group {
    group_id id = no_group;
    unsigned lvl = 0;
    family_id numa = no_family;
    bool made = false;          ///< its tmigr_group_set line was seen
    bool parent_known = false;  ///< `parent` is right, `no_index` for a root
    audit_index parent = no_index;
    std::uint64_t mask = 0;  ///< its bit in the parent, 0 while unknown
    bool known = false;      ///< `live` is complete
    std::uint64_t live = 0;  ///< children with somebody awake below, by the lines of the CPUs themselves
    std::uint64_t child_bits = 0;  ///< bits of children that are known
    std::uint64_t active = 0;      ///< as its last line printed
    std::uint64_t migrator = 0;
    audit_offer offer{};       ///< its own, in its parent
    audit_place word_at{};     ///< of its last line
    audit_place word_empty{};  ///< of the last one that printed no child active
    audit_place emptied{};     ///< when nobody was awake below any more
    audit_place filled{};      ///< when somebody was again
    audit_place told{};        ///< of the parent's last line about it
    audit_place linked{};      ///< of the line that gave it a parent
    std::vector<audit_index> groups;
    std::vector<audit_index> cpus;
};

/// A CPU, as its lines tell of it.
struct audit_cpu {
    enum class presence : std::uint8_t { unknown, awake, asleep, away };
    cpu_id id = 0;
    presence is = presence::unknown;
    audit_walk walk = audit_walk::none;
    unsigned walks = 0;  ///< how often `walk` changed
    audit_index leaf = no_index;
    std::uint64_t mask = 0;
    unsigned capacity = max_capacity;
    bool due_known = false;
    std::uint64_t due = event::never;  ///< its next expiry while it sleeps
    bool armed_known = false;
    std::uint64_t armed = event::never;  ///< what it has to wake for
    audit_offer offer{};
    audit_place idle_at{};                    ///< of the line with which it went idle
    audit_place armed_at{};                   ///< of the line that said what is armed
    audit_place walk_at{};                    ///< of the line that began `walk`
    audit_place claimed{};                    ///< of the line with which somebody began to run its timers
    std::size_t line = 0;                     ///< of its last one
    audit_index serving = no_index;           ///< the CPU whose timers it runs, until its next expiry is told
    audit_index served = no_index;            ///< the same, until it does something else
    bool told = false;                        ///< and whether it has told of what comes next
    audit_index last_group = no_index;        ///< of its last line of a word
    std::uint64_t last_armed = event::never;  ///< what was armed before
    bool served_since = false;                ///< somebody, since it began to look
    bool connected = false;
};

/// Whether a CPU is in an idle state of the machine, as cpu_idle lines tell. A CPU that sleeps for the tree
/// goes into such states again and again; one that is in such a state need not sleep for the tree.
struct audit_idle {
    enum class where : std::uint8_t { unknown, out, in };
    where is = where::unknown;
    unsigned state = 0;  ///< which one, while in it
};

}  // namespace tmigr

#endif
