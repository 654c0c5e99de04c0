// SPDX-License-Identifier: BSL-1.0

// Calls that should not be, due times that make no sense, and users' functions that throw, lie
// or call back. See tests/unit/expiry.cpp for `never`, and tests/unit/availability.cpp for CPUs
// that do not take part.

#include "catch.hpp"
#include "support/scene.hpp"

#include <tmigr/atomics/plain.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace tmigr;
using namespace tmigr::test;

namespace {

using plain = expiry_config<plain_atomics>;
using machine = scene<plain>;

struct counted_misuse {
    static inline std::vector<std::string> seen;
    static void check(bool used_rightly, const char* rule) noexcept {
        if (!used_rightly) seen.push_back(rule);
    }
};
template <class Base>
struct watched : Base {
    using misuse = counted_misuse;
};
std::vector<std::string> seen_misuse() { return std::exchange(counted_misuse::seen, {}); }
using rules = std::vector<std::string>;

}  // namespace

TEST_CASE("to wake an awake CPU, or send a sleeping one to sleep, is caught once and does no harm") {
    scene<watched<plain>> s(4);
    counted_misuse::seen.clear();
    s.wake(0), s.wake(2);
    CHECK(seen_misuse().empty());
    s.wake(0);
    CHECK(seen_misuse() == rules{"activate: the CPU is idle"});
    CHECK(s.broken_invariant() == "");
    s.sleep(0, 5);
    CHECK(seen_misuse().empty());
    s.sleep(0);
    CHECK(seen_misuse() == rules{"deactivate: the CPU is awake"});
    CHECK(s.broken_invariant() == "");
    s.sleep(2);
    CHECK(s.armed[2] == 5);
    s.sleep(2);  // alone, at an idle root
    CHECK(s.armed[2] == 5);
    CHECK(seen_misuse() == rules{"deactivate: the CPU is awake"});
    CHECK(s.wrong() == "");
    CHECK(seen_misuse().empty());
}

TEST_CASE("a new expiry of an awake CPU is caught once, and costs a look at most") {
    scene<watched<plain>> s(4);
    counted_misuse::seen.clear();
    s.wake(0), s.wake(2);
    CHECK(s.cpu[0].new_expiry(5) == never);
    CHECK(seen_misuse() == rules{"new_expiry: the CPU is idle"});
    CHECK(s.cpu[0].expire(9, [](cpu_id, ticks) -> ticks { throw std::logic_error("it is awake"); }) == never);
    CHECK(s.cpu[2].expire(9, [](cpu_id, ticks) -> ticks { throw std::logic_error("it is awake"); }) == never);
    s.sleep(0, 7);
    s.sleep(2);
    CHECK(s.armed[2] == 7);
    CHECK(s.wrong() == "");
    CHECK(seen_misuse().empty());
}

TEST_CASE("misuse is caught without expiries and of CPUs that do not take part as well") {
    scene<watched<linux_config<plain_atomics>>> words(2);
    counted_misuse::seen.clear();
    words.sleep(0);
    words.wake(1), words.wake(1);
    CHECK(seen_misuse() == rules{"deactivate: the CPU is awake", "activate: the CPU is idle"});
    CHECK(words.broken_invariant() == "");

    scene<watched<plain>> s(2);
    s.leave(0);
    CHECK(s.cpu[0].deactivate(5) == 5);
    s.wake(0), s.wake(0);
    CHECK(s.cpu[0].new_expiry(5) == 5);
    CHECK(seen_misuse() ==
          rules{"deactivate: the CPU is awake", "activate: the CPU is idle", "new_expiry: the CPU is idle"});
}

TEST_CASE("a due time that has passed is armed at once, and run at once") {
    for (const ticks past : {0u, 1u, 99u}) {
        machine s(4);
        s.now = 100;
        s.wake(0);
        s.add(0, past);
        s.sleep(0);
        CHECK(s.armed[0] == past);
        CHECK(s.cpu[0].new_expiry(past) == past);
        s.wake(2);
        CHECK(s.cpu[2].must_expire(100));
        s.interrupt(2);
        CHECK(s.has_run(0, past));
        CHECK_FALSE(s.cpu[2].must_expire(100));
        CHECK(s.wrong() == "");
    }
}

TEST_CASE("a due time that is too late for a slot is early, not late, and not never") {
    for (const ticks far :
         {slot64::latest - 1, slot64::latest, slot64::latest + 1, slot64::latest + 2, never - 1}) {
        machine s(4);
        s.wake(0), s.wake(2);
        CHECK(s.cpu[0].deactivate(far) == never);
        CHECK(s.cpu[2].peek(never) == std::min(far, slot64::latest));
        CHECK(s.cpu[2].deactivate(never) == std::min(far, slot64::latest));
        CHECK(s.cpu[0].new_expiry(far) == std::min(far, slot64::latest));
        // Whoever comes when it is due by the slot finds it not due in truth, and is told so.
        int runs = 0;
        CHECK(s.cpu[2].expire(slot64::latest, [&](cpu_id sleeper, ticks) {
            CHECK(sleeper == 0);
            ++runs;
            return never;
        }) == never);
        CHECK(runs == 1);
    }
}

