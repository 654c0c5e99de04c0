// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_INPUT_ERROR_HPP
#define TMIGR_INPUT_ERROR_HPP

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace tmigr {

/// Bad input: what was read, where, and what would have been right.
/// Thrown by topologies, builders and readers before anything is changed;
/// the hot path throws nothing.
///
/// `what()` reads `FILE:LINE: got 'VALUE', expected EXPECTATION`; the parts that
/// are not known (no file, line 0) are left out.
class input_error : public std::runtime_error {
public:
    input_error(std::string value, std::string expected, std::string file = {}, std::size_t line = 0)
        : std::runtime_error(describe(value, expected, file, line)),
          value_(std::move(value)),
          expected_(std::move(expected)),
          file_(std::move(file)),
          line_(line) {}

    const std::string& value() const noexcept { return value_; }
    const std::string& expected() const noexcept { return expected_; }
    const std::string& file() const noexcept { return file_; }
    std::size_t line() const noexcept { return line_; }

    /// The same error, placed: for readers that catch an error of the data
    /// model and know where the value stood.
    input_error at(std::string file, std::size_t line) const {
        return {value_, expected_, std::move(file), line};
    }

private:
    static std::string describe(const std::string& value, const std::string& expected,
                                const std::string& file, std::size_t line) {
        std::string text;
        if (!file.empty()) {
            text += file;
            if (line != 0) text += ':' + std::to_string(line);
            text += ": ";
        }
        return text + "got '" + printable(value) + "', expected " + expected;
    }

    // Values come from files that may hold anything: keep messages on one line.
    static std::string printable(const std::string& value) {
        constexpr std::size_t longest = 60;
        std::string text;
        for (char c : value) {
            if (text.size() >= longest) return text + "...";
            const auto byte = static_cast<unsigned char>(c);
            if (byte >= 0x20 && byte < 0x7f) {
                text += c;
            } else {
                constexpr char digit[] = "0123456789abcdef";
                text += "\\x";
                text += digit[byte >> 4];
                text += digit[byte & 15];
            }
        }
        return text;
    }

    std::string value_;
    std::string expected_;
    std::string file_;
    std::size_t line_;
};

}  // namespace tmigr

#endif
