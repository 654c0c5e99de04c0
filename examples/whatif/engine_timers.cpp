// SPDX-License-Identifier: BSL-1.0
#include "engine.hpp"

namespace whatif {

void engine::add_timer(timer_index t, std::size_t queue, nanoseconds due) {
    timer& it = timers_[t];
    it.due = due;
    it.queue = static_cast<std::uint32_t>(queue);
    it.armed = true;
    it.place = cpus_[queue].queue(it.kind).add(due, order_++, t);
    ++res_.armed;
}

void engine::cancel(timer_index t) {
    timer& it = timers_[t];
    cpus_[it.queue].queue(it.kind).remove(it.place);
    it.armed = false;
    ++res_.cancelled;
}

// A CPU arms a global timer, but not from the timer's own handler.
void engine::arm_global(timer_index t, std::size_t armer, nanoseconds due) {
    ++res_.enqueues;
    timers_[t].home = static_cast<std::uint32_t>(armer);
    const std::size_t queue = policy_.timers->place(armer, now_);
    add_timer(t, queue, due);
    if (queue != armer) retell(queue);
}

void engine::arm_plan(timer_index t, std::size_t armer, bool own_handler) {
    const timer_plan& p = load_.timers[t];
    periodic& rhythm = plans_[t];
    nanoseconds delay = p.first;
    if (now_ > 0 || own_handler) {
        delay = p.random ? rhythm.random.exponential(p.period) : p.period;
        if (rhythm.jitter > 0) {
            delay += rhythm.random.up_to(2 * rhythm.jitter);
            delay -= std::min(delay, rhythm.jitter);
        }
    }
    timer& it = timers_[t];
    const nanoseconds wanted = now_ + std::max<nanoseconds>(delay, 1);
    const nanoseconds due = p.kind == timer_kind::precise ? wanted : wheel_time(now_, wanted, tick_);
    if (p.kind != timer_kind::global) {
        it.home = static_cast<std::uint32_t>(armer);
        add_timer(t, armer, due);
    } else if (!own_handler) {
        arm_global(t, armer, due);
    } else {
        ++res_.enqueues;
        if (policy_.timers->places_rearmed()) {
            rearmed_.push_back({t, due});
        } else {
            // Looked for all the same, and for nothing: the handler of this queue is still running.
            policy_.timers->place(armer, now_);
            add_timer(t, it.queue, due);
        }
    }
    if (rhythm.cancels > 0 && rhythm.random.chance(rhythm.cancels))
        later(now_ + (wanted - now_) / 2, outside_event::what::cancel, t);
}

// An interrupt tells the CPU that the time-out is not needed, and it begins the next round.
void engine::cancel_plan(timer_index t) {
    // Of a list of those to be placed it is never: that is empty between steps.
    if (!timers_[t].armed) return;
    const std::size_t c = there(load_.timers[t].cpu);
    cancel(t);
    if (load_.timers[t].period > 0) arm_plan(t, c, false);
    interrupt(c, 0);
}

void engine::run_timer(timer_index t, std::size_t on) {
    timer& it = timers_[t];
    cpus_[it.queue].queue(it.kind).remove(it.place);
    it.armed = false;
    ++res_.run;
    cpu_result& runner = res_.cpus[on];
    ++runner.timers_run;
    if (it.home != on) ++runner.timers_run_for_others;
    if (it.kind == timer_kind::global) {
        res_.lateness.add(now_ - it.due);
        if (it.home != on) ++res_.migrations[class_[it.home]][class_[on]];
    }
    if (how_.watch != nullptr) how_.watch->timer(t, it.home, on, it.due, now_);

    switch (it.of) {
        case timer::what::plan: {
            const timer_plan& p = load_.timers[t];
            if (p.by_work)
                burden(on, scaled(p.handler, on), on);
            else
                cpus_[on].cost += scaled(p.handler, on);
            if (p.wakes != nobody) signal(static_cast<std::uint32_t>(p.wakes), on);
            if (p.period > 0) arm_plan(t, on, !p.by_work);
            break;
        }
        case timer::what::task:
            wake(it.index, on);
            break;
        case timer::what::recorded:
            cpus_[on].cost += load_.recorded_timers[it.index].handler;
            free_timers_.push_back(t);
            break;
    }
}

void engine::run_due(timer_queue& of, std::size_t on) {
    while (of.due(now_)) run_timer(of.first(), on);
}

void engine::run_wheel(std::size_t c) {
    cpu& me = cpus_[c];
    run_due(me.queue(timer_kind::pinned), c);
    run_due(me.queue(timer_kind::global), c);
    run_due(me.queue(timer_kind::deferrable), c);
}

void engine::tick(std::size_t c) {
    cpu& me = cpus_[c];
    me.next_tick = (now_ / tick_ + 1) * tick_;
    ++res_.cpus[c].ticks;
    ++res_.cpus[c].timer_interrupts;
    me.cost += scaled(how_.costs.interrupt, c);
    run_wheel(c);
    policy_.timers->tick(c, now_);
    if (policy_.kick != kicks::none) kick_big(c);
    if (me.current != none && !me.waiting.empty()) preempt(c);
}

nanoseconds engine::run_global_timers(std::size_t owner, std::size_t on, nanoseconds) {
    timer_queue& of = cpus_[owner].queue(timer_kind::global);
    run_due(of, on);
    return cpus_[owner].told = of.next();
}

// Timers that their own handlers armed, once the round of handlers is over.
void engine::place_rearmed(std::size_t c) {
    for (const rearm& r : rearmed_) {
        const std::size_t queue = policy_.timers->place(c, now_);
        add_timer(r.timer, queue, r.due);
        if (queue != c) retell(queue);
    }
    rearmed_.clear();
}

void engine::move_global_timers(std::size_t from, std::size_t to, nanoseconds) {
    timer_queue& queue = cpus_[from].queue(timer_kind::global);
    while (!queue.empty()) {
        const timer_index t = queue.first();
        timer& it = timers_[t];
        queue.remove(it.place);
        it.queue = static_cast<std::uint32_t>(to);
        it.place = cpus_[to].queue(timer_kind::global).add(it.due, order_++, t);
    }
    retell(to);
}

void engine::arm_recorded() {
    const auto& all = load_.recorded_timers;
    for (; next_recorded_ < all.size() && all[next_recorded_].armed <= now_; ++next_recorded_) {
        const recorded_timer& r = all[next_recorded_];
        const std::size_t c = there(r.cpu);
        timer_index t = 0;
        if (!free_timers_.empty()) {
            t = free_timers_.back();
            free_timers_.pop_back();
        } else {
            t = static_cast<timer_index>(timers_.size());
            timers_.emplace_back();
        }
        timer& it = timers_[t];
        it.of = timer::what::recorded;
        it.kind = r.kind;
        it.index = static_cast<std::uint32_t>(next_recorded_);
        it.home = static_cast<std::uint32_t>(c);
        const nanoseconds wanted = std::max(r.expires, now_ + 1);
        const nanoseconds due = r.kind == timer_kind::precise ? wanted : (wanted + tick_ - 1) / tick_ * tick_;
        if (r.kind == timer_kind::global) {
            arm_global(t, c, due);
            retell(c);
        } else {
            add_timer(t, c, due);
            reschedule(c);
        }
        if (r.cancelled != forever)
            later(std::max(r.cancelled, now_), outside_event::what::forget, t, next_recorded_);
    }
    if (next_recorded_ < all.size()) later(all[next_recorded_].armed, outside_event::what::recorded, 0);
}

}  // namespace whatif
