// SPDX-License-Identifier: BSL-1.0

// CPUs leave, join and are kicked, one step at a time. What happens when they do so at once is
// in tests/model/availability.cpp, and under K25, K26 and K55 in the tests of known faults.

#include "catch.hpp"
#include "support/interposing.hpp"
#include "support/scene.hpp"

#include <tmigr/atomics/plain.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace tmigr;
using namespace tmigr::test;

namespace {

using plain = expiry_config<plain_atomics>;
using words_only = linux_config<plain_atomics>;
using machine = scene<plain>;

ticks nobody(cpu_id, ticks) { throw std::logic_error("nothing is due"); }

struct names_tracer {
    static constexpr bool enabled = true;
    std::vector<std::string>* names = nullptr;
    template <class Event>
    void trace(const Event&, cpu_id) noexcept {
        if (names != nullptr) names->push_back(Event::name);
    }
};
template <class Base>
struct traced : Base {
    using tracer = names_tracer;
};

}  // namespace

TEST_CASE("all CPUs take part when they arrive, and leave once") {
    machine s(4);
    for (const auto& cpu : s.cpu) CHECK(cpu.takes_part());
    s.wake(0);
    CHECK(s.cpu[0].leave() == departure{});
    CHECK_FALSE(s.cpu[0].takes_part());
    CHECK_FALSE(s.tree.any_active());
    CHECK(s.cpu[0].leave() == departure{});
    CHECK(s.cpu[1].takes_part());
}

TEST_CASE("an awake CPU that leaves an awake one behind hands nothing over") {
    machine s(4);
    s.wake(0), s.wake(1), s.wake(3);
    s.sleep(1, 5);
    CHECK(s.cpu[0].leave() == departure{});
    CHECK(s.tree.migrator() == cpu_id{3});
    CHECK(s.cpu[3].must_expire(5));
}

TEST_CASE("the last CPU awake hands over what the sleepers wait for") {
    machine s(4);
    s.wake(0), s.wake(1), s.wake(3);
    s.sleep(0, 9), s.sleep(1, 5);
    CHECK(s.cpu[3].leave() == departure{.arm = never, .due = 5, .by = 0});
    // Whoever takes over wakes and sleeps; that is all.
    s.wake(0), s.sleep(0);
    CHECK(s.armed[0] == 5);
}

TEST_CASE("a successor is the first to have arrived that takes part: of two, one, none") {
    machine s(3);
    for (cpu_id c = 0; c < 3; ++c) s.arm(c, 5 + c);
    CHECK(s.cpu[0].leave() == departure{.arm = 5, .due = 6, .by = 1});
    CHECK(s.cpu[1].leave() == departure{.arm = 6, .due = 7, .by = 2});
    CHECK(s.cpu[2].leave() == departure{.arm = 7});
}

TEST_CASE(
    "the last to leave leaves nothing, unless it meets one that is leaving: then there is nobody to tell") {
    machine s(2);
    s.wake(0), s.wake(1);
    CHECK(s.cpu[1].leave() == departure{});
    CHECK(s.cpu[0].leave() == departure{});
    CHECK_FALSE(s.tree.any_active());

    std::size_t nobody_to_tell = 0;
    const auto all = race(
        scenes<expiry_config<interposing_atomics>>(2, [](auto& t) { t.wake(0), t.wake(1), t.sleep(1, 5); }),
        [](auto& t) { t.leave(0); }, [](auto& t) { t.leave(1); },
        [&](auto& t) -> std::string {
            for (const departure& left : t.left) {
                if (left.due == never) continue;
                if (left.due != 5) return "handed over what is not there";
                nobody_to_tell += !left.by.has_value();
            }
            return t.armed[1] == 5 ? "" : "the timer is lost";  // whoever left has armed its own
        });
    CHECK(all.wrong == "");
    CHECK(nobody_to_tell > 0);
}

TEST_CASE("an idle CPU leaves with its own expiry, and others' are handed over") {
    machine s(4);
    s.wake(0), s.wake(2);
    s.sleep(2, 7), s.sleep(0, 5);
    REQUIRE(s.armed[0] == 5);
    CHECK(s.cpu[0].leave() == departure{.arm = 5, .due = 7, .by = 1});
    CHECK(s.cpu[0].leaf().table().offered(s.cpu[0].childmask()) == never);
    CHECK(s.cpu[0].leave() == departure{.arm = 5});
    // While somebody is awake, only the own one is of interest.
    machine t(4);
    t.wake(0), t.wake(2), t.wake(3);
    t.sleep(2, 7), t.sleep(0, 5);
    CHECK(t.cpu[0].leave() == departure{.arm = 5});
    CHECK_FALSE(t.cpu[3].must_expire(6));
    CHECK(t.cpu[3].must_expire(7));
}

TEST_CASE("what an idle CPU leaves with is cut where its slot cut it") {
    machine s(2);
    CHECK(s.cpu[0].new_expiry(never - 1) == slot64::latest);
    CHECK(s.cpu[0].leave().arm == slot64::latest);
    CHECK(s.cpu[1].leave() == departure{});
}

