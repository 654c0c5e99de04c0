// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_TIMER_RELAY_CLOCK_HPP
#define TMIGR_EXAMPLES_TIMER_RELAY_CLOCK_HPP

#include <tmigr/expiry.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace relay {

using tmigr::never;
using tmigr::ticks;

/// Ticks of a microsecond since the clock was made.
class tick_clock {
public:
    using source = std::chrono::steady_clock;
    using period = std::chrono::microseconds;

    ticks now() const { return tmigr::to_ticks<period>(source::now() - zero_); }
    source::time_point at(ticks when) const { return zero_ + period(static_cast<period::rep>(when)); }

private:
    source::time_point zero_ = source::now();
};

/// A signal that waits for its receiver, as an eventfd does. What was done before `ring` is
/// seen after `wait` or `take` said that it rang: `kick` relies on that.
class doorbell {
public:
    void ring() {
        {
            const std::lock_guard held(lock_);
            rang_ = true;
        }
        changed_.notify_one();
    }
    bool take() {
        const std::lock_guard held(lock_);
        return std::exchange(rang_, false);
    }
    /// Whether it rang by `until`; `never` waits without a time-out.
    bool wait(const tick_clock& clock, ticks until) {
        std::unique_lock held(lock_);
        const auto rang = [this] { return rang_; };
        if (until == never)
            changed_.wait(held, rang);
        else
            changed_.wait_until(held, clock.at(until), rang);
        return std::exchange(rang_, false);
    }

private:
    std::mutex lock_;
    std::condition_variable changed_;
    bool rang_ = false;
};

}  // namespace relay

#endif
