// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_WATCH_HPP
#define TMIGR_EXAMPLES_WHATIF_WATCH_HPP

#include "observer.hpp"

#include <vector>

namespace whatif {

/// Tells several observers, which must outlive it, the same.
class watch_together final : public observer {
public:
    void add(observer& one) { all_.push_back(&one); }
    bool empty() const noexcept { return all_.empty(); }

    void busy(std::size_t cpu, nanoseconds now, std::string_view what) override {
        for (observer* one : all_) one->busy(cpu, now, what);
    }
    void idle(std::size_t cpu, nanoseconds now, std::size_t state, bool tick_stopped) override {
        for (observer* one : all_) one->idle(cpu, now, state, tick_stopped);
    }
    void offline(std::size_t cpu, nanoseconds now) override {
        for (observer* one : all_) one->offline(cpu, now);
    }
    void timer(std::uint64_t id, std::size_t owner, std::size_t runner, nanoseconds due, nanoseconds now) override {
        for (observer* one : all_) one->timer(id, owner, runner, due, now);
    }
    void migrator(std::size_t cpu, nanoseconds now) override {
        for (observer* one : all_) one->migrator(cpu, now);
    }
    void progress(nanoseconds now, nanoseconds length) override {
        for (observer* one : all_) one->progress(now, length);
    }

private:
    std::vector<observer*> all_;
};

}  // namespace whatif

#endif
