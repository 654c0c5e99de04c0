// SPDX-License-Identifier: BSL-1.0
#include "catch.hpp"

#include <tmigr/atomics/counting.hpp>
#include <tmigr/atomics/plain.hpp>
#include <tmigr/expiry.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/wide_state.hpp>

#include <sstream>
#include <stdexcept>

using namespace tmigr;
using namespace std::chrono_literals;

namespace {

using milliseconds = std::chrono::milliseconds;
using counting = counting_atomics<plain_atomics>;

struct plain_expiries {
    basic_hierarchy<expiry_config<plain_atomics>> tree;
    explicit plain_expiries(cpu_id cpus) : tree(machine(cpus)) {}
    static topology machine(cpu_id cpus) {
        topology t;
        for (cpu_id i = 0; i < cpus; ++i) t.add(i, 0);
        return t;
    }
};

template <class Slot>
void check_slot() {
    STATIC_REQUIRE(Slot().due() == never);
    constexpr Slot first = Slot().by_owner(5);
    STATIC_REQUIRE(first.due() == 5);
    STATIC_REQUIRE(first.by_owner(5) != first);
    STATIC_REQUIRE(first.by_other(5) != first);
    STATIC_REQUIRE(first.by_other(5) != first.by_owner(5));
    STATIC_REQUIRE(first.by_owner(never).due() == never);
    STATIC_REQUIRE(Slot().by_owner(0).due() == 0);
    // Beyond what fits a due time is cut, which is early, and never becomes `never`.
    STATIC_REQUIRE(Slot().by_owner(never - 1).due() == Slot::latest);
    STATIC_REQUIRE(Slot::latest < never);
    // Owner and others never make the same word, wherever the count stands.
    Slot s;
    for (int i = 0; i < 70'000; ++i) {
        const Slot mine = s.by_owner(7);
        const Slot theirs = s.by_other(7);
        REQUIRE(mine.tag() % 2 == 0);
        REQUIRE(theirs.tag() % 2 == 1);
        REQUIRE(mine != s);
        REQUIRE(theirs != s);
        s = i % 3 == 0 ? mine : theirs;
    }
    // Words compare as due times do, whatever the tags; `never` is the last.
    CHECK(s.by_owner(6).word() < Slot().by_owner(7).word());
    CHECK(Slot().by_owner(6).word() < s.by_owner(7).word());
    CHECK(s.by_other(Slot::latest).word() < Slot().by_owner(never).word());
    CHECK(Slot::due_of(s.by_other(9).word()) == 9);
    CHECK(s.by_other(9).is_due_by(9));
    CHECK_FALSE(Slot().by_owner(9).is_due_by(8));
    CHECK(s.by_other(Slot::latest).is_due_by(never - 1));
    CHECK_FALSE(s.by_other(never).is_due_by(never - 1));
}

}  // namespace

TEST_CASE("a slot keeps the due time and never repeats a word at once") {
    check_slot<slot64>();
    check_slot<basic_slot<std::uint64_t, 32>>();
    check_slot<basic_slot<std::uint32_t, 24>>();
    check_slot<slot128>();
    STATIC_REQUIRE(slot64::latest == (ticks{1} << 48) - 2);
    STATIC_REQUIRE(slot128::latest == never - 1);
}

TEST_CASE("slots print for humans") {
    std::ostringstream text;
    text << slot64() << slot64().by_owner(12);
    CHECK(text.str() == "{due=never tag=0}{due=12 tag=2}");
}

TEST_CASE("durations become ticks that are early, never late") {
    CHECK(to_ticks<milliseconds>(5ms) == 5);
    CHECK(to_ticks<milliseconds>(1999us) == 1);
    CHECK(to_ticks<milliseconds>(999ns) == 0);
    CHECK(to_ticks<milliseconds>(2s) == 2000);
    CHECK(to_ticks<std::chrono::duration<int, std::ratio<1, 250>>>(10ms) == 2);   // HZ=250: 2.5 jiffies
    CHECK(to_ticks<std::chrono::duration<int, std::ratio<1, 300>>>(10ms) == 3);
    CHECK(to_ticks<milliseconds>(-5ms) == 0);
    CHECK(to_ticks<milliseconds>(0ms) == 0);
    CHECK(to_ticks<milliseconds>(std::chrono::duration<double>(0.0019999)) == 1);
    // What does not fit is the latest time, not `never` and not a small one.
    CHECK(to_ticks<std::chrono::nanoseconds>(std::chrono::hours::max()) == never - 1);
    CHECK(to_ticks<std::chrono::nanoseconds>(std::chrono::seconds::max()) == never - 1);
    CHECK(to_ticks<milliseconds>(std::chrono::duration<double>(1e300)) == never - 1);
    CHECK(to_ticks<milliseconds>(std::chrono::duration<double>(std::numeric_limits<double>::infinity())) == never - 1);
    CHECK(to_ticks<milliseconds>(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())) == 0);
    CHECK(to_ticks<std::chrono::nanoseconds>(std::chrono::nanoseconds::max()) ==
          static_cast<ticks>(std::chrono::nanoseconds::max().count()));
    CHECK(to_ticks<std::chrono::seconds>(std::chrono::nanoseconds::max()) == 9223372036u);
}

