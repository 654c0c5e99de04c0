// SPDX-License-Identifier: BSL-1.0
#include "explain.hpp"

#include "picture.hpp"
#include "words.hpp"

#include <fmt/format.h>

#include <variant>

namespace audit_tool {

namespace {

using tmigr::audit_finding;
using tmigr::audit_index;
using tmigr::no_index;

std::string note_of(const audit_finding& f, std::size_t line) {
    std::string note;
    for (const tmigr::audit_evidence& e : f.evidence)
        if (e.at.line == line) note += (note.empty() ? "" : "; ") + e.what;
    if (line == f.end.line && f.ended_by != tmigr::audit_end::moment)
        note += std::string(note.empty() ? "" : "; ") + name_of(f.ended_by);
    return note;
}

bool is_below(const tmigr::audit_tree& tree, audit_index g, tmigr::group_id top) {
    for (std::size_t steps = 0; g != no_index && steps < tmigr::audit_tree::longest_way; ++steps) {
        if (tree.groups()[g].id == top) return true;
        g = tree.groups()[g].parent;
    }
    return false;
}

bool concerns(const audit_finding& f, const tmigr::ftrace_record& record, const tmigr::audit_tree& tree) {
    const audit_index printer = tree.find_cpu(record.cpu);
    if (std::holds_alternative<tmigr::event::other>(record.event)) return record.cpu == f.cpu;
    if (printer != no_index && is_below(tree, tree.cpus()[printer].leaf, f.group)) return true;
    return std::visit(
        [&](const auto& e) {
            if constexpr (requires { e.cpu, e.wakeup; }) return e.cpu == f.cpu;
            if constexpr (requires { e.group; })
                return e.group == f.group || (f.parent != tmigr::no_group && e.group == f.parent);
            return false;
        },
        record.event);
}

}  // namespace

void play(const audit_finding& f, const std::function<void(const frame&)>& show) {
    if (!f.story) return;
    tmigr::audit_tree tree = f.story->before;
    for (const tmigr::ftrace_record& record : f.story->lines) {
        tree.take(record);
        show({record, tree, note_of(f, record.line), concerns(f, record, tree)});
    }
}

std::string explain(const audit_finding& f, std::size_t number) {
    std::string text = fmt::format("\nStory of finding {}: {}\n", number, headline(f));
    if (f.cause[0] != '\0') text += fmt::format("{}\n", f.cause);
    if (!f.story) return text + "(its lines were not kept)\n";
    std::string drawn = picture(f.story->before, f.group);
    if (!drawn.empty()) text += "\n" + drawn;
    std::size_t skipped = 0;
    play(f, [&](const frame& at) {
        if (at.note.empty() && !at.concerns) {
            ++skipped;
            return;
        }
        if (skipped > 0) text += fmt::format("\n({} lines of others)\n", skipped);
        skipped = 0;
        text += fmt::format("\nline {} {}\n", at.record.line, line_text(at.record));
        if (!at.note.empty()) text += fmt::format("  ==> {}\n", at.note);
        std::string now = picture(at.tree, f.group);
        if (now != drawn) text += now;
        drawn = std::move(now);
    });
    if (f.story->cut) text += "\n(lines were left out: the story is longer)\n";
    return text;
}

}  // namespace audit_tool
