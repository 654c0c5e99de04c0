// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_REPLAY_HPP
#define TMIGR_IO_REPLAY_HPP

#include <tmigr/detail/hex.hpp>
#include <tmigr/detail/line_order.hpp>
#include <tmigr/io/ftrace.hpp>
#include <tmigr/state.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tmigr {

/// A line of a trace that does not say what it should.
struct replay_difference {
    std::size_t line = 0;
    group_id group = no_group;
    std::string expected;
    std::string printed;
};

/// What a replay has found. `lines == learnt + checked`, `checked == agreed + different`.
struct replay_counts {
    std::size_t lines = 0;      ///< tmigr_group_set_cpu_active and _inactive lines
    std::size_t learnt = 0;     ///< of these: taken as they are, the group's word not being known
    std::size_t checked = 0;    ///< held against what the word before makes of them
    std::size_t agreed = 0;     ///< of these: right
    std::size_t reordered = 0;  ///< of the right ones: overtaken in the file by a line that happened later
    std::size_t different = 0;  ///< wrong
    std::size_t early_links =
        0;  ///< of the right ones: with a parent that the 16 lines before or after connect
    std::size_t gaps = 0;
    friend bool operator==(const replay_counts&, const replay_counts&) = default;
};

struct replay_options {
    pick how = pick::first;    ///< the traced hierarchy's choice of migrators
    bool walks = true;         ///< hold each line against the one of the same CPU before and after it
    std::size_t details = 32;  ///< how many differences are kept
    /// Takes lines that no order explains as they are where the line that would can be one of those
    /// that are missing: the first 16 of a group behind a gap, or behind where the trace begins, and
    /// those held back at a gap or at the end.
    bool doubt_at_gaps = false;
};

/// Takes the transitions of `State` along with the tmigr_group_set_cpu_active and _inactive
/// lines of a trace and compares `active` and `migrator` line by line.
///
/// A group is idle when its tmigr_group_set line was seen. Otherwise, and after a gap,
/// its first line is learnt. An active line must print `activated(childmask)` of the word
/// before; an inactive line `deactivated(childmask)`, or, where the child is a group that
/// was awake again, `touched()`. The bit of a CPU must change each time.
///
/// The kernel prints a change a moment after it made it and under no lock, so that two
/// CPUs' changes of one group can stand in opposite order. Lines that do not fit are
/// therefore held against every order of the 16 lines of their group around them, file
/// order preferred, in which no line goes before one that was printed before the
/// CPU of the first had printed what it printed last (its change is younger than that). Time
/// stamps must be of one clock for all CPUs. What no order explains is `different`;
/// then the replay goes on with what was expected or with what was printed, whichever fits
/// the lines behind.
///
/// `lvl`, `numa` and `parent` must be what the tree or the group's first line say, and
/// `childmask` that of a connected child where the whole tree is known. With
/// `replay_options::walks`, a line above level 0 must follow one of the same CPU for a child
/// that was filled or emptied (or a new link), and such a line must be followed by one
/// for the parent. All these count as `different` too.
///
/// Feed it all lines of one machine in file order (other events too: the more it knows of when
/// a CPU did what, the fewer orders it takes for possible), then call `finish`. Memory is
/// fixed per group and CPU, time per line is bounded. Not thread-safe. Throws nothing
/// but what allocation throws.
template <class State = state32>
class replay {
public:
    explicit replay(replay_options options = {}) : options_(options) {}

    /// Takes in the next line; `event::lost` makes a gap.
    void add(const ftrace_record& record) {
        std::visit([&](const auto& event) { take(event, record); }, record.event);
        walkers_[record.cpu].time = record.time;
    }

    /// Lines are missing here: forgets the words of all groups, keeps the tree.
    void gap() {
        finish();
        ++counts_.gaps;
        walkers_.clear();
        for (auto& [id, g] : groups_) {
            g.order.forget();
            g.whole = false;
            g.settled = 0;
            g.linked_at = 0;
            g.parent_known = g.parent != no_group;
        }
    }

    /// Decides on the lines that are still held back. Lines may follow.
    void finish() {
        flushing_ = true;
        for (auto& [id, g] : groups_) g.order.flush(settler{this, &g});
        flushing_ = false;
    }

