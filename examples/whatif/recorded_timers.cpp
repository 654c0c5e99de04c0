// SPDX-License-Identifier: BSL-1.0
#include "recorded_timers.hpp"

#include "checks.hpp"

#include <algorithm>
#include <string_view>

namespace whatif {

namespace {

constexpr std::size_t most_timers = 10'000'000;
constexpr std::size_t deepest = 16;  // handlers that interrupt each other
constexpr std::uint64_t farthest = std::uint64_t{1} << 62;

bool is_tick(std::string_view function) noexcept {
    return function == "tick_nohz_handler" || function == "tick_sched_timer";
}

/// FNV-1a: the same everywhere.
std::uint64_t hash_of(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

std::size_t index(timer_kind kind) noexcept { return static_cast<std::size_t>(kind); }

}  // namespace

recorded_kind& recorded_timers::counts(std::size_t which) noexcept {
    return into_.timers[index(records_[which].timer.kind)];
}

std::uint64_t recorded_timers::jiffies_to_monotonic(std::uint64_t jiffies) const noexcept {
    // Counting begins five minutes before 32 bits run over.
    const std::uint64_t begin = (std::uint64_t{1} << 32) - 300 * (1'000'000'000u / tick_);
    if (jiffies < begin) jiffies += std::uint64_t{1} << 32;
    const std::uint64_t since = jiffies - begin;
    return since > farthest / tick_ ? farthest : since * tick_;
}

std::size_t recorded_timers::open(timer_kind kind, std::size_t owner, const trace_event& e, bool before) {
    record r;
    r.timer.kind = kind;
    r.timer.cpu = owner;
    r.timer.armed = before ? 0 : e.time;
    r.before = before;
    records_.push_back(r);
    recorded_kind& k = into_.timers[index(kind)];
    ++(before ? k.armed_before : k.armed);
    return records_.size() - 1;
}

void recorded_timers::close_cancelled(std::size_t which, nanoseconds time) noexcept {
    records_[which].timer.cancelled = time;
}

/// The line before was a cancel, as what comes now is no expiry.
void recorded_timers::settle(live& timer) {
    if (timer.unsure == none) return;
    close_cancelled(timer.unsure, timer.since);
    ++counts(timer.unsure).cancelled;
    timer.unsure = none;
}

void recorded_timers::initialise(table& timers, const trace_event& e) {
    const auto found = timers.find(e.timer);
    if (found == timers.end()) return;
    settle(found->second);
    if (found->second.armed != none) {
        close_cancelled(found->second.armed, e.time);
        ++counts(found->second.armed).forgotten;
    }
    timers.erase(found);
}

void recorded_timers::start(const trace_event& e, bool precise) {
    live& timer = (precise ? precise_ : wheel_)[e.timer];
    if (precise && is_tick(e.function)) {
        timer.tick = true;
        ++into_.tick_timers;
        return;
    }
    settle(timer);
    const timer_kind kind = precise ? timer_kind::precise : e.flags;
    if (!precise) {
        ++kinds_of_[hash_of(e.function)][index(kind)];
        if (timer.guess != none && !records_[timer.guess].kind_known) {
            // The same timer, armed before the window: now its flags are known.
            record& r = records_[timer.guess];
            recorded_kind& from = counts(timer.guess);
            recorded_kind& to = into_.timers[index(kind)];
            --from.armed_before, ++to.armed_before;
            if (r.ran != forever)
                --from.expired, ++to.expired;
            else
                --from.cancelled, ++to.cancelled;
            r.timer.kind = kind;
            r.kind_known = true;
        }
        timer.guess = none;
    }
    if (timer.armed == none && e.was_armed) {
        timer.armed = open(kind, e.cpu, e, true);
        records_[timer.armed].due_known = false;
    }
    if (timer.armed != none) {
        if (!precise || (e.has_was_armed && !e.was_armed)) ++into_.unmatched.restarts;
        close_cancelled(timer.armed, e.time);
        ++counts(timer.armed).moved;
    }
    timer.armed = open(kind, precise ? e.cpu : e.other_cpu, e, false);
    records_[timer.armed].due = precise ? std::min(e.expires, farthest) : jiffies_to_monotonic(e.expires);
    timer.tick = false;
}

void recorded_timers::cancel(const trace_event& e, bool precise) {
    table& timers = precise ? precise_ : wheel_;
    if (precise) {
        const auto found = timers.find(e.timer);
        if (found == timers.end() || (!found->second.tick && found->second.armed == none)) {
            ++into_.unmatched.unknown_cancels;
            return;
        }
        if (found->second.tick) {
            ++into_.tick_timers;
            return;
        }
    }
    live& timer = timers[e.timer];
    if (timer.unsure != none) {
        ++into_.unmatched.unknown_cancels;
        return;
    }
    if (timer.armed == none) {
        // Flags and time are not known; both may be told by what comes.
        timer.armed = open(precise ? timer_kind::precise : timer_kind::global, e.cpu, e, true);
        record& r = records_[timer.armed];
        r.due_known = false;
        r.kind_known = precise;
        if (!precise) timer.guess = timer.armed;
    }
    timer.unsure = timer.armed;
    timer.armed = none;
    timer.since = e.time;
    timer.cpu = e.cpu;
}

void recorded_timers::expire(const trace_event& e, bool precise) {
    live& timer = (precise ? precise_ : wheel_)[e.timer];
    cpu& c = cpus_[e.cpu];
    if (c.handlers.size() == deepest) drop_handlers(c);
    if (precise) learn_clock(e);
    if (precise && is_tick(e.function)) {
        timer.tick = true;
        ++into_.cpus[e.cpu].ticks;
        clocks_.ticked(e.cpu);
        c.handlers.push_back({e.timer, precise, none, e.time, 0});
        return;
    }
    if (timer.unsure != none && timer.cpu != e.cpu) {
        settle(timer);
        ++into_.unmatched.expired_after_cancel;
    }
    std::size_t r = timer.unsure != none ? timer.unsure : timer.armed;
    if (r == none) {
        r = open(precise ? timer_kind::precise : timer_kind::global, e.cpu, e, true);
        records_[r].kind_known = precise;
        if (!precise) timer.guess = r;
    }
    timer.unsure = timer.armed = none;
    record& it = records_[r];
    it.ran = e.time;
    if (it.before) {
        it.due = precise ? std::min(e.now, farthest) : jiffies_to_monotonic(std::min(e.base, e.now));
        it.due_known = true;
        it.function = hash_of(e.function);
        it.timer.cpu = !precise && c.remote_of != none ? c.remote_of : e.cpu;
        if (!precise && it.timer.cpu != e.cpu) {
            // Only global timers are run by others.
            it.kind_known = true;
        }
    }
    recorded_kind& k = counts(r);
    ++k.expired;
    if (!it.before && it.timer.cpu != e.cpu) ++k.expired_elsewhere;
    recorded_cpu& runner = into_.cpus[e.cpu];
    if (precise) {
        ++runner.precise_expiries;
        if (!it.before) late_.add(e.now > it.due ? e.now - it.due : 0);
        it.timer.cpu = e.cpu;
    } else {
        ++(it.timer.cpu == e.cpu ? runner.own_expiries : runner.remote_expiries);
        const std::uint64_t now = e.now;
        if (first_jiffy_at_ == forever) first_jiffy_ = now, first_jiffy_at_ = e.time;
        last_jiffy_ = now, last_jiffy_at_ = e.time;
        learn_clock(e);
    }
    c.handlers.push_back({e.timer, precise, r, e.time, 0});
}

/// The time stamp of an expiry is never before its time: the least difference is nearest to that of the
/// clocks.
void recorded_timers::learn_clock(const trace_event& e) {
    const bool precise = e.kind == trace_kind::hrtimer_enter;
    const std::uint64_t monotonic = precise ? e.now : jiffies_to_monotonic(e.now);
    if (monotonic >= farthest) return;
    const std::int64_t offset = static_cast<std::int64_t>(e.time) - static_cast<std::int64_t>(monotonic);
    if (precise) {
        into_.clock_offset = has_offset_ ? std::min(into_.clock_offset, offset) : offset;
        has_offset_ = true;
    } else {
        jiffy_offset_ = has_jiffy_offset_ ? std::min(jiffy_offset_, offset) : offset;
        has_jiffy_offset_ = true;
    }
}

void recorded_timers::drop_handlers(cpu& c) noexcept {
    into_.unmatched.entries += c.handlers.size();
    c.handlers.clear();
}

void recorded_timers::leave_handler(const trace_event& e, bool precise) {
    cpu& c = cpus_[e.cpu];
    while (!c.handlers.empty()) {
        const handler h = c.handlers.back();
        c.handlers.pop_back();
        if (h.timer != e.timer || h.precise != precise) {
            ++into_.unmatched.entries;
            continue;
        }
        const nanoseconds span = e.time - h.begin;
        const nanoseconds own = span - std::min(span, h.nested);
        if (!c.handlers.empty()) c.handlers.back().nested += span;
        if (h.record != none) {
            records_[h.record].timer.handler = own;
            clocks_.handled(e.cpu, own);
        }
        return;
    }
    ++into_.unmatched.exits;
}

bool recorded_timers::line(const trace_event& e) {
    switch (e.kind) {
        case trace_kind::timer_init: initialise(wheel_, e); break;
        case trace_kind::timer_start: start(e, false); break;
        case trace_kind::timer_cancel: cancel(e, false); break;
        case trace_kind::timer_enter: expire(e, false); break;
        case trace_kind::timer_exit: leave_handler(e, false); break;
        case trace_kind::hrtimer_init: initialise(precise_, e); break;
        case trace_kind::hrtimer_start: start(e, true); break;
        case trace_kind::hrtimer_cancel: cancel(e, true); break;
        case trace_kind::hrtimer_enter:
            cpus_[e.cpu].remote_of = none;
            expire(e, true);
            break;
        case trace_kind::hrtimer_exit: leave_handler(e, true); break;
        case trace_kind::remote: cpus_[e.cpu].remote_of = e.other_cpu; break;
        case trace_kind::switch_to:
        case trace_kind::idle_enter:
        case trace_kind::idle_exit:
            cpus_[e.cpu].remote_of = none;
            // Handlers do not give up the CPU; an exit from idle can be printed behind them only.
            if (e.kind != trace_kind::idle_exit) drop_handlers(cpus_[e.cpu]);
            break;
        default: break;
    }
    return records_.size() <= most_timers;
}

void recorded_timers::guess_kinds() {
    for (std::size_t i = 0; i < records_.size(); ++i) {
        record& r = records_[i];
        if (r.kind_known) continue;
        ++into_.guessed_kinds;
        const auto found = kinds_of_.find(r.function);
        if (r.function == 0 || found == kinds_of_.end()) continue;
        const auto most = std::ranges::max_element(found->second);
        const auto kind = static_cast<timer_kind>(most - found->second.begin());
        recorded_kind& from = counts(i);
        recorded_kind& to = into_.timers[index(kind)];
        --from.armed_before, ++to.armed_before;
        if (r.ran != forever)
            --from.expired, ++to.expired;
        else
            --from.cancelled, ++to.cancelled;
        r.timer.kind = kind;
    }
}

double recorded_timers::hertz() const noexcept {
    if (first_jiffy_at_ == forever || last_jiffy_ < first_jiffy_ + 100 || last_jiffy_at_ <= first_jiffy_at_)
        return 0;
    return static_cast<double>(last_jiffy_ - first_jiffy_) * 1e9 /
           static_cast<double>(last_jiffy_at_ - first_jiffy_at_);
}

void recorded_timers::finish(nanoseconds begin, nanoseconds end) {
    for (table* const timers : {&wheel_, &precise_}) {
        for (auto& [address, timer] : *timers) {
            settle(timer);
            if (timer.armed != none) ++counts(timer.armed).pending;
        }
    }
    for (cpu& c : cpus_) drop_handlers(c);
    guess_kinds();
    if (!has_offset_) into_.clock_offset = jiffy_offset_;
    into_.precise_late = late_.quantile(0.5);

    // Time 0 is a tick, as the kernel counts them.
    const std::int64_t first = static_cast<std::int64_t>(begin) - into_.clock_offset;
    const auto tick = static_cast<std::int64_t>(tick_);
    const std::int64_t zero = first - ((first % tick) + tick) % tick;
    const std::int64_t shift = zero + into_.clock_offset;  // of time stamps
    const auto of_stamp = [&](nanoseconds time) {
        return static_cast<nanoseconds>(static_cast<std::int64_t>(time) - shift);
    };
    into_.load.length = of_stamp(end);
    into_.load.recorded_timers.reserve(records_.size());
    for (const record& r : records_) {
        recorded_timer timer = r.timer;
        if (!r.before) timer.armed = of_stamp(timer.armed);
        if (timer.cancelled != forever) timer.cancelled = of_stamp(timer.cancelled);
        const std::int64_t due = static_cast<std::int64_t>(r.due) - zero;
        if (timer.kind == timer_kind::precise && r.ran != forever)
            timer.expires = of_stamp(r.ran);
        else if (!r.due_known)
            timer.expires = into_.load.length;
        else
            timer.expires = due < 0 ? 0 : static_cast<nanoseconds>(due);
        timer.expires = std::clamp(timer.expires, timer.armed, longest_run);
        into_.load.recorded_timers.push_back(timer);
    }
    std::ranges::stable_sort(into_.load.recorded_timers, {}, &recorded_timer::armed);
    for (recorded_busy& busy : into_.load.recorded_busy) busy.from = of_stamp(busy.from);
    std::ranges::stable_sort(into_.load.recorded_busy, {}, &recorded_busy::from);
    for (plug_event& plug : into_.load.plugs) plug.at = of_stamp(plug.at);
    std::ranges::stable_sort(into_.load.plugs, {}, &plug_event::at);
}

}  // namespace whatif
