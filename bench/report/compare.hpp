// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_REPORT_COMPARE_HPP
#define TMIGR_BENCH_REPORT_COMPARE_HPP

#include "results.hpp"
#include "tables.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

namespace tmigr::report {

/// Benchmark by benchmark how much longer the second results took than the first. Marked are
/// those where the slowest repetition of one is faster than the fastest of the other.
inline void write_comparison(std::ostream& out, const std::vector<program>& before, const std::vector<program>& after) {
    std::vector<std::vector<std::string>> rows{{"benchmark", "before, ns", "after, ns", "ratio", "apart"}};
    std::size_t both = 0, faster = 0, slower = 0, gone = 0, added = 0;
    double logarithms = 0;
    const auto find = [](const std::vector<program>& all, const std::string& name) -> const measurement* {
        for (const program& p : all)
            for (const measurement& m : p.all)
                if (m.name == name) return &m;
        return nullptr;
    };
    for (const program& p : before)
        for (const measurement& old : p.all) {
            const measurement* now = find(after, old.name);
            if (now == nullptr) {
                ++gone;
                rows.push_back({old.name, rounded(old.ns()), "", "", "gone"});
                continue;
            }
            const double ratio = now->ns() / old.ns();
            const bool is_faster = now->most() < old.least();
            const bool is_slower = now->least() > old.most();
            ++both;
            faster += is_faster;
            slower += is_slower;
            if (ratio > 0) logarithms += std::log(ratio);
            rows.push_back({old.name, rounded(old.ns()), rounded(now->ns()), fmt::format("{:.2f}", ratio),
                            is_faster ? "faster" : is_slower ? "slower" : ""});
        }
    for (const program& p : after)
        for (const measurement& now : p.all)
            if (find(before, now.name) == nullptr) {
                ++added;
                rows.push_back({now.name, "", rounded(now.ns()), "", "new"});
            }
    write_table(out, rows);
    fmt::print(out, "{} in both: {} faster and {} slower beyond the spread of their repetitions", both, faster, slower);
    if (both > 0) fmt::print(out, "; ratio {:.2f} on geometric average", std::exp(logarithms / static_cast<double>(both)));
    fmt::print(out, ". {} gone, {} new.\n", gone, added);
}

}  // namespace tmigr::report

#endif
