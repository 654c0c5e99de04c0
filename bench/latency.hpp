// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_LATENCY_HPP
#define TMIGR_BENCH_LATENCY_HPP

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif

namespace tmigr::bench {

/// The cheapest clock there is, in ticks of its own.
inline std::uint64_t now() noexcept {
#if defined(__x86_64__)
    unsigned processor;
    return __rdtscp(&processor);
#else
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// Its ticks in a nanosecond, measured once against the steady clock.
inline double ticks_per_nanosecond() {
    static const double measured = [] {
        using clock = std::chrono::steady_clock;
        const auto begin = clock::now();
        const std::uint64_t first = now();
        while (clock::now() - begin < std::chrono::milliseconds(20)) {
        }
        const std::uint64_t last = now();
        const std::chrono::duration<double, std::nano> took = clock::now() - begin;
        return static_cast<double>(last - first) / took.count();
    }();
    return measured;
}

/// Ticks that two looks at the clock are apart with nothing between: the least of many.
inline std::uint64_t clock_overhead() {
    static const std::uint64_t least = [] {
        std::uint64_t best = ~std::uint64_t{0};
        for (int i = 0; i < 1000; ++i) {
            const std::uint64_t first = now();
            const std::uint64_t last = now();
            best = last - first < best ? last - first : best;
        }
        return best;
    }();
    return least;
}

/// How often something took how long: 32 classes to each power of two, so that what is read
/// from it is off by 3 % at most. For one thread at a time.
class histogram {
public:
    void clear() noexcept { counts_ = {}; }
    void add(std::uint64_t value) noexcept { ++counts_[index_of(value)]; }
    void add(const histogram& other) noexcept {
        for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    }
    std::uint64_t size() const noexcept {
        std::uint64_t all = 0;
        for (const std::uint64_t n : counts_) all += n;
        return all;
    }
    /// The value that a part of all, 0 to 1, does not exceed (its class's lower end); 0 when empty.
    std::uint64_t quantile(double part) const noexcept {
        const auto rank = static_cast<std::uint64_t>(part * static_cast<double>(size()));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i)
            if ((seen += counts_[i]) > rank) return value_of(i);
        for (std::size_t i = counts_.size(); i-- > 0;)
            if (counts_[i] != 0) return value_of(i);
        return 0;
    }

private:
    static constexpr unsigned fine_bits = 5;
    static std::size_t index_of(std::uint64_t value) noexcept {
        const unsigned top = std::bit_width(value) > fine_bits ? static_cast<unsigned>(std::bit_width(value)) - fine_bits - 1 : 0;
        return (std::size_t{top} << fine_bits) + static_cast<std::size_t>(value >> top);
    }
    static std::uint64_t value_of(std::size_t index) noexcept {
        const std::size_t top = index >> fine_bits;
        if (top == 0) return index;
        return (std::uint64_t{index & 31} + 32) << (top - 1);
    }
    std::array<std::uint64_t, 2048> counts_{};
};

/// Keeps the thread on one core, counted among those it may use, as long as this lives. Does
/// nothing where that is not possible; with fewer cores than asked for threads share.
class on_core {
public:
    explicit on_core([[maybe_unused]] unsigned which) noexcept {
#if defined(__linux__)
        if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
        const int usable = CPU_COUNT(&before_);
        if (usable == 0) return;
        int skip = static_cast<int>(which % static_cast<unsigned>(usable));
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (!CPU_ISSET(cpu, &before_) || skip-- > 0) continue;
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            pinned_ = sched_setaffinity(0, sizeof one, &one) == 0;
            return;
        }
#endif
    }
    on_core(const on_core&) = delete;
    on_core& operator=(const on_core&) = delete;
    ~on_core() {
#if defined(__linux__)
        if (pinned_) sched_setaffinity(0, sizeof before_, &before_);
#endif
    }

private:
#if defined(__linux__)
    cpu_set_t before_;
    bool pinned_ = false;
#endif
};

/// Spins, and gives the core away now and then: the one waited for may need it.
template <class Condition>
void wait_until(Condition condition) {
    for (unsigned i = 1; !condition(); ++i)
        if (i % 4096 == 0) std::this_thread::yield();
}

}  // namespace tmigr::bench

#endif
