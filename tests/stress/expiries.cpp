// SPDX-License-Identifier: BSL-1.0

// Real threads sleep with expiries, change them while idle, wake, run each other's timers,
// leave, join, and let the tree grow; in rounds, with the shared checkers at the end of each,
// when all is at rest. For hours of this see endurance/.

#include "catch.hpp"
#include "stress/crowd.hpp"
#include "support/random_machine.hpp"
#include "support/yielding.hpp"

#include <tmigr/atomics/boost.hpp>
#include <tmigr/atomics/std.hpp>
#include <tmigr/wide_state.hpp>

#include <cstdlib>
#include <string>

using namespace tmigr;

namespace {

/// `TMIGR_LONG` is a factor.
std::size_t rounds() {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    constexpr std::size_t usual = 100;
#else
    constexpr std::size_t usual = 2700;
#endif
    static const char* const longer = std::getenv("TMIGR_LONG");
    static const std::size_t factor = longer != nullptr ? std::stoull(longer) : 1;
    return usual * factor;
}

template <class Config>
void hammer(std::size_t times = rounds()) {
    const auto seed = test::seed();
    for (const test::crowd_options& options : {test::crowd_options{.cpus = 2, .width = 8, .threads = 2},
                                               {.cpus = 4, .width = 2, .threads = 2},
                                               {.cpus = 7, .width = 2, .threads = 3},
                                               {.cpus = 40, .width = 4, .threads = 4},
                                               {.cpus = 24, .width = 2, .threads = 8}}) {
        test::crowd_options chosen = options;
        chosen.seed = seed;
        chosen.rounds = times;
        test::crowd<Config> crowd(chosen);
        crowd.run();
        INFO(crowd.text());
        CHECK(crowd.wrong() == "");
        CHECK(crowd.checks() == chosen.rounds);
        CHECK(crowd.operations() == chosen.rounds * crowd.steps * chosen.threads);
    }
}

#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
struct with_wide_slots : expiry_config<boost_atomics> {
    using slot = slot128;
};
#endif

}  // namespace

TEST_CASE("threads on Boost.Atomic lose no expiry") { hammer<expiry_config<boost_atomics>>(); }
TEST_CASE("threads on std::atomic lose no expiry") { hammer<expiry_config<std_atomics>>(); }
TEST_CASE("threads that yield in the middle of everything lose no expiry") {
    // Where others want the cores too, each yield costs a time slice of theirs.
    hammer<expiry_config<test::yielding_atomics<std_atomics>>>(rounds() / 10);
}
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
TEST_CASE("threads on slots of 128 bits lose no expiry") { hammer<with_wide_slots>(); }
#endif
