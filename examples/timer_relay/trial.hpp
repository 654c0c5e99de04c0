// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_TIMER_RELAY_TRIAL_HPP
#define TMIGR_EXAMPLES_TIMER_RELAY_TRIAL_HPP

#include "worker.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace relay {

struct outcome {
    tally counted;
    std::size_t run_at_home = 0;  ///< timers, by the thread that armed them
    std::size_t run_elsewhere = 0;
    std::vector<ticks> lateness;     ///< of every timer, sorted
    std::vector<std::string> wrong;  ///< a line for each kind of mistake
};

/// Lets that many threads work; without the tree each arms its own timers.
outcome try_out(const workload& work, cpu_id workers, unsigned width, bool with_tree);

}  // namespace relay

#endif
