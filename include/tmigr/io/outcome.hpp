// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_OUTCOME_HPP
#define TMIGR_IO_OUTCOME_HPP

#include <cstddef>
#include <cstdint>

namespace tmigr {

/// How something that a kernel printed relates to what the library does in its place.
enum class outcome : std::uint8_t {
    /// The same.
    equal,
    /// A CPU that looked for due timers of others prints what it then has to arm only some
    /// lines later: the library says the same at a moment between.
    looked_later,
    /// The kernel lets a CPU that looked keep the first expiry of the last group that it was in
    /// charge of, though somebody above is awake; the library lets it arm nothing. An early
    /// wake-up of the kernel's.
    lower_group,
    /// The kernel takes an expiry out of its queues while it runs the CPU's timers, and
    /// ignores that of a group from when its first CPU wakes. Printed is what is left without
    /// it; the library's slot has it until the step is over. Or: a CPU has another next timer
    /// while its timers are being run, and leaves it to the other to tell.
    under_way,
    /// The next expiry of a CPU whose timers were run stands in no line (the kernel prints
    /// none below an idle root, or the CPU woke meanwhile), and what is printed is one that
    /// the tree was not told: later than the expiry that was run, earlier than all known.
    untold,
    /// The first of its kind where the trace starts in the middle or ends.
    learnt,
    /// Two walks met half-way: no order of whole walks gives these words, but one gives all
    /// else and the words in which the walks end.
    overlapped,
    /// The kernel published a CPU's expiry after its bit was cleared, and the last to leave had left
    /// the root meanwhile: both arm, in the library only the last. An early wake-up of the kernel's.
    armed_twice,
    /// Seen from the other side: the last to leave did not see that expiry. Its owner arms for it.
    published_late,
    /// The same, and the owner does not arm for it, as a group lies between it and the root: nobody
    /// is armed. A late timer of the kernel's; the library arms.
    lost_sight,
    /// None of these.
    different
};
inline constexpr std::size_t outcome_count = static_cast<std::size_t>(outcome::different) + 1;

/// The name of an outcome, as above.
constexpr const char* name_of(outcome kind) noexcept {
    constexpr const char* names[] = {"equal",          "looked_later", "lower_group", "under_way",
                                     "untold",         "learnt",       "overlapped",  "armed_twice",
                                     "published_late", "lost_sight",   "different"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace tmigr

#endif
