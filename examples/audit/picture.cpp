// SPDX-License-Identifier: BSL-1.0
#include "picture.hpp"

#include "words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace audit_tool {

namespace {

using tmigr::audit_cpu;
using tmigr::audit_index;
using tmigr::audit_tree;
using tmigr::no_index;

std::string cpu_text(const audit_tree& tree, const tmigr::audit_group& leaf, const audit_cpu& cpu) {
    const bool awake = (leaf.live & cpu.mask) != 0;
    std::string text = awake ? leaf.migrator == cpu.mask ? ">" : "*" : "";
    text += std::to_string(cpu.id);
    if (awake || cpu.is == audit_cpu::presence::away)
        return cpu.is == audit_cpu::presence::away ? text + "(away)" : text;
    if (cpu.is == audit_cpu::presence::unknown) return text + ":?";
    text += ":" + (!cpu.due_known ? "?" : cpu.due == tmigr::event::never ? "-" : seconds(cpu.due));
    if (!cpu.armed_known)
        text += "!?";
    else if (cpu.armed != tmigr::event::never)
        text += "!" + seconds(cpu.armed);
    if (const tmigr::audit_idle idle = tree.idle_of(cpu.id); idle.is == tmigr::audit_idle::where::in)
        text += fmt::format("z{}", idle.state);
    return text;
}

void draw(const audit_tree& tree, audit_index g, const std::vector<audit_index>& way,
          const std::string& branch, const std::string& indent, std::size_t depth, std::string& out) {
    const tmigr::audit_group& group = tree.groups()[g];
    out += branch + group_name(group.id);
    if (!group.known)
        out += "  not known";
    else if (group.live != 0)
        out += fmt::format("  active {:x}", group.live);
    else
        out += "  idle";
    if (group.parent != no_index && group.live == 0 && group.known) {
        if (!group.offer.known)
            out += "  offers ?";
        else if (group.offer.due == tmigr::event::never)
            out += "  offers none";
        else
            out += fmt::format("  offers {} of CPU {}", seconds(group.offer.due), group.offer.owner);
    }
    std::vector<audit_index> cpus = group.cpus, groups = group.groups;
    std::ranges::sort(cpus, {}, [&](audit_index c) { return tree.cpus()[c].mask; });
    std::ranges::sort(groups, {}, [&](audit_index h) { return tree.groups()[h].mask; });
    if (!cpus.empty()) out += "  cpus";
    for (const audit_index c : cpus) out += ' ' + cpu_text(tree, group, tree.cpus()[c]);
    out += '\n';
    // Beside the way, a group is enough; what is below it changes nothing.
    if (depth >= audit_tree::longest_way || std::ranges::find(way, g) == way.end()) return;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const bool last = i + 1 == groups.size();
        draw(tree, groups[i], way, indent + (last ? "`- " : "|- "), indent + (last ? "   " : "|  "),
             depth + 1, out);
    }
}

}  // namespace

std::string picture(const audit_tree& tree, tmigr::group_id only) {
    const audit_index g = tree.find_group(only);
    if (g == no_index) return {};
    std::vector<audit_index> way;
    for (audit_index at = g; at != no_index && way.size() < audit_tree::longest_way;
         at = tree.groups()[at].parent)
        way.push_back(at);
    std::string out;
    draw(tree, way.back(), way, "", "", 0, out);
    return out;
}

}  // namespace audit_tool
