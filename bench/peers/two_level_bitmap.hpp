// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_TWO_LEVEL_BITMAP_HPP
#define TMIGR_BENCH_PEERS_TWO_LEVEL_BITMAP_HPP

#include "cells.hpp"
#include "peer.hpp"

#include <string>

namespace tmigr::peers {

/// A word for each cluster of CPUs (those of a cache or node), each on a line of its own, and
/// above them one bit for each cluster: the summary, words side by side.
///
/// Guarantees: `any_active` is exact at rest. Lock-free.
/// Does not: name a migrator, keep expiries, tell who was the last to fall asleep.
///
/// How the summary stays true: whoever makes a cluster's word empty or first-filled writes the
/// summary's bit by what the word is then, and looks at the word again; if it went the other
/// way, once more. So the last one to write the bit found the word agreeing after its write,
/// and whoever changed the word later would have written later. A write may not be left out
/// where the bit is right already: a slower writer may be about to change it.
///
/// Orders: writes of the summary are acq_rel. The last of them sees, through those before it,
/// every change from or to empty of the word, since each was made before its maker's write.
/// Changes of the word itself can be relaxed, they are carried by the write that follows.
template <class Atomics, unsigned Cluster = 8>
class two_level_bitmap {
    static_assert(Cluster >= 1 && Cluster <= 64);

public:
    static const char* name() {
        static const std::string text = "bitmap of two levels, clusters of " + std::to_string(Cluster);
        return text.c_str();
    }

    explicit two_level_bitmap(std::size_t cpus)
        : clusters_((cpus + Cluster - 1) / Cluster), summary_((clusters_.size() + 63) / 64, 0), cpus_(cpus) {}

    std::size_t cpus() const noexcept { return cpus_; }
    void activate(std::size_t cpu) {
        const std::size_t c = cpu / Cluster;
        if (fetch_or(clusters_[c].cell, bit(cpu % Cluster), Atomics::relaxed, Atomics::relaxed) == 0)
            summarise(c, true);
    }
    void deactivate(std::size_t cpu) {
        const std::size_t c = cpu / Cluster;
        if (fetch_and(clusters_[c].cell, ~bit(cpu % Cluster), Atomics::relaxed, Atomics::relaxed) == bit(cpu % Cluster))
            summarise(c, false);
    }
    bool any_active() const {
        // Relaxed: a bit says all there is to know.
        for (std::size_t w = 0; w < summary_.size(); ++w)
            if (summary_[w].load(Atomics::relaxed) != 0) return true;
        return false;
    }

private:
    static constexpr std::uint64_t bit(std::size_t place) noexcept { return std::uint64_t{1} << (place % 64); }

    void summarise(std::size_t c, bool active) {
        for (;;) {
            auto& word = summary_[c / 64];
            if (active)
                fetch_or(word, bit(c), Atomics::acq_rel, Atomics::relaxed);
            else
                fetch_and(word, ~bit(c), Atomics::acq_rel, Atomics::relaxed);
            // Relaxed: the write before has acquired.
            const bool now = clusters_[c].cell.load(Atomics::relaxed) != 0;
            if (now == active) return;
            active = now;
        }
    }

    std::vector<lone_cell<Atomics, std::uint64_t>> clusters_;
    dense_cells<Atomics, std::uint64_t> summary_;
    std::size_t cpus_;
};

}  // namespace tmigr::peers

#endif
