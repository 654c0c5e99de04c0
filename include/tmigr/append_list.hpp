// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_APPEND_LIST_HPP
#define TMIGR_APPEND_LIST_HPP

#include <tmigr/config.hpp>

namespace tmigr {

/// A list that only grows: one thread at a time adds to its end while any number read it, and
/// nobody waits. Nodes belong to somebody else, stay where they are, and have a member
/// `append_link<Config, Node> link`.
///
/// Reading is wait-free, one load for each node passed.
template <hierarchy_config Config, class Node>
class append_link {
    template <hierarchy_config, class>
    friend class append_list;
    typename Config::atomics::template atomic<Node*> next_{nullptr};
};

template <hierarchy_config Config, class Node>
class append_list {
public:
    append_list() noexcept = default;
    append_list(const append_list&) = delete;
    append_list& operator=(const append_list&) = delete;

    /// Called by one thread at a time.
    void add(Node& node) noexcept {
        // (G7) release store of a link; pairs with (P3).
        //      carries: the node as it was made: a CPU's seat, a family, or a tree's first CPU.
        //      killed by: roster_store_relaxed
        (last_ == nullptr ? first_.next_ : last_->link.next_).store(&node, Config::orders::roster_store);
        last_ = &node;
    }

    /// The node added first; null while there is none.
    Node* first() const noexcept { return after(first_); }
    /// The one added after `node`; null while that is the last.
    Node* next(const Node& node) const noexcept { return after(node.link); }
    bool empty() const noexcept { return last_ == nullptr; }  ///< for the one who adds

    /// Forgets all nodes. For times when nobody reads.
    void clear() noexcept {
        // (G7) release store of a link: the same cells, nobody to order against.
        for (Node* node = first(); node != nullptr;) {
            Node* const following = next(*node);
            node->link.next_.store(nullptr, Config::orders::roster_store);
            node = following;
        }
        first_.next_.store(nullptr, Config::orders::roster_store);
        last_ = nullptr;
    }

private:
    static Node* after(const append_link<Config, Node>& link) noexcept {
        // (P3) acquire load of a link; pairs with (G7).
        //      sees: the node as it was made, and what it refers to.
        //      killed by: roster_load_relaxed
        return link.next_.load(Config::orders::roster_load);
    }

    append_link<Config, Node> first_;
    Node* last_ = nullptr;  ///< of the one who adds
};

}  // namespace tmigr

#endif
