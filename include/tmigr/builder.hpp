// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BUILDER_HPP
#define TMIGR_BUILDER_HPP

#include <tmigr/family.hpp>
#include <tmigr/family_plan.hpp>
#include <tmigr/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tmigr {

/// Puts arriving CPUs into a tree of groups, one at a time and in any order, as a plan says:
/// exactly as Linux does with `linux_default`, or into other families (family.hpp). Deals in
/// numbers only: no state words, no threads. Not thread-safe.
///
/// Beyond Linux, in the newest form: where the estimate of the number of levels is too
/// small (CPUs spread unevenly over nodes, more CPUs than announced) Linux refuses the
/// CPU, here a level is added; and width 2 works, since the place that a new root keeps
/// for the old one counts as room for it. In all forms: for a single possible CPU Linux
/// builds nothing, here it gets a group of its own.
///
/// Where a group's bits are ranks, a child's place is the one of its rank, also while others
/// are still to come; so the order holds whoever comes first.
///
/// Source: Linux 6.9, 6.13 and 6.19, kernel/time/timer_migration.c, in our own words in
/// docs/algorithm.md, "How the tree is built"; families are ours.
class tree_builder {
public:
    /// Linux's rules. Throws `input_error` when the width is not in 2..64.
    tree_builder(std::size_t possible_cpus, std::size_t possible_families, shape_options options)
        : tree_builder(family_plan(possible_cpus, possible_families, options.width), options.form) {}
    /// Throws `input_error` for an old form and a plan other than Linux's.
    explicit tree_builder(family_plan plan, linux_form form = linux_form::newest)
        : plan_(std::move(plan)), options_{plan_.width(), form} {
        if (form != linux_form::newest && !plan_.by_linux())
            throw input_error(plan_.policy().name, "linux-default with a form before 6.19");
    }

    const tree_shape& shape() const noexcept { return shape_; }
    const shape_options& options() const noexcept { return options_; }
    const family_plan& plan() const noexcept { return plan_; }
    level_estimate estimate() const noexcept { return plan_.estimate(); }

