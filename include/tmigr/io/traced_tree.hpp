// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_TRACED_TREE_HPP
#define TMIGR_IO_TRACED_TREE_HPP

#include <tmigr/detail/hex.hpp>
#include <tmigr/io/ftrace.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace tmigr {

/// A group as a trace tells of it.
struct traced_group {
    group_id id = no_group;
    unsigned lvl = 0;
    family_id numa = no_family;
    group_id parent = no_group;    ///< `no_group` while it is a root
    std::uint64_t groupmask = 0;   ///< its bit in the parent, 0 while it has none
    std::vector<group_id> groups;  ///< children in order of connection; none at level 0
    std::vector<cpu_id> cpus;      ///< the same, at level 0
    std::uint64_t childmasks = 0;  ///< the bits of all children
};

/// A CPU as a trace tells of it.
struct traced_cpu {
    cpu_id id = 0;
    group_id parent = no_group;
    std::uint64_t groupmask = 0;
    unsigned capacity = max_capacity;
};

/// The tree that tmigr_group_set and tmigr_connect_* lines describe; built line by line.
///
/// A plain value, not thread-safe. Every line is held against those before it.
class traced_tree {
public:
    /// Takes in what one line tells; lines of other events change nothing.
    ///
    /// Throws `input_error` (without place; `read_traced_tree` adds it) and changes
    /// nothing when the line contradicts those before: a group made twice; a link from
    /// or to a group that was not made; a second parent; a parent not one level up, or of
    /// another level or node than the line says; a mask that is not one bit or is
    /// taken; fewer children said to be there than there are.
    void add(const ftrace_event& line) {
        std::visit([this](const auto& event) { take(event); }, line);
    }

    /// All groups in the order in which they were made.
    std::span<const traced_group> groups() const noexcept { return groups_; }
    /// All CPUs in the order in which they connected.
    std::span<const traced_cpu> cpus() const noexcept { return cpus_; }

    /// The group or CPU of that name, or null; valid until the next `add`.
    const traced_group* find(group_id id) const {
        const auto found = group_index_.find(id);
        return found == group_index_.end() ? nullptr : &groups_[found->second];
    }
    const traced_cpu* find_cpu(cpu_id id) const {
        const auto found = cpu_index_.find(id);
        return found == cpu_index_.end() ? nullptr : &cpus_[found->second];
    }

    /// Groups without parent, in the order in which they were made; one in a whole trace.
    std::vector<group_id> roots() const {
        std::vector<group_id> found;
        for (const traced_group& group : groups_)
            if (group.parent == no_group) found.push_back(group.id);
        return found;
    }

private:
    template <class Other>
    void take(const Other&) {}

    void take(const event::group_set& made) {
        check(!group_index_.contains(made.group), detail::hex(made.group), "a group that was not made before");
        group_index_.emplace(made.group, groups_.size());
        groups_.push_back({made.group, made.lvl, made.numa, no_group, 0, {}, {}, 0});
    }
    void take(const event::connect_child_parent& link) {
        traced_group* const child = known(link.group);
        check(child->parent == no_group, detail::hex(link.group),
              "a group without parent (its parent is " + detail::hex(child->parent) + ")");
        traced_group* const parent = known(link.parent);
        check(parent->lvl == child->lvl + 1, std::to_string(parent->lvl),
              "a parent of level " + std::to_string(child->lvl + 1));
        join(*parent, link, parent->groups.size());
        parent->groups.push_back(link.group);
        child->parent = link.parent;
        child->groupmask = link.groupmask;
    }
    void take(const event::connect_cpu_parent& link) {
        check(!cpu_index_.contains(link.cpu), std::to_string(link.cpu),
              "a CPU that was not connected before");
        traced_group* const parent = known(link.parent);
        check(parent->lvl == 0, std::to_string(parent->lvl), "a group of level 0 as parent of a CPU");
        join(*parent, link, parent->cpus.size());
        cpu_index_.emplace(link.cpu, cpus_.size());
        cpus_.push_back({link.cpu, link.parent, link.groupmask, link.capacity});
        parent->cpus.push_back(link.cpu);
    }

    template <class Link>
    static void join(traced_group& parent, const Link& link, std::size_t children) {
        check(link.lvl == parent.lvl, std::to_string(link.lvl),
              "lvl=" + std::to_string(parent.lvl) + ", as the parent was made");
        check(link.numa == parent.numa, std::to_string(link.numa),
              "numa=" + std::to_string(parent.numa) + ", as the parent was made");
        check(std::has_single_bit(link.groupmask), detail::hex(link.groupmask), "groupmask= with one bit");
        check((parent.childmasks & link.groupmask) == 0, detail::hex(link.groupmask),
              "groupmask= with a bit that no other child has");
        // It may be more: a new root counts the old one in before that is connected.
        check(link.num_children > children, std::to_string(link.num_children),
              "num_children= of at least " + std::to_string(children + 1));
        parent.childmasks |= link.groupmask;
    }

    traced_group* known(group_id id) {
        const auto found = group_index_.find(id);
        check(found != group_index_.end(), detail::hex(id), "a group that was made before");
        return &groups_[found->second];
    }
    static void check(bool good, const std::string& value, const std::string& expected) {
        if (!good) throw input_error(value, expected);
    }
    std::vector<traced_group> groups_;
    std::vector<traced_cpu> cpus_;
    std::unordered_map<group_id, std::size_t> group_index_;
    std::unordered_map<cpu_id, std::size_t> cpu_index_;
};

/// The tree that a trace describes. `name` is for errors.
///
/// Throws `input_error` as `ftrace_reader` does, with the line that contradicts those before
/// it (see `traced_tree::add`), and when there is no line that connects anything.
inline traced_tree read_traced_tree(std::istream& in, const std::string& name) {
    traced_tree tree;
    ftrace_reader reader{in, name};
    while (const auto record = reader.next()) {
        try {
            tree.add(record->event);
        } catch (const input_error& error) {
            throw error.at(name, record->line);
        }
    }
    if (tree.cpus().empty())
        throw input_error("a trace without any", std::string{"lines of "} + event::connect_cpu_parent::name,
                          name);
    return tree;
}

/// The same, from a file.
inline traced_tree read_traced_tree(const std::filesystem::path& path) {
    std::ifstream in = detail::open_input(path);
    return read_traced_tree(in, path.string());
}

}  // namespace tmigr

#endif
