// SPDX-License-Identifier: BSL-1.0
#include "engine.hpp"

#include <algorithm>

namespace whatif {

void engine::enter_idle(std::size_t c) {
    cpu& me = cpus_[c];
    account(c);
    longest_service_ = std::max(longest_service_, now_ - me.serving_since);
    if (!me.tick_stopped) policy_.timers->falls_idle(c, now_);
    const nanoseconds own = me.queue(timer_kind::global).next();
    const nanoseconds pinned = me.queue(timer_kind::pinned).next();
    const nanoseconds precise = me.queue(timer_kind::precise).next();
    nanoseconds wheel = 0;
    if (me.tick_stopped) {
        if (own != me.told) retell(c);
        wheel = std::min(pinned, me.arm);
    } else {
        wheel = std::min(pinned, policy_.timers->forecast(c, own));
    }
    const nanoseconds timer = std::min(wheel, precise);
    const auto until = [&](nanoseconds when) { return when == forever ? forever : when > now_ ? when - now_ : 0; };
    const nanoseconds to_tick = me.tick_stopped ? until(timer) : until(me.next_tick);
    governor::choice chosen;
    if (how_.guess == predictor::menu) {
        chosen = me.guess.choose(until(timer), to_tick, tick_, me.tick_stopped);
    } else {
        chosen = me.guess.choose_knowing(until(std::min(timer, next_interrupt(c))), to_tick, tick_, me.tick_stopped);
    }
    if (!me.tick_stopped && chosen.stop_tick && how_.tick_stops && wheel > me.next_tick &&
        !policy_.timers->keeps_tick(c, now_)) {
        me.tick_stopped = true;
        me.arm = policy_.timers->sleep(c, own, now_);
        me.told = me.queue(timer_kind::global).next();
        note_migrator();
    }
    me.state = chosen.state;
    me.now_in = mode::idle;
    me.woken = forever;
    me.in_at = now_ + me.sleeps_in().entry;
    board_.idle[c] = 1;
    ++res_.cpus[c].idles;
    if (how_.watch != nullptr) how_.watch->idle(c, now_, me.state, me.tick_stopped);
}

void engine::leave_idle(std::size_t c) {
    cpu& me = cpus_[c];
    cpu_result& to = res_.cpus[c];
    // What it was set to wake for can be gone: cancelled from outside. It wakes all the same.
    const nanoseconds left = std::clamp(me.leaves_at(), me.since, now_);
    const nanoseconds stay = left - me.since;
    to.in_state[me.state] += stay;
    ++to.stays[me.state];
    ++to.wakeups;
    if (stay < me.sleeps_in().residency) ++to.too_deep;
    const auto& states = me.table->states;
    if (me.state + 1 < states.size() && states[me.state + 1].residency <= stay) ++to.too_shallow;
    const bool by_tick = !me.tick_stopped && me.next_tick <= std::min(me.woken, me.queue(timer_kind::precise).next());
    me.guess.slept(stay, by_tick, tick_);
    me.since = me.serving_since = left;
    me.now_in = mode::serving;
    me.busy_until = now_;
    me.woken = forever;
    if (how_.watch != nullptr) how_.watch->busy(c, now_, "interrupt");
}

// The timer interrupt of a CPU, or somebody told it to look after all.
void engine::serve(std::size_t c) {
    cpu& me = cpus_[c];
    cpu_result& to = res_.cpus[c];
    if (!me.tick_stopped && me.next_tick <= now_) {
        tick(c);
    } else if (me.timer_due() <= now_) {
        ++to.timer_interrupts;
        me.cost += scaled(how_.costs.interrupt, c);
    }
    run_due(me.queue(timer_kind::precise), c);
    if (!me.tick_stopped) {
        me.take_over = false;
    } else if (me.take_over || std::min(me.queue(timer_kind::pinned).next(), me.arm) <= now_) {
        run_wheel(c);
        if (me.take_over || me.arm <= now_) {
            me.arm = policy_.timers->expire(c, me.queue(timer_kind::global).next(), now_);
            me.told = me.queue(timer_kind::global).next();
            if (me.arm <= now_) me.arm = now_ + tick_;
            me.take_over = false;
        }
    }
    if (!rearmed_.empty()) place_rearmed(c);
}

// A CPU that slept gets a task, or comes online.
void engine::awake(std::size_t c) {
    cpu& me = cpus_[c];
    longest_service_ = std::max(longest_service_, now_ - me.serving_since);
    me.serving_since = now_;
    if (!me.tick_stopped) return;
    me.tick_stopped = false;
    me.take_over = false;
    me.next_tick = (now_ / tick_ + 1) * tick_;
    me.arm = me.told = forever;
    policy_.timers->wake(c, now_);
    note_migrator();
}

// A device, or another CPU.
void engine::interrupt(std::size_t c, nanoseconds work) {
    cpu& me = cpus_[c];
    ++res_.cpus[c].other_interrupts;
    const nanoseconds cost = scaled(how_.costs.interrupt + work, c);
    if (me.now_in == mode::idle) {
        me.cost += cost;
        me.woken = std::min(me.woken, now_);
    } else {
        me.busy_until = std::max(me.busy_until, now_) + cost;
    }
    reschedule(c);
}

// The first of a CPU's global timers has changed, and it was not the CPU that changed it.
void engine::retell(std::size_t c) {
    cpu& me = cpus_[c];
    if (!me.tick_stopped || me.now_in == mode::offline) return;
    const nanoseconds own = me.queue(timer_kind::global).next();
    if (own == me.told) return;
    me.told = own;
    me.arm = policy_.timers->changed(c, own, now_);
    me.told = me.queue(timer_kind::global).next();
    if (me.now_in == mode::idle) reschedule(c);
}

void engine::note_migrator() {
    const std::size_t who = policy_.timers->in_charge();
    if (who == migrator_) return;
    if (migrator_ != nobody) res_.migrator_time[class_[migrator_]] += now_ - migrator_since_;
    migrator_ = who;
    migrator_since_ = now_;
    if (how_.watch != nullptr) how_.watch->migrator(who, now_);
}

nanoseconds engine::next_interrupt(std::size_t c) const { return next_interrupt_[c] > now_ ? next_interrupt_[c] : forever; }

}  // namespace whatif
