// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TOPOLOGY_HPP
#define TMIGR_TOPOLOGY_HPP

#include <tmigr/input_error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tmigr {

/// Number of a CPU as the kernel (or the simulator) counts it; may have holes.
using cpu_id = std::uint32_t;
/// Number of a NUMA node; `no_node` where the firmware names none.
using node_id = std::int32_t;
/// CPUs of one family share groups below the cross-family level.
using family_id = std::int32_t;

inline constexpr cpu_id max_cpu_id = (1u << 20) - 1;
inline constexpr node_id max_node_id = (1 << 20) - 1;
inline constexpr node_id no_node = -1;
inline constexpr family_id no_family = -1;
/// Capacity of the biggest CPU, as Linux scales it.
inline constexpr unsigned max_capacity = 1024;
/// Number of a cache or core that nobody named.
inline constexpr std::uint32_t no_locality = 0xffffffff;

struct cpu_info {
    cpu_id id = 0;
    node_id node = no_node;
    unsigned capacity = max_capacity;  ///< 1..1024
    family_id family = node;           ///< the node, unless families are assigned
    std::uint32_t cache = no_locality;  ///< CPUs of one number share a cache
    std::uint32_t core = no_locality;   ///< CPUs of one number are threads of a core

    friend bool operator==(const cpu_info&, const cpu_info&) = default;
};

/// The CPUs of a machine in the order in which they arrive in the hierarchy.
///
/// A plain value: copy it, change it, hand it to a builder. Not thread-safe.
/// Every function that takes numbers throws `input_error` and changes nothing
/// when one is out of range.
class topology {
public:
    /// Appends a CPU. Throws when the id is taken or above `max_cpu_id`, the node
    /// is neither `no_node` nor in 0..`max_node_id`, or the capacity is not in 1..1024.
    void add(cpu_id id, node_id node = no_node, unsigned capacity = max_capacity) {
        if (id > max_cpu_id)
            throw input_error(std::to_string(id), "a CPU number from 0 to " + std::to_string(max_cpu_id));
        if (node < no_node || node > max_node_id)
            throw input_error(std::to_string(node), "a node number from 0 to " + std::to_string(max_node_id) +
                                                        ", or -1 for none");
        if (capacity < 1 || capacity > max_capacity)
            throw input_error(std::to_string(capacity),
                              "a capacity from 1 to " + std::to_string(max_capacity));
        if (index_.contains(id))
            throw input_error(std::to_string(id), "a CPU number that was not used before");
        cpus_.push_back({id, node, capacity, node});
        try {
            index_.emplace(id, cpus_.size() - 1);
        } catch (...) {
            cpus_.pop_back();
            throw;
        }
    }

    /// The CPUs in order of arrival.
    std::span<const cpu_info> cpus() const noexcept { return cpus_; }
    std::size_t size() const noexcept { return cpus_.size(); }
    bool empty() const noexcept { return cpus_.empty(); }

    bool contains(cpu_id id) const { return index_.contains(id); }

    /// Throws `input_error` when there is no such CPU.
    const cpu_info& cpu(cpu_id id) const {
        return cpus_[index_of(id)];
    }

    /// Puts the named CPUs first, in the order given; the others follow as they were.
    void arrive_in_order(std::span<const cpu_id> first) {
        std::vector<cpu_info> reordered;
        reordered.reserve(cpus_.size());
        std::set<cpu_id> named;
        for (cpu_id id : first) {
            const cpu_info& info = cpu(id);
            if (!named.insert(id).second)
                throw input_error(std::to_string(id), "each CPU at most once in an order of arrival");
            reordered.push_back(info);
        }
        for (const cpu_info& info : cpus_)
            if (!named.contains(info.id)) reordered.push_back(info);
        cpus_ = std::move(reordered);
        for (std::size_t i = 0; i < cpus_.size(); ++i) index_.at(cpus_[i].id) = i;
    }

    /// Assigns `family_of(cpu)` to every CPU; the default family is the node.
    template <class FamilyOf>
    void assign_families(FamilyOf&& family_of) {
        for (cpu_info& info : cpus_) info.family = family_of(std::as_const(info));
    }

