// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_PLOT_HPP
#define TMIGR_EXAMPLES_WHATIF_PLOT_HPP

#include "files.hpp"
#include "report.hpp"
#include "timeline.hpp"

#include <string>
#include <vector>

namespace whatif {

/// A gnuplot script with its data: shares of time in each state, bars for every class and policy,
/// and the timelines. It writes `PREFIX-residency.png` and `PREFIX-timeline.png`, or with other
/// names and as SVG when called with `gnuplot -e "out='NAME'; format='svg'"`.
std::string plot_script(const report& all, const std::vector<timeline>& lines, const std::string& prefix);

/// Adds `PREFIX.gp` and, where gnuplot can be run, its pictures to the files. False without gnuplot.
/// Throws `std::runtime_error` when gnuplot fails.
bool plot(const report& all, const std::vector<timeline>& lines, const std::string& prefix, file_set& files);

}  // namespace whatif

#endif