TEST_CASE("what throws in the middle loses nothing, whoever comes next") {
    for (const cpu_id cpus : {2u, 4u, 8u})
        for (const bool expirer_sleeps : {false, true})
            for (cpu_id victim = 0; victim + 1 < cpus; ++victim)
                for (const cpu_id next : {cpus - 1, victim, cpu_id{0}}) {
                    machine s(cpus);
                    const cpu_id expirer = cpus - 1;
                    for (cpu_id c = 0; c < cpus; ++c) s.wake(c);
                    for (cpu_id c = 0; c + 1 < cpus; ++c) s.sleep(c, 5);
                    if (expirer_sleeps) s.sleep(expirer);
                    s.now = 5;
                    s.during_run = [&](cpu_id sleeper) {
                        if (sleeper == victim) throw std::runtime_error("no");
                    };
                    CHECK_THROWS_AS(s.interrupt(expirer), std::runtime_error);
                    REQUIRE_FALSE(s.has_run(victim, 5));
                    REQUIRE(s.broken_invariant() == "");
                    s.during_run = nullptr;
                    if (expirer_sleeps) {
                        s.interrupt(next);
                        REQUIRE(s.has_run(victim, 5));
                    } else {
                        s.interrupt(expirer);
                    }
                    REQUIRE(s.ran.size() == cpus - 1);
                    REQUIRE(s.wrong() == "");
                }
}

TEST_CASE("a function that runs timers may wake, put to sleep, arm and expire for other CPUs") {
    const std::map<std::string, std::function<void(machine&)>> doings{
        {"arms another", [](machine& s) { s.arm(5, 6); }},
        {"arms another for the past", [](machine& s) { s.arm(5, 2); }},
        {"arms the sleeper", [](machine& s) { s.arm(0, 6); }},
        {"wakes another", [](machine& s) { s.wake(5); }},
        {"wakes the sleeper's neighbour", [](machine& s) { s.wake(1); }},
        {"wakes the sleeper", [](machine& s) { s.wake(0); }},
        {"wakes the sleeper, which sleeps again", [](machine& s) { s.wake(0), s.sleep(0, 6); }},
        {"puts another to sleep", [](machine& s) { s.sleep(3, 7); }},
        {"puts another to sleep and wakes it", [](machine& s) { s.sleep(3, 7), s.wake(3); }},
        {"expires as another", [](machine& s) { s.during_run = nullptr, s.interrupt(3); }},
        {"expires as a sleeper", [](machine& s) { s.during_run = nullptr, s.interrupt(1); }},
        {"expires as the sleeper", [](machine& s) { s.during_run = nullptr, s.interrupt(0); }},
        {"lets the sleeper leave", [](machine& s) { s.leave(0); }},
        {"lets another leave", [](machine& s) { s.leave(3); }},
        {"brings a new CPU", [](machine& s) { s.arrive(), s.arrive(), s.wake(8); }},
    };
    for (const auto& [name, doing] : doings)
        for (const bool everybody_sleeps : {false, true}) {
            if (everybody_sleeps && name.find("puts another to sleep") != name.npos) continue;
            INFO(name);
            machine s(8);
            s.wake(7), s.wake(3), s.wake(0), s.wake(2);
            s.sleep(2, 5), s.sleep(0, 5);
            if (everybody_sleeps) s.sleep(3), s.sleep(7);
            s.now = 5;
            bool done = false;
            s.during_run = [&, &doing = doing](cpu_id sleeper) {
                if (sleeper == 0 && !std::exchange(done, true)) doing(s);
            };
            s.interrupt(everybody_sleeps ? 7 : 3);
            s.during_run = nullptr;
            CHECK(done);
            CHECK(s.wrong() == "");
        }
}

TEST_CASE("a function that always tells of something due makes nobody come twice, and ends") {
    for (const cpu_id cpus : {2u, 4u, 8u})
        for (const ticks told : {0u, 5u, 10u})
            for (const bool expirer_sleeps : {false, true}) {
                INFO(cpus << " CPUs, told " << told << (expirer_sleeps ? ", all asleep" : ", one awake"));
                machine s(cpus);
                for (cpu_id c = 0; c < cpus; ++c) s.wake(c);
                for (cpu_id c = 0; c + 1 < cpus; ++c) s.sleep(c, 5);
                if (expirer_sleeps) s.sleep(cpus - 1, 5);
                std::map<cpu_id, int> runs;
                const ticks arm = s.cpu[cpus - 1].expire(10, [&](cpu_id sleeper, ticks) {
                    ++runs[sleeper];
                    return told;
                });
                CHECK(arm == (expirer_sleeps ? told : never));
                CHECK(runs.size() == cpus - (expirer_sleeps ? 0 : 1));
                for (const auto& [sleeper, times] : runs) {
                    INFO("CPU " << sleeper);
                    CHECK(times == 1);
                }
                CHECK(s.cpu[cpus - 1].must_expire(10));
            }
}