TEST_CASE("a CPU that does not take part has its expiries handed back unchanged") {
    machine s(4);
    s.wake(1);
    s.sleep(1, 3);  // somebody else's, that is none of its business
    for (const bool awake_first : {false, true}) {
        auto cpu = s.cpu[awake_first ? 0 : 2];
        if (awake_first) cpu.activate();
        static_cast<void>(cpu.leave());
        if (!awake_first) cpu.activate();
        CHECK(cpu.peek(5) == 5);
        CHECK(cpu.peek(never) == never);
        CHECK_FALSE(cpu.must_expire(100));
        CHECK(cpu.expire(100, nobody) == never);  // awake: nothing to arm
        CHECK_FALSE(cpu.is_active());
        CHECK(cpu.deactivate(5) == 5);
        CHECK(cpu.expire(100, nobody) == 5);
        CHECK(cpu.new_expiry(9) == 9);
        CHECK(cpu.leave() == departure{.arm = 9});
        cpu.activate();  // whatever it armed is of no interest now
        CHECK(cpu.expire(100, nobody) == never);
        CHECK(cpu.leave() == departure{});
        CHECK(cpu.deactivate(9) == 9);
        CHECK(cpu.new_expiry(never - 1) == never - 1);  // no slot, nothing is cut
        CHECK(cpu.new_expiry(never) == never);
        CHECK(cpu.expire(100, nobody) == never);
        CHECK(cpu.leave() == departure{});
        CHECK_FALSE(s.tree.any_active());
    }
}

TEST_CASE("nobody runs the timers of a CPU that does not take part") {
    machine s(4);
    s.wake(0), s.wake(2);
    s.sleep(0, 5);
    s.leave(0);
    CHECK_FALSE(s.cpu[2].must_expire(100));
    CHECK(s.cpu[2].expire(100, nobody) == never);
    s.sleep(2);
    CHECK(s.armed[2] == never);
    CHECK(s.armed[0] == 5);
}

TEST_CASE("K53 a CPU set apart while it is awake gives the role of migrator away, and gets none") {
    for (cpu_id apart = 0; apart < 4; ++apart) {
        machine s(4);
        s.wake(apart);  // so it is in charge of everything
        for (cpu_id c = 0; c < 4; ++c)
            if (c != apart) s.wake(c);
        REQUIRE(s.tree.migrator() == apart);
        s.leave(apart);
        REQUIRE(s.tree.migrator().has_value());
        CHECK(s.tree.migrator() != apart);
        // Awake all the time, and once more: never in charge.
        s.sleep(apart, 5);
        s.wake(apart);
        for (cpu_id c = 0; c < 4; ++c)
            if (c != apart) s.sleep(c, 7 + c);
        CHECK_FALSE(s.tree.migrator());
        CHECK(s.broken_invariant() == "");
        // Its own timer runs where it is, nobody else's does.
        s.sleep(apart, 6);
        CHECK(s.armed[apart] == 5);
        CHECK(s.play_out() == "");
    }
}

TEST_CASE("a CPU joins as it is: awake, or idle, whatever it did while it was away") {
    machine s(4);
    s.wake(0);
    s.leave(0);
    CHECK(s.cpu[0].join() == never);
    CHECK(s.tree.migrator() == cpu_id{0});
    s.leave(0);
    s.sleep(0);
    CHECK(s.cpu[0].join() == never);
    CHECK_FALSE(s.tree.any_active());
    s.leave(0);
    s.wake(0), s.sleep(0), s.wake(0);
    CHECK(s.cpu[0].join() == never);
    CHECK(s.tree.migrator() == cpu_id{0});
    CHECK(s.wrong() == "");
}

TEST_CASE("to join twice changes nothing") {
    machine s(4);
    s.wake(0);
    s.leave(0);
    CHECK(s.cpu[0].join() == never);
    const auto word = s.cpu[0].leaf().current();
    CHECK(s.cpu[0].join() == never);
    CHECK(s.cpu[0].leaf().current() == word);
    // Idle, it is told again what it has to arm.
    s.sleep(0, 5);
    CHECK(s.cpu[0].join() == 5);
    CHECK(s.cpu[1].join() == 5);
    CHECK(s.cpu[0].leaf().table().offered(s.cpu[0].childmask()) == 5);
}

TEST_CASE("a CPU that joins idle brings its timer along") {
    machine s(4);
    s.leave(0);
    s.arm(0, 5);
    s.arm(3, 7);
    REQUIRE(s.armed[3] == 7);
    s.join(0);
    CHECK(s.armed[0] == 5);  // earlier than anybody's: it arms it
    CHECK(s.broken_invariant() == "");
    s.wake(3);
    CHECK(s.cpu[3].must_expire(5));
    // Later than somebody's, and with somebody awake.
    machine t(4);
    t.leave(0), t.leave(1);
    t.arm(0, 9), t.arm(1, 8), t.arm(3, 7);
    t.join(0);
    CHECK(t.armed[0] == 7);
    t.wake(3);
    t.join(1);
    CHECK(t.armed[1] == never);
    CHECK(t.cpu[3].must_expire(8));
    CHECK(t.wrong() == "");
}

