// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_AUDIT_SLEEPERS_HPP
#define TMIGR_DETAIL_AUDIT_SLEEPERS_HPP

#include <tmigr/detail/audit_idle.hpp>
#include <tmigr/detail/audit_ledger.hpp>
#include <tmigr/detail/audit_text.hpp>
#include <tmigr/detail/audit_timers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tmigr::detail {

/// Counts what sleepers wake for, whose timers are run by whom and how late, and learns from it where the
/// clock of expiries stands. Memory is fixed per CPU, and for timers that wait.
class audit_sleepers : protected audit_ledger {
protected:
    using audit_ledger::audit_ledger;

    /// For whom a sleeper that looks has run timers.
    struct look {
        bool served = false, own_node = false, own_capacity = false;
    };

    /// Takes in a line of another event; false where it tells nothing.
    bool take_other(const event::other& other, const ftrace_record& record) {
        if (other.name == "cpu_idle") {
            idle(other.text);
            tree_.take(record);
        } else if (other.name == "timer_start") {
            timers_.start(other.text);
        } else if (other.name == "timer_cancel") {
            timers_.cancel(other.text, record.cpu);
        } else if (other.name == "timer_expire_entry") {
            stays_.work(record.cpu);
            if (const auto ran = timers_.expire(other.text, record.cpu)) count_timer(*ran);
        } else if (other.name == "hrtimer_expire_entry") {
            if (!is_tick(other.text)) stays_.work(record.cpu);
            if (const auto now = detail::audit_number(other.text, "now")) learn_clock(*now);
        } else {
            return false;
        }
        return true;
    }
    void count_serve(const event::handle_remote_cpu& claim, const audit_cpu& by) {
        ++counts_.served;
        const audit_index c = tree_.find_cpu(claim.cpu);
        if (c == no_index) return;
        const audit_cpu& sleeper = tree_.cpus()[c];
        if (sleeper.offer.known && sleeper.due_known && sleeper.due == sleeper.offer.due &&
            sleeper.due != event::never && sleeper.walk == audit_walk::none)
            learn_clock(sleeper.due);
        if (sleeper.leaf == no_index || by.leaf == no_index) return;
        const bool other_node = tree_.groups()[sleeper.leaf].numa != tree_.groups()[by.leaf].numa;
        const bool other_capacity = sleeper.capacity != by.capacity;
        if (sleeper.leaf == by.leaf)
            ++counts_.served_same_group;
        else if (!other_node)
            ++counts_.served_same_node;
        else
            ++counts_.served_other_node;
        if (other_capacity) ++counts_.served_other_capacity;
        if (by.is != audit_cpu::presence::asleep) return;
        look& l = look_of(tree_.find_cpu(by.id));
        l.served = true;
        l.own_node = l.own_node || !other_node;
        l.own_capacity = l.own_capacity || !other_capacity;
    }
    /// A sleeper has looked for due timers.
    void count_look(audit_index c) {
        const look done = std::exchange(look_of(c), {});
        if (!done.served) return;
        if (!done.own_node) ++counts_.woken_for_other_node;
        if (!done.own_capacity) ++counts_.woken_for_other_capacity;
    }
    /// The clock of expiries shows at least this at `time`.
    std::optional<std::uint64_t> at_least(std::uint64_t time) const {
        if (!ahead_) return std::nullopt;
        const std::int64_t t = static_cast<std::int64_t>(time) - *ahead_;
        return t > 0 ? static_cast<std::uint64_t>(t) : 0;
    }
    void forget_sleepers() {
        timers_.forget();
        stays_.forget();
        looks_.clear();
    }

    static constexpr std::uint64_t longest_jiffy = 10'000'000;
    audit_timers timers_;
    audit_stays stays_;
    jiffy_length jiffy_;
    std::vector<std::size_t> measured_;  ///< findings whose timer may still tell how late it ran
    std::vector<look> looks_;

private:
    /// The tick's own timer is no work: it only looks whether there is some.
    static bool is_tick(std::string_view text) {
        const auto function = detail::audit_field(text, "function");
        return function && (*function == "tick_nohz_handler" || *function == "tick_sched_timer");
    }
    void idle(std::string_view text) {
        const auto line = detail::parse_cpu_idle(text);
        if (!line) return;
        if (!line->state) return stays_.leave(line->cpu, at_least(now_.time));
        const audit_index c = tree_.find_cpu(line->cpu);
        const bool arms =
            c != no_index && tree_.cpus()[c].is == audit_cpu::presence::asleep && tree_.cpus()[c].armed_known;
        const auto stay = stays_.enter(line->cpu, arms ? tree_.cpus()[c].armed : event::never);
        if (!stay) return;
        ++counts_.stays;
        counts_.stays_to_armed += stay->at_armed ? 1 : 0;
        counts_.stays_for_nothing += stay->for_nothing ? 1 : 0;
    }
    void count_timer(const detail::audit_timers::expiry& ran) {
        if (ran.deferrable) return;
        ++counts_.timers[ran.late == 0 ? 0 : ran.late == 1 ? 1 : ran.late < 10 ? 2 : 3];
        const auto jiffy = jiffy_.nanoseconds();
        if (ran.pinned || !jiffy) return;
        for (std::size_t i : measured_) {
            audit_finding& f = findings_[i];
            if (f.cpu == ran.base && !f.late) f.late = ran.late * *jiffy;
        }
    }
    /// `at` is a moment not after now, on the clock of expiries.
    void learn_clock(std::uint64_t at) {
        const auto ahead = static_cast<std::int64_t>(now_.time - std::min(at, event::never));
        if (!ahead_ || ahead < *ahead_) ahead_ = ahead;
    }
    look& look_of(audit_index c) {
        if (c >= looks_.size()) looks_.resize(c + std::size_t{1});
        return looks_[c];
    }

    std::optional<std::int64_t> ahead_;
};

}  // namespace tmigr::detail

#endif
