// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_AUDIT_EXPLAIN_HPP
#define TMIGR_EXAMPLES_AUDIT_EXPLAIN_HPP

#include <tmigr/io/audit.hpp>

#include <functional>
#include <string>

namespace audit_tool {

/// One line of a story, and the tree behind it.
struct frame {
    const tmigr::ftrace_record& record;
    const tmigr::audit_tree& tree;
    std::string note;  ///< why the line matters; empty for others
    bool concerns;     ///< it is of a CPU or a group on the way from the expiry to the root
};

/// Plays a finding's story.
void play(const tmigr::audit_finding& finding, const std::function<void(const frame&)>& show);

/// The story of a finding in text: each line that has to do with it, and the tree whenever it looks different.
std::string explain(const tmigr::audit_finding& finding, std::size_t number);

}  // namespace audit_tool

#endif