TEST_CASE("a CPU that joins is a successor again, and one that left is none") {
    machine s(3);
    s.leave(0);
    s.wake(1), s.wake(2);
    s.sleep(1, 5);
    s.leave(2);
    CHECK(s.left.back() == departure{.arm = never, .due = 5, .by = 1});
    s.join(2);
    CHECK(s.tree.migrator() == cpu_id{2});
    s.join(0);
    s.leave(2);
    CHECK(s.left.back() == departure{.arm = never, .due = 5, .by = 0});
}

TEST_CASE("the first kick needs a signal, the next ones do not, until the CPU knows") {
    machine s(2);
    auto cpu = s.cpu[0];
    CHECK_FALSE(cpu.answer_kick());
    CHECK(cpu.kick());
    CHECK_FALSE(cpu.kick());
    CHECK_FALSE(cpu.kick());
    CHECK(cpu.answer_kick());
    CHECK_FALSE(cpu.answer_kick());
    CHECK(cpu.kick());
    cpu.activate();  // answers by itself
    CHECK_FALSE(cpu.answer_kick());
    // Awake: the signal must be found when it next waits. To fall asleep is no answer.
    CHECK(cpu.kick());
    static_cast<void>(cpu.deactivate(never));
    CHECK_FALSE(cpu.kick());
    CHECK(cpu.answer_kick());
    // Kicks are each CPU's own, and take no part in who takes part.
    CHECK(s.cpu[1].kick());
    static_cast<void>(s.cpu[1].leave());
    CHECK_FALSE(s.cpu[1].kick());
    s.cpu[1].activate();
    CHECK_FALSE(s.cpu[1].answer_kick());
    CHECK(s.cpu[1].kick());
}

TEST_CASE("without expiries CPUs leave and join all the same") {
    scene<words_only> s(4);
    s.wake(0), s.wake(2);
    CHECK(s.cpu[0].leave() == departure{});
    CHECK(s.tree.migrator() == cpu_id{2});
    CHECK(s.cpu[0].leave() == departure{});
    CHECK(s.cpu[2].leave() == departure{});  // nothing is due where nothing is known
    CHECK_FALSE(s.tree.any_active());
    CHECK(s.cpu[1].leave() == departure{});
    s.sleep(0), s.wake(1);
    CHECK_FALSE(s.tree.any_active());
    for (const cpu_id c : {0u, 1u, 2u}) CHECK(s.cpu[c].join() == never);
    CHECK(s.cpu[1].join() == never);
    CHECK(s.tree.any_active());
    CHECK_FALSE(s.cpu[0].is_active());
    CHECK(s.broken_invariant() == "");
    CHECK(s.cpu[3].kick());
    CHECK(s.cpu[3].answer_kick());
}

TEST_CASE("events of leaving and joining come in the kernel's order") {
    std::vector<std::string> names;
    const auto told = [&names] { return std::exchange(names, {}); };
    basic_hierarchy<traced<plain>> tree(2, 1, {}, {&names});
    auto cpu = tree.add({.id = 0, .node = 0});
    tree.add({.id = 1, .node = 0});
    using list = std::vector<std::string>;
    cpu.activate();
    told();
    static_cast<void>(cpu.leave());
    CHECK(told() == list{"tmigr_group_set_cpu_inactive", "tmigr_cpu_unavailable"});
    static_cast<void>(cpu.leave());
    static_cast<void>(cpu.deactivate(5));
    static_cast<void>(cpu.new_expiry(4));
    static_cast<void>(cpu.expire(9, nobody));
    CHECK(told().empty());
    static_cast<void>(cpu.join());
    CHECK(told() == list{"tmigr_cpu_available", "tmigr_update_events"});
    static_cast<void>(cpu.leave());
    CHECK(told() == list{"tmigr_update_events", "tmigr_cpu_unavailable"});
    cpu.activate();
    CHECK(told().empty());
    static_cast<void>(cpu.join());
    CHECK(told() == list{"tmigr_cpu_available", "tmigr_cpu_active",
                         "tmigr_group_set_cpu_active"});
    static_cast<void>(cpu.join());
    CHECK(told().empty());

    basic_hierarchy<traced<words_only>> words(2, 1, {}, {&names});
    auto other = words.add({.id = 0, .node = 0});
    other.activate();
    told();
    static_cast<void>(other.leave());
    CHECK(told() == list{"tmigr_group_set_cpu_inactive", "tmigr_cpu_unavailable"});
    static_cast<void>(other.join());
    CHECK(told() == list{"tmigr_cpu_available", "tmigr_cpu_active", "tmigr_group_set_cpu_active"});
    other.deactivate();
    static_cast<void>(other.leave());
    told();
    static_cast<void>(other.join());
    CHECK(told() == list{"tmigr_cpu_available"});
}
