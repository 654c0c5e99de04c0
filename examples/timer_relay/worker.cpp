// SPDX-License-Identifier: BSL-1.0
#include "worker.hpp"

#include <algorithm>
#include <utility>

namespace relay {

namespace {

constexpr ticks tick_length = 1'000;

}  // namespace

bool mail::wakes() const {
    return take_over || std::ranges::any_of(requests, [](const request* r) { return r->busy > 0; });
}

tally& tally::operator+=(const tally& other) {
    wake_ups += other.wake_ups;
    wake_ups_for_timers += other.wake_ups_for_timers;
    wake_ups_for_nothing += other.wake_ups_for_nothing;
    timers_run += other.timers_run;
    signals_sent += other.signals_sent;
    signals_saved += other.signals_saved;
    requests_done += other.requests_done;
    hand_overs += other.hand_overs;
    return *this;
}

void worker::run() {
    ticks arm = never;  // the CPU starts idle, without timers
    while (!left_ || timers_.next() != never) {
        const bool rang = bell_.wait(clock_, arm);
        const std::size_t ran_before = tally_.timers_run;
        mail todo = collect();
        const bool only_timers = !rang && todo.empty();
        arm = todo.wakes() ? handle_awake(std::move(todo)) : handle_asleep(todo);
        ++tally_.wake_ups;
        tally_.wake_ups_for_timers += only_timers;
        tally_.wake_ups_for_nothing += only_timers && tally_.timers_run == ran_before;
    }
}

ticks worker::handle_awake(mail todo) {
    cpu_.activate();
    tick();
    do {
        // It looks at its mail before it sleeps: until then nobody else need signal.
        cpu_.kick();
        for (const request* r : todo.requests) {
            compute(r->busy);
            arm_time_outs(*r);
        }
        if (todo.leave) leave();
        todo = collect();
    } while (!todo.empty());
    tick();
    // Others can only take timers out meanwhile: what is told to the tree is early then.
    return cpu_.deactivate(timers_.next());
}

ticks worker::handle_asleep(const mail& todo) {
    for (const request* r : todo.requests) arm_time_outs(*r);
    if (todo.leave) leave();
    const ticks now = clock_.now();
    // Who does not take part is on its own: `expire` would not run its timers.
    if (!cpu_.takes_part()) run_timers_of(cpu_.id(), now);
    if (!cpu_.takes_part() || !todo.requests.empty()) return cpu_.new_expiry(timers_.next());
    const ticks arm = cpu_.expire(now, [this](cpu_id sleeper, ticks t) { return run_timers_of(sleeper, t); });
    // What is due still is somebody else's who runs it just now. To look again at once would be to spin.
    return arm > now ? arm : now + tick_length;
}

void worker::leave() {
    left_ = true;
    const tmigr::departure left = cpu_.leave();
    // Where nobody is named all others left too, and run their own timers, as this one does.
    if (left.due != never && left.by) {
        ++tally_.hand_overs;
        crew_[*left.by].post(tally_, [](mail& to) { to.take_over = true; });
    }
}

mail worker::collect() {
    // In this order: mail that comes later rings again.
    bell_.take();
    cpu_.answer_kick();
    const std::lock_guard held(inbox_lock_);
    return std::exchange(inbox_, {});
}

void worker::arm_time_outs(const request& r) {
    for (const time_out& t : r.time_outs) {
        const ticks due = clock_.now() + t.delay;
        ledger_.armed(t.id, cpu_.id(), due);
        timers_.add(t.id, due);
    }
    ++tally_.requests_done;
}

void worker::compute(ticks how_long) {
    ticks now = clock_.now();
    for (const ticks end = now + how_long; now < end; now = clock_.now())
        if (now >= next_tick_) tick();
}

void worker::tick() {
    const ticks now = clock_.now();
    next_tick_ = now + tick_length;
    run_timers_of(cpu_.id(), now);
    if (cpu_.must_expire(now))
        cpu_.expire(now, [this](cpu_id sleeper, ticks t) { return run_timers_of(sleeper, t); });
}

ticks worker::run_timers_of(cpu_id sleeper, ticks now) {
    return crew_[sleeper].timers_.run_due(now, [this](timer_id id) {
        ledger_.run(id, cpu_.id());
        ++tally_.timers_run;
    });
}

}  // namespace relay