    /// Complete for the lines before the last `finish` or `gap`.
    const replay_counts& counts() const noexcept { return counts_; }
    /// The first differences, in the order in which they were found.
    const std::vector<replay_difference>& differences() const noexcept { return differences_; }

private:
    using line_order = detail::line_order<State>;
    using line = detail::word_line;
    using verdict = detail::line_verdict;
    static constexpr std::size_t nearby = line_order::window;

    struct group {
        unsigned lvl = 0;
        family_id numa = no_family;
        group_id parent = no_group;
        bool parent_known = true;
        bool whole = false;            // all lines since it was made were seen
        std::size_t settled = 0;       // lines, since the first or a gap
        std::size_t linked_at = 0;     // line of the connection to its parent
        std::uint64_t groupmask = 0;   // 0 where that line was not seen
        std::uint64_t childmasks = 0;  // of connected children
        line_order order{};
    };
    // A CPU, and the last line of a group that it printed.
    struct walker {
        std::uint64_t time = 0;
        bool linked = false;  // it has connected a group since
        bool owes = false;    // that line is settled, and the CPU must go on from it
        bool was_reordered = false;
        std::optional<line> last{};
    };
    struct settler {
        replay* self;
        group* of;
        void operator()(const line& l, verdict v, const std::optional<State>& before) const {
            self->settle(*of, l, v, before);
        }
    };

    template <class Other>
    void take(const Other&, const ftrace_record&) {}
    void take(const event::lost&, const ftrace_record&) { gap(); }

    void take(const event::group_set& made, const ftrace_record&) {
        group& g = groups_[made.group];
        g.order.flush(settler{this, &g});
        g = group{};
        g.lvl = made.lvl;
        g.numa = made.numa;
        g.whole = true;
        g.order.start(State{}, options_.how);
    }
    void take(const event::connect_child_parent& link, const ftrace_record& record) {
        if (const auto child = groups_.find(link.group); child != groups_.end()) {
            child->second.parent = link.parent;
            child->second.parent_known = true;
            child->second.linked_at = record.line;
            child->second.groupmask = link.groupmask;
        }
        join(link.parent, link.groupmask);
        walkers_[record.cpu].linked = true;
    }
    void take(const event::connect_cpu_parent& link, const ftrace_record&) {
        join(link.parent, link.groupmask);
    }
    void join(group_id parent, std::uint64_t groupmask) {
        if (const auto found = groups_.find(parent); found != groups_.end())
            found->second.childmasks |= groupmask;
    }

    void take(const event::group_set_cpu_active& word, const ftrace_record& at) { take_word(word, true, at); }
    void take(const event::group_set_cpu_inactive& word, const ftrace_record& at) {
        take_word(word, false, at);
    }
    void take_word(const event::group_word& word, bool woke, const ftrace_record& record) {
        ++counts_.lines;
        const auto [place, fresh] = groups_.try_emplace(word.group);
        group& g = place->second;
        if (fresh) {
            g.lvl = word.lvl;
            g.numa = word.numa;
            g.parent_known = false;
            g.order.start(std::nullopt, options_.how);
        }
        if (!g.parent_known) g.parent = word.parent;
        g.parent_known = true;

        walker& w = walkers_[record.cpu];
        line l;
        l.number = record.line;
        l.cpu = record.cpu;
        l.time = record.time;
        l.since = w.time;
        l.woke = woke;
        l.of_cpu = g.lvl == 0;
        l.follows_link = g.linked_at != 0 && record.line - g.linked_at <= nearby;
        l.parent_then = g.parent;
        l.word = word;
        if (options_.walks) follow_walk(w, g, l);
        g.order.add(l, settler{this, &g});
    }

    /// Holds a line against the one that its CPU printed for a group before.
    void follow_walk(walker& w, const group& g, line& l) {
        if (w.last) {
            const event::group_word& from = w.last->word;
            const auto below = groups_.find(from.group);
            const bool went_on = w.last->woke == l.woke && from.parent == l.word.group;
            // Either of the two says it, so that one wrong number does not make two lines wrong.
            const bool may_go_on = w.last->woke
                                       ? from.migrator == from.childmask || from.active == from.childmask
                                       : from.migrator == State::none || from.active == 0;
            const bool right_child = below == groups_.end() || below->second.groupmask == 0 ||
                                     below->second.groupmask == l.word.childmask;
            l.has_cause = g.lvl == 0 || (went_on && may_go_on && right_child) || (l.woke && w.linked);
            if (!went_on && w.owes) withdraw(w);
            if (!went_on && !w.owes && below != groups_.end())
                below->second.order.mark_stopped(w.last->number);
        }
        w.linked = w.owes = false;
        w.last = l;
    }

