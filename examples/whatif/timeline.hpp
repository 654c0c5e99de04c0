// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_TIMELINE_HPP
#define TMIGR_EXAMPLES_WHATIF_TIMELINE_HPP

#include "chrome_trace.hpp"
#include "machine.hpp"
#include "observer.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whatif {

/// What every CPU does in a window of time, for a picture: at most `most` stretches, so that the
/// memory it takes does not grow with the window.
class timeline final : public observer {
public:
    static constexpr std::size_t most = 200'000;
    static constexpr std::size_t is_busy = SIZE_MAX, is_offline = SIZE_MAX - 1;

    struct stretch {
        std::size_t cpu = 0;
        nanoseconds from = 0;
        nanoseconds to = 0;
        std::size_t what = is_busy;  ///< an idle state of the CPU's table, or one of the two above
    };

    timeline(std::string policy, std::size_t cpus, window shown)
        : policy_(std::move(policy)), shown_(shown), since_(cpus, forever), what_(cpus, is_busy) {}

    void busy(std::size_t cpu, nanoseconds now, std::string_view) override { change(cpu, now, is_busy); }
    void idle(std::size_t cpu, nanoseconds now, std::size_t state, bool) override { change(cpu, now, state); }
    void offline(std::size_t cpu, nanoseconds now) override { change(cpu, now, is_offline); }
    void finish(nanoseconds now) {
        for (std::size_t cpu = 0; cpu < since_.size(); ++cpu) {
            end(cpu, now);
            since_[cpu] = forever;
        }
        shown_.to = std::min(shown_.to, now);
    }

    const std::string& policy() const noexcept { return policy_; }
    window shown() const noexcept { return shown_; }
    /// True when there was more than `most`.
    bool cut() const noexcept { return cut_; }
    const std::vector<stretch>& stretches() const noexcept { return all_; }

private:
    void change(std::size_t cpu, nanoseconds now, std::size_t what) {
        if (what == what_[cpu] && since_[cpu] != forever) return;
        end(cpu, now);
        since_[cpu] = now;
        what_[cpu] = what;
    }
    void end(std::size_t cpu, nanoseconds now) {
        const nanoseconds from = std::max(since_[cpu], shown_.from);
        const nanoseconds to = std::min(now, shown_.to);
        if (since_[cpu] == forever || from >= to) return;
        if (all_.size() < most)
            all_.push_back({cpu, from, to, what_[cpu]});
        else
            cut_ = true;
    }

    std::string policy_;
    window shown_;
    std::vector<nanoseconds> since_;
    std::vector<std::size_t> what_;
    std::vector<stretch> all_;
    bool cut_ = false;
};

}  // namespace whatif

#endif
