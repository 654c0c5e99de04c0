// SPDX-License-Identifier: BSL-1.0
// Recordings of running kernels, run again in the simulator: under all policies, and compared with what the
// recording itself says under the policy that it was made with.
#include "idle_states.hpp"
#include "observer.hpp"
#include "recording.hpp"
#include "simulate.hpp"

#include <tmigr/io/cpus.hpp>

#include <catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

using namespace whatif;

namespace {

const char* const captures[] = {"8cpu-idle",
                                "8cpu-pin4ms",
                                "16cpu-2node-mixed",
                                "arm64-12cpu-3capacity-idle",
                                "arm64-12cpu-3capacity-mixed",
                                "8cpu-hotplug"};

std::string path(std::string_view name, const char* extension) {
    return std::string{TMIGR_TEST_WORKLOADS} + "/workload-7.3-" + std::string{name} + extension;
}
machine machine_of(std::string_view name) {
    return make_machine(tmigr::read_cpus(std::filesystem::path{path(name, ".topology")}), std::string{name});
}
recording recording_of(std::string_view name, const machine& hardware) {
    return read_recording(std::filesystem::path{path(name, ".trace")}, hardware);
}

/// Counts the sleeps that a tick ended which had not been stopped.
class kept_ticks : public observer {
public:
    explicit kept_ticks(const machine& hardware) : hardware_(hardware), waits_in_(hardware.size(), none) {}
    void idle(std::size_t cpu, nanoseconds, std::size_t state, bool tick_stopped) override {
        waits_in_[cpu] = tick_stopped ? none : state;
    }
    void busy(std::size_t cpu, nanoseconds now, std::string_view) override {
        if (waits_in_[cpu] == none) return;
        const nanoseconds exit = hardware_.tables[hardware_.table_of[cpu]].states[waits_in_[cpu]].exit;
        if (now >= exit && (now - exit) % hardware_.tick() == 0) ++count;
        waits_in_[cpu] = none;
    }
    std::uint64_t count = 0;

private:
    static constexpr std::size_t none = SIZE_MAX;
    const machine& hardware_;
    std::vector<std::size_t> waits_in_;
};

double ratio(std::uint64_t simulated, std::uint64_t recorded) {
    return static_cast<double>(simulated) / static_cast<double>(recorded);
}

}  // namespace

TEST_CASE("recordings run again under every policy", "[whatif][rerun]") {
    for (const char* const name : captures) {
        const machine m = machine_of(name);
        const recording r = recording_of(name, m);
        const auto armed = static_cast<std::uint64_t>(std::ranges::count_if(
            r.load.recorded_timers, [&](const recorded_timer& t) { return t.armed < r.load.length; }));
        for (const std::string& policy : policies()) {
            CAPTURE(name, policy);
            simulation how;
            how.policy = policy;
            const result s = simulate(m, r.load, how);
            CHECK(s.length == r.load.length);
            CHECK(s.armed == armed);
            CHECK(s.run + s.cancelled + s.pending == armed);
            // Each timer that the recording cancelled is cancelled here, or ran before: the recorded CPUs
            // were late, not early.
            std::uint64_t cancelled = 0;
            for (const recorded_kind& k : r.timers) cancelled += k.cancelled + k.moved + k.forgotten;
            CHECK(s.cancelled <= cancelled);
            CHECK(s.lateness.max() <= s.lateness_bound);
        }
    }
}

TEST_CASE("recordings run again under their own policy do what they did, within bounds", "[whatif][rerun]") {
    std::uint64_t remote_simulated = 0, remote_recorded = 0, wakeups_simulated = 0, wakeups_recorded = 0;
    for (const char* const name : captures) {
        CAPTURE(name);
        const machine m = machine_of(name);
        const recording r = recording_of(name, m);
        kept_ticks kept{m};
        simulation how;
        how.watch = &kept;
        const result s = simulate(m, r.load, how);

        // Sleeps that a kept tick ended are left out on both sides: the recorded kernels had no idle driver,
        // and kept ticks for RCU besides, which the model does not know.
        std::uint64_t wakeups = 0, remote = 0, kept_recorded = 0;
        nanoseconds asleep = 0, asleep_recorded = 0;
        for (std::size_t c = 0; c < m.size(); ++c) {
            wakeups += s.cpus[c].wakeups;
            remote += s.cpus[c].timers_run_for_others;
            asleep = std::accumulate(s.cpus[c].in_state.begin(), s.cpus[c].in_state.end(), asleep);
            asleep_recorded += r.cpus[c].asleep;
            kept_recorded += r.cpus[c].kept_tick_wakeups;
            CHECK(s.cpus[c].offline <= r.cpus[c].offline + 10'000'000);
            CHECK(s.cpus[c].offline + 10'000'000 >= r.cpus[c].offline);
        }
        wakeups -= kept.count;
        const std::uint64_t recorded = r.wakeups() - kept_recorded;
        CAPTURE(wakeups, recorded, remote, r.remote_expiries());
        CHECK(ratio(wakeups, recorded) > 0.75);
        CHECK(ratio(wakeups, recorded) < 1.5);
        CHECK(ratio(remote, r.remote_expiries()) > 0.35);
        CHECK(ratio(remote, r.remote_expiries()) < 1.75);
        const auto share = [&](nanoseconds time, nanoseconds length) {
            return static_cast<double>(time) / static_cast<double>(length) / static_cast<double>(m.size());
        };
        CHECK(share(asleep, s.length) == Approx(share(asleep_recorded, r.window)).margin(0.025));
        wakeups_simulated += wakeups, wakeups_recorded += recorded;
        remote_simulated += remote, remote_recorded += r.remote_expiries();
    }
    CHECK(ratio(wakeups_simulated, wakeups_recorded) == Approx(1).margin(0.25));
    CHECK(ratio(remote_simulated, remote_recorded) == Approx(1).margin(0.15));
}

TEST_CASE("without a tree nobody runs timers of others, and the kernel that recorded did",
          "[whatif][rerun]") {
    for (const char* const name : captures) {
        CAPTURE(name);
        const machine m = machine_of(name);
        const recording r = recording_of(name, m);
        simulation how;
        how.policy = "off";
        const result s = simulate(m, r.load, how);
        // Of CPUs that are gone others must run them all the same.
        if (r.load.plugs.empty())
            for (const cpu_result& c : s.cpus) CHECK(c.timers_run_for_others == 0);
        CHECK(r.remote_expiries() > 0);
    }
}
