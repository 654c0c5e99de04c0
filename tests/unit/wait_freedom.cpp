// SPDX-License-Identifier: BSL-1.0

// What the operations promise of their numbers of accesses while others move: the wait-free ones
// a bound whatever the others do, the lock-free ones that a swap fails only because somebody else
// got on, and every walk that it changes each group at most once (invariant 7).

#include "catch.hpp"
#include "support/interleaving_machine.hpp"
#include "support/operation_costs.hpp"
#include "support/random_machine.hpp"
#include "support/stepping.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace tmigr;
using namespace tmigr::test;

namespace {

using machine = interleaving_machine<stepping_expiries>;
using deed = std::function<void(machine&)>;

struct contest {
    std::size_t accesses = 0, failed_swaps = 0;
    std::string wrong;
};

/// Eight CPUs on three levels. Before every swap that the first program makes, the others move
/// until one of them wrote that cell, if they do so at all.
contest against_all(const deed& before, const deed& victim, const std::vector<deed>& others) {
    machine m(8);
    before(m);
    contest made;
    {
        stepper programs;
        programs.add([&] { victim(m); });
        for (const deed& other : others) programs.add([&m, &other] { other(m); });
        const auto until_written = [&](const void* cell) {
            for (std::size_t i = 1; i < programs.size(); ++i)
                while (!programs.done(i)) {
                    const bool there = programs.next(i).cell == cell;
                    programs.step(i);
                    if (there && programs.wrote()) return;
                }
        };
        while (!programs.done(0) && made.accesses < 100'000) {
            const auto next = programs.next(0);
            const bool swap = next.what == tmigr::test::access::kind::strong_swap ||
                              next.what == tmigr::test::access::kind::weak_swap;
            if (swap) until_written(next.cell);
            programs.step(0);
            ++made.accesses;
            if (swap && !programs.wrote()) ++made.failed_swaps;
        }
    }
    made.wrong = m.wrong_at_rest();
    if (made.wrong.empty()) made.wrong = m.play_out();
    return made;
}

constexpr operation_costs three_levels{3, 7, 8};

void rearm_again_and_again(machine& m, cpu_id c) {
    for (ticks n = 0; n < 40; ++n) m.arm(c, 60 - n);
}

}  // namespace

TEST_CASE("a refresh makes two attempts, however often others write") {
    // CPU 1's news go through the same slots.
    const auto made = against_all([](machine&) {},
                                  [](machine& m) {
                                      no_tracer none;
                                      auto& leaf = const_cast<group<stepping_expiries>&>(m.cpu[0].leaf());
                                      refresh(*leaf.parent(), leaf, 0, none);
                                  },
                                  {[](machine& m) { rearm_again_and_again(m, 1); }});
    CHECK(made.failed_swaps == 2);
    CHECK(made.accesses == operation_costs::refresh_at_worst + 1);  // one to find the parent
    CHECK(made.wrong == "");
}

TEST_CASE("a new expiry costs two attempts for each level, however often others write") {
    const auto made = against_all([](machine&) {}, [](machine& m) { m.arm(0, 3); },
                                  {[](machine& m) { rearm_again_and_again(m, 1); }});
    CHECK(made.failed_swaps == 2 * 2);
    CHECK(made.accesses <= 6 + three_levels.walk_new_expiry(operation_costs::refresh_at_worst));
    CHECK(made.accesses > three_levels.walk_new_expiry());
    CHECK(made.wrong == "");
}

TEST_CASE("forecasts and quick looks swap nothing, and end while others move") {
    const auto flaps = [](machine& m) {
        for (ticks n = 0; n < 40; ++n) m.wake(1), m.sleep(1, 60 - n);
    };
    for (const bool awake : {false, true}) {
        const deed before = [awake](machine& m) {
            if (awake) m.wake(0);
        };
        for (const deed& look : {deed([](machine& m) { m.forecast(0); }),
                                 deed([](machine& m) { static_cast<void>(m.cpu[0].must_expire(m.now)); })}) {
            // In the middle of what the other does.
            for (std::size_t start = 0; start < 200; ++start) {
                machine m(8);
                before(m);
                {
                    stepper programs;
                    const auto other = programs.add([&] { flaps(m); });
                    for (std::size_t k = 0; k < start; ++k) programs.step(other);
                    const auto victim = programs.add([&] { look(m); });
                    std::size_t accesses = 0;
                    for (; !programs.done(victim); ++accesses) {
                        REQUIRE(programs.next(victim).what != tmigr::test::access::kind::weak_swap);
                        REQUIRE(programs.next(victim).what != tmigr::test::access::kind::strong_swap);
                        programs.step(victim);
                        for (int more = 0; more < 3 && !programs.done(other); ++more) programs.step(other);
                    }
                    REQUIRE(accesses <= 1 + 3 * (3 + operation_costs::scan));
                }
                REQUIRE(m.trouble == "");
            }
        }
    }
}

