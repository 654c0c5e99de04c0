// SPDX-License-Identifier: BSL-1.0

// Faults of this algorithm that are known from elsewhere, as small cases: trees that grow while
// CPUs sleep and wake, CPUs that leave meanwhile. See known_faults.cpp, and docs/known-faults.md
// for the K numbers.

#include "catch.hpp"
#include "support/interposing.hpp"
#include "support/scene.hpp"

#include <tmigr/atomics/plain.hpp>

using namespace tmigr;
using namespace tmigr::test;

namespace {

using plain = expiry_config<plain_atomics>;
using library = expiry_config<interposing_atomics>;
using words_only = linux_config<interposing_atomics>;

// One thing left out each.
struct carried_blindly : library {
    struct steps : algorithm_steps {
        static constexpr bool carry_only_active = false;
    };
};
struct mask_after_link : library {
    struct steps : algorithm_steps {
        static constexpr bool mask_before_link = false;
    };
};
struct no_refresh_after_link : library {
    struct steps : algorithm_steps {
        static constexpr bool refresh_after_link = false;
    };
};
struct stop_at_idle_groups : library {
    struct steps : algorithm_steps {
        static constexpr bool leave_idle_groups = false;
    };
};
template <unsigned Bits>
struct with_seq : words_only {
    using state = basic_state<std::uint64_t, 8, Bits>;
};

constexpr auto nothing = [](auto&) {};
constexpr auto arrives = [](auto& s) { s.arrive(); };
constexpr auto sleeps_without_timer = [](cpu_id c) { return [c](auto& s) { s.sleep(c); }; };
constexpr auto sleeps_until = [](cpu_id c, ticks due) { return [c, due](auto& s) { s.sleep(c, due); }; };
constexpr auto gets_timer = [](cpu_id c, ticks due) { return [c, due](auto& s) { s.arm(c, due); }; };
constexpr auto wakes = [](cpu_id c) { return [c](auto& s) { s.wake(c); }; };
constexpr auto takes_interrupt = [](cpu_id c) { return [c](auto& s) { s.interrupt(c); }; };
constexpr auto leaves = [](cpu_id c) { return [c](auto& s) { s.leave(c); }; };

void check_sound(const schedules& all, std::size_t at_least) {
    CHECK(all.wrong == "");
    CHECK(all.failed == 0);
    CHECK(all.played >= at_least);
}

}  // namespace

TEST_CASE("K17 an old root that falls asleep while a CPU arrives is not called awake") {
    for (const unsigned width : {2u, 4u, 8u}) {
        const auto only_0_awake = [&](auto kind) {
            return scenes<typename decltype(kind)::type>(width, wakes(0), {.width = width});
        };
        check_sound(race(only_0_awake(std::type_identity<words_only>()), arrives, sleeps_without_timer(0)),
                    15);
        check_sound(race(only_0_awake(std::type_identity<library>()), arrives, sleeps_until(0, 5)), 40);
        // The newcomer trusts whom it finds in charge.
        check_sound(
            race(
                only_0_awake(std::type_identity<library>()),
                [width](auto& s) { s.arrive(), s.wake(width), s.sleep(width, 8); }, sleeps_without_timer(0)),
            40);
        CHECK(race(only_0_awake(std::type_identity<carried_blindly>()), arrives, sleeps_without_timer(0))
                  .failed > 0);
    }
}

TEST_CASE("K17 the new root learns of the old one's sleepers and of its timers") {
    const auto waiting = [](auto& s) { s.wake(0), s.wake(1), s.sleep(0, 7), s.sleep(1); };
    check_sound(race(scenes<library>(2, waiting), arrives, gets_timer(0, 5)), 30);
    check_sound(race(scenes<library>(2, waiting), arrives, wakes(0)), 30);
    check_sound(race_of_three(
                    scenes<library>(2, waiting), [](auto& s) { s.arrive(), s.wake(2), s.sleep(2); },
                    gets_timer(1, 5), wakes(0)),
                1000);
    CHECK(race(scenes<no_refresh_after_link>(2, waiting), arrives, nothing).failed > 0);
}

