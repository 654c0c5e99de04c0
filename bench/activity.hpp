// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_ACTIVITY_HPP
#define TMIGR_BENCH_ACTIVITY_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tmigr::bench {

/// CPUs that sleep and wake at random, each awake with probability `a` at any time, whatever
/// the others do: one is picked, and the coin says what it is from now on; where it is that
/// already nothing happens, and nothing is recorded.
///
/// The changes can be played in a circle: forward, then the same undone backward, which for
/// such a chain is as likely as forward. The same seed gives the same changes everywhere.
struct activity {
    struct change {
        std::uint32_t cpu : 31;
        std::uint32_t wake : 1;

        static constexpr change of(std::size_t cpu, bool wake) noexcept {
            return {static_cast<std::uint32_t>(cpu) & 0x7fffffffu, wake};
        }
    };

    std::vector<bool> at_first;   ///< who is awake before the first change
    std::vector<change> changes;  ///< after the last all is as at first

    activity(std::size_t cpus, double a, std::size_t how_many, std::uint64_t seed = 1) : at_first(cpus) {
        std::mt19937_64 random(seed);
        // Not std::bernoulli_distribution, which differs from library to library.
        const auto limit = static_cast<std::uint64_t>(std::ldexp(a, 53));
        const auto awake = [&] { return (random() >> 11) < limit; };
        for (std::size_t c = 0; c < cpus; ++c) at_first[c] = awake();
        std::vector<bool> now = at_first;
        changes.reserve(how_many);
        while (changes.size() < how_many / 2) {
            const std::size_t cpu = random() % cpus;
            if (const bool next = awake(); next != now[cpu]) {
                now[cpu] = next;
                changes.push_back(change::of(cpu, next));
            }
        }
        for (std::size_t i = changes.size(); i-- > 0;) changes.push_back({changes[i].cpu, !changes[i].wake});
    }
};

/// The levels that a change visits on average: the group of level l is visited when nobody
/// else below its child is awake. Of a full tree.
inline double expected_levels(double a, std::size_t cpus, double width = 8) {
    double sum = 0;
    for (double below = 1; below < static_cast<double>(cpus) || below == 1; below *= width)
        sum += std::pow(1 - a, below - 1);
    return sum;
}

}  // namespace tmigr::bench

#endif
