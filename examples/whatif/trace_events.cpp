// SPDX-License-Identifier: BSL-1.0
#include "trace_events.hpp"

#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace whatif {

namespace {

using tmigr::detail::parse_number;

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

struct named_kind {
    std::string_view name;
    trace_kind kind;
};
// hrtimer_init is hrtimer_setup since 6.15, tmigr_cpu_online is tmigr_cpu_available since 6.18.
constexpr std::array kinds{
    named_kind{"timer_init", trace_kind::timer_init},
    named_kind{"timer_start", trace_kind::timer_start},
    named_kind{"timer_cancel", trace_kind::timer_cancel},
    named_kind{"timer_expire_entry", trace_kind::timer_enter},
    named_kind{"timer_expire_exit", trace_kind::timer_exit},
    named_kind{"hrtimer_init", trace_kind::hrtimer_init},
    named_kind{"hrtimer_setup", trace_kind::hrtimer_init},
    named_kind{"hrtimer_start", trace_kind::hrtimer_start},
    named_kind{"hrtimer_cancel", trace_kind::hrtimer_cancel},
    named_kind{"hrtimer_expire_entry", trace_kind::hrtimer_enter},
    named_kind{"hrtimer_expire_exit", trace_kind::hrtimer_exit},
    named_kind{"cpu_idle", trace_kind::idle_enter},
    named_kind{"tick_stop", trace_kind::tick_stop},
    named_kind{"sched_switch", trace_kind::switch_to},
    named_kind{"tmigr_cpu_available", trace_kind::available},
    named_kind{"tmigr_cpu_online", trace_kind::available},
    named_kind{"tmigr_cpu_unavailable", trace_kind::unavailable},
    named_kind{"tmigr_cpu_offline", trace_kind::unavailable},
    named_kind{"tmigr_handle_remote_cpu", trace_kind::remote},
};

trace_kind kind_of(std::string_view name) {
    const auto found = std::ranges::find(kinds, name, &named_kind::name);
    return found == kinds.end() ? trace_kind::other : found->kind;
}

/// The value behind the first ` KEY=` (`last`: the last one) up to the next blank; no data where there is
/// none.
std::string_view value_of(std::string_view fields, std::string_view key, bool last = false) {
    std::size_t at = last ? fields.rfind(key) : fields.find(key);
    const auto begins = [&](std::size_t p) { return p == 0 || tmigr::detail::is_blank(fields[p - 1]); };
    while (at != fields.npos && !begins(at))
        at = last ? (at == 0 ? fields.npos : fields.rfind(key, at - 1)) : fields.find(key, at + 1);
    if (at == fields.npos) return {};
    const std::string_view rest = fields.substr(at + key.size());
    return rest.substr(0, std::min(rest.find(' '), rest.size()));
}

timer_kind kind_of_flags(std::string_view flags) {
    timer_kind kind = timer_kind::global;
    while (!flags.empty()) {
        const std::string_view flag = flags.substr(0, flags.find('|'));
        // A deferrable timer may be pinned too: nothing wakes its CPU for it.
        if (flag == "D") return timer_kind::deferrable;
        if (flag == "P") kind = timer_kind::pinned;
        flags.remove_prefix(std::min(flag.size() + 1, flags.size()));
    }
    return kind;
}

}  // namespace

trace_source::trace_source(std::istream& in, std::string file, const machine& hardware)
    : lines_(in), file_(std::move(file)) {
    std::size_t highest = 0;
    for (const tmigr::cpu_info& cpu : hardware.cpus.cpus()) highest = std::max<std::size_t>(highest, cpu.id);
    index_.assign(highest + 1, nobody);
    for (std::size_t i = 0; i < hardware.size(); ++i) index_[hardware.cpus.cpus()[i].id] = i;
}

void trace_source::fail(std::string_view value, std::string expected) const {
    throw tmigr::input_error(std::string{value}, std::move(expected), file_, number_);
}

std::size_t trace_source::index_of(std::string_view cpu) const {
    const auto id = parse_number<std::uint64_t>(cpu, 0, most);
    if (!id || *id >= index_.size() || index_[*id] == nobody)
        fail(cpu, "the number of a CPU of this machine");
    return index_[*id];
}

std::uint64_t trace_source::number(std::string_view text, std::string_view what) const {
    const auto value = parse_number<std::uint64_t>(text, 0, most);
    if (!value) fail(text, std::string{what} + " with a number");
    return *value;
}

