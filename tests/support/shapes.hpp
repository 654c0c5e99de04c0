// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_SHAPES_HPP
#define TMIGR_TESTS_SHAPES_HPP

#include <tmigr/shape.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tmigr::test {

/// A tree on one line, children in the order of their masks: `Gl.k` is the k-th group made
/// on level l, n its node, m its mask, then its CPUs in [] or its children in {}.
inline std::string outline(const tree_shape& shape) {
    std::vector<unsigned> number(shape.groups.size());
    std::map<unsigned, unsigned> made;
    for (std::size_t g = 0; g < shape.groups.size(); ++g) number[g] = made[shape.groups[g].level]++;

    const auto draw = [&](const auto& self, std::size_t g) -> std::string {
        std::ostringstream text;
        const shape_group& group = shape.groups[g];
        text << 'G' << group.level << '.' << number[g];
        if (group.family >= 0) text << " n" << group.family;
        text << " m" << std::hex << group.groupmask << std::dec;
        std::map<std::uint64_t, std::string> children;
        for (const shape_cpu& cpu : shape.cpus)
            if (cpu.group == g) children[cpu.childmask] = std::to_string(cpu.info.id);
        for (std::size_t c = 0; c < shape.groups.size(); ++c)
            if (shape.groups[c].parent == g) children[shape.groups[c].groupmask] = self(self, c);
        text << (group.level == 0 ? " [" : " {");
        const char* separator = "";
        for (const auto& [mask, child] : children) {
            text << separator << child;
            separator = " ";
        }
        text << (group.level == 0 ? ']' : '}');
        return text.str();
    };
    std::string trees;
    for (const std::size_t root : shape.roots)
        if (root != tree_shape::none) trees += (trees.empty() ? "" : "\n") + draw(draw, root);
    return trees;
}

/// Masks of siblings.
enum class masks {
    dense,  ///< from bit 0 without a gap
    ranks,  ///< places are fixed: gaps where nobody came yet, or the groups are made unevenly
};

/// What is wrong with a tree, or with separate ones, or "": one root for each that everything
/// in it reaches, masks that are single bits, within the width, as `bits` says and unlike their
/// siblings', levels that count up, no group over its width, counted children that exist,
/// families that mix only above.
inline std::string unsound(const tree_shape& shape, unsigned width, masks bits = masks::dense) {
    std::ostringstream wrong;
    std::vector<std::uint64_t> taken(shape.groups.size());
    std::vector<unsigned> children(shape.groups.size());
    std::vector<std::set<family_id>> families(shape.groups.size());
    const auto take = [&](std::size_t parent, std::uint64_t mask, const std::string& who) {
        if (std::popcount(mask) != 1) wrong << who << ": mask is not one bit; ";
        if (width < 64 && (mask >> width) != 0) wrong << who << ": mask is beyond the width; ";
        if ((taken[parent] & mask) != 0) wrong << who << ": mask is a sibling's; ";
        taken[parent] |= mask;
        ++children[parent];
    };
    for (const shape_cpu& cpu : shape.cpus) {
        const std::string who = "cpu " + std::to_string(cpu.info.id);
        if (shape.groups[cpu.group].level != 0) wrong << who << ": not on level 0; ";
        take(cpu.group, cpu.childmask, who);
        std::size_t g = cpu.group;
        for (std::size_t steps = 0; steps <= shape.groups.size(); ++steps) {
            families[g].insert(cpu.info.family);
            if (shape.groups[g].parent == tree_shape::none) break;
            g = shape.groups[g].parent;
        }
        if (shape.groups[cpu.group].tree >= shape.roots.size() || g != shape.roots[shape.groups[cpu.group].tree])
            wrong << who << ": does not reach the root of its tree; ";
    }
    for (std::size_t g = 0; g < shape.groups.size(); ++g) {
        const shape_group& group = shape.groups[g];
        const std::string who = "group " + std::to_string(g);
        if (group.parent == tree_shape::none) {
            if (g != shape.roots[group.tree]) wrong << who << ": a second root; ";
            continue;
        }
        if (shape.groups[group.parent].tree != group.tree) wrong << who << ": below a group of another tree; ";
        if (shape.groups[group.parent].level != group.level + 1) wrong << who << ": a level is left out; ";
        take(group.parent, group.groupmask, who);
    }
    for (std::size_t g = 0; g < shape.groups.size(); ++g) {
        const shape_group& group = shape.groups[g];
        const std::string who = "group " + std::to_string(g);
        if (children[g] == 0) wrong << who << ": no child; ";
        if (children[g] != group.children) wrong << who << ": counts children that are not there; ";
        if (children[g] > width) wrong << who << ": too many children; ";
        if (bits == masks::dense && (taken[g] & (taken[g] + 1)) != 0) wrong << who << ": gap between masks; ";
        if (taken[g] != group.taken) wrong << who << ": says that other places are taken; ";
        if (!group.cross && families[g] != std::set<family_id>{group.family}) wrong << who << ": families mix; ";
        if (group.cross && group.family != no_family) wrong << who << ": mixes families and names one; ";
    }
    const std::size_t first = shape.roots.empty() ? tree_shape::none : shape.roots.front();
    if (shape.root != first) wrong << "root is not that of the first tree; ";
    return wrong.str();
}

}  // namespace tmigr::test

#endif