    /// A line has got its place.
    void settle(group& g, const line& l, verdict v, const std::optional<State>& before) {
        std::string wrong = v == verdict::different ? expected_masks(g, l, before) : differs_from_tree(g, l);
        if (wrong.empty() && v != verdict::learnt && goes_on(l, before)) {
            walker& w = walkers_[l.cpu];
            if (l.stopped) wrong = must_go_on(l);
            if (w.last && w.last->number == l.number) {
                w.owes = true;
                w.was_reordered = v == verdict::reordered;
            }
        }
        ++g.settled;
        const bool doubtful = options_.doubt_at_gaps && (flushing_ || (!g.whole && g.settled <= nearby));
        if (v == verdict::learnt ? wrong.empty() : v == verdict::different && doubtful) {
            ++counts_.learnt;
            return;
        }
        ++counts_.checked;
        if (!wrong.empty()) return report(l, std::move(wrong));
        ++counts_.agreed;
        if (v == verdict::reordered) ++counts_.reordered;
        if (l.word.parent != l.parent_then) ++counts_.early_links;
    }
    void report(const line& l, std::string wrong) {
        ++counts_.different;
        if (differences_.size() < options_.details)
            differences_.push_back({l.number, l.word.group, std::move(wrong), printed(l)});
    }
    /// A line that was found right turns out to be one after which the CPU had to go on.
    void withdraw(walker& w) {
        --counts_.agreed;
        if (w.was_reordered) --counts_.reordered;
        if (w.last->word.parent != w.last->parent_then) --counts_.early_links;
        report(*w.last, must_go_on(*w.last));
    }

    /// Whether the line filled or emptied its group, which has a parent: that must be told above.
    bool goes_on(const line& l, const std::optional<State>& before) const {
        return options_.walks && before && l.word.parent != no_group &&
               (l.woke ? !before->is_active() : before->is_active() && l.word.active == 0);
    }
    static std::string must_go_on(const line& l) {
        return "a line of the same CPU for group=" + detail::hex(l.word.parent) + " behind it";
    }

    /// What the tree or the walk says and the line does not; empty when they agree.
    static std::string differs_from_tree(const group& g, const line& l) {
        if (l.word.lvl != g.lvl) return "lvl=" + std::to_string(g.lvl);
        if (l.word.numa != g.numa) return "numa=" + std::to_string(g.numa);
        if (g.whole && (g.childmasks & l.word.childmask) == 0) return "childmask= of a connected child";
        if (!l.has_cause) return "a line of the same CPU for the child before it";
        if (l.word.parent == l.parent_then) return {};
        const bool printed_late = l.word.parent == no_group && l.follows_link;
        const bool printed_early =
            l.word.parent == g.parent && g.linked_at > l.number && g.linked_at - l.number <= nearby;
        return printed_late || printed_early ? std::string{} : "parent=" + detail::hex(l.parent_then);
    }
    static std::string expected_masks(const group& g, const line& l, const std::optional<State>& before) {
        if (!std::has_single_bit(l.word.childmask) || l.word.childmask > State::all)
            return "childmask= with one bit, at most " + detail::hex(State::all);
        const auto after = g.order.expected(before, l);
        if (!after) return "active= and migrator= that go together";
        const auto child = static_cast<typename State::mask_type>(l.word.childmask);
        if (l.of_cpu && before->is_active(child) == l.woke)
            return std::string{"childmask= of a CPU that was "} + (l.woke ? "not awake" : "awake");
        return masks(after->active(), after->migrator());
    }

    static std::string masks(std::uint64_t active, std::uint64_t migrator) {
        return "active=" + detail::hex(active) + " migrator=" + detail::hex(migrator);
    }
    static std::string printed(const line& l) {
        return masks(l.word.active, l.word.migrator) + " lvl=" + std::to_string(l.word.lvl) +
               " numa=" + std::to_string(l.word.numa) + " parent=" + detail::hex(l.word.parent) +
               " childmask=" + detail::hex(l.word.childmask);
    }
    replay_options options_;
    replay_counts counts_;
    std::vector<replay_difference> differences_;
    std::map<group_id, group> groups_;
    std::map<cpu_id, walker> walkers_;
    bool flushing_ = false;
};

}  // namespace tmigr

#endif
