// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_TREE_VERIFY_HPP
#define TMIGR_EXAMPLES_TREE_VERIFY_HPP

#include "options.hpp"

#include <string>

namespace tree_tool {

struct verification {
    std::string report;
    bool agrees = false;
};

/// Holds what a kernel printed against what the library makes of the same CPUs and the
/// same wake-ups. Throws `tmigr::input_error` for a trace that cannot be read, that
/// contradicts itself, or in which there is nothing to compare.
verification verify(const options& chosen);

}  // namespace tree_tool

#endif
