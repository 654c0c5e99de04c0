// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_FIGURES_HPP
#define TMIGR_EXAMPLES_WHATIF_FIGURES_HPP

#include "machine.hpp"
#include "result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whatif {

/// Whom a figure is about.
enum class scope : std::uint8_t { all, capacity_class, cpu };
std::string_view name_of(scope of) noexcept;

/// One number that came of runs: the mean, and the sample standard deviation (0 of one run).
struct figure {
    scope of = scope::all;
    std::uint64_t which = 0;  ///< capacity of the class, or number of the CPU
    std::string name;         ///< `residency`, `wakeups`, ...: docs/tmigr-whatif.md lists them
    std::string detail;       ///< which state, percentile or class; empty where there is one number
    std::string unit;         ///< `s`, `1/s`, `us`, `%`, `J`, or empty for counts and ratios
    double mean = 0;
    double spread = 0;
};

/// All that runs of one policy came to, always the same figures in the same order for one machine.
struct summary {
    std::string policy;
    std::vector<figure> figures;

    /// Nothing when there is no such figure.
    const figure* find(scope of, std::uint64_t which, std::string_view name, std::string_view detail = {}) const;
};

/// CPUs of one capacity.
struct capacity_class {
    unsigned capacity = 0;
    std::vector<std::size_t> cpus;  ///< indexes
};
/// Smallest capacity first.
std::vector<capacity_class> classes_of(const machine& hardware);

/// The names of the idle states of these CPUs, each once, in order of their tables.
std::vector<std::string> state_names(const machine& hardware, const std::vector<std::size_t>& cpus);
std::vector<std::string> state_names(const machine& hardware);

/// One run in figures, with spread 0.
std::vector<figure> figures_of(const machine& hardware, const result& of);

/// Runs that differ in the seed alone, at least one.
summary summarize(const machine& hardware, const std::vector<result>& runs);

}  // namespace whatif

#endif
