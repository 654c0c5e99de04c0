// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_COUNTING_TREE_HPP
#define TMIGR_BENCH_PEERS_COUNTING_TREE_HPP

#include "cells.hpp"
#include "fan_tree.hpp"
#include "peer.hpp"

#include <string>

namespace tmigr::peers {

/// A tree of counters, each on a line of its own: how many children are awake. A walk goes on
/// from a node that it made 1 from 0, or 0 from 1. `Swap`: with compare-and-swap, else with
/// the processor's addition where the backend has it.
///
/// Guarantees: `any_active` is exact at rest. Lock-free; with addition wait-free.
/// Does not: name a migrator (a count does not know who), keep expiries. While walks are under
/// way the root may say 0 though somebody is awake, as in every tree where a walk stops at a
/// node that is active already: whoever made it so may still be below.
///
/// Why no version is needed: what a node owes its parent is +1 for every step from 0 to 1 and
/// -1 for every step from 1 to 0, which sums up to whether it is above 0 now, in whatever order
/// the walks get there. In between a count can be below 0, when a -1 overtakes its +1: so
/// counts are signed, and the steps to and from below 0 are told to nobody. (A tree that names
/// a migrator cannot do so: its changes do not commute.)
///
/// Orders: relaxed, since sums commute.
template <class Atomics, unsigned Fan = 8, bool Swap = true>
class counting_tree {
    static_assert(Fan >= 2);

public:
    static const char* name() {
        static const std::string text =
            std::string(Swap ? "counting tree (swaps), " : "counting tree (additions), ") + std::to_string(Fan);
        return text.c_str();
    }

    explicit counting_tree(std::size_t cpus) : tree_(cpus, Fan), nodes_(tree_.size()), cpus_(cpus) {}

    std::size_t cpus() const noexcept { return cpus_; }
    void activate(std::size_t cpu) { walk(cpu, 1, 0); }
    void deactivate(std::size_t cpu) { walk(cpu, -1, 1); }
    bool any_active() const { return nodes_[tree_.root()].cell.load(Atomics::relaxed) > 0; }

private:
    void walk(std::size_t cpu, std::int32_t change, std::int32_t goes_on) {
        for (std::size_t n = tree_.leaf_of(cpu); n != fan_tree::none; n = tree_.parent(n)) {
            if (add(nodes_[n].cell, change) != goes_on) return;
        }
    }
    template <class Cell>
    static std::int32_t add(Cell& cell, std::int32_t change) {
        if constexpr (Swap)
            return swap_loop(cell, [change](std::int32_t c) { return c + change; }, Atomics::relaxed, Atomics::relaxed,
                             Atomics::relaxed);
        else
            return fetch_add(cell, change, Atomics::relaxed, Atomics::relaxed);
    }

    fan_tree tree_;
    std::vector<lone_cell<Atomics, std::int32_t>> nodes_;
    std::size_t cpus_;
};

}  // namespace tmigr::peers

#endif
