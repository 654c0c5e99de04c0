// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_TRACE_STEPS_HPP
#define TMIGR_DETAIL_TRACE_STEPS_HPP

#include <tmigr/io/ftrace.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace tmigr::detail {

/// What a CPU did to the tree in one go, as told by the lines that it printed for it. Lines
/// are numbers of records, counted from 0.
struct trace_step {
    enum class kind : std::uint8_t {
        add,    ///< a CPU connected; the tree may have grown
        wake,   ///< a CPU left idle, or joined
        sleep,  ///< a CPU went idle
        leave,  ///< a CPU takes part no longer
        rearm,  ///< an idle CPU told the tree another next expiry
        keep,   ///< an idle CPU looked at its next timer and told the tree nothing
        claim,  ///< a CPU begins to run the due timers of another, or its own
        serve,  ///< and is through with it
        look,   ///< a CPU has looked for due timers and is through
        gap,    ///< lines are missing
        stray,  ///< lines that belong to nothing whole
    };
    kind what = kind::stray;
    bool joins = false;
    bool whole = false;       ///< all that belongs to it is there
    bool ends_trace = false;  ///< its CPU prints nothing more
    bool cut = false;         ///< not whole because lines are missing before it or behind
    cpu_id on = 0;            ///< that printed the lines
    cpu_id cpu = 0;           ///< that the step is about
    unsigned top = 0;         ///< level up to which a look went, or at which a claim was made
    std::size_t first = 0;    ///< of its lines
    std::size_t last = 0;
    std::size_t decides = 0;  ///< the line that stands for the moment of the step
    std::size_t since = 0;    ///< behind the line of `on` before: nothing of the step is older
    std::size_t next = 0;     ///< the line of `on` behind, or the end
    std::uint64_t nextevt = event::never;
    std::uint64_t wakeup = event::never;      ///< printed at the end
    std::uint64_t old_wakeup = event::never;  ///< printed at the beginning
    std::uint64_t joins_wakeup = event::never;
    std::vector<event::group_word> words;
    std::vector<std::size_t> word_lines;
    std::vector<event::update_events> updates;
    std::vector<std::size_t> update_lines;
    std::vector<event::connect_child_parent> links;
    std::optional<event::connect_cpu_parent> place;
};

/// Cuts a trace into the steps of its CPUs, in the order of the lines that decide them.
/// Lines of one CPU belong together, whatever others print in between.
class trace_cutter {
    using kind = trace_step::kind;

public:
    explicit trace_cutter(std::span<const ftrace_record> records) {
        for (at_ = 0; at_ < records.size(); ++at_) {
            cpu_ = records[at_].cpu;
            std::visit([&](const auto& e) { take(e); }, records[at_].event);
            if (!std::holds_alternative<event::lost>(records[at_].event)) printers_[cpu_].before = at_ + 1;
        }
        for (auto& [cpu, p] : printers_) close(p);
        std::map<cpu_id, std::size_t> next;
        std::vector<std::size_t> behind(records.size(), records.size());
        for (std::size_t i = records.size(); i-- > 0;) {
            const auto [known, fresh] = next.try_emplace(records[i].cpu, i);
            if (!fresh) behind[i] = std::exchange(known->second, i);
        }
        for (trace_step& step : steps_) {
            step.next = behind[step.last];
            step.ends_trace = step.next == records.size();
            step.cut = !step.whole && (step.cut || step.ends_trace);
        }
        std::ranges::stable_sort(steps_, {}, &trace_step::decides);
    }
    std::vector<trace_step> steps() && { return std::move(steps_); }

private:
    struct printer {
        std::optional<trace_step> open;
        std::optional<trace_step> look;
        std::size_t before = 0;  // behind the line before
        bool begun = false;      // something whole, since the trace or a gap began
    };

    template <class Other>
    void take(const Other&) {}
    void take(const event::lost&) {
        for (auto& [cpu, p] : printers_) close(p);
        printers_.clear();
        done(made(kind::gap, 0));
        printers_.clear();
    }

    void take(const event::group_set&) {
        if (!is_open(kind::add) || p().open->place) begin(kind::add, cpu_);
        extend();
    }
    void take(const event::connect_child_parent& link) {
        if (!is_open(kind::add)) begin(kind::add, cpu_);
        p().open->links.push_back(link);
        extend();
    }
    void take(const event::connect_cpu_parent& link) {
        if (!is_open(kind::add) || p().open->place) begin(kind::add, link.cpu);
        p().open->cpu = link.cpu;
        p().open->place = link;
        p().open->whole = true;
        extend();
    }

