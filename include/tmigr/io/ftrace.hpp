// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_FTRACE_HPP
#define TMIGR_IO_FTRACE_HPP

#include <tmigr/detail/ftrace_fields.hpp>
#include <tmigr/detail/ftrace_line.hpp>
#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>
#include <tmigr/topology.hpp>
#include <tmigr/trace.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tmigr {

namespace event {

/// The tracer lost lines of the record's CPU before this place. `events` is how many,
/// 0 where it does not say. What was known of any group is void from here on.
struct lost {
    std::uint64_t events = 0;
    friend bool operator==(const lost&, const lost&) = default;
};

/// A line that tells nothing of those above: another event (`name`, and what it printed
/// in `text`), or, where `name` is empty and so is the record's task, a line that is
/// not ftrace's (`text` is all of it).
struct other {
    std::string name;
    std::string text;
    friend bool operator==(const other&, const other&) = default;
};

}  // namespace event

using ftrace_event =
    std::variant<event::group_set, event::connect_child_parent, event::connect_cpu_parent,
                 event::group_set_cpu_active, event::group_set_cpu_inactive, event::cpu_active,
                 event::cpu_idle, event::cpu_new_timer, event::cpu_new_timer_idle, event::cpu_available,
                 event::cpu_unavailable, event::update_events, event::handle_remote, event::handle_remote_cpu,
                 event::lost, event::other>;

/// One line of a trace.
struct ftrace_record {
    std::string task;                  ///< without pid; may hold anything, blanks too
    std::optional<std::uint32_t> pid;  ///< none where the line has none, or one out of range
    cpu_id cpu = 0;                    ///< the CPU that printed the line (column `CPU#`)
    std::uint64_t time = 0;            ///< ns; the bare number where the trace's clock has no seconds
    std::size_t line = 0;              ///< counted from 1
    ftrace_event event;
};

/// What a reader has met so far.
struct ftrace_counts {
    std::size_t lines = 0;         ///< all, comments and blank ones too
    std::size_t events = 0;        ///< events that were returned as what they are
    std::size_t other = 0;         ///< lines of other events
    std::size_t lost = 0;          ///< places where the tracer lost lines
    std::size_t unrecognised = 0;  ///< lines that are not ftrace's
};

/// Reads ftrace text, as `trace`, `trace_pipe` and `trace-cmd report` print it, line by
/// line: with or without the columns for flags and thread group, time stamps in micro-
/// or nanoseconds, LF or CR LF.
///
/// Of the events of a hierarchy (see trace.hpp) masks are hexadecimal, pointers too, all
/// else is decimal. Keys may stand in any order; unknown ones are skipped; `family=`
/// may stand where `numa=` does; `capacity=` may be missing and is then 1024. What older
/// kernels call online and offline is returned as available and unavailable.
///
/// Memory is fixed; the stream must outlive the reader and is used by it alone.
/// Throws `input_error` with name, line, value and what was expected: when a known event
/// lacks a key or holds a value that cannot be; on a line that names one but is not whole;
/// on a last line without line feed (the trace is cut there: its last number could be
/// too); on a byte 0, a line above 65536 bytes or a stream that cannot be read; and, at the
/// end or after 1000 lines, when no line was ftrace's. A trace of header lines only is none
/// of these. Do not read on after an error.
class ftrace_reader {
public:
    /// Whether lines of other events are returned (as `event::other`) or only counted.
    enum class others : bool { skip, keep };

    ftrace_reader(std::istream& in, std::string name, others mode = others::skip)
        : in_(in), name_(std::move(name)), mode_(mode) {}

    /// The next event, or nothing at the end. `event::lost` is always returned.
    std::optional<ftrace_record> next() {
        using status = detail::block_reader::status;
        for (;;) {
            std::string_view line;
            const status got = in_.next(line);
            if (got == status::end) {
                if (!is_ftrace_) fail_not_ftrace();
                return std::nullopt;
            }
            ++counts_.lines;
            if (got == status::unreadable) throw input_error("unreadable", "a readable file", name_);
            if (got == status::too_long)
                fail(line, "a line of at most " + std::to_string(in_.longest_line) + " bytes");
            if (line.find('\0') != line.npos) fail(line, "text without bytes of value 0");
            line = detail::without_blanks_behind(line);
            if (line.empty()) continue;
            if (line.front() == '#') {
                if (auto record = comment(line)) return record;
                continue;
            }
            if (got == status::unterminated)
                fail(line, "a line feed after the last line (the trace is cut here)");
            if (auto record = parse(line)) return record;
        }
    }

