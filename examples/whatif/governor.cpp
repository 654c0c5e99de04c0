// SPDX-License-Identifier: BSL-1.0
#include "governor.hpp"

#include <algorithm>

namespace whatif {

std::size_t governor::bucket(nanoseconds length) noexcept {
    std::size_t b = 0;
    for (nanoseconds most = 10'000; b < 5 && length >= most; most *= 10) ++b;
    return b;
}

// The mean of the last sleeps, where they are alike; the longest are left out one after the other
// until the rest is, or fewer than six remain.
nanoseconds governor::typical() const {
    std::uint64_t most = ~std::uint64_t{0};
    for (;;) {
        std::uint64_t count = 0, sum = 0, longest = 0;
        for (const std::uint64_t v : last_) {
            if (v > most) continue;
            ++count;
            sum += v;
            longest = std::max(longest, v);
        }
        if (count < 6) return forever;
        const std::uint64_t mean = sum / count;
        std::uint64_t squares = 0;
        for (const std::uint64_t v : last_) {
            if (v > most) continue;
            const std::uint64_t off = v > mean ? v - mean : mean - v;
            squares += off * off;
        }
        const std::uint64_t variance = squares / count;
        // Alike: the deviation is below a sixth of the mean, or below 20 us.
        if (mean * mean > 36 * variance || variance <= 400) return mean * 1000;
        if (longest == 0) return forever;
        most = longest - 1;
    }
}

governor::choice governor::choose(nanoseconds timer, nanoseconds to_tick, nanoseconds tick, bool tick_stopped) {
    timer_ = std::min<nanoseconds>(timer, nanoseconds{1} << 50);
    bucket_ = bucket(timer_);
    // timer_ is at most 2^50 and the factor at most 2^13.
    nanoseconds expected = std::min(timer_ * factor_[bucket_] / (unity * decay), typical());
    // With the tick stopped a wrong guess would last: only timers are trusted then.
    if (tick_stopped && expected < tick) expected = timer_;
    return pick(expected, timer_, to_tick, tick, tick_stopped);
}

governor::choice governor::choose_knowing(nanoseconds sleep, nanoseconds to_tick, nanoseconds tick,
                                          bool tick_stopped) const {
    return pick(sleep, sleep, to_tick, tick, tick_stopped);
}

governor::choice governor::pick(nanoseconds expected, nanoseconds timer, nanoseconds to_tick, nanoseconds tick,
                                bool tick_stopped) const {
    const auto& states = states_->states;
    choice c{0, true};
    std::size_t i = 1;
    for (; i < states.size() && states[i].residency <= expected; ++i) c.state = i;
    if (i < states.size()) {
        if (expected < tick) {
            // Nothing deeper within a tick anyhow.
        } else if (!tick_stopped) {
            // The next state wants more than a tick, so this one may be cut short: ask again at the tick.
            expected = states[c.state].residency;
        } else if (states[c.state].residency < tick && states[i].residency <= timer) {
            c.state = i;
        }
    }
    if (tick_stopped || expected >= tick) return c;
    c.stop_tick = false;
    // The tick will wake it: nothing deeper than what pays until then.
    while (c.state > 0 && states[c.state].residency > to_tick) --c.state;
    return c;
}

void governor::slept(nanoseconds length, bool by_tick, nanoseconds tick) {
    // A tick that was kept only in case the guess was wrong says that it was: the CPU would have slept on.
    if (by_tick && timer_ > tick) length = interesting * 9 / 10;
    length = std::min(length, std::max<nanoseconds>(timer_, 1));
    std::uint64_t& factor = factor_[bucket_];
    factor -= factor / decay;
    factor += timer_ > 0 && length < interesting ? unity * length / timer_ : unity;
    if (factor == 0) factor = 1;
    last_[at_] = static_cast<std::uint32_t>(std::min<nanoseconds>(length / 1000, 1u << 28));
    at_ = (at_ + 1) % last_.size();
}

}  // namespace whatif
