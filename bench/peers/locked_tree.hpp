// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_LOCKED_TREE_HPP
#define TMIGR_BENCH_PEERS_LOCKED_TREE_HPP

#include "cells.hpp"
#include "fan_tree.hpp"
#include "peer.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <type_traits>

namespace tmigr::peers {

/// A combining tree with a lock per node. A node holds which children are awake, which of
/// them is in charge (the migrator), and, with `Timers`, the earliest expiry of each child:
/// `never` of one that is awake.
///
/// Guarantees: `any_active` and `migrator` are exact at rest; no timer is late; the expiry of
/// a node is the earliest of its sleepers, exactly, but while `run` is under way. Not
/// lock-free: who is stopped with a lock stops all whose way goes there.
///
/// Walks go up hand over hand: the parent is locked before the child is released, so the
/// parent is told of a child's changes in the order in which they happened. Locks are only
/// taken upwards; who goes down holds none. No lock is held while timers run: the sleeper's
/// expiry is taken out before, which is the claim, and put back after, unless the owner wrote
/// one meanwhile. (If that is due already, a second expirer may run it beside the first.)
///
/// A node begins with a line of its own: lock, migrator, mask and, of 8 children with a spin
/// lock, all but the expiries, which are the next line.
///
/// Orders: everything is written under the node's lock. Masks and migrators are atomic, and
/// relaxed, only because `any_active` and `migrator` read them without it.
template <class Atomics, unsigned Fan = 8, bool Timers = true, class Lock = spin_lock<Atomics>>
class locked_tree {
    static_assert(Fan >= 2 && Fan <= 64);
    using mask_type = std::uint64_t;

public:
    static const char* name() {
        static const std::string text = std::string(Timers ? "locked tree, " : "locked tree without timers, ") +
                                        Lock::name + ", " + std::to_string(Fan);
        return text.c_str();
    }

    explicit locked_tree(std::size_t cpus) : tree_(cpus, Fan), nodes_(tree_.size()), cpus_(cpus) {}

    std::size_t cpus() const noexcept { return cpus_; }

    void activate(std::size_t cpu) {
        std::size_t place = cpu % Fan;
        climb(tree_.leaf_of(cpu), [&](node& n, std::size_t at) {
            n.write(place, never);
            const mask_type was = n.awake();
            n.mask.store(was | bit(place), Atomics::relaxed);
            if (was == 0) n.migrator.store(static_cast<std::uint32_t>(place), Atomics::relaxed);
            place = tree_.place(at);
            return was == 0;
        });
    }
    void deactivate(std::size_t cpu)
        requires(!Timers)
    {
        fall_asleep(cpu, never);
    }
    ticks deactivate(std::size_t cpu, ticks due)
        requires Timers
    {
        return fall_asleep(cpu, due);
    }
    ticks new_expiry(std::size_t cpu, ticks due)
        requires Timers
    {
        return tell(cpu, [due](node& n, std::size_t place) {
            n.write(place, due);
            return true;
        });
    }

    bool must_expire(std::size_t cpu, ticks now) const
        requires Timers
    {
        std::size_t place = cpu % Fan;
        for (std::size_t at = tree_.leaf_of(cpu); at != fan_tree::none; at = tree_.parent(at)) {
            node& n = nodes_[at];
            if (!in_charge(n, place)) return false;
            {
                const std::lock_guard held(n.lock);
                if (is_due(n.first(), now)) return true;
            }
            place = tree_.place(at);
        }
        return false;
    }
    template <class Run>
        requires Timers
    ticks expire(std::size_t cpu, ticks now, Run&& run) {
        std::size_t place = cpu % Fan;
        for (std::size_t at = tree_.leaf_of(cpu); at != fan_tree::none; at = tree_.parent(at)) {
            if (!in_charge(nodes_[at], place)) return never;
            expire_below(at, now, run);
            place = tree_.place(at);
        }
        node& root = nodes_[tree_.root()];
        const std::lock_guard held(root.lock);
        return root.awake() == 0 ? root.first() : never;
    }

    ticks earliest() const
        requires Timers
    {
        node& root = nodes_[tree_.root()];
        const std::lock_guard held(root.lock);
        return root.first();
    }
    bool any_active() const { return nodes_[tree_.root()].awake() != 0; }
    std::optional<std::size_t> migrator() const {
        std::size_t at = tree_.root();
        for (std::size_t level = tree_.levels(); level-- > 0;) {
            const std::uint32_t place = nodes_[at].migrator.load(Atomics::relaxed);
            if (place == nobody) return std::nullopt;
            at = tree_.child(at, place);
        }
        return at;
    }

private:
    static constexpr std::uint32_t nobody = ~std::uint32_t{0};
    static constexpr mask_type bit(std::size_t place) noexcept { return mask_type{1} << place; }

