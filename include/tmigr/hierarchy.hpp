// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_HIERARCHY_HPP
#define TMIGR_HIERARCHY_HPP

#include <tmigr/builder.hpp>
#include <tmigr/config.hpp>
#include <tmigr/cpu_handle.hpp>
#include <tmigr/family.hpp>
#include <tmigr/forest.hpp>
#include <tmigr/group.hpp>
#include <tmigr/growth.hpp>
#include <tmigr/query.hpp>
#include <tmigr/search.hpp>
#include <tmigr/topology.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tmigr {

struct hierarchy_options {
    unsigned width = 0;  ///< children of a group; 0 means as many as the word has room for
    linux_form form = linux_form::newest;
    pick cross_family_pick = pick::first;  ///< by Linux's rules: of groups at and above the cross-family level
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
    using seat_type = cpu_seat<Config>;
    using forest_type = forest<Config>;
    using tracer_type = typename Config::tracer;

    /// An empty tree for a machine of that many possible CPUs and families, by Linux's rules.
    /// Throws `input_error` when the width is below 2 or more than the word has room for.
    basic_hierarchy(std::size_t possible_cpus, std::size_t possible_families, hierarchy_options options = {},
                    tracer_type tracer = {})
        : basic_hierarchy(checked(options), std::move(tracer), [&](unsigned width) {
              return family_plan(possible_cpus, possible_families, width, options.cross_family_pick);
          }) {}

    /// The tree of a machine by Linux's rules, its CPUs taken in in order of arrival, all idle.
    explicit basic_hierarchy(const topology& machine, hierarchy_options options = {}, tracer_type tracer = {})
        : basic_hierarchy(machine.possible_cpus(), std::max(machine.possible_nodes(), machine.family_count()), options,
                          std::move(tracer)) {
        for (const cpu_info& info : machine.cpus()) add(info);
    }

    /// The tree, or the trees, of a machine by another policy (family.hpp), all CPUs idle. Also
    /// throws what `family_plan` and `add` throw.
    basic_hierarchy(const topology& machine, const family_policy& policy, hierarchy_options options = {},
                    tracer_type tracer = {})
        : basic_hierarchy(family_plan(machine, policy, checked(options).width), options, std::move(tracer)) {
        for (const cpu_info& info : machine.cpus()) add(info);
    }

    /// The tree of a plan, empty. Throws `input_error` as the first, and where the plan is of
    /// another width.
    explicit basic_hierarchy(family_plan plan, hierarchy_options options = {}, tracer_type tracer = {})
        : basic_hierarchy(checked(options), std::move(tracer), [&](unsigned width) {
              if (plan.width() != width)
                  throw input_error(std::to_string(plan.width()), "a plan of width " + std::to_string(width));
              return std::move(plan);
          }) {}

    basic_hierarchy(const basic_hierarchy&) = delete;
    basic_hierarchy& operator=(const basic_hierarchy&) = delete;

