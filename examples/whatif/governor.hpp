// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_GOVERNOR_HPP
#define TMIGR_EXAMPLES_WHATIF_GOVERNOR_HPP

#include "machine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace whatif {

/// Chooses the idle state of one CPU, and whether its tick stops: the deepest state that pays
/// within the sleep that is expected. Two guesses of that: the time to the next timer, scaled by
/// how much of such times was slept lately; and the typical one of the last eight sleeps. The
/// shorter counts. Integers only.
///
/// Source: Linux's menu governor, drivers/cpuidle/governors/menu.c, and the way in which
/// kernel/sched/idle.c asks it; facts only, simplified: latency limits and polling states are
/// left out.
class governor {
public:
    explicit governor(const idle_table& states) : states_(&states) {}

    struct choice {
        std::size_t state = 0;
        bool stop_tick = false;
    };

    /// `timer`: how long until the next timer; `to_tick`: until the next tick, or until the timer
    /// where the tick is stopped.
    choice choose(nanoseconds timer, nanoseconds to_tick, nanoseconds tick, bool tick_stopped);
    /// With `sleep` known for certain.
    choice choose_knowing(nanoseconds sleep, nanoseconds to_tick, nanoseconds tick, bool tick_stopped) const;
    /// The CPU slept that long, and was woken by its tick or not.
    void slept(nanoseconds length, bool by_tick, nanoseconds tick);

private:
    static constexpr std::uint64_t unity = 1024, decay = 8;
    static constexpr nanoseconds interesting = 50'000'000;

    choice pick(nanoseconds expected, nanoseconds timer, nanoseconds to_tick, nanoseconds tick, bool tick_stopped) const;
    nanoseconds typical() const;
    static std::size_t bucket(nanoseconds length) noexcept;

    const idle_table* states_;
    std::array<std::uint32_t, 8> last_{};  ///< microseconds
    std::size_t at_ = 0;
    nanoseconds timer_ = 0;  ///< of the sleep under way
    std::size_t bucket_ = 0;
    std::array<std::uint64_t, 6> factor_{unity * decay, unity * decay, unity * decay,
                                         unity * decay, unity * decay, unity * decay};
};

}  // namespace whatif

#endif
