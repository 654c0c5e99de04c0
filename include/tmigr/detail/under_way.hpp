// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_UNDER_WAY_HPP
#define TMIGR_DETAIL_UNDER_WAY_HPP

#include <tmigr/detail/trace_steps.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace tmigr::detail {

/// A time when somebody had something under way that takes an expiry out of the kernel's
/// queues for a moment: timers being run for a CPU, or a CPU that is half-way awake.
struct time_under_way {
    std::size_t from = 0;  ///< lines
    std::size_t to = 0;
    cpu_id cpu = 0;
    bool serving = false;
};

/// All such times of a trace.
class times_under_way {
    using kind = trace_step::kind;

public:
    explicit times_under_way(std::span<const trace_step> steps) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const trace_step& step = steps[i];
            if (step.what == kind::wake) times_.push_back({step.first, step.last, step.cpu, false});
            if (step.what != kind::serve) continue;
            // Over when the one who serves prints something else, or when the CPU has woken.
            std::size_t end = step.next;
            for (std::size_t j = i + 1; j < steps.size() && steps[j].first < end; ++j)
                if (steps[j].cpu == step.cpu && steps[j].what == kind::wake)
                    end = std::min(end, steps[j].last);
            times_.push_back({step.first, end, step.cpu, true});
        }
        std::ranges::sort(times_, {}, &time_under_way::from);
    }

    /// Whether `holds` for one of the times that began up to `line`, newest first. Does not look
    /// further back than a fixed number of them.
    template <class Holds>
    bool any(std::size_t line, Holds&& holds) const {
        constexpr std::size_t patience = 64;
        auto it = std::ranges::upper_bound(times_, line, {}, &time_under_way::from);
        for (std::size_t back = 0; it != times_.begin() && back < patience; ++back)
            if (holds(*--it)) return true;
        return false;
    }
    /// Whether somebody runs the timers of the CPU whose step this is.
    bool serves(const trace_step& step) const {
        return any(step.last, [&](const time_under_way& time) {
            return time.serving && time.cpu == step.cpu && time.to >= step.since;
        });
    }
    /// Whether the CPU woke at most a few lines before the step.
    bool woke_just_now(cpu_id cpu, const trace_step& step) const {
        constexpr std::size_t nearby = 16;
        return any(step.last, [&](const time_under_way& time) {
            return !time.serving && time.cpu == cpu && time.to + nearby >= step.first;
        });
    }

private:
    std::vector<time_under_way> times_;
};

}  // namespace tmigr::detail

#endif
