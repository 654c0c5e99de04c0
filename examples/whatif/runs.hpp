// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_RUNS_HPP
#define TMIGR_EXAMPLES_WHATIF_RUNS_HPP

#include "figures.hpp"
#include "parameters.hpp"
#include "progress.hpp"
#include "scene.hpp"

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace whatif {

/// Who watches the first run of a policy.
struct watchers {
    std::vector<observer*> observers;
    std::ostream* trace = nullptr;  ///< Linux trace text of the tree
};

/// Runs a policy with `runs` seeds, from `parameters.seed` on. `what` names it on the progress bar.
summary run_policy(const scene& made, const point_parameters& parameters, std::size_t runs, const std::string& what,
                   progress_bar& bar, const watchers& first);

}  // namespace whatif

#endif
