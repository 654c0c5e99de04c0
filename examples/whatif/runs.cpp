// SPDX-License-Identifier: BSL-1.0
#include "runs.hpp"

#include "simulate.hpp"
#include "watch.hpp"

#include <tmigr/input_error.hpp>

namespace whatif {

summary run_policy(const scene& made, const point_parameters& parameters, std::size_t runs, const std::string& what,
                   progress_bar& bar, const watchers& first) {
    std::vector<result> results;
    for (std::size_t run = 0; run < runs; ++run) {
        bar.next(what);
        watch_together all;
        if (bar.wanted()) all.add(bar);
        simulation how{.policy = parameters.policy,
                       .guess = parameters.governor,
                       .seed = parameters.seed + run,
                       .length = scene_source::length_of(made, parameters),
                       .tick_stops = parameters.tick_stops};
        if (run == 0) {
            for (observer* one : first.observers) all.add(*one);
            how.trace = first.trace;
        }
        if (!all.empty()) how.watch = &all;
        try {
            results.push_back(simulate(made.hardware, made.load, how));
        } catch (const tmigr::input_error& error) {
            throw error.file().empty() ? error.at("policy " + parameters.policy, 0) : error;
        }
        results.back().policy = parameters.policy;
    }
    return summarize(made.hardware, results);
}

}  // namespace whatif
