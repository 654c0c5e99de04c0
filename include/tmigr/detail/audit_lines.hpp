// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_AUDIT_LINES_HPP
#define TMIGR_DETAIL_AUDIT_LINES_HPP

#include <tmigr/detail/audit_judge.hpp>
#include <tmigr/detail/audit_roots.hpp>
#include <tmigr/detail/hex.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tmigr::detail {

/// Checks what one line shows, or the same line again and again: words that cannot be, connections across
/// nodes, roots that stay two, sleepers that arm or are looked after for a time that has passed, timers that
/// were run and not told.
class audit_lines : protected audit_judge {
protected:
    using audit_judge::audit_judge;

    struct repeat {
        std::uint64_t time = event::never;
        unsigned times = 0;
        audit_place begin{};
        bool told = false;
    };
    struct repeats {
        repeat arm, serve;
    };

    template <class Other>
    void check(const Other&) {}
    void check(const event::group_set_cpu_active& word) { check_word(word, true); }
    void check(const event::group_set_cpu_inactive& word) { check_word(word, false); }
    void check(const event::connect_child_parent& link) {
        grew_at_ = now_;
        suspect_word(tree_.find_group(link.group));
        const audit_index child = tree_.find_group(link.group);
        const audit_group& g = tree_.groups()[child];
        if (!g.made || g.numa < 0 || link.numa < 0 || g.numa == link.numa) return;
        audit_finding f = made(audit_kind::mixed_nodes);
        f.fault = "K38";
        f.cause = "a group of one node was connected to a parent of another";
        f.group = link.group;
        f.parent = link.parent;
        f.detail = "node " + std::to_string(g.numa) + " below node " + std::to_string(link.numa);
        f.evidence.push_back({now_, "the connection"});
        found(std::move(f));
    }
    void check(const event::connect_cpu_parent&) {
        if (roots_at_.line == 0) roots_at_ = now_;
        grew_at_ = now_;
    }
    void check(const event::group_set&) { grew_at_ = now_; }
    void check(const event::update_events& e) {
        jiffy_.add(e.nextevt);
        const audit_index printer = tree_.find_cpu(now_.on);
        if (e.child == no_group || e.nextevt == event::never) return check_repeated_serve(e, printer);
        suspect_owner(e);
    }
    void check(const event::cpu_idle& e) { jiffy_.add(e.nextevt); }
    void check(const event::cpu_active& e) {
        if (const audit_index c = tree_.find_cpu(e.cpu); c != no_index) repeats_of(c) = {};
    }
    void check(const event::cpu_new_timer_idle& e) {
        jiffy_.add(e.nextevt);
        const audit_index c = tree_.find_cpu(e.cpu);
        const auto now = at_least(now_.time);
        repeat& r = repeats_of(c).arm;
        const std::uint64_t slack = 2 * jiffy_.nanoseconds().value_or(longest_jiffy);
        if (!now || e.wakeup == event::never || e.wakeup + slack >= *now || tree_.cpus()[c].served_since) {
            r = {};
        } else if (repeated(r, e.wakeup, 3)) {
            audit_finding f = made(audit_kind::rearming);
            f.fault = "K11";
            f.cause =
                "somebody else looked after the timer, and the sleeper that had armed for it keeps arming";
            f.begin = r.begin;
            f.due = e.wakeup;
            f.evidence.push_back({r.begin, "it arms for a time that has passed"});
            f.evidence.push_back({now_, "and does so the third time"});
            found(std::move(f));
        }
    }

