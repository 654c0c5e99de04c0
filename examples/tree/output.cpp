// SPDX-License-Identifier: BSL-1.0
#include "output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace tree_tool {

namespace {

[[noreturn]] void fail(const std::string& name, int reason) {
    throw std::runtime_error(name + ": cannot be written: " + std::strerror(reason));
}

/// Makes sure that all can be opened without losing what an existing one holds.
void try_to_open(const std::vector<output_file>& files) {
    std::vector<std::string> made;
    for (const output_file& file : files) {
        std::error_code none;
        const bool is_new = !std::filesystem::exists(file.path, none);
        errno = 0;
        if (std::ofstream{file.path, std::ios::app}) {
            if (is_new) made.push_back(file.path);
            continue;
        }
        const int reason = errno;
        for (const std::string& path : made) std::filesystem::remove(path, none);
        fail(file.path, reason);
    }
}

}  // namespace

void write_files(const std::vector<output_file>& files) {
    try_to_open(files);
    for (const output_file& file : files) {
        errno = 0;
        std::ofstream out{file.path, std::ios::binary};
        out << file.text;
        out.close();
        if (!out) fail(file.path, errno);
    }
}

void write_stdout(const std::string& text) {
    errno = 0;
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written && errno != EPIPE) fail("standard output", errno);
}

}  // namespace tree_tool
