// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_OPTIONS_HPP
#define TMIGR_EXAMPLES_WHATIF_OPTIONS_HPP

#include "chrome_trace.hpp"
#include "machine.hpp"
#include "parameters.hpp"
#include "simulate.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace whatif {

enum class command : std::uint8_t { simulate, sweep, merge };
enum class machine_source : std::uint8_t { cpus, hwloc, live };
enum class workload_source : std::uint8_t { named, rt_app, trace };

/// Which machine, and what happens on it.
struct scene_options {
    machine_source machine = machine_source::live;
    std::string machine_file;
    std::optional<std::string> idle_states;
    std::optional<std::string> background;  ///< of named workloads
    workload_source load = workload_source::named;
    std::string load_text = "idle";  ///< name or file
};

/// One part of a sweep: points whose number leaves `part - 1` when divided by `parts`.
struct shard {
    std::size_t part = 1;
    std::size_t parts = 1;
};

/// What the command line asks for.
struct options {
    command what = command::simulate;
    scene_options scene;
    point_parameters base;             ///< all but the policy; a sweep's parameters override it
    std::size_t runs = 1;
    bool per_cpu = false;

    std::vector<std::string> policies;
    std::string baseline = "off";      ///< empty: none
    std::optional<std::string> csv, json, plot, ftrace, chrome;  ///< "-": standard output, but for plots
    std::optional<window> shown;
    bool quiet = false;

    std::vector<axis> axes;            ///< of a sweep
    whatif::shard shard;
    std::string out;                   ///< of sweep (a prefix) and merge
    std::vector<std::string> parts;    ///< to be merged
};

/// A command line that cannot be meant.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Nothing where the command line asked for help or the version, which is then printed.
/// Throws `usage_error`, or `tmigr::input_error` with the option in place of a file.
std::optional<options> read_options(int argc, char** argv);

/// `K/N`, or `env`: from what Open MPI, other launchers of MPI, or Slurm say of this process.
/// Throws `tmigr::input_error`.
shard read_shard(std::string_view text);

}  // namespace whatif

#endif
