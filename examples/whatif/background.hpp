// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_BACKGROUND_HPP
#define TMIGR_EXAMPLES_WHATIF_BACKGROUND_HPP

#include "named_workloads.hpp"

#include <filesystem>
#include <iosfwd>
#include <string>

namespace whatif {

/// Reads what a system does when idle, for the named workloads, JSON with comments:
///
///     {
///       "source": "where this comes from",  // optional, as are all others
///       "global_mean_us": 1300000,          // as in `idle_background`, in microseconds
///       "device_mean_us": [                 // one number for all CPUs, or by capacity
///         { "capacity": 1024, "mean_us": 1000 }
///       ]
///     }
///
/// Names are those of the members of `idle_background`, times with `_us` behind. What is left out
/// stays as it is there. 0 is "none of these", other means and periods are 10 us to 1000 s, times of
/// work at most 1 s. A capacity that the machine does not have is no error; one named twice is.
///
/// Throws `tmigr::input_error` with file and line.
idle_background read_background(std::istream& in, const std::string& file);
idle_background read_background(const std::filesystem::path& file);

}  // namespace whatif

#endif
