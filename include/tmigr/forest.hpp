// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_FOREST_HPP
#define TMIGR_FOREST_HPP

#include <tmigr/builder.hpp>
#include <tmigr/config.hpp>
#include <tmigr/cpu_seat.hpp>
#include <tmigr/group.hpp>
#include <tmigr/growth.hpp>
#include <tmigr/search.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tmigr {

/// The groups of a machine as they stand: one tree, or one for each family where they are kept
/// apart; and for each tree and family the list by which others find it. Grown by one thread at
/// a time, read by all. What a hierarchy is made of besides its CPUs' seats.
template <hierarchy_config Config>
class forest {
public:
    using group_type = group<Config>;
    using mask_type = typename group_type::mask_type;
    using seat_type = cpu_seat<Config>;
    using roster_type = cpu_roster<Config>;
    using tracer_type = typename Config::tracer;

    struct family_entry {
        explicit family_entry(family_id f) noexcept : id(f) {}
        family_id id;
        append_list<Config, family_branch<Config>> branches;
        append_link<Config, family_entry> link;
    };

    explicit forest(tree_builder builder) : builder_(std::move(builder)), joined_(builder_.plan().joined()) {
        rosters_.emplace_back();
    }
    forest(const forest&) = delete;
    forest& operator=(const forest&) = delete;

    const tree_builder& builder() const noexcept { return builder_; }
    const tree_shape& shape() const noexcept { return builder_.shape(); }
    std::deque<group_type>& groups() noexcept { return groups_; }
    const std::deque<group_type>& groups() const noexcept { return groups_; }

    /// Plans a place for a CPU and makes all that it needs; nobody sees it yet. Throws what
    /// `tree_builder::add` throws; all is as before then. The steps are those of `link`, which
    /// must follow, in the same order where several are planned at once.
    struct planned {
        shape_cpu cpu;
        const std::vector<growth_step>& steps;  ///< good until the next plan
    };
    planned plan(const cpu_info& info) {
        const std::vector<growth_step>& steps = builder_.add(info);
        const shape_cpu& placed = shape().cpus.back();
        try {
            for (std::size_t g = groups_.size(); g < shape().groups.size(); ++g) {
                const shape_group& made = shape().groups[g];
                groups_.emplace_back(group_id{g + 1}, made.level, made.family, made.how);
            }
            while (rosters_.size() < shape().roots.size()) rosters_.emplace_back();
            while (branches_.size() <= branches_used_ + unlinked_) branches_.emplace_back();
            if (const family_id family = placed.info.family; !by_family_.contains(family)) {
                family_entry& entry = entries_.emplace_back(family);
                try {
                    by_family_.emplace(family, &entry);
                } catch (...) {
                    entries_.pop_back();
                    throw;
                }
                newest_family_ = true;
            } else {
                newest_family_ = false;
            }
        } catch (...) {
            newest_family_ = false;
            undo();
            throw;
        }
        ++unlinked_;
        return {placed, steps};
    }
    /// Takes back what `plan` planned last.
    void undo_plan() noexcept {
        --unlinked_;
        undo();
    }

    /// Puts a CPU into the place planned for it, for all to see.
    void link(seat_type& seat, const shape_cpu& placed, const std::vector<growth_step>& steps,
              tracer_type& tracer) noexcept {
        for (const growth_step& step : steps) apply(step, seat, placed.info, tracer);
        const auto to_leaf = std::find_if(steps.begin(), steps.end(), [](const growth_step& step) {
            return step.what == growth_step::kind::connect_cpu;
        });
        add_to_family(seat, placed, to_leaf->children == 1);
        roster_type& roster = *seat.roster();
        const bool is_first = roster.empty();
        roster.add(seat);
        if (is_first) trees_.add(roster);
        --unlinked_;
    }

    /// Where CPUs of a tree are to be found.
    roster_type& roster(std::size_t tree) noexcept { return rosters_[tree]; }
    /// Lets go of the seats, which another forest takes over. For times when nobody reads.
    void forget_seats() noexcept {
        for (roster_type& roster : rosters_) roster.clear();
    }