    /// CPUs and nodes that the machine could have, present or not; Linux sizes the
    /// tree by these. Raised to what is present when smaller.
    void set_possible(std::size_t cpus, std::size_t nodes) noexcept {
        possible_cpus_ = cpus;
        possible_nodes_ = nodes;
    }
    std::size_t possible_cpus() const noexcept { return std::max(possible_cpus_, cpus_.size()); }
    std::size_t possible_nodes() const { return std::max({possible_nodes_, node_count(), std::size_t{1}}); }

    /// Distinct nodes among the CPUs; CPUs without a node do not count.
    std::size_t node_count() const {
        std::set<node_id> nodes;
        for (const cpu_info& info : cpus_)
            if (info.node != no_node) nodes.insert(info.node);
        return nodes.size();
    }
    /// Distinct families among the CPUs; "no family" counts as one where it occurs.
    std::size_t family_count() const {
        std::set<family_id> families;
        for (const cpu_info& info : cpus_) families.insert(info.family);
        return families.size();
    }
    /// The distinct capacities, smallest first: the index is the capacity rank.
    std::vector<unsigned> capacities() const {
        std::set<unsigned> distinct;
        for (const cpu_info& info : cpus_) distinct.insert(info.capacity);
        return {distinct.begin(), distinct.end()};
    }
    /// How many classes of CPUs there are: distinct capacities.
    std::size_t class_count() const { return capacities().size(); }
    /// How many CPUs the capacity with the most of them has; 0 without CPUs.
    std::size_t largest_class() const {
        std::map<unsigned, std::size_t> members;
        std::size_t largest = 0;
        for (const cpu_info& info : cpus_) largest = std::max(largest, ++members[info.capacity]);
        return largest;
    }
    /// Position of a capacity in `possible_capacities()`: the smallest has rank 0. Throws
    /// `input_error` when no CPU has it and it was not announced.
    std::size_t capacity_rank(unsigned capacity) const {
        const std::vector<unsigned> all = possible_capacities();
        const auto found = std::lower_bound(all.begin(), all.end(), capacity);
        if (found == all.end() || *found != capacity)
            throw input_error(std::to_string(capacity), "a capacity of this machine");
        return static_cast<std::size_t>(found - all.begin());
    }

    /// Announces capacities of CPUs that may come later, so that a tree that goes by capacity
    /// keeps ranks for them. Throws when one is not in 1..1024.
    void set_possible_capacities(std::span<const unsigned> announced) {
        for (const unsigned capacity : announced)
            if (capacity < 1 || capacity > max_capacity)
                throw input_error(std::to_string(capacity),
                                  "a capacity from 1 to " + std::to_string(max_capacity));
        announced_.assign(announced.begin(), announced.end());
    }
    /// The capacities of the CPUs and those announced, smallest first.
    std::vector<unsigned> possible_capacities() const {
        std::set<unsigned> distinct(announced_.begin(), announced_.end());
        for (const cpu_info& info : cpus_) distinct.insert(info.capacity);
        return {distinct.begin(), distinct.end()};
    }

    /// Says what `id` shares with others; see `cpu_info`. Throws when there is no such CPU.
    void set_locality(cpu_id id, std::uint32_t cache, std::uint32_t core) {
        cpu_info& info = cpus_[index_of(id)];
        info.cache = cache;
        info.core = core;
    }

    /// Names the full-dynticks CPUs (`nohz_full=`). Throws when there is no such CPU.
    void set_full_dynticks(std::span<const cpu_id> ids) {
        for (const cpu_id id : ids) static_cast<void>(index_of(id));
        full_dynticks_.clear();
        full_dynticks_.insert(ids.begin(), ids.end());
    }
    const std::set<cpu_id>& full_dynticks() const noexcept { return full_dynticks_; }

private:
    std::size_t index_of(cpu_id id) const {
        const auto found = index_.find(id);
        if (found == index_.end())
            throw input_error(std::to_string(id), "the number of a CPU of this machine");
        return found->second;
    }

    std::vector<cpu_info> cpus_;
    std::unordered_map<cpu_id, std::size_t> index_;
    std::size_t possible_cpus_ = 0;
    std::size_t possible_nodes_ = 0;
    std::vector<unsigned> announced_;
    std::set<cpu_id> full_dynticks_;
};

}  // namespace tmigr

#endif
