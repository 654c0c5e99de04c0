// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_RESULT_HPP
#define TMIGR_EXAMPLES_WHATIF_RESULT_HPP

#include "machine.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace whatif {

/// Times in a fixed amount of memory: exact maximum, quantiles within 7 per cent (8 steps an octave).
class histogram {
public:
    void add(nanoseconds value) noexcept {
        ++counts_[slot(value)];
        ++total_;
        if (value > max_) max_ = value;
    }
    void add(const histogram& other) noexcept {
        for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
        total_ += other.total_;
        if (other.max_ > max_) max_ = other.max_;
    }
    std::uint64_t count() const noexcept { return total_; }
    nanoseconds max() const noexcept { return max_; }
    /// Upper bound of the slot in which the value of that rank lies, `share` from 0 to 1.
    nanoseconds quantile(double share) const noexcept {
        const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(total_));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i)
            if ((seen += counts_[i]) > wanted) return upper(i) < max_ ? upper(i) : max_;
        return max_;
    }

private:
    static constexpr unsigned fine = 3;
    static std::size_t slot(nanoseconds value) noexcept {
        if (value < (1u << fine)) return static_cast<std::size_t>(value);
        const auto octave = static_cast<unsigned>(std::bit_width(value)) - 1;
        return ((octave - fine + 1) << fine) + ((value >> (octave - fine)) & ((1u << fine) - 1));
    }
    static nanoseconds upper(std::size_t slot) noexcept {
        if (slot < (1u << fine)) return slot;
        const auto octave = static_cast<unsigned>(slot >> fine) + fine - 1;
        const nanoseconds step = nanoseconds{1} << (octave - fine);
        return ((nanoseconds{1} << fine) + (slot & ((1u << fine) - 1))) * step + step - 1;
    }
    std::array<std::uint64_t, 62u << fine> counts_{};
    std::uint64_t total_ = 0;
    nanoseconds max_ = 0;
};

struct cpu_result {
    nanoseconds busy = 0;               ///< running tasks, handlers, ticks, and getting out of idle states
    nanoseconds offline = 0;
    std::vector<nanoseconds> in_state;  ///< by idle state of its table; entry counts to the state
    /// Times it left each state by an interrupt. Linux counts the way out to the state (cpuidle's
    /// `time`): as it would, a state has `in_state` and `stays` times its exit latency.
    std::vector<std::uint64_t> stays;
    std::uint64_t idles = 0;            ///< times it began to idle
    std::uint64_t wakeups = 0;          ///< times it left an idle state
    std::uint64_t ticks = 0;
    std::uint64_t timer_interrupts = 0;  ///< ticks included
    std::uint64_t other_interrupts = 0;  ///< of devices, and from other CPUs
    std::uint64_t too_deep = 0;          ///< stays shorter than the state's residency
    std::uint64_t too_shallow = 0;       ///< stays that a deeper state would have been worth
    std::uint64_t timers_run = 0;        ///< its own, and others'
    std::uint64_t timers_run_for_others = 0;
};

/// What came of one run. Classes are the machine's capacities, smallest first.
struct result {
    std::string policy;
    std::string workload;
    std::uint64_t seed = 0;
    nanoseconds length = 0;
    std::vector<cpu_result> cpus;                       ///< by CPU index
    std::vector<std::vector<std::uint64_t>> migrations;  ///< [class of the owner][class of who ran it], other CPUs only
    std::vector<nanoseconds> migrator_time;             ///< by class; the rest of `length`: nobody in charge
    histogram lateness;                                 ///< of global timers: from when they were due until they ran
    nanoseconds lateness_bound = 0;                     ///< of the model, for this run; none was later
    std::uint64_t armed = 0, run = 0, cancelled = 0, pending = 0;  ///< timers of all kinds: armed = run + cancelled + pending
    std::uint64_t enqueues = 0;           ///< decisions on where to queue a global timer
    std::uint64_t remote_lines = 0;       ///< cache lines of other CPUs that these looked at
    std::uint64_t kicks = 0;              ///< interrupts sent to wake CPUs (hmp-kick: to big ones)
    std::uint64_t events = 0;             ///< steps of the simulation
    double joules = 0;                    ///< 0 where no power is given
};

}  // namespace whatif

#endif
