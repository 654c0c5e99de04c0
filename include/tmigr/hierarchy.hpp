// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_HIERARCHY_HPP
#define TMIGR_HIERARCHY_HPP

#include <tmigr/builder.hpp>
#include <tmigr/config.hpp>
#include <tmigr/cpu_handle.hpp>
#include <tmigr/group.hpp>
#include <tmigr/topology.hpp>
#include <tmigr/walk.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tmigr {

struct hierarchy_options {
    unsigned width = 0;  ///< children of a group; 0 means as many as the word has room for
    linux_form form = linux_form::newest;
    pick cross_family_pick = pick::first;  ///< of groups at and above the cross-family level
};

/// The tree of groups of one machine, and the CPUs in it. Owns everything that handles
/// and walks refer to; neither copied nor moved.
///
/// Threads: while `add` runs nothing else may, neither walks nor queries; calls of `add`
/// exclude each other. Otherwise everything may run at any time on any thread, the walks
/// through the handles of `cpu()`, one thread at a time for each CPU. All CPUs start idle.
///
/// Source: Linux 6.9 and newer, kernel/time/timer_migration.c.
template <hierarchy_config Config>
class basic_hierarchy {
public:
    using config_type = Config;
    using state = typename Config::state;
    using mask_type = typename state::mask_type;
    using group_type = group<Config>;
    using handle = cpu_handle<Config>;
    using tracer_type = typename Config::tracer;

    /// An empty tree for a machine of that many possible CPUs and families. Throws
    /// `input_error` when the width is below 2 or more than the word has room for.
    basic_hierarchy(std::size_t possible_cpus, std::size_t possible_families, hierarchy_options options = {},
                    tracer_type tracer = {})
        : options_(checked(options)),
          builder_(possible_cpus, possible_families, {options_.width, options_.form}),
          tracer_(std::move(tracer)) {}

    /// The tree of a machine, its CPUs taken in in order of arrival, all idle.
    explicit basic_hierarchy(const topology& machine, hierarchy_options options = {}, tracer_type tracer = {})
        : basic_hierarchy(machine.possible_cpus(),
                          std::max(machine.possible_nodes(), machine.family_count()), options,
                          std::move(tracer)) {
        for (const cpu_info& info : machine.cpus()) add(info);
    }

    basic_hierarchy(const basic_hierarchy&) = delete;
    basic_hierarchy& operator=(const basic_hierarchy&) = delete;

    /// Takes a CPU in, idle. Where the root grows and the old root is active, the new one
    /// learns of it. Throws `input_error` (the number is taken, or see `tree_builder::add`)
    /// and `std::bad_alloc`; the tree is as before then, and a retry is allowed.
    /// Blocks while another thread adds. Precondition: no walk or query is in flight.
    handle add(const cpu_info& info) {
        const std::lock_guard growing(mutex_);
        if (index_.contains(info.id))
            throw input_error(std::to_string(info.id), "the number of a CPU that is not in the tree yet");
        const std::vector<growth_step>& steps = builder_.add(info);
        try {
            while (groups_.size() < shape().groups.size()) {
                const shape_group& made = shape().groups[groups_.size()];
                children_.resize((groups_.size() + 1) * state::children, tree_shape::none);
                groups_.emplace_back(group_id{groups_.size() + 1}, made.level, made.family,
                                     made.cross ? options_.cross_family_pick : pick::first);
            }
            const shape_cpu& placed = shape().cpus.back();
            seats_.emplace_back(info.id, groups_[placed.group], static_cast<mask_type>(placed.childmask), tracer_);
            index_.emplace(info.id, seats_.size() - 1);
        } catch (...) {
            builder_.undo();
            if (seats_.size() > shape().cpus.size()) seats_.pop_back();
            while (groups_.size() > shape().groups.size()) groups_.pop_back();
            throw;
        }
        for (const growth_step& step : steps) apply(step, info);
        return handle(seats_.back());
    }

    /// The handle of a CPU. Throws `input_error` when there is no such CPU. Look it up
    /// once: the handle stays good as long as the hierarchy lives.
    handle cpu(cpu_id id) {
        const auto found = index_.find(id);
        if (found == index_.end())
            throw input_error(std::to_string(id), "the number of a CPU of this hierarchy");
        return handle(seats_[found->second]);
    }

    /// The top group; null while there is no CPU.
    const group_type* root() const noexcept {
        return shape().root == tree_shape::none ? nullptr : &groups_[shape().root];
    }

    /// Whether anybody is awake. One relaxed load; may be stale when it returns.
    bool any_active() const noexcept { return root() != nullptr && root()->current().is_active(); }

