// SPDX-License-Identifier: BSL-1.0
#include "json.hpp"

#include <tmigr/input_error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <istream>
#include <iterator>
#include <limits>
#include <set>

namespace whatif {

namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr std::size_t most_levels = 32;
constexpr std::size_t most_values = 1'000'000;

std::string read_all(std::istream& in, const std::string& file) {
    std::string text;
    std::array<char, 65536> piece;
    std::streambuf* const from = in.rdbuf();
    try {
        for (;;) {
            const std::streamsize got = from != nullptr ? from->sgetn(piece.data(), piece.size()) : 0;
            if (got <= 0) return text;
            text.append(piece.data(), static_cast<std::size_t>(got));
            if (text.size() > most_bytes)
                throw tmigr::input_error("more", fmt::format("at most {} MiB", most_bytes >> 20), file);
        }
    } catch (const std::ios_base::failure& error) {
        throw tmigr::input_error(error.what(), "a readable file", file);
    }
}

/// Where the string or comment that begins at `at` ends; `at` itself where none begins there.
std::size_t skip(const std::string& text, std::size_t at) {
    if (text[at] == '"') {
        for (std::size_t i = at + 1; i < text.size(); ++i) {
            if (text[i] == '\\')
                ++i;
            else if (text[i] == '"')
                return i + 1;
        }
        return text.size();
    }
    if (text.compare(at, 2, "//") == 0) return std::min(text.find('\n', at), text.size());
    if (text.compare(at, 2, "/*") == 0) {
        const std::size_t end = text.find("*/", at + 2);
        return end == text.npos ? text.size() : end + 2;
    }
    return at;
}

/// Makes blanks of commas behind the last element of an array or object.
void drop_last_commas(std::string& text) {
    std::size_t comma = text.npos;
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        const std::size_t end = skip(text, i);
        if (end != i) {
            if (c == '"') comma = text.npos;
            i = end;
            continue;
        }
        if ((c == ']' || c == '}') && comma != text.npos) text[comma] = ' ';
        if (c == ',')
            comma = i;
        else if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
            comma = text.npos;
        ++i;
    }
}

/// Goes through a text and counts its lines on the way: nlohmann-json does not say where a value was.
class counting_iterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    counting_iterator(const char* at, std::size_t* line) : at_(at), line_(line) {}
    reference operator*() const noexcept { return *at_; }
    counting_iterator& operator++() noexcept {
        // The parser reads up to one character behind a number: a line feed there counts later.
        *line_ += at_line_feed_ ? 1 : 0;
        at_line_feed_ = *at_ == '\n';
        ++at_;
        return *this;
    }
    counting_iterator operator++(int) noexcept {
        const counting_iterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const counting_iterator& other) const noexcept { return at_ == other.at_; }
    bool operator!=(const counting_iterator& other) const noexcept { return at_ != other.at_; }

private:
    const char* at_;
    std::size_t* line_;
    bool at_line_feed_ = false;
};

std::string line_of(const std::string& text, std::size_t number) {
    std::size_t from = 0;
    for (; number > 1 && from < text.size(); --number)
        from = std::min(text.find('\n', from), text.size() - 1) + 1;
    return text.substr(from, std::min(text.find('\n', from), text.size()) - from);
}

}  // namespace

/// Makes a `json_value` of what the parser reports.
class json_builder : public nlohmann::json_sax<nlohmann::json> {
public:
    json_builder(json_value& root, const std::string& file, const std::string& text, const std::size_t& line)
        : root_(root), file_(file), text_(text), line_(line) {}

    bool null() override { return put(json_value::kind::null), true; }
    bool boolean(bool value) override { return put(json_value::kind::boolean).truth_ = value, true; }
    bool number_integer(number_integer_t value) override { return whole(value), true; }
    bool number_unsigned(number_unsigned_t value) override {
        if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
            return number_float(static_cast<double>(value), {});
        return whole(static_cast<std::int64_t>(value)), true;
    }
    bool number_float(number_float_t value, const string_t&) override {
        json_value& v = put(json_value::kind::number);
        v.real_ = value;
        if (value == std::floor(value) && std::abs(value) < 9e15) {
            v.whole_ = true;
            v.integer_ = static_cast<std::int64_t>(value);
        }
        return true;
    }
    bool string(string_t& value) override {
        return put(json_value::kind::string).string_ = std::move(value), true;
    }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(json_value::kind::object), true; }
    bool start_array(std::size_t) override { return open(json_value::kind::array), true; }
    bool end_object() override { return close(), true; }
    bool end_array() override { return close(), true; }
    bool key(string_t& name) override {
        if (!names_.back().insert(name).second)
            throw tmigr::input_error(name, "each name once in an object (run0, run1, ... for several events)",
                                     file_, line_);
        name_ = std::move(name);
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
        throw tmigr::input_error(line_of(text_, line_), "JSON text", file_, line_);
    }

