// SPDX-License-Identifier: BSL-1.0
#include "recording.hpp"

#include "recorded_cpus.hpp"
#include "recorded_timers.hpp"
#include "trace_events.hpp"

#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>

#include <fmt/format.h>

#include <cmath>

namespace whatif {

namespace {

constexpr nanoseconds longest = nanoseconds{2} * 24 * 3600 * 1'000'000'000;
constexpr nanoseconds latest = nanoseconds{1} << 61;

std::uint64_t sum(const std::vector<recorded_cpu>& cpus, std::uint64_t recorded_cpu::*member) noexcept {
    std::uint64_t total = 0;
    for (const recorded_cpu& cpu : cpus) total += cpu.*member;
    return total;
}

}  // namespace

std::uint64_t recording::wakeups() const noexcept { return sum(cpus, &recorded_cpu::wakeups); }
std::uint64_t recording::kept_tick_wakeups() const noexcept {
    return sum(cpus, &recorded_cpu::kept_tick_wakeups);
}
std::uint64_t recording::own_expiries() const noexcept { return sum(cpus, &recorded_cpu::own_expiries); }
std::uint64_t recording::remote_expiries() const noexcept {
    return sum(cpus, &recorded_cpu::remote_expiries);
}

recording read_recording(std::istream& in, const std::string& file, const machine& hardware) {
    recording read;
    read.load.name = "trace:" + file.substr(file.find_last_of('/') + 1);
    read.cpus.resize(hardware.size());
    trace_source source{in, file, hardware};
    recorded_cpus clocks{hardware.size(), read};
    recorded_timers timers{hardware.size(), hardware.tick(), read, clocks};

    nanoseconds begin = forever, end = 0;
    while (auto e = source.next()) {
        if (e->time > latest) source.fail(fmt::format("{}", e->time), "a time stamp below 2^61 nanoseconds");
        if (begin == forever) begin = end = e->time;
        if (e->time < end) {
            ++read.unmatched.backwards;
            e->time = end;
        }
        end = e->time;
        if (end - begin > longest)
            source.fail(fmt::format("{} s", end / 1'000'000'000), "a recording of at most 2 days");
        ++read.lines;
        read.events += e->kind != trace_kind::other ? 1 : 0;
        clocks.line(*e);
        if (!timers.line(*e)) source.fail("more", "at most ten million timers");
    }
    if (begin == forever || begin == end)
        throw tmigr::input_error("no time between the lines", "a trace of some length", file);
    clocks.finish(end);
    read.window = end - begin;
    timers.finish(begin, end);
    if (const double hertz = timers.hertz(); hertz != 0 && std::abs(hertz / hardware.hertz - 1) > 0.1)
        throw tmigr::input_error(
            fmt::format("about {:.0f} ticks a second", hertz),
            fmt::format("a recording of a kernel with {} ticks a second", hardware.hertz), file);
    return read;
}

recording read_recording(const std::filesystem::path& file, const machine& hardware) {
    std::ifstream in = tmigr::detail::open_input(file);
    return read_recording(in, file.string(), hardware);
}

}  // namespace whatif