    /// The CPU in charge of everything: the migrator of the root's migrator and so on
    /// down. Empty when nobody is awake, or when a walk changed the path on the way. One
    /// relaxed load per level; may be stale when it returns. Wait-free.
    std::optional<cpu_id> migrator() const noexcept {
        for (std::size_t g = shape().root; g != tree_shape::none;) {
            const state word = groups_[g].current();
            if (!word.has_migrator()) return std::nullopt;
            const std::size_t child = child_at(g, word.migrator());
            if (child == tree_shape::none) return std::nullopt;
            if (shape().groups[g].level == 0) return shape().cpus[child].info.id;
            g = child;
        }
        return std::nullopt;
    }

    /// Groups in order of creation, as numbers; group i of the shape is `groups()[i]`,
    /// with id i + 1.
    const tree_shape& shape() const noexcept { return builder_.shape(); }
    level_estimate estimate() const noexcept { return builder_.estimate(); }
    const hierarchy_options& options() const noexcept { return options_; }
    const std::deque<group_type>& groups() const noexcept { return groups_; }

    /// Index of the child behind one bit of a group: a CPU's at level 0 (into
    /// `shape().cpus`), a group's above; `tree_shape::none` where nobody took the place.
    std::size_t child_at(std::size_t group, mask_type bit) const noexcept {
        return children_[group * state::children + state::place(bit)];
    }

    tracer_type& tracer() noexcept { return tracer_; }
    const tracer_type& tracer() const noexcept { return tracer_; }

private:
    static hierarchy_options checked(hierarchy_options options) {
        if (options.width == 0) options.width = state::children;
        if (options.width < 2 || options.width > state::children)
            throw input_error(std::to_string(options.width),
                              "a group width from 2 to " + std::to_string(state::children) +
                                  ", the children that the state word has room for");
        return options;
    }

    void apply(const growth_step& step, const cpu_info& info) noexcept {
        switch (step.what) {
            case growth_step::kind::make_group: {
                const group_type& made = groups_[step.child];
                report(event::group_set{made.id(), made.level(), made.family()}, info.id);
                set_preset_mask(step.child);
                break;
            }
            case growth_step::kind::connect_group: {
                group_type& child = groups_[step.child];
                group_type& parent = groups_[step.parent];
                child.set_groupmask(static_cast<mask_type>(step.mask));
                child.set_parent(&parent);
                if constexpr (has_expiries<Config>)
                    parent.table().set_group_at(static_cast<mask_type>(step.mask), &child);
                take_place(step.parent, step.mask, step.child);
                report(event::connect_child_parent{child.id(), step.mask, parent.id(), parent.level(),
                                                   parent.family(), max_capacity, step.children},
                       info.id);
                break;
            }
            case growth_step::kind::connect_cpu: {
                group_type& leaf = groups_[step.parent];
                if constexpr (has_expiries<Config>)
                    leaf.table().set_cpu_at(static_cast<mask_type>(step.mask), &seats_.back());
                take_place(step.parent, step.mask, shape().cpus.size() - 1);
                report(event::connect_cpu_parent{info.id, step.mask, leaf.id(), leaf.level(), leaf.family(),
                                                 max_capacity, step.children},
                       info.id);
                break;
            }
            case growth_step::kind::carry_up_old_root: {
                group_type& old_root = groups_[step.child];
                if (old_root.current().is_active())
                    walk_active<Config>(*old_root.parent(), old_root.groupmask(), info.id, tracer_);
                if constexpr (has_expiries<Config>)
                    for (group_type* g = &old_root; g->parent() != nullptr; g = g->parent()) refresh(*g->parent(), *g);
                break;
            }
        }
    }

    void set_preset_mask(std::size_t group) noexcept {
        if (shape().groups[group].parent == tree_shape::none)
            groups_[group].set_groupmask(static_cast<mask_type>(shape().groups[group].groupmask));
    }

    void take_place(std::size_t group, std::uint64_t mask, std::size_t child) noexcept {
        children_[group * state::children + state::place(static_cast<mask_type>(mask))] = child;
    }

    template <class Event>
    void report(const Event& what, cpu_id on) noexcept {
        if constexpr (tracer_type::enabled) tracer_.trace(what, on);
    }

    hierarchy_options options_;
    tree_builder builder_;
    std::deque<group_type> groups_;
    std::deque<cpu_seat<Config>> seats_;
    std::vector<std::size_t> children_;
    std::unordered_map<cpu_id, std::size_t> index_;
    typename Config::atomics::mutex mutex_;
    [[no_unique_address]] tracer_type tracer_;
};

}  // namespace tmigr

#endif
