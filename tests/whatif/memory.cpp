// SPDX-License-Identifier: BSL-1.0
// However long a simulation is, it takes so much memory and no more.
#include "background.hpp"
#include "catch.hpp"
#include "idle_states.hpp"
#include "simulate.hpp"
#include "support/bytes_in_use.hpp"

#include <tmigr/io/cpus.hpp>

#include <cstddef>
#include <filesystem>
#include <string>

using namespace whatif;

namespace {

std::size_t most_bytes(const machine& m, const workload& load, const char* policy, nanoseconds length) {
    simulation how;
    how.policy = policy;
    how.length = length;
    const std::size_t before = tmigr::test::bytes_in_use;
    tmigr::test::peak_in_use = before;
    static_cast<void>(simulate(m, load, how));
    return tmigr::test::peak_in_use - before;
}

}  // namespace

TEST_CASE("what-if: twenty times the simulated time takes no more memory") {
    const std::filesystem::path machines{TMIGR_WHATIF_MACHINES};
    machine m = make_machine(tmigr::read_cpus(machines / "orion-o6.cpus"), "orion-o6");
    read_idle_states(machines / "orion-o6.idle.json", m);
    const idle_background busy = read_background(machines / "orion-o6.background.json");
    for (const char* name : {"idle", "tbench-like", "enqueue-99"}) {
        const workload load = make_workload(name, m, busy);
        for (const char* policy : {"off", "prefer-low", "push-rearm", "ilb"}) {
            INFO(name << " under " << policy);
            const std::size_t of_one = most_bytes(m, load, policy, 1'000'000'000);
            const std::size_t of_twenty = most_bytes(m, load, policy, 20'000'000'000);
            // Queues grow to the most that waited at once, which a longer run can see more of, by doubling.
            CHECK(of_twenty <= of_one + 16384);
        }
    }
}
