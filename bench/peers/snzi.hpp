// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_SNZI_HPP
#define TMIGR_BENCH_PEERS_SNZI_HPP

#include "cells.hpp"
#include "fan_tree.hpp"
#include "peer.hpp"

#include <string>

namespace tmigr::peers {

/// Scalable non-zero indicator: a tree in which a node's surplus stands for one of its
/// parent's. A CPU that wakes arrives at its leaf, one that falls asleep departs from it.
///
/// Guarantees: `any_active` is exact, at rest and not (linearizable). Lock-free.
/// Does not: name a migrator, keep expiries, tell who was the last to depart.
///
/// A node counts in halves. Its first arrival puts 1/2 there, arrives at the parent, and only
/// then makes it 1; others that meet the 1/2 help, and take back what they arrived too much.
/// So nobody stops at a node whose surplus the parent does not know. The root announces that
/// its count left 0 by a bit that stays until the indicator, a word of its own, is set.
/// Departures clear the indicator only if the root's version is still theirs.
///
/// Source: Ellen, Lev, Luchangco, Moir: SNZI: Scalable NonZero Indicators (PODC 2007). The
/// indicator is written there by load-linked and store-conditional; here by compare-and-swap
/// with a version in the word.
///
/// Nodes and indicator are each on a line of their own. Orders: seq_cst, which is what the
/// paper's proof assumes.
template <class Atomics, unsigned Fan = 2>
class snzi {
    static_assert(Fan >= 2);
    using word_type = std::uint64_t;

public:
    static const char* name() {
        static const std::string text = "SNZI, " + std::to_string(Fan);
        return text.c_str();
    }

    explicit snzi(std::size_t cpus) : tree_(cpus, Fan), nodes_(tree_.size()), cpus_(cpus) {}

    std::size_t cpus() const noexcept { return cpus_; }
    void activate(std::size_t cpu) { arrive(tree_.leaf_of(cpu)); }
    void deactivate(std::size_t cpu) { depart(tree_.leaf_of(cpu)); }
    bool any_active() const { return (indicator_.cell.load(Atomics::seq_cst) & 1) != 0; }

private:
    // A node:  halves (32 bits), version (32).   The root:  count (31), announce (1), version (32).
    // The indicator:  set (1), version (63).
    static constexpr word_type low = 0xffffffff, version_one = word_type{1} << 32;
    static constexpr word_type announce = word_type{1} << 31;
    static constexpr word_type count_of(word_type root) noexcept { return root & (announce - 1); }

    template <class Cell>
    static bool swap(Cell& cell, word_type& seen, word_type next) {
        return cell.compare_exchange_strong(seen, next, Atomics::seq_cst, Atomics::seq_cst);
    }

    void arrive(std::size_t n) {
        if (n == tree_.root()) return arrive_root();
        auto& cell = nodes_[n].cell;
        bool arrived = false;
        unsigned too_many = 0;
        word_type seen = cell.load(Atomics::seq_cst);
        while (!arrived) {
            if ((seen & low) >= 2) {
                arrived = swap(cell, seen, seen + 2);
                continue;
            }
            if ((seen & low) == 0) {
                const word_type half = seen + version_one + 1;
                if (!swap(cell, seen, half)) continue;
                arrived = true;
                seen = half;
            }
            // Half: the parent has to know first.
            arrive(tree_.parent(n));
            if (!swap(cell, seen, seen + 1)) ++too_many;
            else seen = seen + 1;
        }
        for (; too_many > 0; --too_many) depart(tree_.parent(n));
    }
    void depart(std::size_t n) {
        for (; n != tree_.root(); n = tree_.parent(n)) {
            auto& cell = nodes_[n].cell;
            word_type seen = cell.load(Atomics::seq_cst);
            while (!swap(cell, seen, seen - 2)) {
            }
            if ((seen & low) != 2) return;
        }
        depart_root();
    }

    void arrive_root() {
        auto& root = nodes_[tree_.root()].cell;
        word_type seen = root.load(Atomics::seq_cst);
        word_type next;
        do next = count_of(seen) == 0 ? ((seen & ~low) + version_one) | announce | 1 : seen + 1;
        while (!swap(root, seen, next));
        if ((next & announce) == 0) return;
        word_type shown = indicator_.cell.load(Atomics::seq_cst);
        while (!swap(indicator_.cell, shown, (shown | 1) + 2)) {
        }
        // Fails when another did it, or others came: then they announce as well.
        swap(root, next, next & ~announce);
    }
    void depart_root() {
        auto& root = nodes_[tree_.root()].cell;
        word_type seen = root.load(Atomics::seq_cst);
        while (!swap(root, seen, (seen - 1) & ~announce)) {
        }
        if (count_of(seen) >= 2) return;
        const word_type version = seen >> 32;
        word_type shown = indicator_.cell.load(Atomics::seq_cst);
        do {
            if (root.load(Atomics::seq_cst) >> 32 != version) return;
        } while (!swap(indicator_.cell, shown, (shown & ~word_type{1}) + 2));
    }

    fan_tree tree_;
    std::vector<lone_cell<Atomics, word_type>> nodes_;
    lone_cell<Atomics, word_type> indicator_;
    std::size_t cpus_;
};

}  // namespace tmigr::peers

#endif
