// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_AUDIT_HTML_HPP
#define TMIGR_EXAMPLES_AUDIT_HTML_HPP

#include "report.hpp"

#include <string>

namespace audit_tool {

/// A page that shows all findings, to filter, with a time line of CPUs and groups around each. One
/// file: style, script and data are inside, and it refers to nothing outside.
std::string as_html(const audited& done);

}  // namespace audit_tool

#endif
