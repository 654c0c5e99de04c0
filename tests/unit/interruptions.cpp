// SPDX-License-Identifier: BSL-1.0

// Three CPUs do something at once on a random small tree: every schedule is played in which one
// is interrupted by the whole of another, and that one by the third or the first once more. At
// the end of each the invariants hold, and no timer is lost or late.

#include "catch.hpp"
#include "support/interposing.hpp"
#include "support/random_machine.hpp"
#include "support/scene.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using namespace tmigr;
using namespace tmigr::test;

namespace {

using machine = scene<expiry_config<interposing_atomics>>;

struct doing {
    std::string what;
    cpu_id cpu = 0;
    ticks due = never;

    void operator()(machine& s) const {
        if (what == "arrives") s.arrive();
        if (what == "interrupt") s.interrupt(cpu);
        if (what == "leaves" || what == "leaves, joins") s.leave(cpu);
        if (what == "joins" || what == "leaves, joins") s.join(cpu);
        if (what == "gets timer") s.arm(cpu, due);
        if (what == "wakes" || what == "wakes, sleeps") s.wake(cpu);
        if (what == "sleeps" || what == "wakes, sleeps" || what == "sleeps, wakes") s.sleep(cpu, due);
        if (what == "sleeps, wakes") s.wake(cpu);
    }
    std::string text() const { return std::to_string(cpu) + " " + what + " " + std::to_string(due) + "; "; }
};

/// Something that a CPU can do as it is.
doing something(std::mt19937_64& random, cpu_id c, bool awake, bool member) {
    std::vector<std::string> all{"interrupt"};
    for (const char* what : {"sleeps", "sleeps", "sleeps", "sleeps, wakes"})
        if (awake) all.emplace_back(what);
    for (const char* what : {"wakes", "gets timer", "wakes, sleeps"})
        if (!awake) all.emplace_back(what);
    for (const char* what : {"leaves", "leaves, joins"})
        if (member) all.emplace_back(what);
    if (!member) all.emplace_back("joins");
    return {all[random() % all.size()], c, 3 + random() % 6};
}

}  // namespace

TEST_CASE("whatever three CPUs do at once, in every schedule with single interruptions") {
    std::mt19937_64 random(seed());
    const char* longer = std::getenv("TMIGR_LONG");
    std::size_t played = 0;
    for (std::size_t round = 60 * (longer != nullptr ? std::stoull(longer) : 1); round > 0; --round) {
        const auto cpus = static_cast<cpu_id>(2 + random() % 5);
        machine rehearsal(cpus);
        std::vector<doing> before;
        for (cpu_id c = 0; c < cpus; ++c)
            if (random() % 2 == 0) before.push_back({"wakes", c}), before.back()(rehearsal);
        for (std::size_t n = random() % 5; n > 0; --n) {
            const auto c = static_cast<cpu_id>(random() % cpus);
            before.push_back(something(random, c, rehearsal.awake[c] != 0, rehearsal.cpu[c].takes_part()));
            before.back()(rehearsal);
        }
        const ticks now = random() % 2 == 0 ? 1 : 5;
        const auto make = [&] {
            auto s = std::make_unique<machine>(cpus);
            for (const doing& d : before) d(*s);
            s->take_over();
            s->now = now;
            return s;
        };
        std::vector<cpu_id> who(cpus);
        for (cpu_id c = 0; c < cpus; ++c) who[c] = c;
        std::shuffle(who.begin(), who.end(), random);
        const auto as_it_is = make();
        std::vector<doing> now_at_once;
        for (const cpu_id c : who)
            now_at_once.push_back(
                something(random, c, as_it_is->awake[c] != 0, as_it_is->cpu[c].takes_part()));
        if (cpus == 2 || random() % 4 == 0) now_at_once.insert(now_at_once.begin() + 2, doing{"arrives"});

        const schedules all = race_of_three(std::function<std::unique_ptr<machine>()>(make), now_at_once[0],
                                            now_at_once[1], now_at_once[2], [](machine& s) {
                                                // Nobody to take over: then whoever it was about is leaving
                                                // too, and armed it for itself.
                                                for (departure& left : s.left)
                                                    if (!left.by) left.due = never;
                                                return s.wrong();
                                            });
        std::string scene = std::to_string(cpus) + " CPUs, time " + std::to_string(now) + ": ";
        for (const doing& d : before) scene += d.text();
        scene += "then at once ";
        for (std::size_t i = 0; i < 3; ++i) scene += now_at_once[i].text();
        INFO(scene);
        REQUIRE(all.wrong == "");
        played += all.played;
    }
    CHECK(played > 10'000);
}