TEST_CASE("the last to sleep arms the earliest expiry of all") {
    plain_expiries m(24);
    auto a = m.tree.cpu(13), b = m.tree.cpu(2), c = m.tree.cpu(5);
    for (auto cpu : {a, b, c}) cpu.activate();
    CHECK(b.deactivate(100) == never);
    CHECK(c.deactivate(50) == never);
    CHECK(a.peek(70) == 50);
    CHECK(a.peek(30) == 30);
    CHECK_FALSE(a.must_expire(49));
    CHECK(a.must_expire(50));
    std::vector<cpu_id> ran;
    CHECK(a.expire(60, [&](cpu_id sleeper, ticks now) {
        CHECK(now == 60);
        ran.push_back(sleeper);
        return ticks{200};
    }) == never);
    CHECK(ran == std::vector<cpu_id>{5});
    CHECK(a.deactivate(150) == 100);
    CHECK(c.new_expiry(90) == 90);
    CHECK(c.new_expiry(300) == 100);
    CHECK(b.peek(never) == 150);
}

TEST_CASE("an interrupt that finds nothing due keeps what has to be armed") {
    plain_expiries m(24);
    auto a = m.tree.cpu(0), b = m.tree.cpu(20);
    a.activate();
    b.activate();
    CHECK(a.deactivate(500) == never);
    CHECK(b.deactivate(never) == 500);
    const auto nothing = [](cpu_id, ticks) -> ticks { throw std::logic_error("nothing is due"); };
    CHECK(b.expire(100, nothing) == 500);
    CHECK(a.expire(499, nothing) == 500);
    // With somebody else awake the promise is not this CPU's any more.
    m.tree.cpu(7).activate();
    CHECK(b.expire(100, nothing) == never);
}

TEST_CASE("the slot of an active group is out of date, and goes when an expirer finds it") {
    plain_expiries m(16);
    auto waker = m.tree.cpu(0), sleeper = m.tree.cpu(1), awake = m.tree.cpu(9);
    for (auto cpu : {waker, sleeper, awake}) cpu.activate();
    CHECK(sleeper.deactivate(15) == never);
    CHECK(waker.deactivate(10) == never);
    waker.activate();
    CHECK(m.tree.groups()[0].table().offered(waker.childmask()) == never);
    CHECK(m.tree.groups()[0].table().offered(sleeper.childmask()) == 15);
    CHECK(awake.must_expire(20));  // early, not late
    CHECK(awake.expire(20, [](cpu_id, ticks) -> ticks { throw std::logic_error("somebody else's"); }) == never);
    CHECK_FALSE(awake.must_expire(20));
    CHECK(waker.must_expire(15));
    CHECK(waker.peek(12) == never);  // there is somebody else awake
}

TEST_CASE("a sleeper that runs its neighbour's timer tells the groups above") {
    plain_expiries m(16);
    auto due = m.tree.cpu(0), beside = m.tree.cpu(1), awake = m.tree.cpu(9);
    for (auto cpu : {due, awake}) cpu.activate();
    CHECK(due.deactivate(10) == never);
    CHECK(beside.expire(20, [](cpu_id, ticks) { return ticks{30}; }) == never);
    CHECK_FALSE(awake.must_expire(29));
    CHECK(awake.must_expire(30));
}

TEST_CASE("never is not due, not even at the end of time") {
    plain_expiries m(16);
    auto sleeper = m.tree.cpu(3), awake = m.tree.cpu(9);
    awake.activate();
    CHECK_FALSE(awake.must_expire(never));
    const auto nobody = [](cpu_id, ticks) -> ticks { throw std::logic_error("nothing is due"); };
    CHECK(awake.expire(never, nobody) == never);
    sleeper.activate();
    CHECK(sleeper.deactivate(never - 1) == never);  // cut to the latest that fits
    CHECK(awake.must_expire(never));
    CHECK(awake.expire(never, [](cpu_id, ticks) { return never; }) == never);
    CHECK_FALSE(awake.must_expire(never));
}

