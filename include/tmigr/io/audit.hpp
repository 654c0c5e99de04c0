// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_AUDIT_HPP
#define TMIGR_IO_AUDIT_HPP

#include <tmigr/detail/audit_lines.hpp>
#include <tmigr/io/audit_counts.hpp>
#include <tmigr/io/audit_finding.hpp>
#include <tmigr/io/audit_tree.hpp>
#include <tmigr/io/ftrace.hpp>
#include <tmigr/io/replay.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

namespace tmigr {

/// Looks in a kernel's trace, or the library's own, for expiries that nobody is responsible for, and for
/// words that contradict each other.
///
/// Feed it all lines of one machine in file order, those of other events too (`others::keep`): of timers it
/// takes how late they ran. A trace may start anywhere: what was not told yet is not judged. Where
/// lines are missing (`event::lost`, a line that is not ftrace's, time that goes back, `gap`) all but the
/// tree's shape is forgotten.
///
/// A finding needs a moment that no line still to be printed can explain: every CPU that was in the middle
/// of a walk when it began has ended that, and it is still there. Words that disagree must do so in
/// every order of the last lines of their group.
///
/// Memory is fixed per group and CPU, plus the findings kept. Not thread-safe. Throws `input_error`
/// (without place) for more than `audit_tree::most_groups` groups or `most_cpus` CPUs, else what allocation
/// throws.
class auditor : private detail::audit_lines {
public:
    explicit auditor(audit_options options = {}) : audit_lines(options) {}

    void add(const ftrace_record& record) {
        const bool is_event = !std::holds_alternative<event::other>(record.event);
        if (!is_event) return add_other(std::get<event::other>(record.event), record);
        if (std::holds_alternative<event::lost>(record.event)) return gap();
        know_printer(record.cpu);
        move_to(record);
        ++counts_.events;
        remember(record);
        before(record);
        tree_.take(record);
        if (generation_ != tree_.generation()) forget_all();
        replay_.add(record);
        std::visit([&](const auto& e) { check(e); }, record.event);
        if (has_grown()) check_roots();
        settle(record);
    }
    /// Lines are missing here.
    void gap() {
        ++counts_.gaps;
        close_all(audit_end::gap);
        tree_.forget();
        for (auto& w : words_) w = {};
        forget_sleepers();
        replay_.gap();
        repeats_.clear();
        forget_lines();
    }
    /// Closes what is open: the trace ends here.
    void finish() {
        close_all(audit_end::trace);
        counts_.timers_unfollowed = timers_.unfollowed();
        end_replay();
    }

    const audit_tree& tree() const noexcept { return tree_; }
    const audit_counts& counts() const noexcept { return counts_; }
    /// In the order in which they were confirmed.
    const std::vector<audit_finding>& findings() const noexcept { return findings_; }

private:
    static constexpr replay_options replayed{pick::first, false, 64, true};

    void add_other(const event::other& other, const ftrace_record& record) {
        if (other.name.empty()) {
            if (record.task.empty()) gap();
            return;
        }
        move_to(record);
        if (take_other(other, record)) remember(record);
    }
    /// Some memory is kept for each CPU that prints, whether or not it is in the tree.
    void know_printer(cpu_id cpu) {
        if (cpu < printers_.size() && printers_[cpu]) return;
        if (known_printers_ >= audit_tree::most_cpus) audit_tree::refuse_cpu();
        if (cpu >= printers_.size()) printers_.resize(cpu + std::size_t{1});
        printers_[cpu] = true;
        ++known_printers_;
    }
    void move_to(const ftrace_record& record) {
        if (record.time + second < now_.time) gap();
        // Nothing came to explain it until now.
        now_.time = std::max(now_.time, record.time);
        for (suspect& s : suspects_) confirm(s);
        now_ = {record.line, record.time, record.cpu};
    }
    /// What must be looked at before the line changes the tree.
    void before(const ftrace_record& record) {
        const audit_index p = tree_.find_cpu(record.cpu);
        if (p == no_index) return;
        const audit_cpu& printer = tree_.cpus()[p];
        const bool updates = std::holds_alternative<event::update_events>(record.event);
        const bool looks_on = std::holds_alternative<event::handle_remote_cpu>(record.event) ||
                              std::holds_alternative<event::handle_remote>(record.event);
        if (printer.served != no_index && !printer.told && !updates) check_told(p);
        if (const auto* claim = std::get_if<event::handle_remote_cpu>(&record.event)) {
            count_serve(*claim, printer);
            stays_.work(record.cpu);
        }
        if (std::holds_alternative<event::cpu_active>(record.event)) stays_.work(record.cpu);
        if (printer.walk == audit_walk::looking && printer.is == audit_cpu::presence::asleep && !updates &&
            !looks_on) {
            ++counts_.looked;
            if (!printer.served_since) ++counts_.looked_for_nothing;
            count_look(p);
        }
    }
    void close_all(audit_end why) {
        for (suspect& s : suspects_) {
            if (s.finding == none) confirm(s);
            end_finding(s, why);
        }
        suspects_.clear();
        measured_.clear();
        if (roots_at_.line != 0 && why == audit_end::trace) check_roots();
        roots_at_ = {};
    }
    void forget_all() {
        generation_ = tree_.generation();
        suspects_.clear();
        measured_.clear();
        words_.clear();
        repeats_.clear();
        looks_.clear();
        roots_at_ = {};
        end_replay();
    }
    /// Takes over what `replay` has counted. Its groups are those of one tree.
    void end_replay() {
        replay_.finish();
        const replay_counts& c = replay_.counts();
        replay_counts& all = counts_.words;
        all.lines += c.lines, all.learnt += c.learnt, all.checked += c.checked, all.agreed += c.agreed;
        all.reordered += c.reordered, all.different += c.different, all.early_links += c.early_links;
        all.gaps += c.gaps;
        for (const replay_difference& d : replay_.differences()) {
            if (is_bad_word(d.line)) continue;
            audit_finding f = made(audit_kind::wrong_word);
            f.begin = f.end = {d.line, 0, 0};
            f.group = d.group;
            f.detail = "expected " + d.expected + ", printed " + d.printed;
            f.cause = "a word is not what those before it make of it";
            found(std::move(f));
        }
        replay_ = replay<>{replayed};
    }

    replay<> replay_{replayed};
    std::size_t generation_ = 0;
    std::vector<bool> printers_;
    std::size_t known_printers_ = 0;
};

}  // namespace tmigr

#endif
