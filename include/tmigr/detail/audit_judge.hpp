// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_AUDIT_JUDGE_HPP
#define TMIGR_DETAIL_AUDIT_JUDGE_HPP

#include <tmigr/detail/audit_coverage.hpp>
#include <tmigr/detail/audit_suspicions.hpp>
#include <tmigr/detail/audit_words.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tmigr::detail {

/// Judges what takes several lines: whether expiries are covered, whether groups and their parents agree,
/// whether the owner of a group's expiry has it. A suspicion becomes a finding when nobody who was under way
/// can explain it.
class audit_judge : protected audit_suspicions {
protected:
    using audit_suspicions::audit_suspicions;
    using coverage = audit_coverage;

    /// Whether a group's parent says of it what is true.
    void suspect_word(audit_index g) {
        if (g == no_index) return;
        const audit_group& group = tree_.groups()[g];
        if (group.parent == no_index || group.mask == 0 || !group.known) return;
        const audit_group& parent = tree_.groups()[group.parent];
        suspect* known = find_suspect(audit_kind::awake_untold, g);
        const bool says = (parent.active & group.mask) != 0, is = group.live != 0;
        if (says == is || parent.word_at.line == 0 || !tree_.parent_was_told(g)) {
            if (known != nullptr) known->kept = false;
            return;
        }
        const audit_kind kind = is ? audit_kind::awake_untold : audit_kind::idle_untold;
        if (known != nullptr && known->kind == kind) return;
        if (known != nullptr) {
            end_finding(*known, audit_end::put_right);
            *known = {kind, g, 0, now_, busy_now(), none, true, false, no_index, false, 0};
        } else {
            suspect_more({kind, g, 0, now_, busy_now(), none, true, false, no_index, false, 0});
        }
    }
    void suspect_owner(const event::update_events& e) {
        const audit_index g = tree_.find_group(e.child);
        if (right_owner(g) != nullptr && find_suspect(audit_kind::stale_owner, g) == nullptr)
            suspect_more({audit_kind::stale_owner, g, e.nextevt, now_, busy_now(), none, true, false,
                          no_index, false, 0});
    }
    void settle(const ftrace_record& record) {
        const bool ends_walk = std::holds_alternative<event::cpu_idle>(record.event) ||
                               std::holds_alternative<event::cpu_new_timer_idle>(record.event) ||
                               std::holds_alternative<event::cpu_unavailable>(record.event) ||
                               std::holds_alternative<event::cpu_active>(record.event);
        if (suspects_.empty() && !ends_walk) return;
        if (ends_walk || !suspects_.empty()) judge_expiries();
        for (suspect& s : suspects_) {
            if (s.kept) confirm(s);
            if (s.kept) continue;
            counts_.passing += s.finding == none && s.kind == audit_kind::uncovered ? 1 : 0;
            end_finding(s, reason_of_end(s, record));
        }
        std::erase_if(suspects_, [](const suspect& s) { return !s.kept; });
        if (options_.stories) tell_stories(record);
    }
    void confirm(suspect& s) {
        if (s.finding != none) return;
        std::erase_if(s.busy, [this](const busy_cpu& b) { return !still_busy(b); });
        if (!s.busy.empty()) return;
        if (s.kind == audit_kind::uncovered) s.may_be_handed_over = left_last(coverage_of(s.of));
        if (s.may_be_handed_over && now_.time < s.begin.time + hand_over) return;
        if (s.kind == audit_kind::uncovered)
            confirm_uncovered(s);
        else if (s.kind == audit_kind::stale_owner)
            confirm_owner(s);
        else
            confirm_word(s);
    }

    std::vector<audit_words> words_;

private:
    static constexpr std::size_t word_lines = 32;

