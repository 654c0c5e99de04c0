// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_TREE_DESCRIBE_HPP
#define TMIGR_EXAMPLES_TREE_DESCRIBE_HPP

#include <tmigr/builder.hpp>
#include <tmigr/family_plan.hpp>
#include <tmigr/topology.hpp>

#include <string>

namespace tree_tool {

/// A machine and its tree in numbers, a line each.
std::string describe(const tmigr::topology& machine, const tmigr::tree_shape& shape,
                     tmigr::level_estimate estimate, const tmigr::shape_options& how,
                     const char* families = "nodes");

/// The policy of a tree, and its families: who is in them, and their rank where groups go by it.
std::string describe_families(const tmigr::topology& machine, const tmigr::tree_shape& shape,
                              const tmigr::family_plan& plan, const std::string& asked_for);

}  // namespace tree_tool

#endif
