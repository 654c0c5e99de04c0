// SPDX-License-Identifier: BSL-1.0

// Machine after machine of random size is driven by real threads (crowd.hpp), for as long as
// asked: with more threads than cores, bound to cores or not, with sleeps, and with yields in
// the middle of operations. Prints what was done, and the seed. Exit code 1 when an invariant
// was broken.

#include "stress/crowd.hpp"
#include "support/yielding.hpp"

#include <tmigr/atomics/boost.hpp>
#include <tmigr/atomics/std.hpp>
#include <tmigr/wide_state.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <thread>

using namespace tmigr;

namespace {

struct plan {
    double seconds = 60;
    std::uint64_t operations = 0, seed = 1;
    unsigned threads = 2 * std::max(1u, std::thread::hardware_concurrency());
    cpu_id cpus = 64;
    std::size_t rounds = 500;
    std::uint32_t yield_one_in = 64;
    std::uint64_t sleep_one_in = 2000;
    std::string backend = "all";
};

using clock = std::chrono::steady_clock;

struct totals {
    std::size_t machines = 0, checks = 0, operations = 0;
    clock::time_point begin = clock::now();

    double seconds() const { return std::chrono::duration<double>(clock::now() - begin).count(); }
    void print() const {
        std::cout << machines << " machines, " << operations << " operations, " << checks << " checks of all invariants, "
                  << static_cast<std::uint64_t>(seconds()) << " s" << std::endl;
    }
};

template <class Atomics>
struct on : expiry_config<test::yielding_atomics<Atomics>> {};
struct on_wide : on<boost_atomics> {
    using state = state64;
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
    using slot = slot128;
#endif
};

template <class Config>
bool drive(const test::crowd_options& options, totals& done) {
    test::crowd<Config> crowd(options);
    crowd.run();
    ++done.machines;
    done.checks += crowd.checks();
    done.operations += crowd.operations();
    if (crowd.wrong().empty()) return true;
    std::cout << "broken: " << crowd.wrong() << " (" << crowd.text() << ")" << std::endl;
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    plan asked;
    CLI::App app{"Drives random machines with real threads until an invariant breaks or the time is over."};
    app.add_option("--seconds", asked.seconds, "go on for at least that long")->capture_default_str();
    app.add_option("--operations", asked.operations, "and until that many operations are done")->capture_default_str();
    app.add_option("--seed", asked.seed, "of the first machine; the others follow")->capture_default_str();
    app.add_option("--threads", asked.threads, "at most")->check(CLI::Range(1, 4096))->capture_default_str();
    app.add_option("--cpus", asked.cpus, "at most")->check(CLI::Range(1, 65536))->capture_default_str();
    app.add_option("--rounds", asked.rounds, "of each machine")->check(CLI::Range(1, 1'000'000'000))->capture_default_str();
    app.add_option("--yield-one-in", asked.yield_one_in, "accesses on average, 0: never")->capture_default_str();
    app.add_option("--sleep-one-in", asked.sleep_one_in, "steps on average, 0: never")->capture_default_str();
    app.add_option("--backend", asked.backend)->check(CLI::IsMember({"all", "boost", "std", "wide"}))->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }

    test::yielding::one_in(asked.yield_one_in);
    totals done;
    double said = 0;
    for (std::uint64_t seed = asked.seed; done.seconds() < asked.seconds || done.operations < asked.operations; ++seed) {
        std::mt19937_64 random(seed);
        test::crowd_options options{.seed = seed, .rounds = asked.rounds};
        options.threads = static_cast<unsigned>(1 + random() % asked.threads);
        // Everybody drives somebody.
        options.cpus = std::max<cpu_id>(options.threads, static_cast<cpu_id>(1 + random() % asked.cpus));
        options.width = static_cast<unsigned>(2 + random() % 7);
        options.pin = random() % 2 == 0;
        options.sleep_one_in = random() % 2 == 0 ? asked.sleep_one_in : 0;
        const std::string backend =
            asked.backend != "all" ? asked.backend : std::array{"boost", "std", "wide"}[random() % 3];
        const bool right = backend == "boost" ? drive<on<boost_atomics>>(options, done)
                           : backend == "std" ? drive<on<std_atomics>>(options, done)
                                              : drive<on_wide>(options, done);
        if (!right) return 1;
        if (done.seconds() - said > 60) {
            said = done.seconds();
            done.print();
        }
    }
    std::cout << "seeds from " << asked.seed << ", no invariant broken: ";
    done.print();
}