TEST_CASE("a throwing run loses no expiry and gives the claim back") {
    plain_expiries m(16);
    auto sleeper = m.tree.cpu(3), awake = m.tree.cpu(9);
    sleeper.activate();
    awake.activate();
    CHECK(sleeper.deactivate(10) == never);
    CHECK_THROWS_AS(awake.expire(20, [](cpu_id, ticks) -> ticks { throw std::runtime_error("disk full"); }),
                    std::runtime_error);
    CHECK(awake.must_expire(20));
    int runs = 0;
    CHECK(awake.expire(20, [&](cpu_id cpu, ticks) {
        CHECK(cpu == 3);
        ++runs;
        return never;
    }) == never);
    CHECK(runs == 1);
    CHECK_FALSE(awake.must_expire(20));
    CHECK(awake.deactivate(never) == never);
}

TEST_CASE("a sleeper runs its own due timers when nobody is awake") {
    plain_expiries m(8);
    auto cpu = m.tree.cpu(0);
    cpu.activate();
    CHECK(cpu.deactivate(10) == 10);
    // The clock may have moved on between two looks: still one run, and an end.
    int runs = 0;
    CHECK(cpu.expire(11, [&](cpu_id self, ticks) {
        CHECK(self == 0);
        ++runs;
        return ticks{11};
    }) == 11);
    CHECK(runs == 1);
}

TEST_CASE("exact costs with expiries") {
    topology machine;
    for (cpu_id i = 0; i < 4096; ++i) machine.add(i, 0);
    for (const cpu_id cpus : {8u, 64u, 512u, 4096u}) {
        topology part;
        for (cpu_id i = 0; i < cpus; ++i) part.add(i, 0);
        basic_hierarchy<expiry_config<counting>> tree(part);
        const unsigned levels = tree.shape().levels();
        INFO(levels << " levels");
        auto cpu = tree.cpu(0), neighbour = tree.cpu(1);
        const auto costs = [](auto operation, std::uint64_t swaps, std::uint64_t loads, std::uint64_t stores) {
            counting::counts() = {};
            static_cast<void>(operation());
            const operation_counts c = counting::counts();
            CHECK(c.read_modify_writes == swaps);
            CHECK(c.failed_read_modify_writes == 0);
            CHECK(c.loads == loads);
            CHECK(c.stores == stores);
        };
        const auto wake = [](auto& c) { return [&c] { c.activate(); return 0; }; };
        // One swap a level, and the way up where the walk goes on; the own slot is loaded and stored; whether
        // somebody kicked the CPU.
        costs(wake(cpu), levels, 2 * levels + 2, 1);
        costs(wake(neighbour), 1, 3, 1);
        // With or without a timer, into a group that stays active: as without expiries, and the own slot.
        costs([&] { return cpu.deactivate(never); }, 1, 2, 1);
        cpu.activate();
        costs([&] { return cpu.deactivate(77); }, 1, 2, 1);
        // A new expiry in an active group: the own slot, and one look.
        costs([&] { return cpu.new_expiry(66); }, 0, 2, 1);
        // A forecast of the only one awake: the others' slots, word and way up on every level. Nothing due: the
        // own slot too.
        costs([&] { return neighbour.peek(never); }, 0, levels * 9, 0);
        costs([&] { return neighbour.must_expire(5); }, 0, levels * 10, 0);
        // The last sleeper: two swaps a level above the first, each refresh looks at slot, word and eight slots,
        // and at the top the eight slots of the root; word, child and way up as without expiries.
        costs([&] { return neighbour.deactivate(never); }, 2 * levels - 1, 2 + (levels - 1) * (10 + 2) + levels + 8, 1);
        // A sleeper leaves and joins: as with a new expiry, a note for others, and a look at the own slot. Who
        // leaves others' expiries behind looks for a successor, here at the first CPU; without an expiry of its
        // own it writes no slot when it joins.
        const unsigned new_expiry = 1 + 2 * levels + (levels - 1) * 10 + 8;
        costs([&] { return cpu.leave().due; }, levels - 1, new_expiry + 1, 2);
        costs([&] { return cpu.join(); }, levels - 1, new_expiry, 2);
        costs([&] { return neighbour.leave().due; }, levels - 1, new_expiry + 1 + 2, 2);
        costs([&] { return neighbour.join(); }, levels - 1, new_expiry - 1, 1);
        // The first kick and the next are the same to the kicker; without one, one look.
        costs([&] { return cpu.kick(); }, 1, 1, 0);
        costs([&] { return cpu.kick(); }, 1, 1, 0);
        costs([&] { return cpu.answer_kick(); }, 1, 1, 0);
        costs([&] { return cpu.answer_kick(); }, 0, 1, 0);
        // A new expiry in an idle tree: a refresh a level above the first.
        costs([&] { return cpu.new_expiry(55); }, levels - 1, new_expiry, 1);
    }
}