    /// Takes a CPU in, idle, while others sleep and wake. Where the root grows, the new one
    /// learns what the old one knew. A CPU that is awake in truth, since the tree is set up late,
    /// is activated through the handle returned, before its owner has it.
    /// Throws `input_error` (the number is taken, or see `tree_builder::add`) and
    /// `std::bad_alloc`; the tree is as before then, and a retry is allowed. Blocks while another
    /// thread adds; blocks nobody's walk or query.
    handle add(const cpu_info& info) {
        const std::lock_guard growing(mutex_);
        if (index_.contains(info.id))
            throw input_error(std::to_string(info.id), "the number of a CPU that is not in the tree yet");
        const auto planned = forest_->plan(info);
        try {
            make_seat(*forest_, planned.cpu);
        } catch (...) {
            forest_->undo_plan();
            throw;
        }
        forest_->link(seats_.back(), planned.cpu, planned.steps, tracer_);
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

    /// The top group, of separate trees the one of the tree that had a CPU first; null while
    /// there is no CPU. Wait-free, one load per level.
    const group_type* root() const noexcept {
        const auto* const tree = forest_->first_tree();
        return tree != nullptr ? forest_type::root_of(*tree) : nullptr;
    }

    /// Whether anybody is awake, in whichever tree. Wait-free; may be stale when it returns, and
    /// may be false while the tree grows above whoever is awake.
    bool any_active() const noexcept {
        return any_tree([](const group_type& top) { return top.current().is_active(); });
    }

    /// The CPU in charge of everything: the migrator of the root's migrator and so on
    /// down. Empty when nobody is awake, when a walk changed the path on the way, or while the
    /// tree grows above whoever is awake. Three loads per level; may be stale when it returns.
    /// Wait-free. Of separate trees the first answers that has anybody in charge; for the others
    /// ask `cpu_handle::migrator`.
    std::optional<cpu_id> migrator() const noexcept {
        std::optional<cpu_id> who;
        any_tree([&who](const group_type& top) { return (who = find_migrator(top)).has_value(); });
        return who;
    }

    /// The CPUs of one family, for searches. Throws `input_error` where there is none of it.
    /// Wait-free, one load for each family passed: look it up once.
    family_handle<Config> family(family_id id) const {
        const auto* const entry = forest_->family(id);
        if (entry == nullptr) throw input_error(std::to_string(id), "the number of a family of this hierarchy");
        return {id, entry->branches};
    }
    /// See `family_handle`; empty as well where no CPU is of that family.
    std::optional<cpu_id> find_idle(family_id id) const noexcept {
        const auto* const entry = forest_->family(id);
        return entry != nullptr ? family_handle<Config>(id, entry->branches).find_idle() : std::nullopt;
    }
    std::optional<cpu_id> find_active(family_id id) const noexcept {
        const auto* const entry = forest_->family(id);
        return entry != nullptr ? family_handle<Config>(id, entry->branches).find_active() : std::nullopt;
    }
    std::optional<cpu_id> wake_idle(family_id id) const noexcept {
        const auto* const entry = forest_->family(id);
        return entry != nullptr ? family_handle<Config>(id, entry->branches).wake_idle() : std::nullopt;
    }

    /// The CPU nearest to `near` that sleeps and takes part, or that is awake, of whatever family:
    /// below the same groups as far down as there is one; not `near` itself. See search.hpp.
    std::optional<cpu_id> find_idle(const handle& near) const noexcept {
        return find_near(near.leaf(), near.id(), false);
    }
    std::optional<cpu_id> find_active(const handle& near) const noexcept {
        return find_near(near.leaf(), near.id(), true);
    }

    /// A group that prefers low, by its index in `groups()`, does so no longer; see
    /// `group::stop_preferring`. Any thread, at any time but while others add.
    void stop_preferring(std::size_t group) noexcept
        requires(Config::preference_can_stop)
    {
        // Said again for compilers that instantiate what is not asked for.
        if constexpr (Config::preference_can_stop) forest_->groups()[group].stop_preferring();
    }

    /// What nobody may be armed for after `reshape`: the earliest expiry of a tree that sleeps,
    /// and the CPU that has to take it over, as in `departure`.
    struct duty {
        ticks due = never;
        cpu_id by = 0;
        friend bool operator==(const duty&, const duty&) = default;
    };

    /// Makes the groups anew, for another policy, or since CPUs came that the old plan had no
    /// rank or place for. Every CPU of the hierarchy must be in `machine`; those that are new
    /// there are added, idle. Handles stay good, who is awake stays awake, expiries are kept;
    /// references to groups, family handles and `shape` are not good any more. Returns what has
    /// to be taken over by whom, at most one duty for each tree.
    ///
    /// For times when no other call is under way, on whatever thread; later calls must be
    /// ordered behind it. Throws as the constructor does, and `input_error` for a CPU that
    /// `machine` lacks; all is as before then.
    std::vector<duty> reshape(const topology& machine, const family_policy& policy) {
        const std::lock_guard growing(mutex_);
        const std::size_t before = seats_.size();
        auto next = std::make_unique<forest_type>(tree_builder(family_plan(machine, policy, options_.width)));
        std::vector<shape_cpu> places;
        std::vector<std::vector<growth_step>> steps;
        std::vector<ticks> dues(before, never);
        std::vector<duty> duties;
        const auto plan = [&](const cpu_info& info) {
            const auto planned = next->plan(info);
            places.push_back(planned.cpu);
            steps.push_back(planned.steps);
        };
        for (const seat_type& seat : seats_) plan(machine.cpu(seat.id()));
        try {
            for (const cpu_info& info : machine.cpus()) {
                if (index_.contains(info.id)) continue;
                plan(info);
                make_seat(*next, places.back());
            }
            duties.reserve(next->shape().roots.size());
        } catch (...) {
            while (seats_.size() > before) {
                index_.erase(seats_.back().id());
                seats_.pop_back();
            }
            throw;
        }

        if constexpr (has_expiries<Config>)
            for (std::size_t i = 0; i < before; ++i)
                if (in_tree_asleep(seats_[i])) dues[i] = seats_[i].leaf().table().offered(seats_[i].childmask_);
        forest_->forget_seats();
        for (std::size_t i = 0; i < seats_.size(); ++i) {
            seats_[i].leaf_ = &next->groups()[places[i].group];
            seats_[i].roster_ = &next->roster(next->shape().groups[places[i].group].tree);
            seats_[i].childmask_ = static_cast<mask_type>(places[i].childmask);
            next->link(seats_[i], places[i], steps[i], tracer_);
        }
        forest_ = std::move(next);
        for (std::size_t i = 0; i < before; ++i) {
            seat_type& seat = seats_[i];
            if (seat.takes_part_.get() && seat.awake_.get())
                walk_active<Config>(*seat.leaf_, seat.childmask_, seat.id(), tracer_);
            if constexpr (has_expiries<Config>)
                if (dues[i] != never) static_cast<void>(handle(seat).new_expiry(dues[i]));
        }
        if constexpr (has_expiries<Config>)
            any_tree([&duties](const group_type& top, const auto& tree) {
                const ticks due = top.current().is_active() ? never : earliest(top);
                const auto by = due != never ? tree.first_available() : std::nullopt;
                if (by) duties.push_back({due, *by});
                return false;
            });
        return duties;
    }

    /// What the tree follows: Linux's rules where a gate of the policy asked for was shut.
    const family_plan& plan() const noexcept { return forest_->builder().plan(); }
    /// Groups in order of creation, as numbers; group i of the shape is `groups()[i]`,
    /// with id i + 1.
    const tree_shape& shape() const noexcept { return forest_->shape(); }
    level_estimate estimate() const noexcept { return forest_->builder().estimate(); }
    const hierarchy_options& options() const noexcept { return options_; }
    const std::deque<group_type>& groups() const noexcept { return forest_->groups(); }

    /// Index of the child behind one bit of a group: a CPU's at level 0 (into
    /// `shape().cpus`), a group's above; `tree_shape::none` where nobody took the place.
    std::size_t child_at(std::size_t group, mask_type bit) const noexcept {
        const group_type& g = forest_->groups()[group];
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

    template <class MakePlan>
    basic_hierarchy(hierarchy_options options, tracer_type&& tracer, MakePlan&& make_plan)
        : options_(options),
          forest_(std::make_unique<forest_type>(tree_builder(make_plan(options.width), options.form))),
          tracer_(std::move(tracer)) {}

    void make_seat(forest_type& of, const shape_cpu& placed) {
        seats_.emplace_back(placed.info.id, of.groups()[placed.group], static_cast<mask_type>(placed.childmask),
                            of.roster(of.shape().groups[placed.group].tree), tracer_);
        try {
            index_.emplace(placed.info.id, seats_.size() - 1);
        } catch (...) {
            seats_.pop_back();
            throw;
        }
    }

    static bool in_tree_asleep(const seat_type& seat) noexcept {
        return seat.takes_part_.get() && !seat.awake_.get();
    }

    /// Asks the root of each tree until one says yes.
    template <class Ask>
    bool any_tree(Ask&& ask) const noexcept {
        for (const auto* tree = forest_->first_tree(); tree != nullptr; tree = forest_->next_tree(*tree)) {
            const group_type* const top = forest_type::root_of(*tree);
            if (top == nullptr) continue;
            if constexpr (std::is_invocable_v<Ask, const group_type&, const cpu_roster<Config>&>) {
                if (ask(*top, *tree)) return true;
            } else if (ask(*top)) {
                return true;
            }
        }
        return false;
    }

    hierarchy_options options_;
    std::unique_ptr<forest_type> forest_;
    std::deque<seat_type> seats_;
    std::unordered_map<cpu_id, std::size_t> index_;
    typename Config::atomics::mutex mutex_;
    [[no_unique_address]] tracer_type tracer_;
};

}  // namespace tmigr

#endif