    const ftrace_counts& counts() const noexcept { return counts_; }
    const std::string& name() const noexcept { return name_; }

private:
    static constexpr std::size_t patience = 1000;
    static constexpr std::string_view shape = "TASK-PID [CPU] FLAGS TIME: EVENT: FIELDS";

    [[noreturn]] void fail(std::string_view value, std::string expected) const {
        throw input_error(std::string{value}, std::move(expected), name_, counts_.lines);
    }
    [[noreturn]] void fail_not_ftrace() const {
        throw input_error(first_odd_, "ftrace text, lines of the form '" + std::string{shape} + "'", name_,
                          first_odd_line_);
    }

    /// Lines that ftrace prints between events when it lost some.
    std::optional<ftrace_record> comment(std::string_view line) {
        if (line.starts_with("# tracer:")) is_ftrace_ = true;
        constexpr std::string_view before = "##### CPU ", behind = " buffer started ####";
        if (!line.starts_with(before) || !line.ends_with(behind)) return std::nullopt;
        line.remove_prefix(before.size());
        line.remove_suffix(std::min(behind.size(), line.size()));
        return lost_record(line, 0);
    }
    std::optional<ftrace_record> lost_mark(std::string_view line) {
        if (!line.starts_with("CPU:") || !line.ends_with(']')) return std::nullopt;
        line.remove_prefix(4);
        const std::string_view cpu = detail::take_word(line);
        const std::string_view what = detail::take_word(line), more = detail::take_word(line);
        std::string_view number;
        if (what == "[LOST") {
            number = more == "EVENTS]" ? "0" : more;
        } else if (what == "[EVENTS" && more == "DROPPED]") {
            number = "0";
        } else if (what.starts_with('[') && more == "EVENTS" && detail::take_word(line) == "DROPPED]") {
            number = what.substr(1);
        } else {
            return std::nullopt;
        }
        const auto events =
            detail::parse_number<std::uint64_t>(number, 0, std::numeric_limits<std::uint64_t>::max());
        return lost_record(cpu, events.value_or(0));
    }
    ftrace_record lost_record(std::string_view cpu, std::uint64_t events) {
        ++counts_.lost;
        is_ftrace_ = true;
        ftrace_record record;
        record.cpu = cpu_number(cpu);
        record.line = counts_.lines;
        record.event = event::lost{events};
        return record;
    }

    std::optional<ftrace_record> parse(std::string_view line) {
        const auto parts = detail::split_ftrace_line(line);
        if (!parts) {
            if (auto record = lost_mark(line)) return record;
            if (line.find("tmigr_") != line.npos)
                fail(line, "a line of the form '" + std::string{shape} + "'");
            if (counts_.unrecognised++ == 0) {
                first_odd_ = line;
                first_odd_line_ = counts_.lines;
            }
            if (!is_ftrace_ && counts_.unrecognised >= patience) fail_not_ftrace();
            if (mode_ == others::skip) return std::nullopt;
            ftrace_record record;
            record.line = counts_.lines;
            record.event = event::other{{}, std::string{line}};
            return record;
        }
        is_ftrace_ = true;
        auto event = event_of(*parts);
        ++(event ? counts_.events : counts_.other);
        if (!event) {
            if (mode_ == others::skip) return std::nullopt;
            event = event::other{std::string{parts->event}, std::string{parts->fields}};
        }
        const auto time = detail::parse_time_stamp(parts->time);
        if (!time) fail(parts->time, "a time stamp below 2^64 nanoseconds");
        ftrace_record record;
        record.task = parts->task;
        record.pid =
            detail::parse_number<std::uint32_t>(parts->pid, 0, std::numeric_limits<std::uint32_t>::max());
        record.cpu = cpu_number(parts->cpu);
        record.time = *time;
        record.line = counts_.lines;
        record.event = std::move(*event);
        return record;
    }

    std::optional<ftrace_event> event_of(const detail::ftrace_line& parts) const {
        if (!parts.event.starts_with("tmigr_")) return std::nullopt;
        try {
            return parse_event(parts.event, parts.fields);
        } catch (const input_error& error) {
            throw error.at(name_, counts_.lines);
        }
    }
    cpu_id cpu_number(std::string_view text) const {
        try {
            return detail::ftrace_cpu(text);
        } catch (const input_error& error) {
            throw error.at(name_, counts_.lines);
        }
    }

