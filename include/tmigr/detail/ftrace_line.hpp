// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_FTRACE_LINE_HPP
#define TMIGR_DETAIL_FTRACE_LINE_HPP

#include <tmigr/detail/text.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <istream>
#include <limits>
#include <optional>
#include <streambuf>
#include <string_view>
#include <vector>

namespace tmigr::detail {

/// Hands out a stream line by line, read in blocks: traces have millions of lines,
/// and whether the last one is whole matters (`line_reader` of text.hpp tells neither
/// fast nor at all). Memory is fixed.
class block_reader {
public:
    static constexpr std::size_t longest_line = line_reader::longest_line;
    enum class status { line, unterminated, end, too_long, unreadable };

    explicit block_reader(std::istream& in) : in_(in.rdbuf()), block_(2 * longest_line) {}

    /// Moves to the next line; `unterminated` is a last line without line feed. After
    /// `end`, `too_long` or `unreadable` there is nothing more.
    status next(std::string_view& line) {
        std::size_t seen = 0;
        for (;;) {
            const char* const start = block_.data() + from_;
            const void* const stop = std::memchr(start + seen, '\n', to_ - from_ - seen);
            seen = to_ - from_;
            if (stop != nullptr) seen = static_cast<std::size_t>(static_cast<const char*>(stop) - start);
            if (seen > longest_line) return give_up(line, status::too_long);
            line = {start, seen};
            if (stop != nullptr) {
                from_ += seen + 1;
                return status::line;
            }
            if (ended_) {
                from_ = to_;
                return seen == 0 ? status::end : status::unterminated;
            }
            if (!fill()) return give_up(line, status::unreadable);
        }
    }

private:
    bool fill() {
        std::memmove(block_.data(), block_.data() + from_, to_ - from_);
        to_ -= from_;
        from_ = 0;
        // A stream's buffer reports a failed read by an exception of its own.
        try {
            const auto room = static_cast<std::streamsize>(block_.size() - to_);
            const std::streamsize got = in_ != nullptr ? in_->sgetn(block_.data() + to_, room) : 0;
            ended_ = got < room;
            to_ += static_cast<std::size_t>(got);
            return true;
        } catch (const std::ios_base::failure&) {
            return false;
        }
    }
    status give_up(std::string_view& line, status why) {
        line = {block_.data() + from_, why == status::too_long ? longest_line : 0};
        from_ = to_;
        ended_ = true;
        return why;
    }