    void judge_expiries() {
        for (suspect& s : suspects_)
            if (s.kind == audit_kind::uncovered || s.kind == audit_kind::stale_owner)
                s.kept = s.kind == audit_kind::stale_owner && right_owner(s.of) != nullptr;
        detail::audit_armed_memo armed;
        for (const audit_index c : tree_.waiting()) {
            const coverage seen = detail::coverage_of(tree_, c, armed);
            if (seen.is == coverage::verdict::unknown)
                ++counts_.unjudged;
            else
                ++counts_.judged;
            if (seen.is == coverage::verdict::covered) continue;
            suspect* s = find_suspect(audit_kind::uncovered, c);
            const std::uint64_t due = tree_.cpus()[c].due;
            if (seen.is == coverage::verdict::unknown) {
                // What was seen uncovered stays so until somebody is seen to be responsible.
                if (s != nullptr && s->due == due && s->finding != none) s->kept = true;
                continue;
            }
            if (s != nullptr && s->due == due && (s->finding != none || same_reason(*s, seen))) {
                s->kept = true;
                continue;
            }
            suspect fresh{audit_kind::uncovered, c, due, now_, busy_now(), none, true, false, seen.top,
                          seen.late_above,       0};
            if (s == nullptr)
                suspect_more(std::move(fresh));
            else if (s->finding == none)
                *s = std::move(fresh);
        }
    }
    static bool same_reason(const suspect& s, const coverage& seen) {
        return s.top == seen.top && s.late_above == seen.late_above;
    }
    coverage coverage_of(audit_index c) const {
        detail::audit_armed_memo armed;
        return detail::coverage_of(tree_, c, armed);
    }
    bool left_last(const coverage& found) const {
        const audit_index leaver = tree_.find_cpu(tree_.groups()[found.top].word_empty.on);
        return !found.late_above && leaver != no_index &&
               tree_.cpus()[leaver].is == audit_cpu::presence::away;
    }
    void confirm_uncovered(suspect& s) {
        const coverage why = coverage_of(s.of);
        if (why.is != coverage::verdict::uncovered) return;
        if (wait_for(s, {audit_walk::waking, audit_walk::telling, audit_walk::sleeping, audit_walk::looking}))
            return;
        audit_finding f = made(audit_kind::uncovered);
        f.begin = s.begin;
        f.cpu = tree_.cpus()[s.of].id;
        f.due = s.due;
        detail::explain_uncovered(tree_, s.of, why, f);
        s.finding = found(std::move(f));
        if (s.finding != none) measured_.push_back(s.finding);
    }
    void confirm_word(suspect& s) {
        const audit_group& g = tree_.groups()[s.of];
        const bool is = s.kind == audit_kind::awake_untold;
        // A thread can be held up between a step and its line.
        if (now_.line < s.begin.line + word_lines && now_.time < s.begin.time + hand_over) return;
        if (wait_for(s, {audit_walk::waking, audit_walk::sleeping, audit_walk::linking})) return;
        if (g.parent < words_.size() && words_[g.parent].may_end(g.mask, is)) return;
        audit_finding f = made(s.kind);
        f.begin = s.begin;
        f.cpu = s.begin.on;
        f.group = g.id;
        f.parent = tree_.groups()[g.parent].id;
        const audit_place parent_said = tree_.groups()[g.parent].word_at;
        // Only who made the link told the parent of the group since, or nobody did.
        const bool grew =
            g.linked.line != 0 && (is ? g.told.line < g.linked.line : detail::told_by_grower(g));
        if (grew) {
            f.fault = is ? "K21" : "K17";
            f.cause = is ? "the tree grew over an old root that woke, and the new root was not told"
                         : "the tree grew, and the old root was told active after it had fallen asleep";
            f.evidence.push_back({g.linked, "the group gets a parent"});
        } else {
            f.fault = "K04";
            f.cause = "news of a child overtook each other on the way up, and the older one won";
        }
        f.evidence.push_back({g.word_at, "the group's word"});
        f.evidence.push_back({parent_said, is ? "its parent's: the group is idle there"
                                              : "its parent's: the group is active there"});
        s.finding = found(std::move(f));
    }
    /// The child that has the expiry which a group offers in the name of a CPU that has none such; null where
    /// the name is right, or may be.
    const audit_offer* right_owner(audit_index g) const {
        const audit_group& group = tree_.groups()[g];
        const audit_index owner = tree_.find_cpu(group.offer.owner);
        if (owner == no_index || !group.offer.known || group.offer.due == event::never || group.live != 0)
            return nullptr;
        const audit_index way = tree_.child_towards(g, owner);
        const bool in_leaf = tree_.cpus()[owner].leaf == g;
        if (!in_leaf && way == no_index) return nullptr;
        const audit_offer& named = in_leaf ? tree_.cpus()[owner].offer : tree_.groups()[way].offer;
        if (!named.known || named.due == group.offer.due) return nullptr;
        for (const audit_index c : group.cpus)
            if (c != owner && has_offer(tree_.cpus()[c].offer, group.offer.due))
                return &tree_.cpus()[c].offer;
        for (const audit_index h : group.groups)
            if (h != way && has_offer(tree_.groups()[h].offer, group.offer.due))
                return &tree_.groups()[h].offer;
        return nullptr;
    }
    static bool has_offer(const audit_offer& o, std::uint64_t due) { return o.known && o.due == due; }
    void confirm_owner(suspect& s) {
        const audit_group& group = tree_.groups()[s.of];
        const audit_offer* const right = right_owner(s.of);
        if (right == nullptr || group.parent == no_index) return;
        if (wait_for(s, {audit_walk::waking, audit_walk::sleeping, audit_walk::telling, audit_walk::looking}))
            return;
        audit_finding f = made(audit_kind::stale_owner);
        f.fault = "K03";
        f.cause = "two had the same expiry; the one whose timers were run stayed its owner";
        f.begin = s.begin;
        f.group = group.id;
        f.parent = tree_.groups()[group.parent].id;
        f.cpu = right->owner;
        f.due = s.due;
        f.detail = "child_evtcpu=" + std::to_string(group.offer.owner) + ", but the expiry is of CPU " +
                   std::to_string(right->owner);
        f.evidence.push_back({right->at, "the expiry is put into the group"});
        f.evidence.push_back({group.offer.at, "the group's expiry names a CPU that has none such"});
        s.finding = found(std::move(f));
    }
};

}  // namespace tmigr::detail

#endif
