// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_TIMERS_HPP
#define TMIGR_EXAMPLES_WHATIF_TIMERS_HPP

#include "machine.hpp"
#include "workload.hpp"

#include <boost/heap/d_ary_heap.hpp>

#include <cstddef>
#include <cstdint>

namespace whatif {

using timer_index = std::uint32_t;

/// The armed timers of one kind of one CPU, earliest first, of several at once the one armed first.
class timer_queue {
    struct entry {
        nanoseconds due;
        std::uint64_t order;
        timer_index timer;
        // The heap has its greatest on top.
        bool operator<(const entry& other) const noexcept {
            return due != other.due ? due > other.due : order > other.order;
        }
    };
    using heap = boost::heap::d_ary_heap<entry, boost::heap::arity<4>, boost::heap::mutable_<true>>;

public:
    using place = heap::handle_type;

    nanoseconds next() const noexcept { return heap_.empty() ? forever : heap_.top().due; }
    bool due(nanoseconds now) const noexcept { return !heap_.empty() && heap_.top().due <= now; }
    bool empty() const noexcept { return heap_.empty(); }
    std::size_t size() const noexcept { return heap_.size(); }
    timer_index first() const noexcept { return heap_.top().timer; }

    place add(nanoseconds due, std::uint64_t order, timer_index timer) { return heap_.push({due, order, timer}); }
    void remove(place where) { heap_.erase(where); }

private:
    heap heap_;
};

/// A timer of the simulation: of a plan, of a task, or of a recording.
struct timer {
    enum class what : std::uint8_t { plan, task, recorded } of = what::plan;
    timer_kind kind = timer_kind::global;
    bool armed = false;
    std::uint32_t index = 0;  ///< of the plan, the task, or in the recording
    std::uint32_t home = 0;   ///< the CPU that armed it
    std::uint32_t queue = 0;  ///< the CPU on whose queue it is
    nanoseconds due = 0;
    timer_queue::place place{};
};

/// When Linux's timer wheel runs a timer that is to expire at `wanted`, armed at `now`: at a tick,
/// and the further away, the coarser the ticks. Never early. 64 steps a level, the next level
/// eight times as coarse. Source: Linux 4.8 and newer, kernel/time/timer.c.
constexpr nanoseconds wheel_time(nanoseconds now, nanoseconds wanted, nanoseconds tick) noexcept {
    const nanoseconds ahead = wanted > now ? (wanted - now) / tick : 0;
    nanoseconds step = tick;
    for (nanoseconds most = 63; ahead >= most && step <= (nanoseconds{1} << 50); most *= 8) step *= 8;
    return (wanted + step - 1) / step * step;
}

}  // namespace whatif

#endif
