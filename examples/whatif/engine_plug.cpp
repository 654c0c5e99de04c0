// SPDX-License-Identifier: BSL-1.0
#include "engine.hpp"

#include <string>

namespace whatif {

// This CPU, or who does things in its stead while it is offline: the first that is not.
std::size_t engine::there(std::size_t c) const {
    if (board_.online[c] != 0) return c;
    std::size_t first = 0;
    while (board_.online[first] == 0) ++first;
    return first;
}

void engine::plug(const plug_event& what) {
    const std::size_t c = what.cpu;
    cpu& me = cpus_[c];
    switch (what.what) {
        case plug_event::what::offline:
            if (me.now_in != mode::offline) take_offline(c);
            break;
        case plug_event::what::online:
            if (me.now_in == mode::offline) bring_online(c);
            break;
        case plug_event::what::isolate:
            if (me.now_in == mode::offline || me.isolated) break;
            me.isolated = true;
            leave(c);
            // On its own now: it wakes for its own.
            if (me.tick_stopped) {
                me.told = me.queue(timer_kind::global).next();
                me.arm = policy_.timers->changed(c, me.told, now_);
                reschedule(c);
            }
            break;
        case plug_event::what::join:
            if (me.now_in == mode::offline || !me.isolated) break;
            me.isolated = false;
            {
                const nanoseconds own = me.queue(timer_kind::global).next();
                const nanoseconds arm = policy_.timers->join(c, own, now_);
                if (me.tick_stopped) {
                    me.arm = arm;
                    reschedule(c);
                }
            }
            break;
    }
    note_migrator();
}

// The policy does without the CPU, and somebody looks after what it looked after.
void engine::leave(std::size_t c) {
    const std::size_t by = policy_.timers->leave(c, now_);
    if (by == nobody || !cpus_[by].tick_stopped) return;
    cpus_[by].take_over = true;
    interrupt(by, 0);
}

void engine::take_offline(std::size_t c) {
    if (online_ == 1)
        throw tmigr::input_error(std::to_string(hw_.cpus.cpus()[c].id), "one CPU that stays online");
    cpu& me = cpus_[c];
    account(c);
    --online_;
    board_.online[c] = 0;
    const std::size_t heir = there(c);

    leave(c);
    if (!me.tick_stopped) policy_.timers->sleep(c, forever, now_);
    me.tick_stopped = true;
    me.isolated = me.take_over = me.kicked = false;
    me.arm = me.told = forever;

    // Its timers go to the one that takes it down, whatever their kind.
    for (const timer_kind kind : {timer_kind::global, timer_kind::pinned, timer_kind::deferrable, timer_kind::precise}) {
        timer_queue& queue = me.queue(kind);
        while (!queue.empty()) {
            const timer_index t = queue.first();
            timer& it = timers_[t];
            queue.remove(it.place);
            it.queue = it.home = static_cast<std::uint32_t>(heir);
            it.place = cpus_[heir].queue(kind).add(it.due, order_++, t);
        }
    }
    retell(heir);
    interrupt(heir, 0);

    // And so do its tasks, or to where they may run.
    if (me.current != none) {
        tasks_[me.current].left = me.busy_until > now_ ? me.busy_until - now_ : 0;
        me.waiting.push_front(me.current);
        me.current = none;
    }
    board_.idle[c] = 0;
    me.now_in = mode::offline;
    me.cost = 0;
    std::deque<std::uint32_t> tasks;
    tasks.swap(me.waiting);
    for (const std::uint32_t t : tasks) {
        if (!is_work(t)) {
            wake_on(t, choose_cpu(t), nobody);
            continue;
        }
        tasks_[t].is = task_is::asleep;
        const nanoseconds work = std::exchange(tasks_[t].left, 0) + std::exchange(burden_[c], 0);
        if (work > 0) burden(heir, work, nobody);
    }
    reschedule(c);
    if (how_.watch != nullptr) how_.watch->offline(c, now_);
}

void engine::bring_online(std::size_t c) {
    cpu& me = cpus_[c];
    account(c);
    ++online_;
    board_.online[c] = 1;
    board_.idle[c] = 1;
    policy_.timers->join(c, forever, now_);
    me.now_in = mode::serving;
    me.serving_since = now_;
    me.busy_until = now_;
    awake(c);
    settle(c);
}

}  // namespace whatif
