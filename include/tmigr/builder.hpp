// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BUILDER_HPP
#define TMIGR_BUILDER_HPP

#include <tmigr/shape.hpp>

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tmigr {

/// Puts arriving CPUs into a tree of groups exactly as Linux does, one at a time and in
/// any order. Deals in numbers only: no state words, no threads. Not thread-safe.
///
/// Beyond Linux, in the newest form: where the estimate of the number of levels is too
/// small (CPUs spread unevenly over nodes, more CPUs than announced) Linux refuses the
/// CPU, here a level is added; and width 2 works, since the place that a new root keeps
/// for the old one counts as room for it. In all forms: for a single possible CPU Linux
/// builds nothing, here it gets a group of its own.
///
/// Source: Linux 6.9, 6.13 and 6.19, kernel/time/timer_migration.c, in our own words in
/// docs/algorithm.md, "How the tree is built".
class tree_builder {
public:
    /// Throws `input_error` when the width is not in 2..64.
    tree_builder(std::size_t possible_cpus, std::size_t possible_families, shape_options options)
        : options_(checked(options)),
          estimate_(estimate_levels(possible_cpus, possible_families, options.width)) {}

    const tree_shape& shape() const noexcept { return shape_; }
    const shape_options& options() const noexcept { return options_; }
    level_estimate estimate() const noexcept { return estimate_; }

    /// Takes `cpu` in and returns the steps that this took, valid until the next call.
    /// Throws `input_error` where an old form has no level left for the CPU (Linux would
    /// be left with two roots), and `std::bad_alloc`; the tree is as before then.
    /// Precondition: no CPU of that number is in the tree.
    const std::vector<growth_step>& add(const cpu_info& cpu) {
        if (open_is_stale_) index_open_groups();
        begin();
        try {
            if (options_.form == linux_form::v6_19)
                add_newest(cpu);
            else
                add_before_6_19(cpu);
        } catch (...) {
            undo();
            throw;
        }
        return steps_;
    }

    /// Takes back the latest `add`: for callers that fail to make real what was planned.
    /// To be called at most once after an `add`.
    void undo() noexcept {
        for (std::size_t i = changed_.size(); i-- > 0;) shape_.groups[changed_[i].first] = changed_[i].second;
        for (std::size_t g = first_new_; g < shape_.groups.size(); ++g)
            --groups_per_level_[shape_.groups[g].level];
        shape_.groups.resize(first_new_);
        shape_.cpus.resize(cpus_before_);
        shape_.root = root_before_;
        open_is_stale_ = true;
    }

private:
    static constexpr std::size_t none = tree_shape::none;
    using step = growth_step::kind;
    using path = std::vector<std::size_t>;

    static shape_options checked(shape_options options) {
        if (options.width < 2 || options.width > 64)
            throw input_error(std::to_string(options.width), "a group width from 2 to 64");
        return options;
    }

    void add_newest(const cpu_info& cpu) {
        const std::size_t old_root = shape_.root;
        const path up = climb(0, cpu.family, none);
        const std::size_t top = up.back();
        const bool new_root = shape_.groups[top].parent == none && top != old_root;
        if (new_root) prepare_root(top, old_root != none);
        for (std::size_t i = up.size(); i-- > 1;) connect(up[i - 1], up[i]);
        connect_cpu(cpu, up.front());
        if (!new_root) return;

        shape_.root = top;
        if (old_root == none) return;
        path link = climb(shape_.groups[old_root].level + 1, shape_.groups[old_root].family, top);
        link.insert(link.begin(), old_root);
        for (std::size_t i = link.size(); i-- > 1;) {
            if (link[i] == top)
                connect_reserved(link[i - 1], top);
            else
                connect(link[i - 1], link[i]);
        }
        steps_.push_back({step::carry_up_old_root, old_root});
    }

    void add_before_6_19(const cpu_info& cpu) {
        const bool preset = options_.form == linux_form::v6_13;
        const path up = climb(0, cpu.family, none);
        const std::size_t top = up.back();
        const unsigned level = shape_.groups[top].level;
        if (preset && top >= first_new_ && groups_per_level_[level] == 1) prepare_root(top, level > 0);
        for (std::size_t i = up.size(); i-- > 1;) {
            connect(up[i - 1], up[i]);
            if (up[i] == top && groups_per_level_[level] == 1 &&
                shape_.groups[top].children == (preset ? 2u : 1u))
                connect_parentless(top, preset);
        }
        connect_cpu(cpu, up.front());
        if (shape_.groups[top].parent == none) shape_.root = top;
        if (root_before_ != none && root_before_ != shape_.root &&
            shape_.groups[root_before_].parent == none)
            refuse(cpu);
    }

    [[noreturn]] static void refuse(const cpu_info& cpu) {
        throw input_error("CPU " + std::to_string(cpu.id),
                          "a CPU for which kernels before 6.19 have a level left: they would be left with "
                          "two roots (the newest form adds a level)");
    }

    // The old forms link whatever has no parent one level below a new root.
    void connect_parentless(std::size_t top, bool preset) {
        for (std::size_t g = shape_.groups.size(); g-- > 0;) {
            if (shape_.groups[g].level + 1 != shape_.groups[top].level) continue;
            if (shape_.groups[g].parent != none) continue;
            if (preset)
                connect_reserved(g, top);
            else
                connect(g, top);
            steps_.push_back({step::carry_up_old_root, g});
        }
    }

    // One group per level from `level` up, to the first that is linked or is the top.
    // `reserved` is a new root that keeps a place for whoever climbs now.
    path climb(unsigned level, family_id family, std::size_t reserved) {
        path found;
        for (unsigned i = level;; ++i) {
            const bool cross = i >= estimate_.family_levels;
            std::size_t g = find_open(i, cross, family);
            if (g == none && reserved != none && shape_.groups[reserved].level == i) g = reserved;
            if (g == none) g = make_group(i, cross, family);
            found.push_back(g);
            if (shape_.groups[g].parent != none || is_top(i, cross, family)) return found;
        }
    }

    bool is_top(unsigned level, bool cross, family_id family) const {
        const bool single = groups_per_level_[level] == 1;
        switch (options_.form) {
            case linux_form::v6_9:
                return level + 1 >= estimate_.levels() ||
                       (single && (level + 1 >= groups_per_level_.size() || groups_per_level_[level + 1] == 0));
            case linux_form::v6_13: return single || level + 1 >= estimate_.levels();
            case linux_form::v6_19: break;
        }
        if (!single) return false;
        if (shape_.root == none || cross) return true;
        const shape_group& root = shape_.groups[shape_.root];
        return !root.cross && root.family == family;
    }

    // A new root learns the bit that it will have in a root above it, and keeps its own
    // first place for the old root: so no walker ever follows a link with an unset mask.
    void prepare_root(std::size_t g, bool keep_place) {
        shape_.groups[g].groupmask = 1;
        if (keep_place) shape_.groups[g].children = 1;
    }

    void connect(std::size_t child, std::size_t parent) {
        remember(parent);
        link(child, parent, std::uint64_t{1} << shape_.groups[parent].children++);
    }
    void connect_reserved(std::size_t child, std::size_t parent) { link(child, parent, 1); }

    void link(std::size_t child, std::size_t parent, std::uint64_t mask) {
        remember(child);
        shape_.groups[child].groupmask = mask;
        shape_.groups[child].parent = parent;
        steps_.push_back({step::connect_group, child, parent, mask, shape_.groups[parent].children});
    }

    void connect_cpu(const cpu_info& cpu, std::size_t leaf) {
        remember(leaf);
        const std::uint64_t mask = std::uint64_t{1} << shape_.groups[leaf].children++;
        shape_.cpus.push_back({cpu, leaf, mask});
        steps_.push_back({step::connect_cpu, none, leaf, mask, shape_.groups[leaf].children});
    }

    std::size_t make_group(unsigned level, bool cross, family_id family) {
        const std::size_t index = shape_.groups.size();
        if (groups_per_level_.size() <= level) groups_per_level_.resize(level + 1);
        open_[{level, cross, cross ? no_family : family}].push_back(index);
        shape_.groups.push_back({level, cross, cross ? no_family : family});
        ++groups_per_level_[level];
        steps_.push_back({step::make_group, index});
        return index;
    }

    // The newest group with room, as Linux searches its lists. Full ones are dropped from
    // the index, so that a search does not get longer as the tree grows.
    std::size_t find_open(unsigned level, bool cross, family_id family) {
        const auto found = open_.find({level, cross, cross ? no_family : family});
        if (found == open_.end()) return none;
        std::vector<std::size_t>& groups = found->second;
        while (!groups.empty() && shape_.groups[groups.back()].children >= options_.width) groups.pop_back();
        return groups.empty() ? none : groups.back();
    }

    void index_open_groups() {
        open_.clear();
        for (std::size_t g = 0; g < shape_.groups.size(); ++g) {
            const shape_group& group = shape_.groups[g];
            if (group.children < options_.width) open_[{group.level, group.cross, group.family}].push_back(g);
        }
        open_is_stale_ = false;
    }

    void begin() {
        steps_.clear();
        changed_.clear();
        first_new_ = shape_.groups.size();
        cpus_before_ = shape_.cpus.size();
        root_before_ = shape_.root;
    }

    // Groups made by this `add` vanish as a whole when it is undone.
    void remember(std::size_t g) {
        if (g < first_new_) changed_.emplace_back(g, shape_.groups[g]);
    }

    struct open_key {
        unsigned level;
        bool cross;
        family_id family;
        friend auto operator<=>(const open_key&, const open_key&) = default;
    };

    shape_options options_;
    level_estimate estimate_;
    tree_shape shape_;
    std::vector<std::size_t> groups_per_level_;
    std::map<open_key, std::vector<std::size_t>> open_;
    bool open_is_stale_ = false;

    std::vector<growth_step> steps_;
    std::vector<std::pair<std::size_t, shape_group>> changed_;
    std::size_t first_new_ = 0;
    std::size_t cpus_before_ = 0;
    std::size_t root_before_ = none;
};

}  // namespace tmigr

#endif
