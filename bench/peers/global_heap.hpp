// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_GLOBAL_HEAP_HPP
#define TMIGR_BENCH_PEERS_GLOBAL_HEAP_HPP

#include "cells.hpp"
#include "peer.hpp"

#include <bit>
#include <optional>
#include <string>
#include <utility>

namespace tmigr::peers {

/// One lock for everything: a binary heap of the sleepers' expiries that knows each CPU's
/// place, a bitmap of who is awake, and who of them is in charge.
///
/// Guarantees: `any_active`, `migrator` and `earliest` are exact, at rest and not (but while
/// `run` is under way, when a sleeper's expiry is out of the heap); no timer is late. Not
/// lock-free. `any_active`, `migrator`, `earliest` and `must_expire` take no lock. (A CPU that
/// wakes and sleeps again while its timers are run may have them run by a second expirer.)
///
/// The lock has a line of its own, what is read without it another.
///
/// Orders: all is written under the lock; what is read without it is relaxed.
template <class Atomics, class Lock = spin_lock<Atomics>>
class global_heap {
public:
    static const char* name() {
        static const std::string text = std::string("heap under one ") + Lock::name;
        return text.c_str();
    }

    explicit global_heap(std::size_t cpus) : awake_((cpus + 63) / 64), seats_(cpus), cpus_(cpus) {
        heap_.reserve(cpus);  // room for all: no memory is allocated later
    }

    std::size_t cpus() const noexcept { return cpus_; }
    void activate(std::size_t cpu) {
        const std::lock_guard held(guard_.lock);
        write(cpu, never);
        awake_[cpu / 64] |= bit(cpu);
        const std::size_t before = shown_.awake.load(Atomics::relaxed);
        shown_.awake.store(before + 1, Atomics::relaxed);
        if (before == 0) shown_.migrator.store(cpu, Atomics::relaxed);
    }
    ticks deactivate(std::size_t cpu, ticks due) {
        const std::lock_guard held(guard_.lock);
        write(cpu, due);
        awake_[cpu / 64] &= ~bit(cpu);
        shown_.awake.store(shown_.awake.load(Atomics::relaxed) - 1, Atomics::relaxed);
        if (shown_.migrator.load(Atomics::relaxed) == cpu) shown_.migrator.store(lowest(), Atomics::relaxed);
        return arm();
    }
    ticks new_expiry(std::size_t cpu, ticks due) {
        const std::lock_guard held(guard_.lock);
        write(cpu, due);
        return arm();
    }

    bool must_expire(std::size_t cpu, ticks now) const {
        const std::size_t first = shown_.migrator.load(Atomics::relaxed);
        return (first == nobody || first == cpu) && is_due(earliest(), now);
    }
    template <class Run>
    ticks expire(std::size_t cpu, ticks now, Run&& run) {
        std::unique_lock held(guard_.lock);
        for (;;) {
            const std::size_t first = shown_.migrator.load(Atomics::relaxed);
            if (first != nobody && first != cpu) return never;
            if (heap_.empty() || !is_due(heap_.front().due, now)) return arm();
            const std::size_t sleeper = heap_.front().cpu;
            write(sleeper, never);
            const std::uint32_t mine = seats_[sleeper].writes;
            held.unlock();
            const ticks next = run(sleeper, now);
            held.lock();
            // Unless the owner wrote meanwhile.
            if (seats_[sleeper].writes == mine) write(sleeper, next);
        }
    }

    ticks earliest() const { return shown_.earliest.load(Atomics::relaxed); }
    bool any_active() const { return shown_.awake.load(Atomics::relaxed) != 0; }
    std::optional<std::size_t> migrator() const {
        const std::size_t first = shown_.migrator.load(Atomics::relaxed);
        return first != nobody ? std::optional(first) : std::nullopt;
    }

private:
    static constexpr std::size_t nobody = ~std::size_t{0};
    static constexpr std::uint64_t bit(std::size_t cpu) noexcept { return std::uint64_t{1} << (cpu % 64); }

    struct entry {
        ticks due;
        std::size_t cpu;
    };
    struct seat {
        std::size_t place = nobody;  // in the heap
        std::uint32_t writes = 0;    // by which an expirer knows whether the owner wrote
    };
    struct alignas(line) guard {
        Lock lock;
    };
    struct alignas(line) shown {
        typename Atomics::template atomic<std::size_t> awake{0}, migrator{nobody};
        typename Atomics::template atomic<ticks> earliest{never};
    };

    ticks arm() const { return any_active() ? never : earliest(); }
    std::size_t lowest() const {
        for (std::size_t w = 0; w < awake_.size(); ++w)
            if (awake_[w] != 0) return w * 64 + static_cast<std::size_t>(std::countr_zero(awake_[w]));
        return nobody;
    }

    void write(std::size_t cpu, ticks due) {
        seat& s = seats_[cpu];
        ++s.writes;
        if (s.place == nobody) {
            if (due == never) return;
            heap_.push_back({due, cpu});
            s.place = heap_.size() - 1;
            up(s.place);
        } else if (due != never) {
            heap_[s.place].due = due;
            up(s.place);
            down(s.place);
        } else {
            const std::size_t hole = std::exchange(s.place, nobody);
            const entry last = heap_.back();
            heap_.pop_back();
            if (hole < heap_.size()) {
                put(hole, last);
                up(hole);
                down(seats_[last.cpu].place);
            }
        }
        shown_.earliest.store(heap_.empty() ? never : heap_.front().due, Atomics::relaxed);
    }
    void put(std::size_t place, const entry& e) {
        heap_[place] = e;
        seats_[e.cpu].place = place;
    }
    void up(std::size_t place) {
        const entry e = heap_[place];
        for (std::size_t above; place > 0; place = above) {
            above = (place - 1) / 2;
            if (heap_[above].due <= e.due) break;
            put(place, heap_[above]);
        }
        put(place, e);
    }
    void down(std::size_t place) {
        const entry e = heap_[place];
        for (;;) {
            std::size_t child = 2 * place + 1;
            if (child >= heap_.size()) break;
            if (child + 1 < heap_.size() && heap_[child + 1].due < heap_[child].due) ++child;
            if (heap_[child].due >= e.due) break;
            put(place, heap_[child]);
            place = child;
        }
        put(place, e);
    }

    mutable guard guard_;
    shown shown_;
    std::vector<std::uint64_t> awake_;
    std::vector<seat> seats_;
    std::vector<entry> heap_;
    std::size_t cpus_;
};

}  // namespace tmigr::peers

#endif
