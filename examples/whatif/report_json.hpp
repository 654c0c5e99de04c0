// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_REPORT_JSON_HPP
#define TMIGR_EXAMPLES_WHATIF_REPORT_JSON_HPP

#include "report.hpp"

#include <nlohmann/json.hpp>

namespace whatif {

/// Keys stay in the order in which they were put.
using json = nlohmann::ordered_json;

json machine_json(const machine& hardware);
/// The figures of a policy; differences where there is a baseline, CPUs one by one if asked.
json figures_json(const summary& of, const summary* base, bool cpus);

}  // namespace whatif

#endif
