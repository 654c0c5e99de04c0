// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_JSON_HPP
#define TMIGR_EXAMPLES_WHATIF_JSON_HPP

#include "machine.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whatif {

/// A JSON value that knows its line, for error messages; members stay in the order of the file.
///
/// The functions that ask for something throw `tmigr::input_error` with file, line, value and
/// expectation where it is not there. A value refers to the document that it came from.
class json_value {
public:
    enum class kind : std::uint8_t { null, boolean, number, string, array, object };

    kind type() const noexcept { return kind_; }
    std::size_t line() const noexcept { return line_; }
    bool is(kind k) const noexcept { return kind_ == k; }

    /// The number between `min` and `max`, without a fraction.
    std::int64_t integer(std::int64_t min, std::int64_t max, std::string_view what) const;
    /// The number between `min` and `max`.
    double real(double min, double max, std::string_view what) const;
    /// Microseconds, fractions allowed, as nanoseconds.
    nanoseconds microseconds(double max, std::string_view what) const;
    const std::string& string(std::string_view what) const;
    const std::vector<json_value>& array(std::string_view what) const;
    /// Names and values.
    const std::vector<std::pair<std::string, json_value>>& object(std::string_view what) const;

    /// A member of an object, `nullptr` where there is none.
    const json_value* find(std::string_view name) const noexcept;
    /// A member that must be there; `what` says what it is.
    const json_value& at(std::string_view name, std::string_view what) const;
    /// Throws for the first member whose name is not among these.
    void only(std::initializer_list<std::string_view> names) const;

    /// How it reads, shortened.
    std::string text() const;
    [[noreturn]] void fail(std::string_view expected) const;
    /// The same, for the name of a member.
    [[noreturn]] void fail_name(std::string_view name, std::string_view expected) const;

private:
    friend class json_builder;
    kind kind_ = kind::null;
    bool truth_ = false;
    bool whole_ = false;  ///< `integer_` holds it
    std::int64_t integer_ = 0;
    double real_ = 0;
    std::size_t line_ = 0;
    const std::string* file_ = nullptr;
    std::string string_;
    std::vector<json_value> elements_;
    std::vector<std::pair<std::string, json_value>> members_;
};

/// A whole JSON text. Comments (`//` and `/* */`) and a comma behind a last element are allowed.
///
/// Limits: 16 MiB, 32 levels deep, a million values. Each name once in an object, text in UTF-8.
class json_document {
public:
    json_document(std::istream& in, std::string file);
    json_document(const json_document&) = delete;
    json_document& operator=(const json_document&) = delete;

    const json_value& root() const noexcept { return root_; }
    const std::string& file() const noexcept { return file_; }

private:
    std::string file_;
    json_value root_;
};

}  // namespace whatif

#endif
