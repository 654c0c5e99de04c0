// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_AUDIT_OPTIONS_HPP
#define TMIGR_EXAMPLES_AUDIT_OPTIONS_HPP

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace audit_tool {

/// What the command line asks for.
struct options {
    std::string trace = "-";  ///< "-" is standard input
    std::vector<std::string> gap_at;
    std::size_t most = 1000;  ///< findings kept
    bool details = false;
    std::vector<std::size_t> explain;  ///< numbers of findings
    bool explain_all = false;
    std::optional<std::string> json;  ///< "-" is standard output, here and below
    std::optional<std::string> html;
    bool quiet = false;
    bool progress = true;

    bool needs_stories() const noexcept { return explain_all || !explain.empty() || html; }
};

/// A command line that cannot be meant.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Nothing where the command line asked for help or the version, which is then printed.
/// Throws `usage_error`, or `tmigr::input_error` with the option in place of a file.
std::optional<options> read_options(int argc, char** argv);

}  // namespace audit_tool

#endif
