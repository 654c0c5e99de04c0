// SPDX-License-Identifier: BSL-1.0
#include "engine.hpp"

#include "checks.hpp"

#include <stdexcept>

namespace whatif {

engine::engine(const machine& hardware, const workload& load, const simulation& how)
    : hw_(hardware),
      load_(load),
      how_(how),
      length_(how.length != 0 ? how.length : load.length),
      tick_((check_arguments(hardware, load, how), hardware.tick())),
      agenda_(hardware.size()) {
    const std::size_t cpus = hw_.size();
    const std::vector<unsigned> classes = hw_.cpus.capacities();
    for (std::size_t c = 0; c < cpus; ++c) {
        const unsigned capacity = hw_.cpus.cpus()[c].capacity;
        capacity_.push_back(capacity);
        class_.push_back(static_cast<std::size_t>(std::lower_bound(classes.begin(), classes.end(), capacity) - classes.begin()));
    }
    board_.idle.assign(cpus, 1);
    board_.online.assign(cpus, 1);
    online_ = cpus;
    policy_ = make_policy(how.policy, hardware, board_, *this, how.trace);

    cpus_.reserve(cpus);
    for (std::size_t c = 0; c < cpus; ++c) cpus_.emplace_back(hw_.tables[hw_.table_of[c]]);
    tasks_.resize(load.tasks.size() + cpus);
    burden_.resize(cpus);
    next_interrupt_.assign(cpus, forever);
    for (std::size_t t = 0; t < tasks_.size(); ++t)
        tasks_[t].cpu = static_cast<std::uint32_t>(t < load.tasks.size() ? load.tasks[t].cpu : t - load.tasks.size());
    for (const task_plan& t : load.tasks) {
        allowed_.emplace_back();
        if (!t.allowed.empty()) allowed_.back().resize(cpus);
        for (const std::size_t c : t.allowed) allowed_.back()[c] = 1;
    }

    res_.policy = how.policy;
    res_.workload = load.name;
    res_.seed = how.seed;
    res_.length = length_;
    res_.cpus.resize(cpus);
    for (std::size_t c = 0; c < cpus; ++c) {
        res_.cpus[c].in_state.resize(cpus_[c].table->states.size());
        res_.cpus[c].stays.resize(cpus_[c].table->states.size());
    }
    res_.migrations.assign(classes.size(), std::vector<std::uint64_t>(classes.size()));
    res_.migrator_time.resize(classes.size());
}

void engine::later(nanoseconds at, outside_event::what of, std::size_t index, std::uint64_t number) {
    outside_.push({at, order_++, of, static_cast<std::uint32_t>(index), number});
}

void engine::begin() {
    for (std::size_t c = 0; c < cpus_.size(); ++c) cpus_[c].next_tick = tick_;
    for (std::size_t i = 0; i < plan_count(); ++i) {
        const timer_plan& p = load_.timers[i];
        timers_.push_back({.of = timer::what::plan, .kind = p.kind, .index = static_cast<std::uint32_t>(i)});
        const auto share = static_cast<std::uint64_t>(p.cancelled * 4294967296.0);
        const auto jitter = static_cast<nanoseconds>(p.jitter * static_cast<double>(p.period));
        plans_.push_back({random_source(how_.seed, i), share, jitter});
    }
    for (std::size_t t = 0; t < load_.tasks.size(); ++t)
        timers_.push_back({.of = timer::what::task, .index = static_cast<std::uint32_t>(t)});
    board_.idle.assign(cpus_.size(), 0);
    for (std::size_t i = 0; i < plan_count(); ++i)
        arm_plan(static_cast<timer_index>(i), load_.timers[i].cpu, false);
    board_.idle.assign(cpus_.size(), 1);

    for (std::size_t i = 0; i < load_.interrupts.size(); ++i) {
        interrupts_.emplace_back(how_.seed, (std::uint64_t{1} << 40) + i);
        const interrupt_plan& p = load_.interrupts[i];
        const nanoseconds at = std::max<nanoseconds>(p.random ? interrupts_[i].exponential(p.mean) : p.mean, 1);
        next_interrupt_[p.cpu] = std::min(next_interrupt_[p.cpu], at);
        later(at, outside_event::what::interrupt, i);
    }
    if (!load_.recorded_timers.empty()) arm_recorded();
    if (!load_.recorded_busy.empty()) later(load_.recorded_busy[0].from, outside_event::what::busy, 0);
    if (!load_.plugs.empty()) later(load_.plugs[0].at, outside_event::what::plug, 0);
    for (std::uint32_t t = 0; t < load_.tasks.size(); ++t) {
        tasks_[t].began = load_.tasks[t].start;
        if (load_.tasks[t].start == 0)
            wake_on(t, choose_cpu(t), tasks_[t].cpu);
        else
            later(load_.tasks[t].start, outside_event::what::start, t);
    }
    note_migrator();
    // The last CPU falls idle first, as if the first had started the others.
    for (std::size_t c = cpus_.size(); c-- > 0;) settle(c);
}

result engine::play() {
    begin();
    for (;;) {
        const bool outside_first = !outside_.empty() && outside_.top().at <= agenda_.first_time();
        const nanoseconds at = outside_first ? outside_.top().at : agenda_.first_time();
        if (at >= length_) break;
        now_ = at;
        if ((++steps_ & 0xffff) == 0 && how_.watch != nullptr) how_.watch->progress(now_, length_);
        if (outside_first)
            outside_step();
        else
            step(agenda_.first());
    }
    now_ = length_;
    end();
    return std::move(res_);
}

void engine::step(std::size_t c) {
    cpu& me = cpus_[c];
    if (me.now_in == mode::idle) leave_idle(c);
    if (me.timer_due() <= now_ || me.take_over) serve(c);
    if (me.kicked) pull_heavy(c);
    if (me.now_in == mode::busy && me.busy_until <= now_) advance(c);
    settle(c);
}

// What the CPU does next, now that this step's work is known.
void engine::settle(std::size_t c) {
    cpu& me = cpus_[c];
    if (me.now_in == mode::offline) return;
    me.busy_until = std::max(me.busy_until, now_) + me.cost;
    me.cost = 0;
    if (me.current == none && !me.waiting.empty()) {
        if (me.now_in == mode::idle) return;  // on its way out of its idle state
        awake(c);
        dispatch(c);
    } else if (me.now_in == mode::serving && me.busy_until <= now_) {
        enter_idle(c);
    }
    reschedule(c);
}

void engine::reschedule(std::size_t c) {
    const cpu& me = cpus_[c];
    switch (me.now_in) {
        case mode::idle: {
            const nanoseconds leaves = me.leaves_at();
            agenda_.set(c, leaves == forever ? forever : leaves + me.sleeps_in().exit);
            break;
        }
        case mode::serving: agenda_.set(c, me.busy_until); break;
        case mode::busy: agenda_.set(c, std::min(me.busy_until, me.timer_due())); break;
        case mode::offline: agenda_.set(c, forever); break;
    }
}

void engine::outside_step() {
    const outside_event e = outside_.top();
    outside_.pop();
    switch (e.of) {
        case outside_event::what::plug:
            plug(load_.plugs[e.index]);
            if (++next_plug_ < load_.plugs.size()) later(load_.plugs[next_plug_].at, e.of, next_plug_);
            break;
        case outside_event::what::interrupt: {
            const interrupt_plan& p = load_.interrupts[e.index];
            const nanoseconds gap =
                std::max<nanoseconds>(p.random ? interrupts_[e.index].exponential(p.mean) : p.mean, 1);
            // Good only where a CPU has one device, else early for some sleeps; see next_interrupt.
            next_interrupt_[p.cpu] = now_ + gap;
            later(now_ + gap, e.of, e.index);
            interrupt(there(p.cpu), p.handler);
            break;
        }
        case outside_event::what::cancel: cancel_plan(e.index); break;
        case outside_event::what::start: wake(e.index, nobody); break;
        case outside_event::what::recorded: arm_recorded(); break;
        case outside_event::what::forget: {
            const timer& t = timers_[e.index];
            if (t.armed && t.index == e.number) {
                // In the recording a CPU did it that was awake, mostly the timer's: nobody wakes for it here.
                cancel(e.index);
                t.kind == timer_kind::global ? retell(t.queue) : reschedule(t.queue);
                free_timers_.push_back(e.index);
            }
            break;
        }
        case outside_event::what::busy: {
            const recorded_busy& b = load_.recorded_busy[e.index];
            burden(there(b.cpu), b.length, nobody);
            if (++next_busy_ < load_.recorded_busy.size())
                later(std::max(now_, load_.recorded_busy[next_busy_].from), e.of, next_busy_);
            break;
        }
    }
}

// Accounts for the time up to now.
void engine::account(std::size_t c) {
    cpu& me = cpus_[c];
    cpu_result& to = res_.cpus[c];
    if (me.now_in == mode::idle) {
        const nanoseconds left = std::clamp(me.leaves_at(), me.since, now_);
        to.in_state[me.state] += left - me.since;
        to.busy += now_ - left;
    } else if (me.now_in == mode::offline) {
        to.offline += now_ - me.since;
    } else {
        to.busy += now_ - me.since;
    }
    me.since = now_;
}

void engine::end() {
    nanoseconds latency = 0;
    for (std::size_t c = 0; c < cpus_.size(); ++c) {
        account(c);
        double energy = static_cast<double>(res_.cpus[c].busy) * cpus_[c].table->busy_milliwatts;
        for (std::size_t s = 0; s < cpus_[c].table->states.size(); ++s) {
            const idle_state& state = cpus_[c].table->states[s];
            energy += static_cast<double>(res_.cpus[c].in_state[s]) * state.milliwatts;
            latency = std::max(latency, state.entry + state.exit);
        }
        res_.joules += energy / 1e12;
    }
    if (migrator_ != nobody) res_.migrator_time[class_[migrator_]] += now_ - migrator_since_;
    for (const timer& t : timers_) res_.pending += t.armed;
    res_.remote_lines = policy_.timers->remote_lines;
    res_.events = steps_;
    // A tick, since whoever took charge just before looks at its next; and on the way there up to
    // three CPUs, one after the other, have to get out of their idle states and be done with what
    // they are at.
    // Where the lowest takes charge as it wakes, it can do so just when the one before it was about
    // to look, and sleep again before it looks itself: each time a tick is missed. Three in a row
    // are allowed for; that is no proof, but each is rare.
    const nanoseconds ticks = policy_.timers->may_miss_ticks() ? 4 : 1;
    res_.lateness_bound = ticks * tick_ + 3 * (latency + longest_service_);
    check_result(res_);
}

}  // namespace whatif
