// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_CHROME_TRACE_HPP
#define TMIGR_EXAMPLES_WHATIF_CHROME_TRACE_HPP

#include "machine.hpp"
#include "observer.hpp"

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace whatif {

/// The part of a simulation, in its time, that a picture shows.
struct window {
    nanoseconds from = 0;
    nanoseconds to = forever;
};

/// The frame of a file in Chrome's trace format, which chrome://tracing and Perfetto show. One
/// process for each policy. The stream must outlive it.
class chrome_trace {
public:
    explicit chrome_trace(std::ostream& out) : out_(out) { out_ << R"({"displayTimeUnit":"ns","traceEvents":[)"; }
    void close() { out_ << "\n]}\n"; }

    /// Begins one event: the stream, behind what has to stand between events.
    std::ostream& event() {
        out_ << (first_ ? "\n" : ",\n");
        first_ = false;
        return out_;
    }

private:
    std::ostream& out_;
    bool first_ = true;
};

/// Writes one simulation as a process of the file: a track for each CPU with what it does, a track
/// with who is in charge, and an arrow for each timer that ran on another CPU, from when it was due
/// on the track of its owner to where and when it ran.
class chrome_process final : public observer {
public:
    /// `process` must not be used for two simulations of a file.
    chrome_process(chrome_trace& to, const machine& hardware, std::string_view policy, unsigned process,
                   window shown);

    void busy(std::size_t cpu, nanoseconds now, std::string_view what) override;
    void idle(std::size_t cpu, nanoseconds now, std::size_t state, bool tick_stopped) override;
    void offline(std::size_t cpu, nanoseconds now) override;
    void timer(std::uint64_t id, std::size_t owner, std::size_t runner, nanoseconds due, nanoseconds now) override;
    void migrator(std::size_t cpu, nanoseconds now) override;

    /// Ends what is still going on.
    void finish(nanoseconds now);

private:
    struct slice {
        nanoseconds since = forever;  ///< nothing known yet
        std::string name;
        const char* category = "";
    };
    void change(std::size_t track, nanoseconds now, std::string name, const char* category);
    void end(std::size_t track, nanoseconds now);

    chrome_trace& to_;
    const machine& hardware_;
    unsigned process_;
    window shown_;
    std::vector<slice> open_;  ///< by CPU index; the last: who is in charge
    std::uint64_t flows_ = 0;
};

}  // namespace whatif

#endif
