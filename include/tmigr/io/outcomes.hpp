// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_OUTCOMES_HPP
#define TMIGR_IO_OUTCOMES_HPP

#include <tmigr/detail/shadow_tree.hpp>
#include <tmigr/detail/step_order.hpp>
#include <tmigr/detail/trace_steps.hpp>
#include <tmigr/io/ftrace.hpp>
#include <tmigr/io/outcome.hpp>
#include <tmigr/io/replay.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tmigr {

/// Something that the library does otherwise than the kernel, and no rule explains.
struct outcome_difference {
    std::size_t line = 0;  ///< the last one of what the CPU did
    cpu_id cpu = 0;
    std::string what;
    std::string expected;
    std::string printed;
};

/// What a comparison has found.
struct outcome_report {
    std::size_t steps = 0;      ///< things that CPUs did, each told by one line or several
    std::size_t cut = 0;        ///< of these: not whole, since lines are missing before or behind
    std::size_t overtaken = 0;  ///< of these: printed before one that had happened earlier
    /// Numbers that were held against the library's, by kind: words of groups, wake-ups, who is
    /// in charge, what is kept.
    std::array<std::size_t, outcome_count> found{};
    replay_counts words;  ///< of the same lines, as `replay` finds
    std::vector<outcome_difference> differences;
    /// Lines with which a CPU went idle whose expiry was lost sight of.
    std::vector<std::size_t> lost_sight;

    std::size_t of(outcome kind) const noexcept { return found[static_cast<std::size_t>(kind)]; }
    std::size_t checked() const noexcept {
        std::size_t sum = 0;
        for (const std::size_t count : found) sum += count;
        return sum;
    }
    /// Nothing is unexplained.
    bool agrees() const noexcept { return of(outcome::different) == 0 && words.different == 0; }
};

struct outcome_options {
    linux_form form = linux_form::newest;
    std::size_t details = 32;  ///< how many differences are kept
};

namespace detail {

/// Drives the library's tree by the steps of a trace, in another order than printed where
/// that does not fit.
class outcome_comparison {
public:
    outcome_comparison(std::span<const ftrace_record> records, const topology& machine,
                       outcome_options options)
        : records_(records),
          options_(options),
          steps_(trace_cutter(records).steps()),
          tree_(machine.possible_cpus(), std::max(machine.possible_nodes(), machine.family_count()),
                {state32::children, options.form, pick::first}, steps_) {}

    outcome_report run() {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const trace_step& step = steps_[i];
            if (step.what != trace_step::kind::gap) ++report_.steps;
            if (step.whole)
                order_.push_back(i);
            else if (step.cut)
                ++report_.cut;
            else
                note(step, "lines that belong together", "others");
        }
        for (at_ = 0; at_ < order_.size();) {
            const bool barrier = is_barrier(at_);
            if (barrier) settle(0);
            const std::size_t mark = tree_.mark();
            const step_result result = tree_.apply(order_[at_]);
            if (barrier) {
                commit(order_[at_++], result);
            } else if (result.differing == 0) {
                recent_.push_back({mark, result});
                ++at_;
                if (recent_.size() > most_recent) settle(most_recent);
            } else {
                reorder(mark);
            }
        }
        settle(0);
        replay<> words{{pick::first, true, 0}};
        for (const ftrace_record& record : records_) words.add(record);
        words.finish();
        report_.words = words.counts();
        return std::move(report_);
    }

private:
    static constexpr std::size_t most_recent = 8;
    static constexpr std::size_t near = 8;
    static constexpr std::size_t far = 48;
    static constexpr std::size_t hopeless = 64;
    struct done {
        std::size_t mark;
        step_result result;
    };

    bool is_barrier(std::size_t place) const {
        using kind = trace_step::kind;
        const kind what = steps_[order_[place]].what;
        return what == kind::add || what == kind::gap;
    }

    /// The step at `at_` does not fit where it stands.
    void reorder(std::size_t mark) {
        tree_.back_to(recent_.empty() ? mark : recent_.front().mark);
        const std::size_t from = at_ - recent_.size();
        // A trace that does not fit at all is not worth the time.
        if (report_.of(outcome::different) < hopeless && find_order(from)) return;
        for (std::size_t place = from; place < at_; ++place) static_cast<void>(tree_.apply(order_[place]));
        settle(0);
        const step_result result = tree_.apply(order_[at_]);
        commit(order_[at_], result);
        tree_.resync(steps_[order_[at_]]);
        ++at_;
    }
    bool find_order(std::size_t from) {
        std::size_t end = at_ + 1;
        while (end < order_.size() && end < at_ + far && !is_barrier(end)) ++end;
        for (std::size_t late = at_; late < end; ++late) {
            step_order search(tree_, steps_, {order_.data() + from, late + 1 - from});
            if (search.move_one(late == at_ ? 0 : at_ - from, late - from)) return take(search, late + 1);
        }
        end = std::min(end, at_ + near);
        step_order search(tree_, steps_, {order_.data() + from, end - from});
        using leeway = step_order::leeway;
        for (const leeway half_way : {leeway::none, leeway::late_publishing, leeway::words_too})
            for (const std::size_t slack : {0u, 8u, 32u})
                if (search.any_order(slack, half_way)) return take(search, end);
        return false;
    }
    bool take(const step_order& found, std::size_t end) {
        for (std::size_t i = 0; i < found.order().size(); ++i) commit(found.order()[i], found.results()[i]);
        for (const step_result& result : found.results())
            if (result.lost) report_.lost_sight.push_back(records_[steps_[*result.lost].last].line);
        report_.overtaken += found.overtaken();
        recent_.clear();
        at_ = end;
        return true;
    }