    /// The roster of the first tree; of separate ones, that of the tree which had a CPU first.
    /// Null where there is none.
    const roster_type* first_tree() const noexcept { return joined_ ? &rosters_.front() : trees_.first(); }
    const roster_type* next_tree(const roster_type& tree) const noexcept {
        return joined_ ? nullptr : trees_.next(tree);
    }
    /// The top group of a tree; null while it has no CPU.
    static const group_type* root_of(const roster_type& tree) noexcept {
        const seat_type* const first = tree.first();
        return first != nullptr ? top_of(first->leaf()) : nullptr;
    }

    /// Null where no CPU is of that family. Looks at each family once.
    const family_entry* family(family_id id) const noexcept {
        const family_entry* entry = families_.first();
        while (entry != nullptr && entry->id != id) entry = families_.next(*entry);
        return entry;
    }
    const family_entry* first_family() const noexcept { return families_.first(); }
    const family_entry* next_family(const family_entry& f) const noexcept { return families_.next(f); }

private:
    void undo() noexcept {
        builder_.undo();
        while (groups_.size() > shape().groups.size()) groups_.pop_back();
        if (!newest_family_) return;
        by_family_.erase(entries_.back().id);
        entries_.pop_back();
        newest_family_ = false;
    }

    void apply(const growth_step& step, seat_type& seat, const cpu_info& info, tracer_type& tracer) noexcept {
        const unsigned capacity = joined_ ? max_capacity : info.capacity;
        switch (step.what) {
            case growth_step::kind::make_group: {
                group_type& made = groups_[step.child];
                report(tracer, event::group_set{made.id(), made.level(), made.family()}, info.id);
                if (shape().groups[step.child].parent == tree_shape::none)
                    made.set_groupmask(static_cast<mask_type>(shape().groups[step.child].groupmask));
                break;
            }
            case growth_step::kind::connect_group: {
                group_type& child = groups_[step.child];
                group_type& parent = groups_[step.parent];
                link_below<Config>(child, static_cast<mask_type>(step.mask), parent);
                report(tracer,
                       event::connect_child_parent{child.id(), step.mask, parent.id(), parent.level(),
                                                   parent.family(), capacity, step.children},
                       info.id);
                break;
            }
            case growth_step::kind::connect_cpu: {
                group_type& leaf = groups_[step.parent];
                leaf.down().set(static_cast<mask_type>(step.mask), &seat);
                report(tracer,
                       event::connect_cpu_parent{info.id, step.mask, leaf.id(), leaf.level(), leaf.family(), capacity,
                                                 step.children},
                       info.id);
                break;
            }
            case growth_step::kind::carry_up_old_root: {
                carry_up<Config>(groups_[step.child], info.id, tracer);
                break;
            }
        }
    }

    // A branch is known by one leaf: the family's others below the same top are found from it.
    // CPUs without a family have a branch for each leaf, so many that only new leaves may look.
    void add_to_family(seat_type& seat, const shape_cpu& placed, bool first_in_leaf) noexcept {
        family_entry& entry = *by_family_.find(placed.info.family)->second;
        const bool alone = shape().groups[placed.group].cross;
        const group_type& leaf = groups_[placed.group];
        if (!alone && !first_in_leaf) return;
        const bool may_have_others = !alone && leaf.family() >= 0;
        for (const auto* b = entry.branches.first(); may_have_others && b != nullptr; b = entry.branches.next(*b))
            if (detail::top_of_family(*b->leaf) == detail::top_of_family(leaf)) return;
        const bool is_first = entry.branches.empty();
        family_branch<Config>& branch = branches_[branches_used_++];
        branch.leaf = &leaf;
        branch.seat = alone ? &seat : nullptr;
        entry.branches.add(branch);
        if (is_first) families_.add(entry);
    }

    template <class Event>
    static void report(tracer_type& tracer, const Event& what, cpu_id on) noexcept {
        if constexpr (tracer_type::enabled) tracer.trace(what, on);
    }

    tree_builder builder_;
    const bool joined_;
    std::deque<group_type> groups_;
    std::deque<roster_type> rosters_;
    append_list<Config, roster_type> trees_;
    std::deque<family_entry> entries_;
    std::unordered_map<family_id, family_entry*> by_family_;
    append_list<Config, family_entry> families_;
    std::deque<family_branch<Config>> branches_;
    std::size_t branches_used_ = 0;
    std::size_t unlinked_ = 0;    ///< CPUs planned and not linked yet
    bool newest_family_ = false;  ///< the latest plan made a family
};

}  // namespace tmigr

#endif
