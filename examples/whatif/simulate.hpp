// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_SIMULATE_HPP
#define TMIGR_EXAMPLES_WHATIF_SIMULATE_HPP

#include "machine.hpp"
#include "observer.hpp"
#include "result.hpp"
#include "workload.hpp"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace whatif {

/// How a CPU guesses how long it will sleep.
enum class predictor : std::uint8_t { menu, perfect };

/// Work that comes with everything, for a CPU of capacity 1024.
struct overheads {
    nanoseconds interrupt = 1'000;  ///< of any kind, the tick included
    nanoseconds dispatch = 1'000;   ///< to begin with a task, and to get out of the idle loop for it
};

struct simulation {
    std::string policy = "linux-default";  ///< of `policies()`, parameters as in tmigr::families::named
    predictor guess = predictor::menu;
    std::uint64_t seed = 1;
    nanoseconds length = 0;            ///< 0: that of the recording
    bool tick_stops = true;            ///< idle CPUs may stop their tick (NO_HZ_IDLE)
    overheads costs{};
    observer* watch = nullptr;         ///< told of everything, if any
    std::ostream* trace = nullptr;     ///< Linux trace text of the tree, if any
};

/// The names of all policies: `off`, those of the library, and the older designs.
std::vector<std::string> policies();

/// Runs a workload on a machine under a policy. The same arguments give the same result, on every
/// compiler. Memory does not grow with simulated time. Throws `tmigr::input_error` for what no
/// simulation can be made of (an unknown policy, a CPU index that is not there, no length).
///
/// At the end checks what must hold of every simulation, and throws `std::logic_error` where it
/// does not: every timer armed was run once, cancelled, or is pending; none ran later than the
/// bound of the model; the states of every CPU add up to the time simulated.
result simulate(const machine& hardware, const workload& load, const simulation& how);

}  // namespace whatif

#endif
