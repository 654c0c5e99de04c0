// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_SWEEP_HPP
#define TMIGR_EXAMPLES_WHATIF_SWEEP_HPP

#include "options.hpp"

#include <string>

namespace whatif {

/// Runs the points of one part and writes them to `PREFIX.K-of-N.jsonl`: a line that says what the
/// sweep is, then a line for each point. Returns the name of the file.
std::string run_sweep(const options& chosen);

/// Puts the parts of one sweep together, in the order of the points. Throws `tmigr::input_error` for
/// what is no such file, for parts of different sweeps, and for points that are there twice or not at all.
/// Returns how many points there are.
std::size_t merge_sweep(const options& chosen);

}  // namespace whatif

#endif
