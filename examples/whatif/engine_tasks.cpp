// SPDX-License-Identifier: BSL-1.0
#include "engine.hpp"

namespace whatif {

// A simple scheduler: a task is woken where it last ran; if that CPU is busy, on the next idle one
// that it may use. Nobody moves waiting tasks, and those of one CPU take turns at its ticks.

bool engine::may_run(std::uint32_t t, std::size_t c) const {
    return board_.online[c] != 0 && (is_work(t) || allowed_[t].empty() || allowed_[t][c] != 0);
}

std::size_t engine::choose_cpu(std::uint32_t t) const {
    const std::size_t before = tasks_[t].cpu;
    const std::size_t cpus = cpus_.size();
    if (may_run(t, before) && board_.idle[before] != 0) return before;
    if (is_work(t)) return there(before);
    std::size_t fallback = nobody;
    for (std::size_t i = 0; i < cpus; ++i) {
        const std::size_t c = before + i < cpus ? before + i : before + i - cpus;
        if (!may_run(t, c)) continue;
        if (board_.idle[c] != 0) return c;
        if (fallback == nobody) fallback = c;
    }
    // Linux lets a task run anywhere when all CPUs that it may use are offline.
    return fallback != nobody ? fallback : there(before);
}

/// `from`: the CPU that wakes it, or `nobody` from outside.
void engine::wake(std::uint32_t t, std::size_t from) {
    task& it = tasks_[t];
    if (it.is == task_is::running || it.is == task_is::done) return;
    if (it.home != none) {
        it.cpu = it.home;
        it.home = none;
    }
    wake_on(t, choose_cpu(t), from);
}

/// What it waits for has come; where it does not wait yet, that is remembered.
void engine::signal(std::uint32_t t, std::size_t from) {
    if (tasks_[t].is != task_is::waiting) {
        tasks_[t].woken_early = true;
        return;
    }
    if (timers_[timer_of_task(t)].armed) cancel(timer_of_task(t));
    wake(t, from);
}

void engine::wake_on(std::uint32_t t, std::size_t target, std::size_t from) {
    cpu& to = cpus_[target];
    tasks_[t].is = task_is::running;
    tasks_[t].cpu = static_cast<std::uint32_t>(target);
    to.waiting.push_back(t);
    board_.idle[target] = 0;
    if (to.now_in == mode::idle && target != from) interrupt(target, 0);
}

/// More work for the task of a CPU that does whatever has no task of its own here.
void engine::burden(std::size_t c, nanoseconds length, std::size_t from) {
    burden_[c] += length;
    const auto t = static_cast<std::uint32_t>(load_.tasks.size() + c);
    if (tasks_[t].is != task_is::running) wake_on(t, c, from);
}

void engine::dispatch(std::size_t c) {
    cpu& me = cpus_[c];
    me.current = me.waiting.front();
    me.waiting.pop_front();
    me.now_in = mode::busy;
    board_.idle[c] = 0;
    me.busy_until = std::max(me.busy_until, now_) + scaled(how_.costs.dispatch, c) + tasks_[me.current].left;
    tasks_[me.current].left = 0;
    if (how_.watch != nullptr) how_.watch->busy(c, now_, name_of(me.current));
}

void engine::block(std::size_t c) {
    cpu& me = cpus_[c];
    me.current = none;
    me.now_in = mode::serving;
    me.serving_since = now_;
    board_.idle[c] = me.waiting.empty();
}

void engine::preempt(std::size_t c) {
    cpu& me = cpus_[c];
    if (me.busy_until <= now_) return;
    tasks_[me.current].left = me.busy_until - now_;
    me.busy_until = now_;
    me.waiting.push_back(me.current);
    block(c);
}

// The task of this CPU has done what it was at: on to its next phase, up to one that takes time.
void engine::advance(std::size_t c) {
    cpu& me = cpus_[c];
    const std::uint32_t t = me.current;
    task& it = tasks_[t];
    const auto go_on = [&](nanoseconds work) { me.busy_until = now_ + work; };
    if (is_work(t)) {
        if (burden_[c] > 0) return go_on(std::exchange(burden_[c], 0));
        it.is = task_is::asleep;
        return block(c);
    }

    const task_plan& plan = load_.tasks[t];
    const timer_index clock = timer_of_task(t);
    const auto sleep = [&](nanoseconds until) {
        it.is = task_is::asleep;
        timers_[clock].kind = timer_kind::precise;
        timers_[clock].home = static_cast<std::uint32_t>(c);
        add_timer(clock, c, until);
        block(c);
    };
    for (std::size_t steps = 0;; ++steps) {
        if (it.phase == plan.phases.size()) {
            it.phase = 0;
            ++it.round;
            if (plan.phases.empty() || (plan.rounds != 0 && it.round >= plan.rounds)) {
                it.is = task_is::done;
                return block(c);
            }
        }
        // A round without any time in it would never end.
        if (steps > plan.phases.size()) return go_on(1'000);
        const phase& next = plan.phases[it.phase++];
        if (const auto* r = std::get_if<run>(&next)) {
            if (r->work > 0) return go_on(std::max<nanoseconds>(scaled(r->work, c), 1));
        } else if (const auto* s = std::get_if<sleep_for>(&next)) {
            return sleep(now_ + s->length);
        } else if (const auto* p = std::get_if<sleep_until_period>(&next)) {
            return sleep(it.began + ((now_ - it.began) / p->period + 1) * p->period);
        } else if (const auto* w = std::get_if<wake_task>(&next)) {
            signal(static_cast<std::uint32_t>(w->task), c);
        } else {
            if (std::exchange(it.woken_early, false)) continue;
            if (const auto* u = std::get_if<wait_for>(&next)) {
                timers_[clock].kind = timer_kind::global;
                arm_global(clock, c, wheel_time(now_, now_ + std::max<nanoseconds>(u->timeout, 1), tick_));
            }
            it.is = task_is::waiting;
            return block(c);
        }
    }
}

// R10. Heavy tasks that run on CPUs smaller than the biggest make idle big ones come and take them.
// The old way finds the first idle big CPU anew for each, also one that was just kicked; the new
// collects them first, and kicks each but once.
void engine::kick_big(std::size_t c) {
    const unsigned big = *std::max_element(capacity_.begin(), capacity_.end());
    std::size_t candidate = 0;
    const auto idle_big = [&]() -> std::size_t {
        for (; candidate < cpus_.size(); ++candidate)
            if (capacity_[candidate] == big && board_.online[candidate] != 0 && board_.idle[candidate] != 0 &&
                (policy_.kick == kicks::oldest || !cpus_[candidate].kicked))
                return candidate;
        return nobody;
    };
    if (policy_.kick == kicks::newest && idle_big() == nobody) return;
    for (std::size_t little = 0; little < cpus_.size(); ++little) {
        const cpu& from = cpus_[little];
        if (capacity_[little] == big || from.current == none || is_work(from.current)) continue;
        if (!load_.tasks[from.current].heavy) continue;
        const std::size_t to = idle_big();
        if (to == nobody) return;
        if (!may_run(from.current, to)) continue;
        cpus_[to].kicked = true;
        ++res_.kicks;
        if (to != c) interrupt(to, 0);
        if (policy_.kick == kicks::newest) ++candidate;
    }
}

// The kicked CPU takes the first heavy task that it finds.
void engine::pull_heavy(std::size_t c) {
    cpu& me = cpus_[c];
    me.kicked = false;
    if (me.current != none || !me.waiting.empty()) return;
    for (std::size_t little = 0; little < cpus_.size(); ++little) {
        const std::uint32_t t = cpus_[little].current;
        if (capacity_[little] >= capacity_[c] || t == none || is_work(t)) continue;
        if (!load_.tasks[t].heavy || !may_run(t, c) || cpus_[little].busy_until <= now_) continue;
        task& it = tasks_[t];
        // What is left of its work takes less time here.
        it.left = (cpus_[little].busy_until - now_) * capacity_[little] / capacity_[c];
        it.home = it.cpu;
        it.cpu = static_cast<std::uint32_t>(c);
        cpus_[little].busy_until = now_;
        block(little);
        me.waiting.push_back(t);
        board_.idle[c] = 0;
        settle(little);
        return;
    }
}

}  // namespace whatif
