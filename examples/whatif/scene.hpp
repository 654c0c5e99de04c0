// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_SCENE_HPP
#define TMIGR_EXAMPLES_WHATIF_SCENE_HPP

#include "machine.hpp"
#include "named_workloads.hpp"
#include "options.hpp"
#include "workload.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace whatif {

/// A machine and what happens on it.
struct scene {
    machine hardware;
    workload load;
    std::string note;  ///< a line for the table, on what a recording itself counted or on the background; or empty
};

/// What the options name, read once, and made into a scene for each point. Throws
/// `tmigr::input_error` with file and line, `usage_error` where this program was built without hwloc.
class scene_source {
public:
    explicit scene_source(const scene_options& chosen);

    /// The rate of the tick, and a workload by name, come from `point`.
    scene make(const point_parameters& point) const;
    /// How long a run is.
    static nanoseconds length_of(const scene& made, const point_parameters& point);
    /// A number that differs between inputs that differ: what parts of one sweep must agree on.
    std::uint64_t fingerprint() const;

private:
    scene_options chosen_;
    machine hardware_;
    idle_background background_;
    std::string load_file_;        ///< its text
    std::string background_file_;  ///< the same
};

}  // namespace whatif

#endif