    void take(const event::cpu_available& e) {
        begin(kind::wake, e.cpu);
        p().open->joins = true;
        p().open->joins_wakeup = e.wakeup;
    }
    void take(const event::cpu_active& e) {
        if (!is_open(kind::wake) || !p().open->joins || p().open->whole) begin(kind::wake, e.cpu);
        p().open->whole = e.cpu == cpu_;
        p().open->old_wakeup = e.wakeup;
        extend();
    }
    void take(const event::group_set_cpu_active& word) {
        // Who connects the old root carries it up without a line for a CPU.
        if (!(is_open(kind::wake) && p().open->whole) && !is_open(kind::add)) return stray();
        p().open->words.push_back(word);
        p().open->word_lines.push_back(at_);
        extend();
    }
    void take(const event::group_set_cpu_inactive& word) {
        if (word.lvl == 0) begin(kind::sleep, cpu_);
        if (!is_open(kind::sleep)) return stray();
        p().open->words.push_back(word);
        p().open->word_lines.push_back(at_);
        extend();
    }
    void take(const event::update_events& update) {
        if (!is_open(kind::sleep) && !is_open(kind::rearm) && !is_open(kind::serve)) return stray();
        p().open->updates.push_back(update);
        p().open->update_lines.push_back(at_);
        if (is_open(kind::sleep))
            p().open->last = at_;
        else
            extend();
        if (p().look) p().look->last = p().look->decides = at_;
    }
    void take(const event::cpu_idle& e) {
        if (!is_open(kind::sleep)) return stray();
        p().open->nextevt = e.nextevt;
        finish(e.cpu, e.wakeup);
    }
    void take(const event::cpu_unavailable& e) {
        if (!is_open(kind::sleep)) return stray();
        p().open->what = kind::leave;
        finish(e.cpu, e.wakeup);
    }
    void take(const event::cpu_new_timer& e) {
        begin(kind::rearm, e.cpu);
        p().open->old_wakeup = e.wakeup;
    }
    void take(const event::cpu_new_timer_idle& e) {
        if (!is_open(kind::rearm)) begin(kind::keep, e.cpu);
        p().open->nextevt = e.nextevt;
        finish(e.cpu, e.wakeup);
    }

    void take(const event::handle_remote& e) {
        if (e.lvl == 0)
            close(p());
        else
            close_step(p());
        if (!p().look) {
            if (e.lvl != 0) return stray();
            p().begun = true;
            p().look = made(kind::look, cpu_);
        }
        p().look->last = p().look->decides = at_;
        p().look->top = e.lvl;
    }
    void take(const event::handle_remote_cpu& e) {
        if (!p().look) return stray();
        close_step(p());
        trace_step claim = made(kind::claim, e.cpu);
        claim.old_wakeup = e.wakeup;
        claim.top = p().look->top;
        claim.whole = true;
        done(std::move(claim));
        p().open = made(kind::serve, e.cpu);
        p().open->whole = true;
        p().look->last = p().look->decides = at_;
    }

    printer& p() { return printers_[cpu_]; }
    bool is_open(kind what) { return p().open && p().open->what == what; }

    trace_step made(kind what, cpu_id cpu) {
        trace_step step;
        step.what = what;
        step.on = cpu_;
        step.cpu = cpu;
        step.first = step.last = step.decides = at_;
        step.since = p().before;
        step.whole = what == kind::gap;
        return step;
    }
    void begin(kind what, cpu_id cpu) {
        close(p());
        p().begun = true;
        p().open = made(what, cpu);
    }
    void extend() { p().open->last = p().open->decides = at_; }
    void finish(cpu_id cpu, std::uint64_t wakeup) {
        // A line about another CPU than the one that prints it is none of a step.
        p().open->whole = cpu == cpu_;
        p().open->cpu = cpu;
        p().open->wakeup = wakeup;
        p().open->last = at_;
        close_step(p());
    }
    void close_step(printer& p) {
        if (p.open) done(std::move(*p.open));
        p.open.reset();
    }
    void close(printer& p) {
        close_step(p);
        if (p.look) {
            p.look->whole = true;
            done(std::move(*p.look));
        }
        p.look.reset();
    }
    void stray() {
        close(p());
        done(made(kind::stray, cpu_));
        steps_.back().cut = !p().begun;
    }
    void done(trace_step&& step) { steps_.push_back(std::move(step)); }

    std::size_t at_ = 0;
    cpu_id cpu_ = 0;
    std::map<cpu_id, printer> printers_;
    std::vector<trace_step> steps_;
};

}  // namespace tmigr::detail

#endif
