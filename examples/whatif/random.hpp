// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_RANDOM_HPP
#define TMIGR_EXAMPLES_WHATIF_RANDOM_HPP

#include "machine.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace whatif {

/// Random numbers, the same for the same seed on every compiler and library: integers only, since
/// the distributions of <random> and the functions of <cmath> differ between libraries. Every
/// source of events has a generator of its own, so that all policies meet the same events.
///
/// Source: splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
class random_source {
public:
    random_source() = default;
    random_source(std::uint64_t seed, std::uint64_t stream) noexcept : state_(seed) { state_ = next() ^ (stream << 1); next(); }

    std::uint64_t next() noexcept {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    /// From 0 to `most`, both included.
    std::uint64_t up_to(std::uint64_t most) noexcept {
        if (most == ~std::uint64_t{0}) return next();
        return static_cast<std::uint64_t>((wide{next()} * (most + 1)) >> 64);
    }
    /// Whether something of that many 2^32ths of a chance happens.
    bool chance(std::uint64_t of_2_32) noexcept { return (next() >> 32) < of_2_32; }
    /// Exponential with that mean.
    nanoseconds exponential(nanoseconds mean) noexcept {
        // -ln(u) = ln 2 * (leading zeros of u + 1 - log2 of what follows)
        std::uint64_t u = next();
        std::uint64_t zeros = 0;
        while (u == 0) {
            zeros += 64;
            u = next();
        }
        const auto z = static_cast<unsigned>(std::countl_zero(u));
        zeros += z;
        const std::uint64_t mantissa = (u << z) << 1;  // behind the leading one, 64 bits
        const auto slot = static_cast<std::size_t>(mantissa >> 56);
        const std::uint64_t rest = (mantissa >> 24) & 0xffffffffu;
        const std::uint64_t low = logs[slot], high = logs[slot + 1];
        const std::uint64_t log = low + (((high - low) * rest) >> 32);
        const std::uint64_t halvings = ((zeros + 1) << 32) - log;         // 32 bits behind the point
        const wide nats = (wide{halvings} * 0xb17217f7u) >> 32;           // times ln 2
        return static_cast<nanoseconds>((nats * mean) >> 32);
    }

private:
    __extension__ using wide = unsigned __int128;

    // log2(1 + i/256), 32 bits behind the point, bit by bit.
    static constexpr std::array<std::uint64_t, 257> logs = [] {
        std::array<std::uint64_t, 257> table{};
        for (std::size_t i = 0; i < 256; ++i) {
            std::uint64_t x = (std::uint64_t{256} + i) << 22;  // 30 bits behind the point
            std::uint64_t log = 0;
            for (int bit = 31; bit >= 0; --bit) {
                x = (x * x) >> 30;
                if (x >= (std::uint64_t{2} << 30)) {
                    x >>= 1;
                    log |= std::uint64_t{1} << bit;
                }
            }
            table[i] = log;
        }
        table[256] = std::uint64_t{1} << 32;
        return table;
    }();

    std::uint64_t state_ = 0;
};

}  // namespace whatif

#endif