    // The commonest first. Comparing names costs little: nearly all differ in length.
    static std::optional<ftrace_event> parse_event(std::string_view name, std::string_view text) {
        using key = detail::ftrace_key;
        namespace e = event;
        const auto is = [name](std::string_view other) { return name == other; };
        const auto fields = [&] { return detail::ftrace_fields{name, text}; };
        if (is(e::group_set_cpu_active::name)) return word<e::group_set_cpu_active>(fields());
        if (is(e::group_set_cpu_inactive::name)) return word<e::group_set_cpu_inactive>(fields());
        if (is(e::handle_remote::name)) {
            const auto f = fields();
            return e::handle_remote{f.named(key::group), f.level(key::lvl)};
        }
        if (is(e::update_events::name)) return update(fields());
        if (is(e::cpu_active::name)) return of_cpu<e::cpu_active>(fields());
        if (is(e::cpu_idle::name)) return of_idle_cpu<e::cpu_idle>(fields());
        if (is(e::cpu_new_timer_idle::name)) return of_idle_cpu<e::cpu_new_timer_idle>(fields());
        if (is(e::handle_remote_cpu::name)) return of_cpu<e::handle_remote_cpu>(fields());
        if (is(e::cpu_new_timer::name)) return of_cpu<e::cpu_new_timer>(fields());
        if (is(e::cpu_available::name) || is(e::cpu_available::old_name))
            return of_cpu<e::cpu_available>(fields());
        if (is(e::cpu_unavailable::name) || is(e::cpu_unavailable::old_name))
            return of_cpu<e::cpu_unavailable>(fields());
        if (is(e::group_set::name)) {
            const auto f = fields();
            return e::group_set{f.named(key::group), f.level(key::lvl), f.node()};
        }
        if (is(e::connect_child_parent::name)) {
            const auto f = fields();
            return connected(e::connect_child_parent{f.named(key::group)}, f);
        }
        if (is(e::connect_cpu_parent::name)) {
            const auto f = fields();
            return connected(e::connect_cpu_parent{f.cpu(key::cpu)}, f);
        }
        return std::nullopt;
    }
    template <class Connect>
    static Connect connected(Connect link, const detail::ftrace_fields& f) {
        using key = detail::ftrace_key;
        link.groupmask = f.mask(key::groupmask);
        link.parent = f.named(key::parent);
        link.lvl = f.level(key::lvl);
        link.numa = f.node();
        link.capacity = f.capacity();
        link.num_children = f.children();
        return link;
    }
    template <class Word>
    static Word word(const detail::ftrace_fields& f) {
        using key = detail::ftrace_key;
        return {{f.named(key::group), f.level(key::lvl), f.node(), f.mask(key::active), f.mask(key::migrator),
                 f.pointer(key::parent), f.mask(key::childmask)}};
    }
    template <class Event>
    static Event of_cpu(const detail::ftrace_fields& f) {
        using key = detail::ftrace_key;
        return {f.cpu(key::cpu), f.pointer(key::parent), f.time(key::wakeup)};
    }
    template <class Event>
    static Event of_idle_cpu(const detail::ftrace_fields& f) {
        using key = detail::ftrace_key;
        return {f.cpu(key::cpu), f.pointer(key::parent), f.time(key::nextevt), f.time(key::wakeup)};
    }
    static event::update_events update(const detail::ftrace_fields& f) {
        using key = detail::ftrace_key;
        return {f.pointer(key::child),     f.named(key::group),           f.level(key::group_lvl),
                f.mask(key::child_active), f.mask(key::group_active),     f.time(key::nextevt),
                f.time(key::next_expiry),  f.time(key::child_evt_expiry), f.cpu(key::child_evtcpu)};
    }

    detail::block_reader in_;
    std::string name_;
    others mode_;
    ftrace_counts counts_;
    bool is_ftrace_ = false;
    std::string first_odd_;
    std::size_t first_odd_line_ = 0;
};

/// The machine that a trace tells of: its CPUs in the order of their
/// tmigr_connect_cpu_parent lines. The node of a CPU is the `numa=` of that line, that is,
/// of its group (none where groups mix nodes); its capacity is the line's, 1024 where it
/// has none. CPUs that never connect are not there. `name` is for errors.
///
/// Throws `input_error` as `ftrace_reader` does, when a CPU connects twice, and when none does.
inline topology topology_from_trace(std::istream& in, const std::string& name) {
    topology machine;
    ftrace_reader reader{in, name};
    while (const auto record = reader.next()) {
        const auto* const joined = std::get_if<event::connect_cpu_parent>(&record->event);
        if (joined == nullptr) continue;
        try {
            machine.add(joined->cpu, joined->numa, joined->capacity);
        } catch (const input_error& error) {
            throw error.at(name, record->line);
        }
    }
    if (machine.empty())
        throw input_error("a trace without any", std::string{"lines of "} + event::connect_cpu_parent::name,
                          name);
    return machine;
}

/// The same, from a file.
inline topology topology_from_trace(const std::filesystem::path& path) {
    std::ifstream in = detail::open_input(path);
    return topology_from_trace(in, path.string());
}

}  // namespace tmigr

#endif
