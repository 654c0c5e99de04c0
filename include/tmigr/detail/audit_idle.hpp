// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_AUDIT_IDLE_HPP
#define TMIGR_DETAIL_AUDIT_IDLE_HPP

#include <tmigr/detail/audit_text.hpp>
#include <tmigr/topology.hpp>
#include <tmigr/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace tmigr::detail {

/// What a cpu_idle line says: that a CPU goes into an idle state, or leaves it (no state).
struct audit_idle_line {
    cpu_id cpu = 0;
    std::optional<unsigned> state;
};
/// Nothing where the text is not that of cpu_idle.
inline std::optional<audit_idle_line> parse_cpu_idle(std::string_view text) {
    const auto state = audit_number(text, "state");
    const auto cpu = audit_number(text, "cpu_id");
    constexpr std::uint64_t left = std::numeric_limits<std::uint32_t>::max();
    if (!state || !cpu || *cpu > max_cpu_id || *state > left) return std::nullopt;
    audit_idle_line line{static_cast<cpu_id>(*cpu), std::nullopt};
    if (*state != left) line.state = static_cast<unsigned>(*state);
    return line;
}

/// Follows what sleepers do between two entries into an idle state, to tell wake-ups that were for nothing.
///
/// A CPU handles an interrupt before its line that it left the state, so that what it did counts from one
/// entry to the next. The first entry of a CPU begins its first stay: a stay from before the trace is not
/// judged. Memory is fixed per CPU.
class audit_stays {
public:
    struct stay {
        bool at_armed = false;     ///< it ended when what the CPU had armed was due
        bool for_nothing = false;  ///< and the CPU ran no timer, for itself or another, and did not wake
    };

    /// `armed` is what the CPU has to wake for on behalf of the tree, `never` where there is nothing or that
    /// is not known. Returns the stay that came before, if there was one from its beginning.
    std::optional<stay> enter(cpu_id cpu, std::uint64_t armed) {
        if (cpu >= cpus_.size()) cpus_.resize(cpu + std::size_t{1});
        entered& e = cpus_[cpu];
        std::optional<stay> before;
        if (e.known && e.left) before = stay{e.at_armed, e.at_armed && !e.worked};
        if (!e.known || e.left) e = {true, false, false, false, armed};
        return before;
    }
    /// `now` is a time not after this moment on the clock of expiries; none where it is not known.
    void leave(cpu_id cpu, std::optional<std::uint64_t> now) {
        if (cpu >= cpus_.size() || !cpus_[cpu].known || cpus_[cpu].left) return;
        cpus_[cpu].left = true;
        cpus_[cpu].at_armed = cpus_[cpu].armed != event::never && now && *now >= cpus_[cpu].armed;
    }
    /// The CPU does what it woke for.
    void work(cpu_id cpu) {
        if (cpu < cpus_.size()) cpus_[cpu].worked = true;
    }
    void forget() { cpus_.clear(); }

private:
    struct entered {
        bool known = false, left = false, at_armed = false, worked = false;
        std::uint64_t armed = event::never;
    };
    std::vector<entered> cpus_;
};

}  // namespace tmigr::detail

#endif
