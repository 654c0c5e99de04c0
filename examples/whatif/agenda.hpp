// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_AGENDA_HPP
#define TMIGR_EXAMPLES_WHATIF_AGENDA_HPP

#include "machine.hpp"

#include <bit>
#include <cstddef>
#include <vector>

namespace whatif {

/// When each CPU next has something to do, and who is first: of several at once the lowest index.
/// A tournament: each inner node knows the winner of its two. To change a time takes one
/// comparison a level, to ask takes nothing.
class agenda {
public:
    explicit agenda(std::size_t cpus)
        : leaves_(std::bit_ceil(cpus < 1 ? std::size_t{1} : cpus)), times_(leaves_, forever), winner_(2 * leaves_) {
        for (std::size_t i = 0; i < leaves_; ++i) winner_[leaves_ + i] = i;
        for (std::size_t n = leaves_; n-- > 1;) winner_[n] = winner_[2 * n];
    }

    nanoseconds at(std::size_t cpu) const noexcept { return times_[cpu]; }
    void set(std::size_t cpu, nanoseconds when) noexcept {
        if (times_[cpu] == when) return;
        times_[cpu] = when;
        for (std::size_t n = (leaves_ + cpu) / 2; n > 0; n /= 2) {
            const std::size_t left = winner_[2 * n], right = winner_[2 * n + 1];
            winner_[n] = times_[right] < times_[left] ? right : left;
        }
    }
    std::size_t first() const noexcept { return winner_[1]; }
    nanoseconds first_time() const noexcept { return times_[winner_[1]]; }

private:
    std::size_t leaves_;
    std::vector<nanoseconds> times_;
    std::vector<std::size_t> winner_;
};

}  // namespace whatif

#endif