std::optional<trace_event> trace_source::next() {
    using status = tmigr::detail::block_reader::status;
    for (;;) {
        std::string_view line;
        const status got = lines_.next(line);
        ++number_;
        if (got == status::too_long)
            fail(line.substr(0, 60),
                 "a line of at most " + std::to_string(tmigr::detail::block_reader::longest_line) + " bytes");
        if (got == status::unreadable) fail("", "a readable file");
        if (got == status::end) {
            if (!any_) throw tmigr::input_error("no line of ftrace text", "a trace in text form", file_);
            return std::nullopt;
        }
        if (line.ends_with('\r')) line.remove_suffix(1);
        const std::string_view bare = tmigr::detail::without_blanks_before(line);
        if (bare.starts_with("CPU:") && line.find("[LOST ") != line.npos)
            fail(line, "a recording without gaps: lines were lost here");
        if (bare.empty() || bare.front() == '#' || bare.starts_with("cpus=") || bare.starts_with("version "))
            continue;
        const auto parts = tmigr::detail::split_ftrace_line(line);
        if (!parts) {
            // The last line of a copy that was cut short is no error.
            if (got == status::unterminated && any_) return std::nullopt;
            if (bare.starts_with("CPU ") || bare.starts_with("##### CPU")) continue;
            fail(line, "a line of ftrace text: TASK-PID [CPU] FLAGS TIME: EVENT: FIELDS");
        }
        any_ = true;
        if (got == status::unterminated) {
            // So can its last field have been.
            return std::nullopt;
        }
        return event_of(*parts);
    }
}

trace_event trace_source::event_of(const tmigr::detail::ftrace_line& parts) {
    trace_event e;
    e.cpu = index_of(parts.cpu);
    e.kind = kind_of(parts.event);
    e.pid = parse_number<std::uint64_t>(parts.pid, 0, most).value_or(0);
    const auto time = tmigr::detail::parse_time_stamp(parts.time);
    if (!time || parts.time.find('.') == parts.time.npos)
        fail(parts.time, "a time stamp in seconds, SECONDS.MICROSECONDS");
    e.time = *time;

    const std::string_view fields = parts.fields;
    const auto value = [&](std::string_view key) {
        const std::string_view text = value_of(fields, key);
        if (text.data() == nullptr)
            fail(fields, "the field " + std::string{key} + " in " + std::string{parts.event});
        return text;
    };
    const auto pointer = [&](std::string_view key) {
        const std::string_view text = value(key);
        const auto address = tmigr::detail::parse_pointer(text);
        if (!address) fail(text, std::string{key} + " with a pointer");
        return *address;
    };
    const auto numeric = [&](std::string_view key) { return number(value(key), key); };

    switch (e.kind) {
        case trace_kind::timer_start:
            e.timer = pointer("timer=");
            e.function = value("function=");
            // The kernel runs it when its bucket is due; old kernels do not print that.
            e.expires = value_of(fields, "bucket_expiry=").data() != nullptr ? numeric("bucket_expiry=")
                                                                             : numeric("expires=");
            e.other_cpu = index_of(value("cpu="));
            e.flags = kind_of_flags(value_of(fields, "flags="));
            break;
        case trace_kind::timer_enter:
            e.timer = pointer("timer=");
            e.function = value("function=");
            e.now = numeric("now=");
            e.base = value_of(fields, "baseclk=").data() != nullptr ? numeric("baseclk=") : e.now;
            break;
        case trace_kind::timer_init:
        case trace_kind::timer_cancel:
        case trace_kind::timer_exit: e.timer = pointer("timer="); break;
        case trace_kind::hrtimer_start:
            e.timer = pointer("hrtimer=");
            e.function = value("function=");
            e.expires = numeric("expires=");
            if (const std::string_view was = value_of(fields, "was_armed="); was.data() != nullptr) {
                e.has_was_armed = true;
                e.was_armed = was == "1";
            }
            break;
        case trace_kind::hrtimer_enter:
            e.timer = pointer("hrtimer=");
            e.function = value("function=");
            e.now = numeric("now=");
            break;
        case trace_kind::hrtimer_init:
        case trace_kind::hrtimer_cancel:
        case trace_kind::hrtimer_exit: e.timer = pointer("hrtimer="); break;
        case trace_kind::idle_enter:
            // -1 as unsigned 32 bit is the way out.
            if (numeric("state=") >= 0xffffffffu) e.kind = trace_kind::idle_exit;
            e.cpu = index_of(value("cpu_id="));
            break;
        case trace_kind::switch_to: {
            // Names hold anything: the numbers behind them are found from the side on which nothing can be.
            const std::size_t arrow = fields.rfind(" ==> next_comm=");
            if (arrow == fields.npos) fail(fields, "sched_switch with ==> next_comm=");
            const std::string_view left = fields.substr(0, arrow);
            const std::string_view right = fields.substr(arrow + 15);
            const std::string_view previous = value_of(left, "prev_pid=", true);
            const std::string_view next = value_of(right, "next_pid=", true);
            if (previous.data() == nullptr || next.data() == nullptr)
                fail(fields, "sched_switch with prev_pid= and next_pid=");
            e.previous = number(previous, "prev_pid=");
            e.next = number(next, "next_pid=");
            e.next_name = right.substr(0, right.rfind(" next_pid="));
            break;
        }
        case trace_kind::available:
        case trace_kind::unavailable:
        case trace_kind::remote: e.other_cpu = index_of(value("cpu=")); break;
        case trace_kind::tick_stop:
            if (numeric("success=") == 0) e.kind = trace_kind::other;
            break;
        case trace_kind::idle_exit:
        case trace_kind::other: break;
    }
    return e;
}

}  // namespace whatif
