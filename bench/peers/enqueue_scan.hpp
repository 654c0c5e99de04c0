// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_ENQUEUE_SCAN_HPP
#define TMIGR_BENCH_PEERS_ENQUEUE_SCAN_HPP

#include "cells.hpp"
#include "peer.hpp"

#include <algorithm>

namespace tmigr::peers {

/// The other way round, as kernels did before there was a hierarchy: nobody looks after
/// sleepers. Whoever arms a timer that need not stay picks a CPU that is awake and queues it
/// there: itself if it is awake, else the nearest, cluster by cluster, else itself. A CPU says
/// whether it is awake by a flag, which stands among its own data.
///
/// `enqueue_local` is the same with migration switched off: a timer stays where it was armed.
///
/// Guarantees: `any_active` is exact at rest; `target` names an awake CPU whenever one is awake
/// at rest. Wait-free; waking and sleeping cost one store. A timer runs where it was queued,
/// so none is late, but the target may have to wake for it, if it fell asleep since.
/// Does not: name a migrator, keep expiries. `target` and `any_active` look at one line per
/// CPU.
///
/// The flags are each on a line of their own: a CPU's owner writes it without disturbing
/// others, and who scans pays.
///
/// Orders: relaxed; a flag is a hint.
template <class Atomics, std::size_t Cluster = 8>
class enqueue_scan {
    static_assert(Cluster >= 1);

public:
    static const char* name() { return "target by scan"; }
    enum class migration { on, off };

    explicit enqueue_scan(std::size_t cpus, migration how = migration::on)
        : awake_(cpus), cpus_(cpus), migrates_(how == migration::on) {}

    std::size_t cpus() const noexcept { return cpus_; }
    void activate(std::size_t cpu) { awake_[cpu].cell.store(1, Atomics::relaxed); }
    void deactivate(std::size_t cpu) { awake_[cpu].cell.store(0, Atomics::relaxed); }
    bool any_active() const { return find(0, cpus_) != cpus_; }

    /// Where a timer that `cpu` arms is to be queued.
    std::size_t target(std::size_t cpu) const {
        if (!migrates_ || is_active(cpu)) return cpu;
        std::size_t begin = cpu, end = cpu + 1;
        for (std::size_t span = Cluster;; span *= 8) {
            // What lies around that was not looked at yet.
            const std::size_t wider_begin = cpu / span * span;
            const std::size_t wider_end = std::min(cpus_, wider_begin + span);
            if (const std::size_t found = find(wider_begin, begin); found != begin) return found;
            if (const std::size_t found = find(end, wider_end); found != wider_end) return found;
            begin = wider_begin;
            end = wider_end;
            if (begin == 0 && end == cpus_) return cpu;
        }
    }
    bool is_active(std::size_t cpu) const { return awake_[cpu].cell.load(Atomics::relaxed) != 0; }

private:
    /// The first that is awake in [begin, end), or end.
    std::size_t find(std::size_t begin, std::size_t end) const {
        while (begin != end && !is_active(begin)) ++begin;
        return begin;
    }

    std::vector<lone_cell<Atomics, std::uint32_t>> awake_;
    std::size_t cpus_;
    bool migrates_;
};

/// Migration switched off.
template <class Atomics>
class enqueue_local : public enqueue_scan<Atomics> {
public:
    static const char* name() { return "target is oneself"; }
    explicit enqueue_local(std::size_t cpus) : enqueue_scan<Atomics>(cpus, enqueue_scan<Atomics>::migration::off) {}
};

}  // namespace tmigr::peers

#endif
