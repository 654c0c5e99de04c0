// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_LINUX_EVENTS_HPP
#define TMIGR_BENCH_PEERS_LINUX_EVENTS_HPP

#include "cells.hpp"
#include "event_queues.hpp"
#include "fan_tree.hpp"
#include "peer.hpp"

#include <tmigr/state.hpp>

#include <optional>
#include <string>

namespace tmigr::peers {

/// Linux's way to keep expiries, on Linux's words: active, migrator and seq by
/// compare-and-swap, and beside them in each group a lock and an ordered queue with an event
/// for each child that offers something. An event that became void is only marked as ignored,
/// without the lock, and thrown away by whoever meets it at the head. The event of a group
/// names the CPU that its earliest is of, so an expirer need not go down.
///
/// Guarantees: `any_active` and `migrator` are exact at rest; no timer is late. `must_expire`
/// takes no lock, all else may wait: for a CPU's lock (its owner holds it while it walks, an
/// expirer while it puts back), then for groups', the lower before the upper.
///
/// Differs from Linux where that loses timers: an event is published before the bit is
/// cleared, and an expirer puts back what the owner wrote meanwhile, if it did. Nobody runs a
/// CPU's timers while another does.
///
/// Why marking without the lock loses nothing: who marks a group's event has made the group
/// active and has not slept since, so the event cannot be published as valid in the meantime
/// but by one who saw the group as it was before; that is early.
///
/// A group's word, and what is read without the lock, are on one line, lock and queue begin
/// another, and so does the event, which is written with the parent's lock.
///
/// Orders: seq_cst for words, as Linux's swaps are. The flags that mark events and the copy of
/// the head's expiry are relaxed: stale is early. Who publishes reads the word with the lock
/// still held; who clears a bit takes the lock afterwards: one of them sees the other.
///
/// Source: what is published about Linux 6.9 and newer, kernel/time/timer_migration.c.
template <class Atomics, class Queues = tree_queues, class Lock = spin_lock<Atomics>>
class linux_events {
    using event = typename Queues::template event<Atomics>;
    using queue = typename Queues::template queue<event>;
    using state = state32;
    using mask_type = state::mask_type;
    static constexpr std::size_t fan = state::children;

public:
    static const char* name() {
        static const std::string text = std::string("Linux-like, ") + Queues::name + ", " + Lock::name;
        return text.c_str();
    }

    explicit linux_events(std::size_t cpus)
        : tree_(cpus, fan), groups_(tree_.size()), seats_(cpus), cpus_(cpus) {
        for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
            seats_[cpu].leaf = &groups_[tree_.leaf_of(cpu)];
            seats_[cpu].mask = bit(cpu % fan);
            seats_[cpu].offer.cpu = cpu;
        }
        for (std::size_t g = 0; g < tree_.size(); ++g) {
            if (tree_.parent(g) == fan_tree::none) continue;
            groups_[g].parent = &groups_[tree_.parent(g)];
            groups_[g].mask = bit(tree_.place(g));
        }
    }
    ~linux_events() {
        for (group& g : groups_) g.events.clear();
    }
    linux_events(const linux_events&) = delete;
    linux_events& operator=(const linux_events&) = delete;

    std::size_t cpus() const noexcept { return cpus_; }

    void activate(std::size_t cpu) {
        seat& me = seats_[cpu];
        const std::lock_guard held(me.lock);
        me.idle = false;
        ++me.writes;
        me.offer.ignore.store(1, Atomics::relaxed);
        mask_type child = me.mask;
        for (group* g = me.leaf; g != nullptr; child = g->mask, g = g->parent) {
            state seen = g->word.load(Atomics::relaxed);  // a first guess, the swap decides
            while (!g->word.compare_exchange_weak(seen, seen.activated(child, pick::first), Atomics::seq_cst,
                                                  Atomics::relaxed)) {
            }
            if (seen.has_migrator()) return;
            g->offer.ignore.store(1, Atomics::relaxed);
        }
    }

    ticks deactivate(std::size_t cpu, ticks due) {
        seat& me = seats_[cpu];
        const std::lock_guard held(me.lock);
        me.idle = true;
        ++me.writes;
        publish(me, due);
        mask_type child = me.mask;
        group* below = nullptr;
        for (group* g = me.leaf;; child = g->mask, below = g, g = g->parent) {
            if (below != nullptr) publish(*below);
            state seen = g->word.load(Atomics::seq_cst), next;
            do {
                // The group below may be awake again; then its bit stays.
                const bool awake = below != nullptr && below->word.load(Atomics::seq_cst).is_active();
                next = awake ? seen.touched() : seen.deactivated(child);
            } while (!g->word.compare_exchange_weak(seen, next, Atomics::seq_cst, Atomics::seq_cst));
            if (next.is_active()) return never;
            if (g->parent == nullptr) {
                const std::lock_guard locked(g->lock);
                return settle(*g);
            }
        }
    }
    ticks new_expiry(std::size_t cpu, ticks due) {
        seat& me = seats_[cpu];
        const std::lock_guard held(me.lock);
        ++me.writes;
        return tell(me, due);
    }

    bool must_expire(std::size_t cpu, ticks now) const {
        mask_type child = seats_[cpu].mask;
        for (const group* g = seats_[cpu].leaf; g != nullptr; child = g->mask, g = g->parent) {
            if (!in_charge(*g, child)) return false;
            if (is_due(g->next.load(Atomics::relaxed), now)) return true;
        }
        return false;
    }
    template <class Run>
    ticks expire(std::size_t cpu, ticks now, Run&& run) {
        mask_type child = seats_[cpu].mask;
        group* g = seats_[cpu].leaf;
        for (;; child = g->mask, g = g->parent) {
            if (!in_charge(*g, child)) return never;
            while (const std::optional<std::size_t> sleeper = take_due(*g, now)) expire_cpu(seats_[*sleeper], now, run);
            if (g->parent == nullptr) break;
        }
        const std::lock_guard held(g->lock);
        return g->word.load(Atomics::seq_cst).is_active() ? never : settle(*g);
    }