    /// Takes `cpu` in and returns the steps that this took, valid until the next call.
    /// Throws `input_error` where an old form has no level left for the CPU (Linux would
    /// be left with two roots), where a rank is not known or its place taken, since more CPUs of
    /// it came than were announced, and `std::bad_alloc`; the tree is as before then.
    /// Precondition: no CPU of that number is in the tree.
    const std::vector<growth_step>& add(const cpu_info& cpu) {
        if (open_is_stale_) index_open_groups();
        begin();
        try {
            const route way = plan_.route_of(cpu);
            if (way.tree >= trees_.size()) {
                trees_.resize(way.tree + 1);
                shape_.roots.resize(way.tree + 1, none);
            }
            tree_ = way.tree;
            root_before_ = root();
            if (options_.form == linux_form::v6_19)
                add_newest(cpu, way);
            else
                add_before_6_19(cpu, way);
            if (root_before_ == none) tree().first_route = way;
            shape_.root = shape_.roots.front();
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
            --trees_[shape_.groups[g].tree].groups_per_level[shape_.groups[g].level];
        shape_.groups.resize(first_new_);
        keys_.resize(first_new_);
        shape_.cpus.resize(cpus_before_);
        if (tree_ < shape_.roots.size()) shape_.roots[tree_] = root_before_;
        shape_.roots.resize(trees_before_);
        trees_.resize(trees_before_);
        shape_.root = shape_.roots.empty() ? none : shape_.roots.front();
        plan_.forget();
        open_is_stale_ = true;
    }

private:
    static constexpr std::size_t none = tree_shape::none;
    using step = growth_step::kind;
    using group_key = family_plan::group_key;
    using route = family_plan::route;

    struct waypoint {
        std::size_t group;
        std::optional<unsigned> place;  ///< of what comes from below, where it is fixed
    };
    using path = std::vector<waypoint>;

    struct one_tree {
        std::vector<std::size_t> groups_per_level;
        route first_route;  ///< of its first CPU, which every root is above
    };
    one_tree& tree() noexcept { return trees_[tree_]; }
    const one_tree& tree() const noexcept { return trees_[tree_]; }
    std::size_t& root() noexcept { return shape_.roots[tree_]; }
    std::size_t root() const noexcept { return shape_.roots[tree_]; }

    void add_newest(const cpu_info& cpu, const route& way) {
        const std::size_t old_root = root();
        const path up = climb(0, way, none);
        const std::size_t top = up.back().group;
        const bool new_root = shape_.groups[top].parent == none && top != old_root;
        if (new_root) prepare_root(top, old_root != none && !up.back().place);
        for (std::size_t i = up.size(); i-- > 1;) connect(up[i - 1].group, up[i], cpu);
        connect_cpu(cpu, way, up.front());
        if (!new_root) return;

        root() = top;
        if (old_root == none) return;
        path link = climb(shape_.groups[old_root].level + 1, tree().first_route, top);
        link.insert(link.begin(), {old_root, std::nullopt});
        for (std::size_t i = link.size(); i-- > 1;) {
            if (link[i].group == top && !link[i].place)
                connect_reserved(link[i - 1].group, top);
            else
                connect(link[i - 1].group, link[i], cpu);
        }
        steps_.push_back({step::carry_up_old_root, old_root});
    }

    void add_before_6_19(const cpu_info& cpu, const route& way) {
        const bool preset = options_.form == linux_form::v6_13;
        const path up = climb(0, way, none);
        const std::size_t top = up.back().group;
        const unsigned level = shape_.groups[top].level;
        const std::vector<std::size_t>& groups_per_level = tree().groups_per_level;
        if (preset && top >= first_new_ && groups_per_level[level] == 1) prepare_root(top, level > 0);
        for (std::size_t i = up.size(); i-- > 1;) {
            connect(up[i - 1].group, up[i], cpu);
            if (up[i].group == top && groups_per_level[level] == 1 &&
                shape_.groups[top].children == (preset ? 2u : 1u))
                connect_parentless(top, preset, cpu);
        }
        connect_cpu(cpu, way, up.front());
        if (shape_.groups[top].parent == none) root() = top;
        if (root_before_ != none && root_before_ != root() && shape_.groups[root_before_].parent == none)
            throw input_error("CPU " + std::to_string(cpu.id),
                              "a CPU for which kernels before 6.19 have a level left: they would be left with "
                              "two roots (the newest form adds a level)");
    }

    // The old forms link whatever has no parent one level below a new root.
    void connect_parentless(std::size_t top, bool preset, const cpu_info& cpu) {
        for (std::size_t g = shape_.groups.size(); g-- > 0;) {
            if (shape_.groups[g].level + 1 != shape_.groups[top].level) continue;
            if (shape_.groups[g].parent != none) continue;
            if (preset)
                connect_reserved(g, top);
            else
                connect(g, {top, std::nullopt}, cpu);
            steps_.push_back({step::carry_up_old_root, g});
        }
    }

    // One group per level from `level` up, to the first that is linked or is the top.
    // `reserved` is a new root that keeps a place for whoever climbs now.
    path climb(unsigned level, const route& way, std::size_t reserved) {
        path found;
        for (unsigned i = level;; ++i) {
            const family_plan::stop here = plan_.at(way, i);
            std::size_t g = find_open(here);
            if (g == none && reserved != none && shape_.groups[reserved].level == i) g = reserved;
            if (g == none) g = make_group(here.key, way);
            found.push_back({g, here.place});
            if (shape_.groups[g].parent != none || is_top(here.key)) return found;
        }
    }

    bool is_top(const group_key& key) const {
        const std::vector<std::size_t>& groups_per_level = tree().groups_per_level;
        const unsigned level = key.level;
        const bool single = groups_per_level[level] == 1;
        switch (options_.form) {
            case linux_form::v6_9:
                return level + 1 >= estimate().levels() ||
                       (single && (level + 1 >= groups_per_level.size() || groups_per_level[level + 1] == 0));
            case linux_form::v6_13: return single || level + 1 >= estimate().levels();
            case linux_form::v6_19: break;
        }
        // The old root must have its way up through here, or be here.
        return single && (root() == none || plan_.at(tree().first_route, level).key == key);
    }

    // A new root learns the bit that it will have in a root above it, and keeps its own
    // first place for the old root: so no walker ever follows a link with an unset mask.
    void prepare_root(std::size_t g, bool keep_place) {
        shape_.groups[g].groupmask = 1;
        if (!keep_place) return;
        shape_.groups[g].children = 1;
        shape_.groups[g].taken = 1;
    }

    void connect(std::size_t child, const waypoint& to, const cpu_info& cpu) {
        link(child, to.group, take_place(to, cpu));
    }
    void connect_reserved(std::size_t child, std::size_t parent) { link(child, parent, 1); }

    void link(std::size_t child, std::size_t parent, std::uint64_t mask) {
        remember(child);
        shape_.groups[child].groupmask = mask;
        shape_.groups[child].parent = parent;
        steps_.push_back({step::connect_group, child, parent, mask, shape_.groups[parent].children});
    }

    void connect_cpu(const cpu_info& cpu, const route& way, const waypoint& to) {
        const std::uint64_t mask = take_place(to, cpu);
        shape_.cpus.push_back({cpu, to.group, mask});
        shape_.cpus.back().info.family = way.families.front();
        steps_.push_back({step::connect_cpu, none, to.group, mask, shape_.groups[to.group].children});
    }

    std::uint64_t take_place(const waypoint& to, const cpu_info& cpu) {
        remember(to.group);
        shape_group& parent = shape_.groups[to.group];
        const unsigned place = to.place.value_or(parent.children);
        const std::uint64_t mask = std::uint64_t{1} << place;
        if ((parent.taken & mask) != 0)
            throw input_error("CPU " + std::to_string(cpu.id) + " of capacity " + std::to_string(cpu.capacity),
                              "a CPU for whose rank there is room: announce more CPUs with topology::set_possible, "
                              "or make the tree anew with hierarchy::reshape");
        parent.taken |= mask;
        ++parent.children;
        return mask;
    }

    std::size_t make_group(const group_key& key, const route& way) {
        const std::size_t index = shape_.groups.size();
        std::vector<std::size_t>& groups_per_level = tree().groups_per_level;
        if (groups_per_level.size() <= key.level) groups_per_level.resize(key.level + 1);
        open_[key].push_back(index);
        keys_.push_back(key);
        shape_group made{key.level, plan_.mixes(key.level), plan_.shown(way, key.level)};
        made.how = plan_.how(key.level);
        made.tree = key.tree;
        try {
            shape_.groups.push_back(made);
        } catch (...) {
            keys_.pop_back();
            throw;
        }
        ++groups_per_level[key.level];
        steps_.push_back({step::make_group, index});
        return index;
    }

    // The newest group with room, as Linux searches its lists; where places are fixed there is
    // one, whether its place is free or not. Full ones are dropped from the index, so that a
    // search does not get longer as the tree grows.
    std::size_t find_open(const family_plan::stop& wanted) {
        const auto found = open_.find(wanted.key);
        if (found == open_.end()) return none;
        std::vector<std::size_t>& groups = found->second;
        if (wanted.place) return groups.empty() ? none : groups.back();
        while (!groups.empty() && shape_.groups[groups.back()].children >= options_.width) groups.pop_back();
        return groups.empty() ? none : groups.back();
    }

    void index_open_groups() {
        open_.clear();
        for (std::size_t g = 0; g < shape_.groups.size(); ++g) open_[keys_[g]].push_back(g);
        open_is_stale_ = false;
    }

    void begin() {
        steps_.clear();
        changed_.clear();
        first_new_ = shape_.groups.size();
        cpus_before_ = shape_.cpus.size();
        trees_before_ = trees_.size();
        tree_ = none;
        root_before_ = none;
    }

    // Groups made by this `add` vanish as a whole when it is undone.
    void remember(std::size_t g) {
        if (g < first_new_) changed_.emplace_back(g, shape_.groups[g]);
    }

    family_plan plan_;
    shape_options options_;
    tree_shape shape_;
    std::vector<group_key> keys_;  ///< of the groups of the shape
    std::vector<one_tree> trees_;
    std::map<group_key, std::vector<std::size_t>> open_;
    bool open_is_stale_ = false;

    // Of the `add` under way, or the latest.
    std::size_t tree_ = 0;
    std::vector<growth_step> steps_;
    std::vector<std::pair<std::size_t, shape_group>> changed_;
    std::size_t first_new_ = 0;
    std::size_t cpus_before_ = 0;
    std::size_t trees_before_ = 0;
    std::size_t root_before_ = none;
};

}  // namespace tmigr

#endif
