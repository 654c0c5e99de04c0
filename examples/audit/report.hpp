// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_AUDIT_REPORT_HPP
#define TMIGR_EXAMPLES_AUDIT_REPORT_HPP

#include <tmigr/io/audit.hpp>
#include <tmigr/io/ftrace.hpp>

#include <string>

namespace audit_tool {

/// A trace that was audited.
struct audited {
    std::string name;
    tmigr::ftrace_counts lines;
    tmigr::auditor audit;
};

/// The table of what was read, judged and found.
std::string summary(const audited& done);
/// All findings, each with the lines that prove it.
std::string details(const audited& done);

}  // namespace audit_tool

#endif
