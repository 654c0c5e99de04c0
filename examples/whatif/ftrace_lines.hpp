// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_FTRACE_LINES_HPP
#define TMIGR_EXAMPLES_WHATIF_FTRACE_LINES_HPP

#include "machine.hpp"
#include "observer.hpp"

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <vector>

namespace whatif {

/// Writes what CPUs do as lines of Linux trace text, between those of the tree: `cpu_idle` and
/// `timer_expire_entry`. The stream must outlive it.
class ftrace_lines final : public observer {
public:
    /// Begins with the header of such a trace, unless a tree will write it.
    ftrace_lines(std::ostream& out, const machine& hardware, bool header);

    void busy(std::size_t cpu, nanoseconds now, std::string_view what) override;
    void idle(std::size_t cpu, nanoseconds now, std::size_t state, bool tick_stopped) override;
    void offline(std::size_t cpu, nanoseconds now) override;
    void timer(std::uint64_t id, std::size_t owner, std::size_t runner, nanoseconds due, nanoseconds now) override;

private:
    void leave_idle(std::size_t cpu, nanoseconds now);
    std::uint32_t id_of(std::size_t cpu) const { return hardware_.cpus.cpus()[cpu].id; }

    std::ostream& out_;
    const machine& hardware_;
    std::vector<bool> idle_;
};

}  // namespace whatif

#endif
