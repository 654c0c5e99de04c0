// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_TIMER_RELAY_TIMERS_HPP
#define TMIGR_EXAMPLES_TIMER_RELAY_TIMERS_HPP

#include "clock.hpp"

#include <tmigr/topology.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

namespace relay {

using tmigr::cpu_id;
using timer_id = std::size_t;

/// What became of each timer. A program would call the timer's function where this takes notes.
class ledger {
public:
    struct entry {
        cpu_id owner = 0;
        ticks due = never;
        std::atomic<unsigned> armed{0};
        std::atomic<unsigned> runs{0};
        cpu_id ran_on = 0;  ///< this and the next: of the first run
        ticks ran_at = 0;
    };

    ledger(const tick_clock& clock, std::size_t timers) : clock_(clock), entries_(timers) {}

    void armed(timer_id id, cpu_id owner, ticks due) {
        entries_[id].owner = owner;
        entries_[id].due = due;
        ++entries_[id].armed;
    }
    void run(timer_id id, cpu_id on) {
        entry& e = entries_[id];
        if (e.runs++ != 0) return;
        e.ran_on = on;
        e.ran_at = clock_.now();
        ++ran_;
    }
    /// Whether that many were run by `until`.
    bool wait_for(std::size_t timers, ticks until) const {
        while (ran_ < timers) {
            if (clock_.now() >= until) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return true;
    }
    /// For when all threads have ended.
    const std::vector<entry>& entries() const { return entries_; }

private:
    const tick_clock& clock_;
    std::vector<entry> entries_;
    std::atomic<std::size_t> ran_{0};
};

/// The timers of one thread: it alone adds, whoever looks after it while it sleeps runs them.
class timer_heap {
public:
    void add(timer_id id, ticks due) {
        const std::lock_guard held(lock_);
        heap_.emplace(due, id);
    }
    ticks next() const {
        const std::lock_guard held(lock_);
        return heap_.empty() ? never : heap_.top().first;
    }
    /// Calls `run(timer_id)` for what is due by `now`; returns when the next one is. A timer is
    /// taken out under the lock, so that one thread runs it, and run without it.
    template <class Run>
    ticks run_due(ticks now, Run run) {
        std::unique_lock held(lock_);
        while (!heap_.empty() && tmigr::is_due(heap_.top().first, now)) {
            const timer_id id = heap_.top().second;
            heap_.pop();
            held.unlock();
            run(id);
            held.lock();
        }
        return heap_.empty() ? never : heap_.top().first;
    }

private:
    using item = std::pair<ticks, timer_id>;

    mutable std::mutex lock_;
    std::priority_queue<item, std::vector<item>, std::greater<>> heap_;
};

}  // namespace relay

#endif