private:
    json_value& put(json_value::kind kind) {
        if (++values_ > most_values)
            throw tmigr::input_error("more", fmt::format("at most {} values", most_values), file_, line_);
        json_value* v = &root_;
        if (!open_.empty()) {
            json_value& in = *open_.back();
            if (in.is(json_value::kind::array))
                v = &in.elements_.emplace_back();
            else
                v = &in.members_.emplace_back(std::move(name_), json_value{}).second;
        }
        v->kind_ = kind;
        v->line_ = line_;
        v->file_ = &file_;
        return *v;
    }
    void whole(std::int64_t value) {
        json_value& v = put(json_value::kind::number);
        v.whole_ = true;
        v.integer_ = value;
        v.real_ = static_cast<double>(value);
    }
    void open(json_value::kind kind) {
        if (open_.size() == most_levels)
            throw tmigr::input_error("more", fmt::format("at most {} levels", most_levels), file_, line_);
        // What is above an open value gets no more elements until it is closed: pointers hold.
        open_.push_back(&put(kind));
        names_.emplace_back();
    }
    void close() {
        open_.pop_back();
        names_.pop_back();
    }

    json_value& root_;
    const std::string& file_;
    const std::string& text_;
    const std::size_t& line_;
    std::vector<json_value*> open_;
    std::vector<std::set<std::string>> names_;
    std::string name_;
    std::size_t values_ = 0;
};

json_document::json_document(std::istream& in, std::string file) : file_(std::move(file)) {
    std::string text = read_all(in, file_);
    drop_last_commas(text);
    std::size_t line = 1;
    json_builder builder{root_, file_, text, line};
    const char* const begin = text.data();
    nlohmann::json::sax_parse(counting_iterator{begin, &line}, counting_iterator{begin + text.size(), &line},
                              &builder, nlohmann::json::input_format_t::json, true, true);
}

std::string json_value::text() const {
    switch (kind_) {
        case kind::null: return "null";
        case kind::boolean: return truth_ ? "true" : "false";
        case kind::number: return whole_ ? fmt::format("{}", integer_) : fmt::format("{}", real_);
        case kind::string: return string_;
        case kind::array: return "[...]";
        case kind::object: break;
    }
    return "{...}";
}

void json_value::fail(std::string_view expected) const {
    throw tmigr::input_error(text(), std::string{expected}, *file_, line_);
}
void json_value::fail_name(std::string_view name, std::string_view expected) const {
    const json_value* const member = find(name);
    throw tmigr::input_error(std::string{name}, std::string{expected}, *file_,
                             member != nullptr ? member->line_ : line_);
}

std::int64_t json_value::integer(std::int64_t min, std::int64_t max, std::string_view what) const {
    if (!is(kind::number) || !whole_ || integer_ < min || integer_ > max)
        fail(fmt::format("{}: a whole number from {} to {}", what, min, max));
    return integer_;
}

double json_value::real(double min, double max, std::string_view what) const {
    if (!is(kind::number) || !(real_ >= min && real_ <= max))
        fail(fmt::format("{}: a number from {} to {}", what, min, max));
    return real_;
}

nanoseconds json_value::microseconds(double max, std::string_view what) const {
    return static_cast<nanoseconds>(
        std::llround(1000 * real(0, max, fmt::format("{} in microseconds", what))));
}

const std::string& json_value::string(std::string_view what) const {
    if (!is(kind::string)) fail(fmt::format("{}: a string", what));
    return string_;
}
const std::vector<json_value>& json_value::array(std::string_view what) const {
    if (!is(kind::array)) fail(fmt::format("{}: an array", what));
    return elements_;
}
const std::vector<std::pair<std::string, json_value>>& json_value::object(std::string_view what) const {
    if (!is(kind::object)) fail(fmt::format("{}: an object", what));
    return members_;
}

const json_value* json_value::find(std::string_view name) const noexcept {
    const auto found =
        std::ranges::find(members_, name, [](const auto& m) -> std::string_view { return m.first; });
    return found == members_.end() ? nullptr : &found->second;
}

const json_value& json_value::at(std::string_view name, std::string_view what) const {
    const json_value* const found = find(name);
    if (found == nullptr) fail(fmt::format("{}: \"{}\"", what, name));
    return *found;
}

void json_value::only(std::initializer_list<std::string_view> names) const {
    for (const auto& [name, value] : members_) {
        if (std::ranges::find(names, std::string_view{name}) != names.end()) continue;
        std::string all;
        for (const std::string_view each : names) all += (all.empty() ? "" : ", ") + std::string{each};
        fail_name(name, "one of " + all);
    }
}

}  // namespace whatif
