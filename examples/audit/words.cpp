// SPDX-License-Identifier: BSL-1.0
#include "words.hpp"

#include <tmigr/text_tracer.hpp>

#include <fmt/format.h>

#include <sstream>
#include <variant>

namespace audit_tool {

namespace e = tmigr::event;

std::string seconds(std::uint64_t nanoseconds) {
    if (nanoseconds >= e::never) return "none";
    return fmt::format("{}.{:06}", nanoseconds / 1'000'000'000, nanoseconds / 1'000 % 1'000'000);
}

std::string span(std::uint64_t nanoseconds) {
    const auto ns = static_cast<double>(nanoseconds);
    if (ns >= 1e9) return fmt::format("{:.3f} s", ns / 1e9);
    if (ns >= 1e6) return fmt::format("{:.1f} ms", ns / 1e6);
    return fmt::format("{:.0f} us", ns / 1e3);
}

std::string group_name(tmigr::group_id id) { return fmt::format("{:x}", id); }

std::string line_text(const tmigr::ftrace_record& record) {
    const auto start = [&] { return fmt::format("[{:03}] {}: ", record.cpu, seconds(record.time)); };
    if (const auto* other = std::get_if<e::other>(&record.event))
        return start() + other->name + ": " + other->text;
    std::ostringstream out;
    tmigr::text_tracer tracer{out};
    const auto header = out.str().size();
    std::visit(
        [&](const auto& event) {
            if constexpr (requires { event.name; } && !std::is_same_v<std::decay_t<decltype(event)>, e::other>)
                tracer.trace(event, record.cpu);
        },
        record.event);
    std::string line = out.str().substr(header);
    const std::size_t name = line.find("tmigr_");
    if (name == line.npos) return start() + "lines are missing";
    line.erase(line.find_last_not_of('\n') + 1);
    return start() + line.substr(name);
}

std::string lateness(const tmigr::audit_finding& f) {
    if (f.late) return fmt::format("ran {} late", span(*f.late));
    if (f.late_at_least && *f.late_at_least > 0) return fmt::format("at least {} late", span(*f.late_at_least));
    if (f.late_at_least) return "not late when this ended";
    return f.kind == tmigr::audit_kind::uncovered ? "lateness unknown" : "";
}

std::string headline(const tmigr::audit_finding& f) {
    std::string text = fmt::format("{}, {}", name_of(f.kind), f.fault);
    if (f.kind == tmigr::audit_kind::uncovered) {
        text += fmt::format(": the timer of CPU {} due at {}, in idle group {}, for {}", f.cpu, seconds(f.due),
                            group_name(f.group), span(f.lasted()));
        text += "; " + lateness(f);
    } else {
        if (f.group != tmigr::no_group) text += fmt::format(": group {}", group_name(f.group));
        if (f.parent != tmigr::no_group)
            text += fmt::format(" and {} {}",
                                f.kind == tmigr::audit_kind::two_roots ? "group" : "its parent", group_name(f.parent));
        if (f.group == tmigr::no_group) text += fmt::format(": CPU {}", f.cpu);
        if (f.due != e::never) text += fmt::format(", for {}", seconds(f.due));
        if (!f.detail.empty()) text += "; " + f.detail;
    }
    return text;
}

}  // namespace audit_tool