TEST_CASE("a walk that fails over and over does so because others get on, once for each of their swaps") {
    constexpr std::size_t times = 30;
    const auto flaps = [](machine& m) {
        for (std::size_t n = 0; n < times; ++n) m.wake(1), m.sleep(1, 60);
    };
    for (const deed& walk :
         {deed([](machine& m) { m.wake(0); }), deed([](machine& m) { m.wake(0), m.sleep(0, 9); })}) {
        const auto made = against_all([](machine&) {}, walk, {flaps});
        // CPU 1 swaps each word twice a turn, and its group's slots too.
        CHECK(made.failed_swaps > times);
        CHECK(made.failed_swaps <= times * 2 * 3 + 2 * 2);
        CHECK(made.accesses <= 16 + three_levels.walk_active() + three_levels.walk_inactive() +
                                   made.failed_swaps * operation_costs::attempt);
        CHECK(made.wrong == "");
    }
}

namespace {

/// Plays a random program without failures for no reason, and watches every access.
class watch {
public:
    std::size_t failed = 0, swaps = 0;
    std::string wrong;

    void play(const interleaving_program& program, std::mt19937_64& random) {
        machine m(program.cpus, program.options, 16, 1);
        for (const operation& o : program.before) m.act(o);
        for (const auto& phase : program.phases) {
            m.now += phase.later;
            play(m, phase, random);
            if (wrong.empty()) wrong = m.wrong_at_rest();
        }
        if (wrong.empty()) wrong = m.play_out();
    }

private:
    void play(machine& m, const interleaving_program::phase& phase, std::mt19937_64& random) {
        stepper programs;
        std::vector<std::size_t> turn(phase.queues.size(), 0);  // which operation each is at
        for (std::size_t q = 0; q < phase.queues.size(); ++q)
            programs.add([&m, &phase, &turn, q] {
                for (const operation& o : phase.queues[q]) m.act(o), ++turn[q];
            });
        std::map<const void*, std::size_t> writes;
        std::map<std::pair<std::size_t, const void*>, std::size_t> seen;  // how many of them, by whom
        std::map<std::tuple<std::size_t, std::size_t, const void*, char>, std::size_t> changes;
        while (!programs.all_done()) {
            const std::size_t i = random() % programs.size();
            for (std::size_t burst = 1 + random() % 6; burst > 0 && !programs.done(i); --burst) {
                const auto next = programs.next(i);
                const std::size_t now = turn[i];
                programs.step(i);
                if (programs.wrote()) {
                    ++writes[next.cell];
                } else if (next.what == tmigr::test::access::kind::weak_swap) {
                    ++failed;
                    if (seen[{i, next.cell}] == writes[next.cell]) note("a swap failed for no reason", next);
                }
                seen[{i, next.cell}] = writes[next.cell];
                if (next.what != tmigr::test::access::kind::weak_swap || !programs.wrote()) continue;
                ++swaps;
                // Wakes and sleeps; a CPU that rejoins does both.
                if ((next.label == "A2" || next.label == "D3" || next.label == "G2" || next.label == "G5") &&
                    ++changes[{i, now, next.cell, next.label[0]}] > (next.label[0] == 'G' ? 2u : 1u))
                    note("a walk changed a group twice", next);
            }
        }
    }
    void note(const char* what, const tmigr::test::access& where) {
        if (wrong.empty()) wrong = std::string(what) + ": " + std::string(where.label);
    }
};

}  // namespace

TEST_CASE("in random schedules swaps fail only against others, and no walk changes a group twice") {
    std::mt19937_64 random(seed());
    watch all;
    for (int round = 0; round < 15'000; ++round) {
        std::vector<std::uint8_t> bytes(40);
        for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
        bytes[1] &= 3;  // newest form, one node
        const interleaving_program program(bytes);
        all.play(program, random);
        INFO("round " << round << ": " << program.text());
        REQUIRE(all.wrong == "");
    }
    CHECK(all.failed > 1000);
    CHECK(all.swaps > 60'000);
}