    struct alignas(line) plain_node {
        Lock lock;
        typename Atomics::template atomic<std::uint32_t> migrator{nobody};
        typename Atomics::template atomic<mask_type> mask{0};

        mask_type awake() const { return mask.load(Atomics::relaxed); }
        void write(std::size_t, ticks) {}
        ticks first() const { return never; }
    };
    struct timer_node : plain_node {
        std::uint32_t writes[Fan]{};  // by which an expirer knows whether the owner wrote
        alignas(line) ticks due[Fan];

        timer_node() { std::fill_n(due, Fan, never); }
        void write(std::size_t place, ticks at) {
            due[place] = at;
            ++writes[place];
        }
        ticks first() const { return *std::min_element(due, due + Fan); }
    };
    using node = std::conditional_t<Timers, timer_node, plain_node>;
    static_assert(Fan != 8 || !Timers || sizeof(Lock) > 4 || sizeof(node) == 2 * line);

    /// Calls `step(node, index)` with the node locked, from `at` upwards while it says so.
    template <class Step>
    void climb(std::size_t at, Step step) {
        nodes_[at].lock.lock();
        for (;;) {
            const bool goes_on = step(nodes_[at], at);
            const std::size_t up = tree_.parent(at);
            if (!goes_on || up == fan_tree::none) return nodes_[at].lock.unlock();
            nodes_[up].lock.lock();
            nodes_[at].lock.unlock();
            at = up;
        }
    }
    ticks fall_asleep(std::size_t cpu, ticks offer) {
        std::size_t place = cpu % Fan;
        ticks arm = never;
        climb(tree_.leaf_of(cpu), [&](node& n, std::size_t at) {
            n.write(place, offer);
            const mask_type left = n.awake() & ~bit(place);
            n.mask.store(left, Atomics::relaxed);
            if (n.migrator.load(Atomics::relaxed) == place)
                n.migrator.store(left == 0 ? nobody : static_cast<std::uint32_t>(std::countr_zero(left)),
                                 Atomics::relaxed);
            if (left != 0) return false;
            offer = n.first();
            if (at == tree_.root()) arm = offer;
            place = tree_.place(at);
            return true;
        });
        return arm;
    }
    /// `change` writes the sleeping CPU's expiry, or says that it need not be; the nodes above
    /// are told as far as they are idle. Returns what is to be armed.
    template <class Change>
    ticks tell(std::size_t cpu, Change change) {
        const std::size_t leaf = tree_.leaf_of(cpu);
        std::size_t place = cpu % Fan;
        ticks offer = never, arm = never;
        climb(leaf, [&](node& n, std::size_t at) {
            if (at == leaf) {
                if (!change(n, place)) return false;
            } else {
                n.write(place, offer);
            }
            if (n.awake() != 0) return false;
            offer = n.first();
            if (at == tree_.root()) arm = offer;
            place = tree_.place(at);
            return true;
        });
        return arm;
    }

    bool in_charge(const node& n, std::size_t place) const {
        const std::uint32_t migrator = n.migrator.load(Atomics::relaxed);
        return migrator == nobody || migrator == place;
    }
    template <class Run>
    void expire_below(std::size_t at, ticks now, Run& run) {
        node& n = nodes_[at];
        mask_type due = 0;
        {
            const std::lock_guard held(n.lock);
            for (std::size_t place = 0; place < Fan; ++place)
                if (is_due(n.due[place], now)) due |= bit(place);
        }
        for (; due != 0; due &= due - 1) {
            const auto place = static_cast<std::size_t>(std::countr_zero(due));
            const std::size_t child = tree_.child(at, place);
            if (tree_.level(at) > 0)
                expire_below(child, now, run);
            else
                expire_cpu(n, place, child, now, run);
        }
    }
    template <class Run>
    void expire_cpu(node& leaf, std::size_t place, std::size_t cpu, ticks now, Run& run) {
        std::uint32_t mine = 0;
        {
            const std::lock_guard held(leaf.lock);
            if (!is_due(leaf.due[place], now)) return;  // woke, or another expirer has it
            leaf.write(place, never);
            mine = leaf.writes[place];
        }
        const ticks next = run(cpu, now);
        tell(cpu, [&](node& n, std::size_t p) {
            if (n.writes[p] != mine) return false;
            n.write(p, next);
            return true;
        });
    }

    fan_tree tree_;
    mutable std::vector<node> nodes_;
    std::size_t cpus_;
};

}  // namespace tmigr::peers

#endif