TEST_CASE("K08 K17 an interrupt that finds nothing due while the tree grows keeps what is armed") {
    // The new root holds nothing yet when the one armed looks there.
    const auto armed_until_5 = [](auto& s) { s.wake(0), s.sleep(0, 5); };
    const auto other_node_arrives = [](auto& s) { s.arrive(1); };
    check_sound(race(scenes<library>(2, armed_until_5), arrives, takes_interrupt(0)), 30);
    check_sound(race(scenes<library>(4, armed_until_5), arrives, takes_interrupt(0)), 30);
    check_sound(
        race(scenes<library>(1, armed_until_5, {.width = 8}, 48, 2), other_node_arrives, takes_interrupt(0)),
        40);
    check_sound(
        race_of_three(scenes<library>(2, armed_until_5), arrives, takes_interrupt(0), gets_timer(1, 4)),
        1000);
}

TEST_CASE("K18 nobody follows a link with a bit that is not set yet") {
    // Form 6.9: there a root has no bit before it is linked.
    const hierarchy_options old{.width = 4, .form = linux_form::v6_9};
    const auto migrator_is_somebody = [](auto& s) -> std::string {
        for (const auto& g : s.tree.groups())
            if (g.current().migrator() == 0) return "a migrator without a bit";
        return s.wrong();
    };
    check_sound(race(scenes<library>(4, nothing, old), arrives, wakes(0), migrator_is_somebody), 20);
    CHECK(race(scenes<mask_after_link>(4, nothing, old), arrives, wakes(0), migrator_is_somebody).failed > 0);
}

TEST_CASE("K19 a root knows the bit that it will have, and keeps the place for it") {
    for (const linux_form form : {linux_form::v6_13, linux_form::newest}) {
        const hierarchy_options options{.width = 4, .form = form};
        scene<plain> s(4, options);
        CHECK(s.tree.root()->groupmask() == 1);
        s.arrive();
        CHECK(s.tree.root()->groupmask() == 1);
        CHECK(s.tree.groups()[0].groupmask() == 1);
        CHECK(s.tree.groups()[1].groupmask() == 2);
        // So even a grower that sets the bit too late does no harm there.
        check_sound(race(scenes<mask_after_link>(4, nothing, options), arrives, wakes(0)), 20);
        check_sound(
            race(
                scenes<library>(4, nothing, options), [](auto& x) { x.wake(1), x.arrive(); }, wakes(0)),
            20);
    }
    CHECK(scene<plain>(4, {.width = 4, .form = linux_form::v6_9}).tree.root()->groupmask() == 0);
}

TEST_CASE("K20 a walk that stalls below two new roots finds its way up through both") {
    const auto two_levels_arrive = [](auto& s) {
        const unsigned before = s.tree.shape().levels();
        while (s.tree.shape().levels() < before + 2) s.arrive();
    };
    const auto awake_1 = [](auto& s) { s.wake(1), s.sleep(1, 9); };
    check_sound(race(scenes<library>(2, awake_1), two_levels_arrive, wakes(0)), 60);
    check_sound(race(scenes<library>(2, wakes(0)), two_levels_arrive, sleeps_until(0, 5)), 60);
    // Two levels at once, through a group in the middle that is new as well.
    const auto other_node_arrives = [](auto& s) { s.arrive(1); };
    for (const auto& deed : {std::function<void(scene<library>&)>(wakes(0)),
                             std::function<void(scene<library>&)>(gets_timer(0, 5))})
        check_sound(race(scenes<library>(1, nothing, {.width = 8}, 48, 2), other_node_arrives, deed), 30);
    check_sound(
        race(scenes<library>(1, wakes(0), {.width = 8}, 48, 2), other_node_arrives, sleeps_until(0, 5)), 30);
}

TEST_CASE("K21 the old root is told of by the one who grows or by the one who wakes") {
    const auto grower_wakes_too = [](auto& s) { s.wake(1), s.arrive(); };
    check_sound(race(scenes<library>(4, nothing), wakes(0), grower_wakes_too), 40);
    check_sound(race_of_three(scenes<library>(4, wakes(2)), sleeps_until(2, 5), wakes(0), arrives), 1000);
    check_sound(race_of_three(scenes<words_only>(2, wakes(0)), sleeps_without_timer(0), wakes(1), arrives),
                300);
}

TEST_CASE("K21 a walk goes on from an idle group, since the one above may know no better (m28)") {
    const auto flaps = [](auto& s) { s.sleep(0, 9), s.wake(0), s.sleep(0, 5); };
    const auto newcomer = [](auto& s) { s.arrive(), s.wake(2), s.sleep(2); };
    const auto sleeper = [](auto& s) { s.wake(1), s.sleep(1, 8); };
    check_sound(race_of_three(scenes<library>(2, wakes(0)), newcomer, flaps, sleeper), 1000);
    check_sound(race(scenes<library>(2, wakes(0)), arrives, sleeps_until(0, 5)), 40);
    CHECK(race(scenes<stop_at_idle_groups>(2, wakes(0)), arrives, sleeps_until(0, 5)).failed > 0);
}

