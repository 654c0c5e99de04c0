// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_AUDIT_SUPPORT_HPP
#define TMIGR_TESTS_AUDIT_SUPPORT_HPP

#include <tmigr/io/audit.hpp>

#include <filesystem>
#include <fstream>
#include <istream>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"

namespace tmigr::test {

/// A trace, audited from its first to its last line.
inline auditor audited(std::istream& in, const std::string& name, audit_options options = {}) {
    ftrace_reader reader{in, name, ftrace_reader::others::keep};
    auditor audit{options};
    while (const auto record = reader.next()) audit.add(*record);
    audit.finish();
    return audit;
}
inline auditor audited(const std::filesystem::path& path, audit_options options = {}) {
    std::ifstream in{path};
    REQUIRE(in);
    return audited(in, path.string(), options);
}
inline auditor audited_text(const std::string& text, audit_options options = {}) {
    std::istringstream in{text};
    return audited(in, "text", options);
}

inline void tell(const auditor& audit) {
    for (const audit_finding& f : audit.findings())
        UNSCOPED_INFO(name_of(f.kind) << ' ' << f.fault << " at line " << f.begin.line << " to " << f.end.line << ", CPU "
                                      << f.cpu << ", group " << f.group << ": " << f.cause << ' ' << f.detail);
}

}  // namespace tmigr::test

#endif
