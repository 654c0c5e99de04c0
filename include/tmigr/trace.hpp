// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TRACE_HPP
#define TMIGR_TRACE_HPP

#include <tmigr/expiry.hpp>
#include <tmigr/topology.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>

namespace tmigr {

/// Names a group in events: unique within one hierarchy, never 0.
using group_id = std::uint64_t;
inline constexpr group_id no_group = 0;

/// What happens in a hierarchy, one type per trace event of Linux, with the names
/// and meanings of the kernel's printed fields. The text tracer writes them, the
/// ftrace reader returns them.
///
/// Masks are those of the hierarchy's state word; `migrator` is all ones for "none".
/// `numa` is the family of the group, -1 for none. Times are in nanoseconds, or in
/// whatever the user's ticks are; `never` stands for none.
namespace event {

inline constexpr std::uint64_t never = std::numeric_limits<std::int64_t>::max();

/// A time as traces print it.
constexpr std::uint64_t time(ticks t) noexcept { return std::min(t, never); }

/// A group was made.
struct group_set {
    static constexpr const char* name = "tmigr_group_set";
    group_id group = no_group;
    unsigned lvl = 0;
    family_id numa = no_family;
    friend bool operator==(const group_set&, const group_set&) = default;
};

/// A group got its place under a parent. lvl, numa, num_children are the parent's.
struct connect_child_parent {
    static constexpr const char* name = "tmigr_connect_child_parent";
    group_id group = no_group;
    std::uint64_t groupmask = 0;
    group_id parent = no_group;
    unsigned lvl = 0;
    family_id numa = no_family;
    unsigned capacity = max_capacity;
    unsigned num_children = 0;
    friend bool operator==(const connect_child_parent&, const connect_child_parent&) = default;
};

/// A CPU got its place in a group of level 0.
struct connect_cpu_parent {
    static constexpr const char* name = "tmigr_connect_cpu_parent";
    cpu_id cpu = 0;
    std::uint64_t groupmask = 0;
    group_id parent = no_group;
    unsigned lvl = 0;
    family_id numa = no_family;
    unsigned capacity = max_capacity;
    unsigned num_children = 0;
    friend bool operator==(const connect_cpu_parent&, const connect_cpu_parent&) = default;
};

/// The fields of the two events of a group's word; active and migrator are those
/// after the change.
struct group_word {
    group_id group = no_group;
    unsigned lvl = 0;
    family_id numa = no_family;
    std::uint64_t active = 0;
    std::uint64_t migrator = 0;
    group_id parent = no_group;
    std::uint64_t childmask = 0;
    friend bool operator==(const group_word&, const group_word&) = default;
};
struct group_set_cpu_active : group_word {
    static constexpr const char* name = "tmigr_group_set_cpu_active";
};
struct group_set_cpu_inactive : group_word {
    static constexpr const char* name = "tmigr_group_set_cpu_inactive";
};

/// A CPU left idle.
struct cpu_active {
    static constexpr const char* name = "tmigr_cpu_active";
    cpu_id cpu = 0;
    group_id parent = no_group;
    std::uint64_t wakeup = never;
    friend bool operator==(const cpu_active&, const cpu_active&) = default;
};

/// A CPU went idle; nextevt is its own next timer, wakeup the one it has to arm for all.
struct cpu_idle {
    static constexpr const char* name = "tmigr_cpu_idle";
    cpu_id cpu = 0;
    group_id parent = no_group;
    std::uint64_t nextevt = never;
    std::uint64_t wakeup = never;
    friend bool operator==(const cpu_idle&, const cpu_idle&) = default;
};

/// An idle CPU has another next timer than before; `wakeup` is what it had armed until now.
struct cpu_new_timer {
    static constexpr const char* name = "tmigr_cpu_new_timer";
    cpu_id cpu = 0;
    group_id parent = no_group;
    std::uint64_t wakeup = never;
    friend bool operator==(const cpu_new_timer&, const cpu_new_timer&) = default;
};

/// An idle CPU looked at its next timer again; `wakeup` is the one that it has to arm for all.
struct cpu_new_timer_idle {
    static constexpr const char* name = "tmigr_cpu_new_timer_idle";
    cpu_id cpu = 0;
    group_id parent = no_group;
    std::uint64_t nextevt = never;
    std::uint64_t wakeup = never;
    friend bool operator==(const cpu_new_timer_idle&, const cpu_new_timer_idle&) = default;
};

/// A CPU takes part from now on. Kernels before 6.19 call it online.
struct cpu_available {
    static constexpr const char* name = "tmigr_cpu_available";
    static constexpr const char* old_name = "tmigr_cpu_online";
    cpu_id cpu = 0;
    group_id parent = no_group;
    std::uint64_t wakeup = never;
    friend bool operator==(const cpu_available&, const cpu_available&) = default;
};

/// A CPU takes part no longer. Kernels before 6.19 call it offline.
struct cpu_unavailable {
    static constexpr const char* name = "tmigr_cpu_unavailable";
    static constexpr const char* old_name = "tmigr_cpu_offline";
    cpu_id cpu = 0;
    group_id parent = no_group;
    std::uint64_t wakeup = never;
    friend bool operator==(const cpu_unavailable&, const cpu_unavailable&) = default;
};

/// What a child offers to its group was brought up to date. `child` is 0 for a CPU's own
/// expiry; `nextevt` is the offer, `next_expiry` the earliest of the group behind it.
struct update_events {
    static constexpr const char* name = "tmigr_update_events";
    group_id child = no_group;
    group_id group = no_group;
    unsigned group_lvl = 0;
    std::uint64_t child_active = 0;
    std::uint64_t group_active = 0;
    std::uint64_t nextevt = never;
    std::uint64_t next_expiry = never;
    std::uint64_t child_evt_expiry = never;
    cpu_id child_evtcpu = 0;
    friend bool operator==(const update_events&, const update_events&) = default;
};

/// A CPU looks for due timers in a group that is its to look after.
struct handle_remote {
    static constexpr const char* name = "tmigr_handle_remote";
    group_id group = no_group;
    unsigned lvl = 0;
    friend bool operator==(const handle_remote&, const handle_remote&) = default;
};

/// The due timers of a sleeping CPU are run for it.
struct handle_remote_cpu {
    static constexpr const char* name = "tmigr_handle_remote_cpu";
    cpu_id cpu = 0;
    group_id parent = no_group;
    std::uint64_t wakeup = never;
    friend bool operator==(const handle_remote_cpu&, const handle_remote_cpu&) = default;
};

}  // namespace event

/// What a hierarchy tells about itself. `trace(event, on)` is called right after the
/// step it reports has taken effect, by the thread that took it; `on` is the CPU that
/// acted. It must be `noexcept`, and, when several threads use the hierarchy, safe to
/// call from all of them at once.
template <class Tracer>
concept tracer = std::default_initializable<Tracer> &&
                 requires(Tracer& t, const event::group_set& made, const event::group_set_cpu_active& word,
                          cpu_id on) {
                     { t.trace(made, on) } noexcept;
                     { t.trace(word, on) } noexcept;
                     { Tracer::enabled } -> std::convertible_to<bool>;
                 };

/// Traces nothing and costs nothing: events are not even made.
struct no_tracer {
    static constexpr bool enabled = false;
    template <class Event>
    constexpr void trace(const Event&, cpu_id) const noexcept {}
};
static_assert(tracer<no_tracer>);

}  // namespace tmigr

#endif
