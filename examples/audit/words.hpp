// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_AUDIT_WORDS_HPP
#define TMIGR_EXAMPLES_AUDIT_WORDS_HPP

#include <tmigr/io/audit.hpp>

#include <cstdint>
#include <string>

namespace audit_tool {

/// A time of a trace, in seconds: `20.212000`; `none` for never.
std::string seconds(std::uint64_t nanoseconds);
/// A span, in the unit that suits: `160.0 ms`.
std::string span(std::uint64_t nanoseconds);
/// A group's name, as short as it can be: `c58bdaa8`.
std::string group_name(tmigr::group_id id);
/// A line as the trace has it, without the task: `[002] 20.185925: tmigr_cpu_idle: cpu=2 ...`.
std::string line_text(const tmigr::ftrace_record& record);
/// One sentence about a finding.
std::string headline(const tmigr::audit_finding& finding);
/// How late its timer ran, as far as is known; empty where it is not about a timer.
std::string lateness(const tmigr::audit_finding& finding);

}  // namespace audit_tool

#endif