    /// Timers of a sleeper were run, and whoever did it turns to something else.
    void check_told(audit_index p) {
        const audit_cpu& printer = tree_.cpus()[p];
        const audit_cpu& sleeper = tree_.cpus()[printer.served];
        const audit_place claimed = printer.walk_at;
        if (sleeper.leaf == no_index || sleeper.is != audit_cpu::presence::asleep || printer.served == p)
            return;
        if (sleeper.walk_at.line > claimed.line || sleeper.walk != audit_walk::none) return;
        // Somebody else told it.
        if (sleeper.offer.at.line > claimed.line && sleeper.offer.at.on != now_.on) return;
        const audit_group& group = tree_.groups()[sleeper.leaf];
        if (!group.known || !group.parent_known) return;
        // Below an idle root nothing is printed.
        if (group.parent == no_index &&
            (group.live == 0 || group.emptied.line > claimed.line || group.filled.line > claimed.line))
            return;
        audit_finding f = made(audit_kind::unpublished);
        f.fault = "K06";
        f.cause = "timers of a sleeper were run, and what its group waits for next was not told";
        f.begin = claimed;
        f.cpu = sleeper.id;
        f.group = group.id;
        f.evidence.push_back({claimed, "a CPU looks for due timers"});
        f.evidence.push_back(
            {now_, "and turns to something else without a tmigr_update_events line of the group"});
        found(std::move(f));
    }
    /// Whether the last growth is through: who made it does something else.
    bool has_grown() const {
        if (roots_at_.line == 0) return false;
        const audit_index grower = tree_.find_cpu(grew_at_.on);
        return now_.line > grew_at_.line + 64 ||
               (grower != no_index && tree_.cpus()[grower].walk != audit_walk::linking);
    }
    /// A CPU connected some lines ago: whoever grew the tree for it is through by now.
    void check_roots() {
        const audit_place at = std::exchange(roots_at_, {});
        audit_index first = no_index;
        for (audit_index g = 0; g < tree_.groups().size(); ++g) {
            const audit_group& group = tree_.groups()[g];
            if (!group.made || group.parent != no_index || (group.groups.empty() && group.cpus.empty()))
                continue;
            if (first == no_index) {
                first = g;
                continue;
            }
            const audit_group& other = tree_.groups()[first];
            if (two_roots_told_ == group.id || detail::are_own_trees(tree_, first, g)) continue;
            two_roots_told_ = group.id;
            audit_finding f = made(audit_kind::two_roots);
            f.fault = "K22";
            f.cause = "the tree grew, and the old root was not connected to the new one";
            f.begin = at;
            f.end = now_;
            f.group = other.id;
            f.parent = group.id;
            f.evidence.push_back({at, "a CPU connects, the tree grew for it"});
            f.evidence.push_back({now_, "and still neither of the two groups has a parent"});
            found(std::move(f));
        }
    }
    bool is_bad_word(std::size_t line) const {
        return std::ranges::find(bad_words_, line) != bad_words_.end();
    }

    audit_place roots_at_{};
    std::vector<repeats> repeats_;

private:
    void check_word(const event::group_word& word, bool woke) {
        const audit_index g = tree_.find_group(word.group);
        if (g >= words_.size()) words_.resize(g + std::size_t{1});
        words_[g].add(word, woke, now_.on);
        const bool one = std::has_single_bit(word.migrator);
        const bool fine =
            word.active == 0 ? !one && word.migrator != 0 : one && (word.migrator & word.active) != 0;
        if (!fine || word.childmask == 0) {
            audit_finding f = made(audit_kind::bad_migrator);
            f.group = word.group;
            if (word.childmask == 0 || word.migrator == 0) {
                f.fault = "K18";
                f.cause = "a walk went up a link before the group's bit in its parent was there";
            } else {
                f.cause = "the migrator is not one of those awake";
            }
            f.detail = "active=" + detail::hex(word.active) + " migrator=" + detail::hex(word.migrator) +
                       " childmask=" + detail::hex(word.childmask);
            f.evidence.push_back({now_, "the word"});
            bad_words_.push_back(now_.line);
            if (bad_words_.size() > 256) bad_words_.erase(bad_words_.begin());
            found(std::move(f));
        }
        suspect_word(g);
        for (const audit_index h : tree_.groups()[g].groups) suspect_word(h);
        for (audit_index at = tree_.groups()[g].parent, steps = 0; at != no_index && steps < 64; ++steps) {
            suspect_word(at);
            at = tree_.groups()[at].parent;
        }
    }
    repeats& repeats_of(audit_index c) {
        if (c >= repeats_.size()) repeats_.resize(c + std::size_t{1});
        return repeats_[c];
    }
    bool repeated(repeat& r, std::uint64_t time, unsigned limit) {
        if (r.time != time) r = {time, 0, now_, false};
        if (++r.times < limit || r.told) return false;
        r.told = true;
        return true;
    }
    /// The CPU served still has the expiry for which it was.
    void check_repeated_serve(const event::update_events& e, audit_index printer) {
        const audit_index c = tree_.cpus()[printer].served;
        if (c == no_index || e.child != no_group) return;
        const auto now = at_least(now_.time);
        repeat& r = repeats_of(c).serve;
        if (!now || e.nextevt == event::never || e.nextevt >= *now) {
            r = {};
        } else if (repeated(r, e.nextevt, 8)) {
            audit_finding f = made(audit_kind::reserving);
            f.fault = "K01";
            f.cause = "an expiry that is due is run, stays due, and is run again";
            f.begin = r.begin;
            f.cpu = tree_.cpus()[c].id;
            f.due = e.nextevt;
            f.evidence.push_back({r.begin, "first time"});
            f.evidence.push_back({now_, "eighth time"});
            found(std::move(f));
        }
    }

    audit_place grew_at_{};
    group_id two_roots_told_ = no_group;
    std::vector<std::size_t> bad_words_;
};

}  // namespace tmigr::detail

#endif
