// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_COMPARE_TREES_HPP
#define TMIGR_IO_COMPARE_TREES_HPP

#include <tmigr/detail/hex.hpp>
#include <tmigr/io/traced_tree.hpp>
#include <tmigr/shape.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tmigr {

namespace detail {

/// Walks both trees from the CPUs up and notes where they part. Groups have other names
/// in the two trees: two of them are the same group when a CPU, or a group that is the
/// same in both, has them as its parent.
class tree_comparison {
public:
    tree_comparison(const traced_tree& traced, const tree_shape& built)
        : traced_(traced),
          built_(built),
          masks_(built.groups.size()),
          traced_of_(built.groups.size(), no_group) {
        for (const shape_cpu& cpu : built.cpus) masks_[cpu.group] |= cpu.childmask;
        for (const shape_group& group : built.groups)
            if (group.parent != none) masks_[group.parent] |= group.groupmask;
    }

    std::vector<std::string> found() {
        compare_cpus();
        for (std::size_t i = 0; i < pairs_.size(); ++i) compare_groups(pairs_[i].first, pairs_[i].second);
        for (const traced_group& group : traced_.groups())
            if (!built_of_.contains(group.id)) note(name(group.id), "in the trace", "not in the tree");
        for (std::size_t g = 0; g < built_.groups.size(); ++g)
            if (traced_of_[g] == no_group)
                note("group " + std::to_string(g + 1), "not in the trace", "in the tree");
        return std::move(differences_);
    }

private:
    static constexpr std::size_t none = tree_shape::none;

    void compare_cpus() {
        std::unordered_map<cpu_id, std::size_t> built_cpu;
        for (std::size_t c = 0; c < built_.cpus.size(); ++c) built_cpu.emplace(built_.cpus[c].info.id, c);
        for (const traced_cpu& cpu : traced_.cpus()) {
            const std::string who = "CPU " + std::to_string(cpu.id);
            const auto at = built_cpu.find(cpu.id);
            if (at == built_cpu.end()) {
                note(who, "in the trace", "not in the tree");
                continue;
            }
            const shape_cpu& twin = built_.cpus[at->second];
            if (cpu.groupmask != twin.childmask) note_masks(who, "mask", cpu.groupmask, twin.childmask);
            compare_parents(who, cpu.parent, twin.group);
        }
        for (const shape_cpu& cpu : built_.cpus)
            if (traced_.find_cpu(cpu.info.id) == nullptr)
                note("CPU " + std::to_string(cpu.info.id), "not in the trace", "in the tree");
    }

    void compare_groups(group_id id, std::size_t g) {
        const traced_group& group = *traced_.find(id);
        const shape_group& twin = built_.groups[g];
        const std::string who = name(id, g);
        if (group.lvl != twin.level)
            note(who, "level " + std::to_string(group.lvl), std::to_string(twin.level));
        if (group.numa != twin.family)
            note(who, "node " + std::to_string(group.numa), std::to_string(twin.family));
        // A root of the newer forms knows its future mask; it stands in no line of a trace.
        const std::uint64_t mask = twin.parent == none ? 0 : twin.groupmask;
        if (group.groupmask != mask) note_masks(who, "mask", group.groupmask, mask);
        const auto children = group.cpus.size() + group.groups.size();
        if (group.childmasks != masks_[g]) note_masks(who, "masks of children", group.childmasks, masks_[g]);
        if (children != static_cast<std::size_t>(std::popcount(masks_[g])))
            note(who, std::to_string(children) + " children", std::to_string(std::popcount(masks_[g])));
        compare_parents(who, group.parent, twin.parent);
    }

    void compare_parents(const std::string& who, group_id parent, std::size_t twin) {
        if (parent == no_group && twin == none) return;
        if (parent == no_group || twin == none)
            return note(who, parent == no_group ? "no parent" : "a parent", twin == none ? "none" : "one");
        const auto [known, fresh] = built_of_.try_emplace(parent, twin);
        if (fresh && traced_of_[twin] == no_group) {
            traced_of_[twin] = parent;
            pairs_.emplace_back(parent, twin);
        } else if (fresh || known->second != twin) {
            if (fresh) built_of_.erase(known);
            note(who, "under " + name(parent), "under group " + std::to_string(twin + 1));
        }
    }

    void note_masks(const std::string& who, const std::string& what, std::uint64_t traced,
                    std::uint64_t built) {
        note(who, what + " 0x" + detail::hex(traced), "0x" + detail::hex(built));
    }
    void note(const std::string& who, const std::string& traced, const std::string& built) {
        const bool whereabouts = traced.ends_with("in the trace");
        differences_.push_back(who + ": " + traced + (whereabouts ? ", " : " in the trace, ") + built +
                               (whereabouts ? "" : " in the tree"));
    }

    static std::string name(group_id id) { return "group " + detail::hex(id); }
    static std::string name(group_id id, std::size_t g) {
        return name(id) + " (group " + std::to_string(g + 1) + " of the tree)";
    }
    const traced_tree& traced_;
    const tree_shape& built_;
    std::vector<std::uint64_t> masks_;  // of the children of each built group
    std::vector<group_id> traced_of_;
    std::unordered_map<group_id, std::size_t> built_of_;
    std::vector<std::pair<group_id, std::size_t>> pairs_;
    std::vector<std::string> differences_;
};

}  // namespace detail

/// What a tree that a kernel built and one that we built do not have in common, one
/// sentence each; empty when they are equal: the same CPUs in the same groups by the
/// same masks, the same groups under the same parents by the same masks, on the same
/// levels and nodes, with the same number of children.
///
/// Names of groups and the order in which things were made do not count, nor do
/// capacities. Groups of the tree are counted from 1 as `basic_hierarchy` counts them.
/// One moved CPU can show in several sentences.
inline std::vector<std::string> differences(const traced_tree& traced, const tree_shape& built) {
    return detail::tree_comparison{traced, built}.found();
}

}  // namespace tmigr

#endif