    /// Counts what is too old to be tried in another order.
    void settle(std::size_t keep) {
        while (recent_.size() > keep) {
            commit(order_[at_ - recent_.size()], recent_.front().result);
            recent_.pop_front();
        }
        tree_.keep_from(recent_.empty() ? tree_.mark() : recent_.front().mark);
    }
    void commit(std::size_t index, const step_result& result) {
        for (std::size_t kind = 0; kind < outcome_count; ++kind)
            if (kind != static_cast<std::size_t>(outcome::different))
                report_.found[kind] += result.counts[kind];
        for (std::size_t i = 0; i < result.differing; ++i) {
            const step_difference& d = result.differences[i];
            note(steps_[index], describe(d.what), std::to_string(d.expected), std::to_string(d.printed));
        }
    }
    void note(const trace_step& step, std::string expected, std::string printed) {
        note(step, "lines", std::move(expected), std::move(printed));
    }
    void note(const trace_step& step, std::string what, std::string expected, std::string printed) {
        ++report_.found[static_cast<std::size_t>(outcome::different)];
        if (report_.differences.size() < options_.details)
            report_.differences.push_back({records_[step.last].line, step.cpu, std::move(what),
                                           std::move(expected), std::move(printed)});
    }
    static const char* describe(aspect what) noexcept {
        switch (what) {
            case aspect::connected: return "a CPU that is connected";
            case aspect::awake: return "whether the CPU is awake";
            case aspect::words: return "words of a walk (how many: the library's, printed)";
            case aspect::wakeup: return "wakeup=";
            case aspect::found: return "wakeup= that the CPU found first";
            case aspect::kept: return "wakeup= that is kept";
            case aspect::until_now: return "wakeup= until now";
            case aspect::told: return "nextevt= that the tree was told";
            case aspect::in_charge: return "whether the timers are the printing CPU's to run";
            case aspect::first: return "the expiry that is the first of its group";
            case aspect::offer: return "nextevt= that a child offers";
            case aspect::due: return "whether the CPU has something due";
            case aspect::leaves: return "wakeup= of a CPU that leaves";
        }
        return "";
    }

    std::span<const ftrace_record> records_;
    outcome_options options_;
    std::vector<trace_step> steps_;
    shadow_tree tree_;
    outcome_report report_;
    std::vector<std::size_t> order_;
    std::deque<done> recent_;
    std::size_t at_ = 0;
};

}  // namespace detail

/// Has a tree of the library do what a kernel's did, CPU by CPU in the order of the trace, and
/// holds the outcomes against what the kernel printed.
///
/// The tree grows as the tmigr_connect_* lines tell, on `machine` (its possible CPUs and
/// nodes count). Each thing that a CPU did is one call: `activate`, `deactivate`, `new_expiry`,
/// `expire`. Compared are the words that the walk leaves on each level, `wakeup=` of every
/// line that has one, whether a CPU that runs another's timers is in charge of it, and
/// whether what the CPU holds to be its next expiry is what the tree was told. An idle CPU
/// that looks at its next timer and prints no tmigr_cpu_new_timer has not told its tree
/// anything; nor has the library's then.
///
/// Walks are done whole, one after the other. What CPUs did at the same time is tried in
/// other orders, as far as what they printed before and behind allows, until all agrees. What
/// remains is put down to one of the rules of `outcome`, or is `different`.
///
/// `records` must be all of one machine in file order, of one clock; an `event::lost` record is
/// a gap, behind which everything is learnt anew. Throws `input_error` when nothing connects,
/// and when a CPU connects twice or elsewhere than the library puts it; otherwise nothing but
/// what allocation throws. Memory is proportional to the number of records.
inline outcome_report compare_outcomes(std::span<const ftrace_record> records, const topology& machine,
                                       outcome_options options = {}) {
    const auto connects = [](const ftrace_record& record) {
        return std::holds_alternative<event::connect_cpu_parent>(record.event);
    };
    if (std::ranges::none_of(records, connects))
        throw input_error("a trace without any", std::string{"lines of "} + event::connect_cpu_parent::name);
    return detail::outcome_comparison{records, machine, options}.run();
}

}  // namespace tmigr

#endif
