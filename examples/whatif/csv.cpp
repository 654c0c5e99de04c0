// SPDX-License-Identifier: BSL-1.0
#include "report.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace whatif {

namespace {

/// Quoted where a comma, a quote or a line end would be taken for the format's own.
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == text.npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

}  // namespace

double rounded(double value) { return std::strtod(fmt::format("{:.9g}", value).c_str(), nullptr); }

std::string csv_of(const report& all) {
    std::string text = "policy,scope,which,figure,detail,unit,mean,spread,difference\n";
    const summary* const base = all.base();
    for (const summary& of : all.policies)
        for (std::size_t i = 0; i < of.figures.size(); ++i) {
            const figure& one = of.figures[i];
            text += fmt::format("{},{},{},{},{},{},{:.9g},{:.9g},", field(of.policy), name_of(one.of),
                                one.of == scope::all ? "" : std::to_string(one.which), one.name, field(one.detail),
                                one.unit, one.mean, one.spread);
            if (base) text += fmt::format("{:.9g}", one.mean - base->figures[i].mean);
            text += '\n';
        }
    return text;
}

}  // namespace whatif
