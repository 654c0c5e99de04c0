// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_HIERARCHY_HPP
#define TMIGR_HIERARCHY_HPP

#include <tmigr/builder.hpp>
#include <tmigr/config.hpp>
#include <tmigr/cpu_handle.hpp>
#include <tmigr/group.hpp>
#include <tmigr/growth.hpp>
#include <tmigr/query.hpp>
#include <tmigr/topology.hpp>

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
/// Threads: everything may run at any time on any thread, the operations through the handles
/// of `cpu()` one thread at a time for each CPU. Calls of `add` and `cpu` exclude each other;
/// nothing else ever waits. `shape`, `groups`, `child_at` are for times when nobody adds.
/// All CPUs start idle, and take part.
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

    /// Takes a CPU in, idle, while others sleep and wake. Where the root grows, the new one
    /// learns what the old one knew. Throws `input_error` (the number is taken, or see
    /// `tree_builder::add`) and `std::bad_alloc`; the tree is as before then, and a retry is
    /// allowed. Blocks while another thread adds; blocks nobody's walk or query.
    handle add(const cpu_info& info) {
        const std::lock_guard growing(mutex_);
        if (index_.contains(info.id))
            throw input_error(std::to_string(info.id), "the number of a CPU that is not in the tree yet");
        const std::vector<growth_step>& steps = builder_.add(info);
        try {
            while (groups_.size() < shape().groups.size()) {
                const shape_group& made = shape().groups[groups_.size()];
                groups_.emplace_back(group_id{groups_.size() + 1}, made.level, made.family,
                                     made.cross ? options_.cross_family_pick : pick::first);
            }
            const shape_cpu& placed = shape().cpus.back();
            seats_.emplace_back(info.id, groups_[placed.group], static_cast<mask_type>(placed.childmask), roster_,
                                tracer_);
            index_.emplace(info.id, seats_.size() - 1);
        } catch (...) {
            builder_.undo();
            if (seats_.size() > shape().cpus.size()) seats_.pop_back();
            while (groups_.size() > shape().groups.size()) groups_.pop_back();
            throw;
        }
        for (const growth_step& step : steps) apply(step, info);
        roster_.add(seats_.back());
        return handle(seats_.back());
    }

    /// The handle of a CPU. Throws `input_error` when there is no such CPU. Blocks while
    /// another thread adds: look it up once, the handle stays good as long as the hierarchy
    /// lives.
    handle cpu(cpu_id id) {
        const std::lock_guard still(mutex_);
        const auto found = index_.find(id);
        if (found == index_.end())
            throw input_error(std::to_string(id), "the number of a CPU of this hierarchy");
        return handle(seats_[found->second]);
    }

    /// The top group; null while there is no CPU. Wait-free, one load per level.
    const group_type* root() const noexcept {
        const auto* const first = roster_.first();
        return first != nullptr ? top_of(first->leaf()) : nullptr;
    }

    /// Whether anybody is awake. Wait-free; may be stale when it returns, and may be false while
    /// the tree grows above whoever is awake.
    bool any_active() const noexcept {
        const group_type* const top = root();
        return top != nullptr && top->current().is_active();
    }

    /// The CPU in charge of everything: the migrator of the root's migrator and so on
    /// down. Empty when nobody is awake, when a walk changed the path on the way, or while the
    /// tree grows above whoever is awake. Three loads per level; may be stale when it returns. Wait-free.
    std::optional<cpu_id> migrator() const noexcept {
        const group_type* const top = root();
        return top != nullptr ? find_migrator(*top) : std::nullopt;
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
        const group_type& g = groups_[group];
        const unsigned place = state::place(bit);
        if (g.level() > 0) {
            const auto* const child = g.down().group_at(place);
            return child != nullptr ? static_cast<std::size_t>(child->id() - 1) : tree_shape::none;
        }
        const auto* const seat = g.down().cpu_at(place);
        return seat != nullptr ? index_.at(seat->id()) : tree_shape::none;
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
                link_below<Config>(child, static_cast<mask_type>(step.mask), parent);
                report(event::connect_child_parent{child.id(), step.mask, parent.id(), parent.level(),
                                                   parent.family(), max_capacity, step.children},
                       info.id);
                break;
            }
            case growth_step::kind::connect_cpu: {
                group_type& leaf = groups_[step.parent];
                leaf.down().set(static_cast<mask_type>(step.mask), &seats_.back());
                report(event::connect_cpu_parent{info.id, step.mask, leaf.id(), leaf.level(), leaf.family(),
                                                 max_capacity, step.children},
                       info.id);
                break;
            }
            case growth_step::kind::carry_up_old_root: {
                carry_up<Config>(groups_[step.child], info.id, tracer_);
                break;
            }
        }
    }

    void set_preset_mask(std::size_t group) noexcept {
        if (shape().groups[group].parent == tree_shape::none)
            groups_[group].set_groupmask(static_cast<mask_type>(shape().groups[group].groupmask));
    }

    template <class Event>
    void report(const Event& what, cpu_id on) noexcept {
        if constexpr (tracer_type::enabled) tracer_.trace(what, on);
    }

    hierarchy_options options_;
    tree_builder builder_;
    std::deque<group_type> groups_;
    std::deque<cpu_seat<Config>> seats_;
    std::unordered_map<cpu_id, std::size_t> index_;
    typename Config::atomics::mutex mutex_;
    cpu_roster<Config> roster_;
    [[no_unique_address]] tracer_type tracer_;
};

}  // namespace tmigr

#endif
