// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_OUTSIDE_HPP
#define TMIGR_EXAMPLES_WHATIF_OUTSIDE_HPP

#include "machine.hpp"

#include <boost/heap/d_ary_heap.hpp>

#include <cstddef>
#include <cstdint>

namespace whatif {

/// Something that no CPU has a timer for. There is one at most of each source at a time, so that
/// the queue has as many places as the workload has sources.
struct outside_event {
    enum class what : std::uint8_t {
        plug,      ///< the next of the workload's plug events
        interrupt, ///< of a device, by index
        cancel,    ///< a plan's timer, by index
        start,     ///< a task, by index
        recorded,  ///< the next recorded timer is armed
        forget,    ///< a recorded timer is cancelled: `number` tells whether it is still the one
        busy,      ///< the next recorded stretch of work
    };
    nanoseconds at;
    std::uint64_t order;
    what of;
    std::uint32_t index;
    std::uint64_t number;

    // The heap has its greatest on top.
    bool operator<(const outside_event& other) const noexcept {
        return at != other.at ? at > other.at : order > other.order;
    }
};

using outside_queue = boost::heap::d_ary_heap<outside_event, boost::heap::arity<4>>;

}  // namespace whatif

#endif