    std::streambuf* in_;
    std::vector<char> block_;
    std::size_t from_ = 0;
    std::size_t to_ = 0;
    bool ended_ = false;
};

/// The parts of one line of ftrace text: `TASK-PID (TGID) [CPU] FLAGS TIME: EVENT: FIELDS`,
/// as views. TGID and FLAGS may be missing; PID and EVENT are empty where they are.
struct ftrace_line {
    std::string_view task;
    std::string_view pid;
    std::string_view cpu;
    std::string_view time;
    std::string_view event;
    std::string_view fields;
};

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

inline std::size_t count_digits(std::string_view text) noexcept {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    return n;
}

constexpr bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline std::string_view without_blanks_behind(std::string_view text) noexcept {
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}
inline std::string_view without_blanks_before(std::string_view text) noexcept {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    return text;
}
/// `take_field` of text.hpp, several times faster: half of reading a trace is this.
inline std::string_view take_word(std::string_view& rest) noexcept {
    rest = without_blanks_before(rest);
    std::size_t n = 0;
    while (n < rest.size() && !is_blank(rest[n])) ++n;
    const std::string_view word = rest.substr(0, n);
    rest.remove_prefix(n);
    return word;
}

/// `SECONDS.FRACTION:` or, from clocks that count something else, `NUMBER:`.
inline bool is_time_stamp(std::string_view field) noexcept {
    const std::size_t whole = count_digits(field);
    if (whole == 0 || whole >= field.size()) return false;
    if (field[whole] != '.') return whole + 1 == field.size() && field[whole] == ':';
    const std::size_t fraction = count_digits(field.substr(whole + 1));
    return fraction >= 1 && fraction <= 9 && whole + fraction + 2 == field.size() && field.back() == ':';
}

/// Splits `TASK-PID` or `TASK-PID (TGID)`; a task name may hold anything.
inline void split_task(std::string_view left, ftrace_line& parts) noexcept {
    left = without_blanks_behind(left);
    if (left.ends_with(')')) {
        const std::size_t open = left.rfind('(');
        if (open != left.npos && open > 0) left = without_blanks_behind(left.substr(0, open));
    }
    left = without_blanks_before(left);
    const std::size_t dash = left.rfind('-');
    const bool has_pid = dash != left.npos && dash + 1 < left.size() &&
                         count_digits(left.substr(dash + 1)) == left.size() - dash - 1;
    parts.task = has_pid ? left.substr(0, dash) : left;
    parts.pid = has_pid ? left.substr(dash + 1) : std::string_view{};
}

/// The parts of a line, or nothing when it is no line of ftrace text.
///
/// Takes the first `[CPU] FLAGS TIME: ` in the line: neither a task name before it nor
/// whatever the event prints behind it (names of tasks, text of markers) gets in the way.
inline std::optional<ftrace_line> split_ftrace_line(std::string_view line) noexcept {
    constexpr std::size_t longest_flags = 8;
    for (std::size_t open = line.find('['); open != line.npos; open = line.find('[', open + 1)) {
        if (open == 0 || !is_blank(line[open - 1])) continue;
        std::string_view rest = line.substr(open + 1);
        const std::size_t digits = count_digits(rest);
        if (digits == 0 || digits >= rest.size() || rest[digits] != ']') continue;
        ftrace_line parts;
        parts.cpu = rest.substr(0, digits);
        rest.remove_prefix(digits + 1);
        std::string_view field = take_word(rest);
        if (!is_time_stamp(field) && field.size() <= longest_flags) field = take_word(rest);
        if (!is_time_stamp(field)) continue;
        parts.time = field.substr(0, field.size() - 1);
        split_task(line.substr(0, open), parts);
        if (parts.task.empty() && parts.pid.empty()) continue;

        std::string_view behind = rest;
        const std::string_view event = take_word(behind);
        const std::size_t colon = event.find(':');
        parts.fields = without_blanks_before(rest);
        if (colon != event.npos) {
            parts.event = event.substr(0, colon);
            parts.fields = without_blanks_before(parts.fields.substr(colon + 1));
        }
        parts.fields = without_blanks_behind(parts.fields);
        return parts;
    }
    return std::nullopt;
}

/// A time stamp in nanoseconds, or the bare number of a clock that has no seconds.
inline std::optional<std::uint64_t> parse_time_stamp(std::string_view text) noexcept {
    constexpr std::uint64_t second = 1'000'000'000;
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const std::size_t point = text.find('.');
    if (point == text.npos) return parse_number<std::uint64_t>(text, 0, most);
    const auto whole = parse_number<std::uint64_t>(text.substr(0, point), 0, most / second - 1);
    auto part = parse_number<std::uint64_t>(text.substr(point + 1), 0, second - 1);
    if (!whole || !part) return std::nullopt;
    for (std::size_t digits = text.size() - point - 1; digits < 9; ++digits) *part *= 10;
    return *whole * second + *part;
}

/// All of `text` as a hexadecimal number of at most 16 digits, without prefix.
inline std::optional<std::uint64_t> parse_hex(std::string_view text) noexcept {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number, 16);
    if (error != std::errc{} || stop != end || text.size() > 16) return std::nullopt;
    return number;
}

/// A pointer: as the kernel prints it (bare digits) or as user-space tools do.
inline std::optional<std::uint64_t> parse_pointer(std::string_view text) noexcept {
    if (text == "(nil)" || text == "(null)") return 0;
    if (text.starts_with("0x")) text.remove_prefix(2);
    return parse_hex(text);
}

}  // namespace tmigr::detail

#endif