TEST_CASE("K23 a walk that asked for the parent keeps to the answer") {
    // The last one of the old root sleeps while it gets a parent: it may have armed in a group that is the
    // root no longer, which wakes it for nothing at worst.
    for (const cpu_id sleeper : {0u, 1u}) {
        check_sound(race(scenes<library>(2, wakes(sleeper)), arrives, sleeps_until(sleeper, 5)), 40);
        check_sound(race(scenes<library>(2, nothing), arrives, gets_timer(sleeper, 5)), 30);
    }
}

TEST_CASE("K24 K28 K49 anybody may add a CPU, whoever is awake, and the first one is no exception") {
    for (unsigned awake = 0; awake < 16; ++awake)
        for (const bool timers : {false, true}) {
            scene<plain> s(0);
            for (cpu_id c = 0; c < 5; ++c) {
                s.arrive();
                REQUIRE(s.broken_invariant() == "");
                if (c < 4 && (awake >> c & 1) != 0) s.wake(c);
                if (c < 4 && (awake >> c & 1) == 0 && timers) s.arm(c, 5 + c);
                REQUIRE(s.broken_invariant() == "");
            }
            REQUIRE(s.wrong() == "");
        }
}

TEST_CASE("K25 the last one awake leaves, and unrelated interrupts do not swallow what it hands over") {
    const auto last_is_3 = scenes<library>(4, [](auto& s) {
        for (cpu_id c = 0; c < 4; ++c) s.wake(c);
        s.sleep(0), s.sleep(1, 5), s.sleep(2, 8);
    });
    for (const cpu_id disturbed : {0u, 1u, 2u})
        check_sound(race(last_is_3, leaves(3), takes_interrupt(disturbed)), 20);
    check_sound(race_of_three(last_is_3, leaves(3), takes_interrupt(0), takes_interrupt(1)), 300);
    check_sound(race_of_three(last_is_3, leaves(3), leaves(0), takes_interrupt(1)), 300);
    check_sound(race_of_three(last_is_3, leaves(3), gets_timer(0, 4), takes_interrupt(1)), 300);
}

TEST_CASE("K26 a sleeper leaves while its timer is run by somebody else") {
    const auto due_at_5 = scenes<library>(4, [](auto& s) {
        s.wake(0), s.wake(2);
        s.add(0, 9);
        s.sleep(0, 5);
        s.now = 5;
    });
    const auto its_slot_is_empty = [](auto& s) -> std::string {
        if (s.cpu[0].leaf().table().offered(s.cpu[0].childmask()) != never) return "its slot came back";
        return s.wrong();
    };
    check_sound(race(due_at_5, takes_interrupt(2), leaves(0), its_slot_is_empty), 20);
    check_sound(race(due_at_5, takes_interrupt(1), leaves(0), its_slot_is_empty), 20);
}

TEST_CASE("K70 a sequence number of few bits comes round while a walk is held up, a long one does not") {
    // CPU 0 falls asleep and is held up at R. CPU 1 of its group wakes, sleeps and wakes, each of which
    // changes R once; that R gets a parent changes it once more. So R is as before after 2^n steps.
    const auto changes = [](unsigned times) {
        return [times](auto& s) {
            s.wake(1);
            for (unsigned i = 1; i < times / 2; ++i) s.sleep(1), s.wake(1);
            s.arrive();
        };
    };
    const auto fails = [&](auto kind, unsigned times) {
        using config = typename decltype(kind)::type;
        return interrupted(scenes<config>(4, [](auto& s) { s.wake(2), s.wake(0); }), sleeps_without_timer(0),
                           changes(times))
                   .failed > 0;
    };
    CHECK(fails(std::type_identity<with_seq<1>>(), 2));
    CHECK(fails(std::type_identity<with_seq<2>>(), 4));
    CHECK(fails(std::type_identity<with_seq<3>>(), 8));
    CHECK_FALSE(fails(std::type_identity<with_seq<4>>(), 8));
    CHECK(fails(std::type_identity<with_seq<16>>(), 65'536));
    CHECK_FALSE(fails(std::type_identity<with_seq<32>>(), 65'536));
}
