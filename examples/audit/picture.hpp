// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_AUDIT_PICTURE_HPP
#define TMIGR_EXAMPLES_AUDIT_PICTURE_HPP

#include <tmigr/io/audit.hpp>

#include <string>

namespace audit_tool {

/// The tree at one moment, a group a line, children below their parent: whether it is awake (`active`, with the
/// children that are), what it offers to its parent, and, in a leaf, its CPUs, `>` before the migrator and `*`
/// before others that are awake, `:` and the next expiry of those that sleep, `!` and what they have armed.
/// `only` is a group; nothing but it, its children and what is above and beside it is shown.
std::string picture(const tmigr::audit_tree& tree, tmigr::group_id only);

}  // namespace audit_tool

#endif
