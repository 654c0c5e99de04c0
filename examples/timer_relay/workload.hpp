// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_TIMER_RELAY_WORKLOAD_HPP
#define TMIGR_EXAMPLES_TIMER_RELAY_WORKLOAD_HPP

#include "timers.hpp"

#include <cstdint>
#include <vector>

namespace relay {

/// A time-out that a worker arms, that long after it was told to.
struct time_out {
    timer_id id;
    ticks delay;
};

/// Something to do: that much computing, then time-outs. Without computing it is a message that
/// a sleeper takes note of without waking for good.
struct request {
    ticks at;
    cpu_id to;
    ticks busy;
    std::vector<time_out> time_outs;
};

struct workload {
    std::vector<request> requests;  ///< in order of time
    std::size_t timers_of_requests = 0;
    ticks end = 0;
    /// For the second half of the workers: time-outs only, when all other timers were run. Nothing
    /// makes up for one of these that the tree forgets.
    std::vector<request> last;
    std::size_t timers = 0;  ///< of all
    std::size_t size() const { return requests.size() + last.size(); }
    static constexpr ticks longest_time_out = 100'000;
};

/// What a server does: for a quarter of a second one worker has plenty to do, then another; the
/// others get a few requests at once now and then. The same seed gives the same workload.
workload make_workload(cpu_id workers, ticks end, std::uint64_t seed);

}  // namespace relay

#endif