    ticks earliest() const {
        group& root = groups_[tree_.root()];
        const std::lock_guard held(root.lock);
        return settle(root);
    }
    bool any_active() const { return groups_[tree_.root()].word.load(Atomics::relaxed).is_active(); }
    std::optional<std::size_t> migrator() const {
        std::size_t at = tree_.root();
        for (std::size_t level = tree_.levels(); level-- > 0;) {
            const state word = groups_[at].word.load(Atomics::relaxed);
            if (!word.has_migrator()) return std::nullopt;
            at = tree_.child(at, state::place(word.migrator()));
        }
        return at;
    }

private:
    static constexpr mask_type bit(std::size_t place) noexcept { return static_cast<mask_type>(1u << place); }

    struct alignas(line) group {
        typename Atomics::template atomic<state> word{state{}};
        typename Atomics::template atomic<ticks> next{never};  // of the head, for who has no lock
        group* parent = nullptr;
        mask_type mask = 0;
        alignas(line) Lock lock;
        queue events;
        alignas(line) event offer;  // in the parent's queue, with the parent's lock
    };
    struct alignas(line) seat {
        Lock lock;
        bool idle = true, remote = false;  // remote: an expirer is at work on it
        std::uint32_t writes = 0;          // the owner's
        group* leaf = nullptr;
        mask_type mask = 0;
        event offer;  // in the leaf's queue, with the leaf's lock
    };

    // All that is below up to `publish` is called with the group's lock held.

    static void remove(group& g, event& e) {
        g.events.erase(e);
        e.queued = false;
    }
    /// Throws away ignored events at the head. Returns the expiry of the head.
    static ticks settle(group& g) {
        event* head = g.events.first();
        for (; head != nullptr && head->ignore.load(Atomics::relaxed) != 0; head = g.events.first()) remove(g, *head);
        const ticks first = head != nullptr ? head->expires : never;
        g.next.store(first, Atomics::relaxed);
        return first;
    }
    static void enqueue(group& g, event& e, ticks expires, std::size_t cpu, bool ignore) {
        if (e.queued && (ignore || e.expires != expires)) remove(g, e);
        e.expires = expires;
        e.cpu = cpu;
        e.ignore.store(ignore ? 1 : 0, Atomics::relaxed);
        if (!ignore && !e.queued) {
            g.events.insert(e);
            e.queued = true;
        }
        settle(g);
    }

    struct published {
        bool active;
        ticks first;
    };
    static published look(const group& g) {
        return {g.word.load(Atomics::seq_cst).is_active(), g.next.load(Atomics::relaxed)};
    }

    /// The CPU's event in its leaf. The CPU's lock is held.
    static published publish(seat& cpu, ticks due) {
        group& leaf = *cpu.leaf;
        const std::lock_guard held(leaf.lock);
        enqueue(leaf, cpu.offer, due, cpu.offer.cpu, due == never);
        return look(leaf);
    }
    /// The group's event in its parent.
    static published publish(group& g) {
        group& up = *g.parent;
        const std::lock_guard lower(g.lock);
        const std::lock_guard upper(up.lock);
        const ticks first = settle(g);
        const std::size_t cpu = first != never ? g.events.first()->cpu : 0;
        enqueue(up, g.offer, first, cpu, first == never || g.word.load(Atomics::seq_cst).is_active());
        return look(up);
    }
    /// Tells of a sleeping CPU's expiry as far up as all are idle; returns what is to be armed.
    static ticks tell(seat& cpu, ticks due) {
        published seen = publish(cpu, due);
        group* g = cpu.leaf;
        for (; !seen.active && g->parent != nullptr; g = g->parent) seen = publish(*g);
        return seen.active ? never : seen.first;
    }

    static bool in_charge(const group& g, mask_type child) {
        const state word = g.word.load(Atomics::relaxed);
        return !word.has_migrator() || word.migrator() == child;
    }
    std::optional<std::size_t> take_due(group& g, ticks now) {
        const std::lock_guard held(g.lock);
        if (!is_due(settle(g), now)) return std::nullopt;
        event& head = *g.events.first();
        remove(g, head);
        settle(g);
        return head.cpu;
    }
    /// Whoever returns early leaves it to the CPU's owner or to another expirer to publish what
    /// the groups above have forgotten of the CPU meanwhile.
    template <class Run>
    void expire_cpu(seat& sleeper, ticks now, Run& run) {
        std::uint32_t seen = 0;
        {
            const std::lock_guard held(sleeper.lock);
            if (!sleeper.idle || sleeper.remote || !is_due(sleeper.offer.expires, now)) return;
            sleeper.remote = true;
            seen = sleeper.writes;
        }
        const ticks next = run(static_cast<std::size_t>(&sleeper - seats_.data()), now);
        const std::lock_guard held(sleeper.lock);
        sleeper.remote = false;
        if (sleeper.idle) tell(sleeper, sleeper.writes == seen ? next : sleeper.offer.expires);
    }

    fan_tree tree_;
    mutable std::vector<group> groups_;
    std::vector<seat> seats_;
    std::size_t cpus_;
};

}  // namespace tmigr::peers

#endif
