// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_AUDIT_SUSPICIONS_HPP
#define TMIGR_DETAIL_AUDIT_SUSPICIONS_HPP

#include <tmigr/detail/audit_sleepers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <variant>
#include <vector>

namespace tmigr::detail {

/// What looks wrong, and whom to wait for before it is: those who were in the middle of a walk then may not
/// have told all they did. Memory is bounded; what is beyond it is counted, not followed.
class audit_suspicions : protected audit_sleepers {
protected:
    using audit_sleepers::audit_sleepers;

    static constexpr std::uint64_t second = 1'000'000'000;
    static constexpr std::uint64_t hand_over =
        second / 10;  // what a CPU that leaves may take to wake another

    struct busy_cpu {
        audit_index cpu;
        unsigned walks;
    };
    /// Something that looks wrong, until those who were under way then have told all they did.
    struct suspect {
        audit_kind kind;
        audit_index of;  // a CPU, or a group whose parent disagrees
        std::uint64_t due;
        audit_place begin;
        std::vector<busy_cpu> busy;
        std::size_t finding = none;
        bool kept = false;
        bool may_be_handed_over = false;
        audit_index top = no_index;  // as in the coverage, with the next
        bool late_above = false;
        unsigned rounds = 0;
    };

    std::vector<busy_cpu> busy_now() const {
        std::vector<busy_cpu> busy;
        for (audit_index c = 0; c < tree_.cpus().size(); ++c)
            if (tree_.cpus()[c].walk != audit_walk::none && busy.size() < most_busy)
                busy.push_back({c, tree_.cpus()[c].walks});
        return busy;
    }
    /// Who is in one of these walks now may have been seen already by those who were through before.
    bool wait_for(suspect& s, std::initializer_list<audit_walk> walks) const {
        // On a busy machine somebody always is.
        if (s.rounds++ >= most_rounds) return false;
        for (audit_index c = 0; c < tree_.cpus().size(); ++c)
            if (s.busy.size() < most_busy && std::ranges::find(walks, tree_.cpus()[c].walk) != walks.end())
                if (const busy_cpu b{c, tree_.cpus()[c].walks}; still_busy(b)) s.busy.push_back(b);
        return !s.busy.empty();
    }
    bool still_busy(const busy_cpu& b) const {
        const audit_cpu& cpu = tree_.cpus()[b.cpu];
        if (cpu.walks != b.walks || cpu.walk == audit_walk::none) return false;
        // Whoever is awake prints nothing when it has looked, and who connects others may be through with it.
        const std::uint64_t takes = cpu.walk == audit_walk::linking ? hand_over
                                    : cpu.walk == audit_walk::looking && cpu.is != audit_cpu::presence::asleep
                                        ? look_takes
                                        : event::never;
        // Lines of two CPUs can stand in another order than their times.
        return now_.time <= cpu.walk_at.time || now_.time - cpu.walk_at.time <= takes;
    }
    suspect* find_suspect(audit_kind kind, audit_index of) {
        for (suspect& s : suspects_)
            if (s.of == of && about(s.kind) == about(kind)) return &s;
        return nullptr;
    }
    void suspect_more(suspect&& s) {
        if (suspects_.size() < most_suspects && s.busy.size() < most_busy)
            suspects_.push_back(std::move(s));
        else
            ++counts_.dropped;
    }
    audit_end reason_of_end(const suspect& s, const ftrace_record& record) const {
        if (s.kind != audit_kind::uncovered) return audit_end::put_right;
        const audit_cpu& cpu = tree_.cpus()[s.of];
        if (cpu.is == audit_cpu::presence::awake) return audit_end::woke;
        if (const auto* claim = std::get_if<event::handle_remote_cpu>(&record.event);
            claim && claim->cpu == cpu.id)
            return audit_end::served;
        return cpu.due_known && cpu.due == s.due ? audit_end::covered : audit_end::withdrawn;
    }
    void end_finding(suspect& s, audit_end why) {
        if (s.finding == none) return;
        audit_finding& f = findings_[s.finding];
        f.end = now_;
        f.ended_by = why;
        if (s.kind != audit_kind::uncovered) return;
        // An expiry and the jiffy in which it is run can be one apart.
        const std::uint64_t then = f.due + jiffy_.nanoseconds().value_or(longest_jiffy);
        if (const auto now = at_least(now_.time)) f.late_at_least = *now > then ? *now - then : 0;
        // Who wakes runs its timers a moment later.
        if (measured_.size() > 64) measured_.erase(measured_.begin(), measured_.begin() + 32);
    }
    void tell_stories(const ftrace_record& record) {
        for (const suspect& s : suspects_)
            if (s.finding != none) tell(findings_[s.finding], record);
        for (const std::size_t i : measured_)
            if (findings_[i].ended_by != audit_end::moment && findings_[i].end.line == record.line)
                tell(findings_[i], record, true);
    }

    std::vector<suspect> suspects_;

private:
    static constexpr std::uint64_t look_takes = second / 100;
    static constexpr unsigned most_rounds = 4;
    static constexpr std::size_t most_suspects = 4096;
    static constexpr std::size_t most_busy = 1024;

    static audit_kind about(audit_kind kind) {
        return kind == audit_kind::idle_untold ? audit_kind::awake_untold : kind;
    }
};

}  // namespace tmigr::detail

#endif
