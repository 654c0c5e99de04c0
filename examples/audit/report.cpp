// SPDX-License-Identifier: BSL-1.0
#include "report.hpp"

#include "words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace audit_tool {

namespace {

using tmigr::audit_finding;
using tmigr::audit_kind;

std::string row(const char* name, const std::string& text) { return fmt::format("{:<22}{}\n", name, text); }

std::string words_of_lateness(const audited& done) {
    std::vector<std::uint64_t> late;
    std::size_t at_least = 0, unknown = 0;
    for (const audit_finding& f : done.audit.findings()) {
        if (f.kind != audit_kind::uncovered) continue;
        if (f.late)
            late.push_back(*f.late);
        else if (f.late_at_least) {
            late.push_back(*f.late_at_least);
            ++at_least;
        } else {
            ++unknown;
        }
    }
    if (late.empty()) return {};
    std::ranges::sort(late);
    std::string text = row("worst lateness", fmt::format("{}", span(late.back())));
    text += row("lateness", fmt::format("median {}, of {} ({} of them lower bounds, {} more unknown)",
                                        span(late[late.size() / 2]), late.size(), at_least, unknown));
    return text;
}

}  // namespace

std::string summary(const audited& done) {
    const tmigr::audit_counts& c = done.audit.counts();
    const auto roots = std::ranges::count_if(done.audit.tree().groups(), [](const auto& g) {
        return g.parent_known && g.parent == tmigr::no_index;
    });
    std::string text = row("trace", fmt::format("{}", done.name));
    text += row("lines", fmt::format("{} ({} of the tree, {} of other events, {} not ftrace's)",
                                     done.lines.lines, c.events, done.lines.other, done.lines.unrecognised));
    text += row("tree", fmt::format("{} CPUs, {} groups, {} without parent", done.audit.tree().cpus().size(),
                                    done.audit.tree().groups().size(), roots));
    text += row("gaps", fmt::format("{}", c.gaps));
    text +=
        row("words",
            fmt::format("{} lines: {} follow from those before, {} learnt, {} printed late, {} wrong",
                        c.words.lines, c.words.agreed, c.words.learnt, c.words.reordered, c.words.different));
    text += row("expiries", fmt::format("{} judged, {} could not be; {} uncovered only in passing", c.judged,
                                        c.unjudged, c.passing));
    if (c.dropped > 0) text += row("suspicions dropped", fmt::format("{}: too many at once", c.dropped));
    text += row("timers run for others",
                fmt::format("{}: {} in the group, {} in the node, {} of another node, {} of another capacity",
                            c.served, c.served_same_group, c.served_same_node, c.served_other_node,
                            c.served_other_capacity));
    text +=
        row("sleepers that looked",
            fmt::format("{}: {} for nothing, {} only for another node, {} only for another capacity",
                        c.looked, c.looked_for_nothing, c.woken_for_other_node, c.woken_for_other_capacity));
    if (c.stays > 0)
        text += row("stays in idle",
                    fmt::format("{}: {} until what was armed for the tree, {} of these ended for nothing",
                                c.stays, c.stays_to_armed, c.stays_for_nothing));
    if (c.timers[0] + c.timers[1] + c.timers[2] + c.timers[3] > 0)
        text += row("timers by lateness", fmt::format("{} on time, {} by 1 jiffy, {} by 2 to 9, {} by more",
                                                      c.timers[0], c.timers[1], c.timers[2], c.timers[3]));
    if (c.timers_unfollowed > 0)
        text += row("timers not followed", fmt::format("{}: too many at once", c.timers_unfollowed));
    text += row("findings", fmt::format("{}", c.findings()));
    for (std::size_t k = 0; k < tmigr::audit_kind_count; ++k)
        if (c.found[k] != 0)
            text += fmt::format("  {:<20}{}\n", name_of(static_cast<audit_kind>(k)), c.found[k]);
    text += words_of_lateness(done);
    return text;
}

std::string details(const audited& done) {
    std::string text;
    std::size_t number = 0;
    for (const audit_finding& f : done.audit.findings()) {
        text += fmt::format("\n{}. {}\n", ++number, headline(f));
        text +=
            fmt::format("   from line {} (at {}, CPU {})", f.begin.line, seconds(f.begin.time), f.begin.on);
        if (f.ended_by != tmigr::audit_end::moment)
            text += fmt::format(" to line {} (at {}, CPU {}): {}", f.end.line, seconds(f.end.time), f.end.on,
                                name_of(f.ended_by));
        text += '\n';
        if (f.cause[0] != '\0') text += fmt::format("   {}\n", f.cause);
        if (f.silent > 0)
            text += fmt::format("   taking {} CPUs without any line to have nothing armed\n", f.silent);
        for (const tmigr::audit_evidence& e : f.evidence)
            text += fmt::format("   line {:>8}  CPU {:<4} {}\n", e.at.line, e.at.on, e.what);
    }
    const std::size_t all = done.audit.counts().findings();
    if (all > number)
        text += fmt::format("\n{} more findings were counted, but not kept (--most)\n", all - number);
    return text;
}

}  // namespace audit_tool
