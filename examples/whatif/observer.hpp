// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_OBSERVER_HPP
#define TMIGR_EXAMPLES_WHATIF_OBSERVER_HPP

#include "machine.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace whatif {

/// What a simulation tells while it runs, for timelines and traces. Times never go back. All
/// functions may be left as they are.
class observer {
public:
    virtual ~observer() = default;
    /// The CPU is busy from now on: with a task, a handler (`what` names it), or nothing better known.
    virtual void busy(std::size_t /*cpu*/, nanoseconds /*now*/, std::string_view /*what*/) {}
    /// The CPU waits in an idle state from now on, with or without its tick.
    virtual void idle(std::size_t /*cpu*/, nanoseconds /*now*/, std::size_t /*state*/, bool /*tick_stopped*/) {}
    virtual void offline(std::size_t /*cpu*/, nanoseconds /*now*/) {}
    /// A timer was run: whose it was, who ran it.
    virtual void timer(std::uint64_t /*id*/, std::size_t /*owner*/, std::size_t /*runner*/, nanoseconds /*due*/,
                       nanoseconds /*now*/) {}
    /// Another CPU is in charge of everything; `SIZE_MAX`: nobody.
    virtual void migrator(std::size_t /*cpu*/, nanoseconds /*now*/) {}
    /// How far the simulation has come, now and then.
    virtual void progress(nanoseconds /*now*/, nanoseconds /*length*/) {}
};

}  // namespace whatif

#endif
