// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_CHECKS_HPP
#define TMIGR_EXAMPLES_WHATIF_CHECKS_HPP

#include "simulate.hpp"

namespace whatif {

/// No time may be longer: slots hold 48 bits of nanoseconds.
inline constexpr nanoseconds longest_run = 259'200'000'000'000;  // three days

/// Throws `tmigr::input_error` for what no simulation can be made of.
void check_arguments(const machine& hardware, const workload& load, const simulation& how);

/// Throws `std::logic_error` for what cannot have happened: a timer neither run nor cancelled nor
/// pending, one later than the bound, states that do not add up.
void check_result(const result& r);

}  // namespace whatif

#endif
