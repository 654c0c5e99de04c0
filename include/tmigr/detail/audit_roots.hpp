// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_AUDIT_ROOTS_HPP
#define TMIGR_DETAIL_AUDIT_ROOTS_HPP

#include <tmigr/io/audit_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tmigr::detail {

/// The capacity of some CPU below a group, 0 where there is none.
inline unsigned capacity_below(const audit_tree& tree, audit_index g) {
    for (std::size_t steps = 0; steps < audit_tree::longest_way; ++steps) {
        const audit_group& group = tree.groups()[g];
        if (!group.cpus.empty()) return tree.cpus()[group.cpus.front()].capacity;
        if (group.groups.empty()) break;
        g = group.groups.front();
    }
    return 0;
}

/// Adds the families of a group and of those below it.
inline void add_families(const audit_tree& tree, audit_index g, std::vector<family_id>& all,
                         std::size_t depth = 0) {
    const audit_group& group = tree.groups()[g];
    if (group.numa >= 0 && std::ranges::find(all, group.numa) == all.end()) all.push_back(group.numa);
    if (depth >= audit_tree::longest_way) return;
    for (const audit_index h : group.groups) add_families(tree, h, all, depth + 1);
}

/// Whether two groups without parent are meant to have none: kernels can keep families apart, a tree for
/// each. Such trees have no family, or no capacity, in common. Where each has several families, only whole
/// ones are taken for such: a new root that was not given the old one has a single child.
inline bool are_own_trees(const audit_tree& tree, audit_index a, audit_index b) {
    const audit_group &one = tree.groups()[a], &other = tree.groups()[b];
    if (one.numa >= 0 && other.numa >= 0 && one.numa != other.numa) return true;
    if (capacity_below(tree, a) != capacity_below(tree, b)) return true;
    const auto is_whole = [](const audit_group& g) {
        return g.numa < 0 && (g.lvl == 0 || g.groups.size() > 1);
    };
    if (!is_whole(one) || !is_whole(other)) return false;
    std::vector<family_id> of_one, of_other;
    add_families(tree, a, of_one);
    add_families(tree, b, of_other);
    return !of_one.empty() && !of_other.empty() && std::ranges::none_of(of_one, [&](family_id f) {
        return std::ranges::find(of_other, f) != of_other.end();
    });
}

}  // namespace tmigr::detail

#endif
