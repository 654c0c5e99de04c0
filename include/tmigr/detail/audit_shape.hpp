// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_AUDIT_SHAPE_HPP
#define TMIGR_DETAIL_AUDIT_SHAPE_HPP

#include <tmigr/input_error.hpp>
#include <tmigr/io/audit_parts.hpp>
#include <tmigr/topology.hpp>
#include <tmigr/trace.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace tmigr::detail {

/// The groups and CPUs that a trace names, how they hang together and who is awake below. Plain value; throws
/// `input_error` (without place) above `most_groups` groups or `most_cpus` CPUs, else only what allocation
/// throws.
class audit_shape {
public:
    static constexpr std::size_t most_groups = 1u << 15;
    static constexpr std::size_t most_cpus = 1u << 16;
    static constexpr std::size_t longest_way = 64;

    const std::vector<audit_group>& groups() const noexcept { return groups_; }
    const std::vector<audit_cpu>& cpus() const noexcept { return cpus_; }
    /// CPUs that sleep and have a timer; those whose `due` is finite.
    const std::vector<audit_index>& waiting() const noexcept { return waiting_; }
    /// How often all was dropped since a trace began anew: indices of before are void.
    std::size_t generation() const noexcept { return generation_; }

    audit_index find_group(group_id id) const {
        if (last_found_ < groups_.size() && groups_[last_found_].id == id) return last_found_;
        const auto found = group_index_.find(id);
        return found == group_index_.end() ? no_index : (last_found_ = found->second);
    }
    audit_index find_cpu(cpu_id id) const { return id < cpu_index_.size() ? cpu_index_[id] : no_index; }
    /// Whether somebody below is known to be awake.
    bool is_live(audit_index g) const { return groups_[g].live != 0; }
    /// The earliest that the known offers in a group make; `all` tells whether all are known.
    std::uint64_t earliest(audit_index g, bool& all) const {
        std::uint64_t first = event::never;
        const auto take_in = [&](const audit_offer& o, bool awake) {
            if (awake) return;
            all = all && o.known;
            if (o.known) first = std::min(first, o.due);
        };
        for (const audit_index c : groups_[g].cpus)
            take_in(cpus_[c].offer, (groups_[g].live & cpus_[c].mask) != 0);
        for (const audit_index h : groups_[g].groups) take_in(groups_[h].offer, is_live(h));
        return first;
    }
    /// The child of `g` on the way to a CPU: a group, or `no_index` when `g` is its leaf or not above it.
    audit_index child_towards(audit_index g, audit_index cpu) const {
        audit_index below = no_index;
        for (audit_index at = cpus_[cpu].leaf; at != no_index; at = groups_[at].parent) {
            if (at == g) return below;
            below = at;
        }
        return no_index;
    }
    audit_index root_of(audit_index g) const {
        for (std::size_t steps = 0; groups_[g].parent != no_index && steps < longest_way; ++steps)
            g = groups_[g].parent;
        return g;
    }
    [[noreturn]] static void refuse_cpu() {
        throw input_error("another CPU", "at most " + std::to_string(most_cpus) + " CPUs");
    }

protected:
    audit_index group_of(group_id id) {
        if (const audit_index known = find_group(id); known != no_index) return known;
        if (groups_.size() >= most_groups)
            throw input_error("another group", "at most " + std::to_string(most_groups) + " groups");
        const auto index = static_cast<audit_index>(groups_.size());
        groups_.emplace_back().id = id;
        group_index_.emplace(id, index);
        return last_found_ = index;
    }
    audit_index cpu_of(cpu_id id) {
        if (id >= cpu_index_.size()) cpu_index_.resize(id + std::size_t{1}, no_index);
        if (cpu_index_[id] == no_index) {
            if (cpus_.size() >= most_cpus) refuse_cpu();
            cpu_index_[id] = static_cast<audit_index>(cpus_.size());
            cpus_.emplace_back().id = id;
        }
        return cpu_index_[id];
    }
    audit_index told_of(cpu_id id, group_id leaf) {
        const audit_index c = cpu_of(id);
        if (leaf != no_group) set_leaf(c, group_of(leaf));
        return c;
    }
    void set_leaf(audit_index c, audit_index leaf) {
        if (cpus_[c].leaf == leaf) return;
        if (cpus_[c].leaf != no_index) std::erase(groups_[cpus_[c].leaf].cpus, c);
        cpus_[c].leaf = leaf;
        cpus_[c].mask = 0;
        cpus_[c].offer = {};
        groups_[leaf].cpus.push_back(c);
    }
    void set_parent(audit_index child, audit_index parent) {
        audit_group& g = groups_[child];
        if (g.parent == parent && g.parent_known) return;
        if (parent != no_index && (parent == child || is_above(child, parent))) return;
        if (g.parent != no_index) std::erase(groups_[g.parent].groups, child);
        g.parent = parent;
        g.parent_known = true;
        g.mask = 0;
        g.offer = {};
        if (parent != no_index) groups_[parent].groups.push_back(child);
    }
    bool is_above(audit_index above, audit_index g) const {
        for (std::size_t steps = 0; g != no_index && steps < longest_way; ++steps, g = groups_[g].parent)
            if (g == above) return true;
        return g != no_index;
    }
    void learn_mask(audit_index child, std::uint64_t mask) {
        audit_group& g = groups_[child];
        if (g.mask == mask || g.parent == no_index) return;
        g.mask = mask;
        audit_group& parent = groups_[g.parent];
        parent.child_bits |= mask;
        if (g.known && ((parent.live & mask) != 0) != (g.live != 0))
            set_live(g.parent, g.live != 0 ? parent.live | mask : parent.live & ~mask);
    }
    void set_live(audit_index gi, std::uint64_t live) {
        for (std::size_t steps = 0; steps < longest_way; ++steps) {
            audit_group& g = groups_[gi];
            const bool was = g.live != 0;
            g.live = live;
            if (was != (live != 0)) (was ? g.emptied : g.filled) = at_;
            if (g.parent == no_index || g.mask == 0) return;
            const std::uint64_t above = groups_[g.parent].live;
            if (((above & g.mask) != 0) == (live != 0)) return;
            live = live != 0 ? above | g.mask : above & ~g.mask;
            gi = g.parent;
        }
    }
    void set_due(audit_index c, std::uint64_t due) {
        cpus_[c].due_known = true;
        cpus_[c].due = due;
        sync_waiting(c);
    }
    void forget_due(audit_index c) {
        cpus_[c].due_known = false;
        sync_waiting(c);
    }
    void set_presence(audit_index c, audit_cpu::presence is) {
        cpus_[c].is = is;
        sync_waiting(c);
    }
    void sync_waiting(audit_index c) {
        const audit_cpu& cpu = cpus_[c];
        const bool waits = cpu.is == audit_cpu::presence::asleep && cpu.due_known && cpu.due != event::never;
        const auto found = std::find(waiting_.begin(), waiting_.end(), c);
        if (waits && found == waiting_.end()) waiting_.push_back(c);
        if (!waits && found != waiting_.end()) {
            *found = waiting_.back();
            waiting_.pop_back();
        }
    }
    void drop_tree() {
        ++generation_;
        groups_.clear();
        group_index_.clear();
        cpus_.clear();
        cpu_index_.clear();
        waiting_.clear();
        last_found_ = no_index;
    }

    audit_place at_{};  ///< of the line that is taken in
    std::vector<audit_group> groups_;
    std::vector<audit_cpu> cpus_;
    std::vector<audit_index> waiting_;

private:
    std::size_t generation_ = 0;
    std::vector<audit_index> cpu_index_;
    std::unordered_map<group_id, audit_index> group_index_;
    mutable audit_index last_found_ = no_index;
};

}  // namespace tmigr::detail

#endif
