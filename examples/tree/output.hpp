// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_TREE_OUTPUT_HPP
#define TMIGR_EXAMPLES_TREE_OUTPUT_HPP

#include <string>
#include <vector>

namespace tree_tool {

struct output_file {
    std::string path;
    std::string text;
};

/// Writes all files, or none where one of them cannot be opened. Throws
/// `std::runtime_error` that names the file.
void write_files(const std::vector<output_file>& files);

/// Writes to standard output. A reader that has gone away wants no more: not an error.
/// Throws `std::runtime_error` for other failures, a full disk for instance.
void write_stdout(const std::string& text);

}  // namespace tree_tool

#endif
