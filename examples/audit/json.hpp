// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_AUDIT_JSON_HPP
#define TMIGR_EXAMPLES_AUDIT_JSON_HPP

#include "report.hpp"

#include <string>

namespace audit_tool {

/// All counts and findings as JSON (docs/tmigr-audit.md has the fields).
std::string as_json(const audited& done);
/// The same with what the page draws of each finding, to stand inside a script element.
std::string as_page_data(const audited& done);

}  // namespace audit_tool

#endif
