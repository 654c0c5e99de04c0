// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_MACHINE_HPP
#define TMIGR_EXAMPLES_WHATIF_MACHINE_HPP

#include <tmigr/topology.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace whatif {

/// Simulated time, from 0 on.
using nanoseconds = std::uint64_t;
inline constexpr nanoseconds forever = std::numeric_limits<nanoseconds>::max();

/// A state that an idle CPU can wait in, shallowest first in every list.
struct idle_state {
    std::string name;
    nanoseconds entry = 0;      ///< time to get in, during which nothing can be served
    nanoseconds exit = 0;       ///< time from the interrupt until the CPU runs again
    nanoseconds residency = 0;  ///< a shorter stay is not worth it
    double milliwatts = 0;      ///< 0 where nobody knows
};

/// What CPUs of one kind can do when idle, and what they draw when busy.
struct idle_table {
    std::vector<idle_state> states;
    double busy_milliwatts = 0;
};

/// The hardware of a simulation. CPUs are counted from 0 in the order of `cpus.cpus()`: that
/// position, the CPU's index, is what all other parts of the simulator go by.
struct machine {
    std::string name;
    tmigr::topology cpus;
    std::vector<idle_table> tables;
    std::vector<std::size_t> table_of;  ///< by CPU index
    unsigned hertz = 250;               ///< ticks a second

    nanoseconds tick() const noexcept { return 1'000'000'000u / hertz; }
    std::size_t size() const noexcept { return cpus.size(); }
};

}  // namespace whatif

#endif
