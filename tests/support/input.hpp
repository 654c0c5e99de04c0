// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_SUPPORT_INPUT_HPP
#define TMIGR_TESTS_SUPPORT_INPUT_HPP

#include <tmigr/input_error.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tmigr::test {

/// An input that must be refused, and what the error must say.
struct wrong_input {
    std::string text;
    std::size_t line;
    std::string value;
    std::string expected;
};

/// The error with which `read` refuses its input.
template <class Read>
input_error refused(Read&& read) {
    try {
        read();
    } catch (const input_error& error) {
        return error;
    }
    throw std::logic_error{"the input was accepted"};
}

/// A directory that is gone, with all in it, when the test is over.
class scratch_directory {
public:
    scratch_directory() {
        std::random_device random;
        do {
            path_ = std::filesystem::temp_directory_path() / ("tmigr-test-" + std::to_string(random()));
        } while (!std::filesystem::create_directory(path_));
    }
    ~scratch_directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    scratch_directory(const scratch_directory&) = delete;
    scratch_directory& operator=(const scratch_directory&) = delete;

    const std::filesystem::path& path() const noexcept { return path_; }

    /// Writes a file, and the directories it lies in.
    std::filesystem::path file(const std::filesystem::path& name, std::string_view text) const {
        const std::filesystem::path full = path_ / name;
        std::filesystem::create_directories(full.parent_path());
        std::ofstream{full, std::ios::binary} << text;
        return full;
    }

private:
    std::filesystem::path path_;
};

}  // namespace tmigr::test

#endif
