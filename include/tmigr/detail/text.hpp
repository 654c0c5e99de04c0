// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_TEXT_HPP
#define TMIGR_DETAIL_TEXT_HPP

#include <tmigr/input_error.hpp>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ios>
#include <istream>
#include <optional>
#include <streambuf>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace tmigr::detail {

/// All of `text` as a decimal number from `min` to `max`, or nothing. A leading
/// '-' is taken where `Number` is signed; '+', blanks, prefixes, exponents and
/// anything after the digits are not. Leading zeros are.
template <std::integral Number>
std::optional<Number> parse_number(std::string_view text, Number min, Number max) noexcept {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end || number < min || number > max) return std::nullopt;
    return number;
}

inline constexpr std::string_view blanks = " \t\v\f\r";

/// Takes the next field, which blanks end, off the front of `rest`; empty when
/// only blanks are left.
inline std::string_view take_field(std::string_view& rest) noexcept {
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
    const std::string_view field = rest.substr(0, rest.find_first_of(blanks));
    rest.remove_prefix(field.size());
    return field;
}

/// Opens `path` for reading, bytes as they are. Throws `input_error` (line 0)
/// when there is no such file, it is a directory, or it must not be read.
inline std::ifstream open_input(const std::filesystem::path& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        throw input_error("a directory", "a readable file", path.string());
    std::ifstream in{path, std::ios::binary};
    if (!in) throw input_error(path.string(), "a readable file", path.string());
    return in;
}

/// Hands out a stream line by line and places errors on the current line.
///
/// Lines end with LF or CR LF, the last one may lack it. Memory is bounded by
/// `longest_line` whatever the stream holds. The stream must outlive the reader
/// and is read up to its end or the first error; its exception mask and state
/// flags are not used.
class line_reader {
public:
    static constexpr std::size_t longest_line = 65536;

    line_reader(std::istream& in, std::string name) : in_(in.rdbuf()), name_(std::move(name)) {}

    /// Moves to the next line; false at the end of the stream. Throws `input_error`
    /// on a line above `longest_line` bytes or when the stream cannot be read.
    bool next() {
        using traits = std::char_traits<char>;
        ++number_;
        line_.clear();
        auto byte = get();
        if (traits::eq_int_type(byte, traits::eof())) return false;
        for (; !traits::eq_int_type(byte, traits::eof()); byte = get()) {
            const char c = traits::to_char_type(byte);
            if (c == '\n') break;
            if (line_.size() == longest_line)
                fail(line_, "a line of at most " + std::to_string(longest_line) + " bytes");
            line_ += c;
        }
        if (line_.ends_with('\r')) line_.pop_back();
        return true;
    }

    /// The current line without its end; valid until `next` is called.
    std::string_view line() const noexcept { return line_; }
    /// Its number, counted from 1; after the end, one more than the last line's.
    std::size_t number() const noexcept { return number_; }
    const std::string& name() const noexcept { return name_; }

    /// `field` as a number, see `parse_number`; throws `fail(field, expected)` otherwise.
    template <std::integral Number>
    Number number_in(std::string_view field, Number min, Number max, std::string_view expected) const {
        if (const auto number = parse_number(field, min, max)) return *number;
        fail(field, std::string{expected});
    }

    /// Throws an `input_error` for this file and line.
    [[noreturn]] void fail(std::string_view value, std::string expected) const {
        throw input_error(std::string{value}, std::move(expected), name_, number_);
    }

private:
    std::char_traits<char>::int_type get() {
        // A stream's buffer reports a failed read by an exception of its own.
        try {
            return in_ ? in_->sbumpc() : std::char_traits<char>::eof();
        } catch (const std::ios_base::failure& error) {
            fail(error.what(), "a readable file");
        }
    }

    std::streambuf* in_;
    std::string name_;
    std::string line_;
    std::size_t number_ = 0;
};

}  // namespace tmigr::detail

#endif
