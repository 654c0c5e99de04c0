// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_REPORT_HPP
#define TMIGR_EXAMPLES_WHATIF_REPORT_HPP

#include "figures.hpp"
#include "machine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace whatif {

/// What was simulated and what came of it: all that the outputs need.
struct report {
    machine hardware;
    std::string workload;
    nanoseconds length = 0;
    std::string governor;
    std::uint64_t seed = 1;
    std::size_t runs = 1;
    std::string baseline;             ///< a policy of `policies`; empty: differences are not asked for
    std::string note;                 ///< a line for the table, or empty
    std::vector<summary> policies;

    /// That of the baseline, or nothing.
    const summary* base() const {
        for (const summary& one : policies)
            if (!baseline.empty() && one.policy == baseline) return &one;
        return nullptr;
    }
};

/// For people, see docs/tmigr-whatif.md. CPUs one by one where there are few, or when asked.
std::string table_of(const report& all, bool cpus);
/// A line for each figure, for spreadsheets and scripts.
std::string csv_of(const report& all);
std::string json_of(const report& all);

/// A number as the files have it: nine digits that count, so that no compiler's last bit shows.
double rounded(double value);

/// `0-3,8`, of sorted numbers.
std::string ranges(const std::vector<std::uint64_t>& numbers);

}  // namespace whatif

#endif
