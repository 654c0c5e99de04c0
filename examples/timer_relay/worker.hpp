// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_TIMER_RELAY_WORKER_HPP
#define TMIGR_EXAMPLES_TIMER_RELAY_WORKER_HPP

#include "workload.hpp"

#include <tmigr/tmigr.hpp>

#include <deque>
#include <mutex>
#include <vector>

namespace relay {

/// What others want of a worker.
struct mail {
    std::vector<const request*> requests;
    bool take_over = false;  ///< sleepers' timers, from one that left
    bool leave = false;

    bool empty() const { return requests.empty() && !take_over && !leave; }
    /// Whether it has to wake for good. To leave, or to arm a time-out, it need not.
    bool wakes() const;
};

/// Of one thread. Added up at the end.
struct tally {
    std::size_t wake_ups = 0;
    std::size_t wake_ups_for_timers = 0;
    std::size_t wake_ups_for_nothing = 0;  ///< of these, where no timer was left to run
    std::size_t timers_run = 0;
    std::size_t signals_sent = 0;
    std::size_t signals_saved = 0;  ///< since it was awake, or one was under way
    std::size_t requests_done = 0;
    std::size_t hand_overs = 0;

    tally& operator+=(const tally& other);
};

/// A thread that owns one CPU of the tree: works, keeps timers, sleeps.
class worker {
public:
    using crew = std::deque<worker>;  ///< worker i owns CPU i

    worker(tmigr::expiry_hierarchy::handle cpu, crew& others, const tick_clock& clock, ledger& notes)
        : cpu_(cpu), crew_(others), clock_(clock), ledger_(notes) {}

    /// The thread. Ends when the worker was told to leave and all its timers were run.
    void run();

    /// Any thread: leaves mail, as `write(mail&)` says, and signals if that is needed.
    template <class Write>
    void post(tally& sender, Write write) {
        {
            const std::lock_guard held(inbox_lock_);
            write(inbox_);
        }
        // Behind the mail: a silent kick relies on somebody else's signal to show it.
        if (cpu_.kick()) {
            ++sender.signals_sent;
            bell_.ring();
        } else {
            ++sender.signals_saved;
        }
    }

    const tally& counted() const { return tally_; }

private:
    ticks handle_awake(mail todo);
    ticks handle_asleep(const mail& todo);
    void leave();
    mail collect();
    void arm_time_outs(const request& r);
    void compute(ticks how_long);
    void tick();
    /// Also of the worker itself.
    ticks run_timers_of(cpu_id sleeper, ticks now);

    tmigr::expiry_hierarchy::handle cpu_;
    crew& crew_;
    const tick_clock& clock_;
    ledger& ledger_;
    timer_heap timers_;
    doorbell bell_;
    std::mutex inbox_lock_;
    mail inbox_;
    ticks next_tick_ = 0;
    bool left_ = false;
    tally tally_;
};

}  // namespace relay

#endif
