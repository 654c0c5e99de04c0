// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_FAN_TREE_HPP
#define TMIGR_BENCH_PEERS_FAN_TREE_HPP

#include <cstddef>
#include <vector>

namespace tmigr::peers {

/// The shape of a full tree over `cpus` leaves of no node: nodes of up to `fan` children each,
/// level by level from the bottom, the root last. A node's children stand side by side.
class fan_tree {
public:
    static constexpr std::size_t none = ~std::size_t{0};

    fan_tree(std::size_t cpus, std::size_t fan) : fan_(fan) {
        std::size_t nodes = (cpus + fan - 1) / fan;
        if (nodes == 0) nodes = 1;
        for (;; nodes = (nodes + fan - 1) / fan) {
            first_.push_back(size_);
            for (std::size_t i = 0; i < nodes; ++i) {
                parent_.push_back(nodes == 1 ? none : size_ + nodes + i / fan);
                level_.push_back(first_.size() - 1);
            }
            size_ += nodes;
            if (nodes == 1) return;
        }
    }

    std::size_t size() const noexcept { return size_; }
    std::size_t root() const noexcept { return size_ - 1; }
    std::size_t levels() const noexcept { return first_.size(); }
    std::size_t leaf_of(std::size_t cpu) const noexcept { return cpu / fan_; }
    std::size_t parent(std::size_t node) const noexcept { return parent_[node]; }
    std::size_t level(std::size_t node) const noexcept { return level_[node]; }
    /// Which of its parent's children a node is.
    std::size_t place(std::size_t node) const noexcept { return (node - first_[level_[node]]) % fan_; }
    /// The child of a node: a CPU of a node at the bottom, else a node.
    std::size_t child(std::size_t node, std::size_t place) const noexcept {
        const std::size_t level = level_[node];
        const std::size_t below = (node - first_[level]) * fan_ + place;
        return level == 0 ? below : first_[level - 1] + below;
    }

private:
    std::size_t fan_, size_ = 0;
    std::vector<std::size_t> first_, parent_, level_;
};

}  // namespace tmigr::peers

#endif
