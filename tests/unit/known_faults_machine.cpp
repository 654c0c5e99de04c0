// SPDX-License-Identifier: BSL-1.0

// Faults of this algorithm that are known from elsewhere, as small cases: the shape of the tree,
// who takes part, and what is told to the outside. See known_faults.cpp, and
// docs/known-faults.md for the K numbers.

#include "catch.hpp"
#include "support/interposing.hpp"
#include "support/scene.hpp"
#include "support/shapes.hpp"

#include <tmigr/atomics/counting.hpp>
#include <tmigr/atomics/plain.hpp>

#include <algorithm>
#include <random>
#include <vector>

using namespace tmigr;
using namespace tmigr::test;

namespace {

using plain = expiry_config<plain_atomics>;
using library = expiry_config<interposing_atomics>;

struct available_after_walk : library {
    struct steps : algorithm_steps {
        static constexpr bool unavailable_first = false;
    };
};

constexpr auto leaves = [](cpu_id c) { return [c](auto& s) { s.leave(c); }; };

void check_sound(const schedules& all, std::size_t at_least) {
    CHECK(all.wrong == "");
    CHECK(all.failed == 0);
    CHECK(all.played >= at_least);
}

tree_shape shape_of(std::size_t possible, std::size_t nodes, unsigned width, linux_form form,
                    const std::vector<std::pair<cpu_id, node_id>>& arrivals) {
    tree_builder builder(possible, nodes, {width, form});
    for (const auto& [id, node] : arrivals) builder.add({.id = id, .node = node});
    return builder.shape();
}

}  // namespace

TEST_CASE("K22 one CPU more than a group holds gives one root, not two") {
    for (const linux_form form : {linux_form::newest, linux_form::v6_13, linux_form::v6_9})
        for (const unsigned width : {4u, 8u}) {
            std::vector<std::pair<cpu_id, node_id>> arrivals;
            for (cpu_id i = 0; i < 2 * width + width / 2; ++i) {
                arrivals.emplace_back(i, 0);
                INFO("width " << width << ", " << arrivals.size() << " CPUs");
                const tree_shape shape = shape_of(512, 1, width, form, arrivals);
                if (form != linux_form::v6_9) CHECK(unsound(shape, width) == "");
                CHECK(std::count_if(shape.groups.begin(), shape.groups.end(),
                                    [](const shape_group& g) { return g.parent == tree_shape::none; }) == 1);
                CHECK(shape.levels() == (arrivals.size() > width ? 2 : 1));
            }
        }
    CHECK(outline(shape_of(512, 1, 8, linux_form::newest,
                           {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {8, 0}})) ==
          "G1.0 n0 m1 {G0.0 n0 m1 [0 1 2 3 4 5 6 7] G0.1 n0 m2 [8]}");
}

TEST_CASE("K38 nodes do not mix below the cross-family level") {
    CHECK(outline(shape_of(18, 2, 8, linux_form::newest, {{0, 0}, {9, 1}})) ==
          "G2.0 m1 {G1.1 n0 m1 {G0.0 n0 m1 [0]} G1.0 n1 m2 {G0.1 n1 m1 [9]}}");
    // The older forms do mix them: the check would notice.
    CHECK(unsound(shape_of(18, 2, 8, linux_form::v6_13, {{0, 0}, {9, 1}}), 8).find("families mix") !=
          std::string::npos);
    std::mt19937_64 random(38);
    unsigned mixed_by_old_form = 0;
    for (int round = 0; round < 300; ++round) {
        const std::size_t nodes = 2 + random() % 3, per_node = 5 + random() % 8;
        std::vector<std::pair<cpu_id, node_id>> arrivals;
        for (cpu_id i = 0; i < nodes * per_node; ++i)
            arrivals.emplace_back(i, static_cast<node_id>(i / per_node));
        std::shuffle(arrivals.begin(), arrivals.end(), random);
        arrivals.resize(1 + random() % arrivals.size());
        REQUIRE(unsound(shape_of(nodes * per_node, nodes, 4, linux_form::newest, arrivals), 4) == "");
        mixed_by_old_form +=
            unsound(shape_of(nodes * per_node, nodes, 4, linux_form::v6_13, arrivals), 4) != "";
    }
    CHECK(mixed_by_old_form > 20);
}

TEST_CASE("K43 CPUs without a node, and roots without one, cost no extra level") {
    STATIC_REQUIRE(no_node < 0);
    for (const linux_form form : {linux_form::newest, linux_form::v6_13})
        for (node_id late = -1; late < 3; ++late) {
            std::vector<std::pair<cpu_id, node_id>> arrivals{{0, 0}, {1, 1}};
            const unsigned levels = shape_of(12, 3, 8, form, arrivals).levels();
            arrivals.emplace_back(2, late);
            const tree_shape shape = shape_of(12, 3, 8, form, arrivals);
            CHECK(shape.levels() == levels);
            CHECK(shape.groups[shape.root].family == no_family);
        }
}

TEST_CASE("K45 narrow groups grow as wide ones do") {
    for (const unsigned width : {2u, 3u, 4u, 8u})
        for (const std::size_t possible : {4u, 64u}) {  // the former: more come than were announced
            scene<plain> s(0, {.width = width}, possible);
            for (cpu_id c = 0; c < 40; ++c) {
                s.arrive();
                REQUIRE(unsound(s.tree.shape(), width) == "");
                if (c % 3 == 0) s.wake(c);
                if (c % 5 == 0) s.awake[c] ? s.sleep(c, 5 + c) : s.arm(c, 5 + c);
                REQUIRE(s.broken_invariant() == "");
            }
            REQUIRE(s.wrong() == "");
        }
}

TEST_CASE("K47 a tree without CPUs answers, and one that cannot be made is not there") {
    basic_hierarchy<plain> tree(8, 1);
    CHECK(tree.root() == nullptr);
    CHECK_FALSE(tree.any_active());
    CHECK_FALSE(tree.migrator());
    CHECK_THROWS_AS(tree.cpu(0), input_error);
    CHECK_THROWS_AS(basic_hierarchy<plain>(8, 1, {.width = 1}), input_error);
}

TEST_CASE("K48 K50 trees apart never run each other's timers nor hand over to each other") {
    scene<plain> small(2), big(2);
    small.wake(0), small.wake(1), big.wake(0);
    small.sleep(0, 5);
    small.leave(1);
    REQUIRE(small.left.size() == 1);
    CHECK(small.left[0].due == 5);
    CHECK(small.left[0].by == cpu_id{0});
    big.now = 5;
    CHECK_FALSE(big.cpu[0].must_expire(5));
    big.interrupt(0);
    CHECK(big.ran.empty());
    CHECK(small.wrong() == "");
}

TEST_CASE("K55 a CPU that leaves hands over to one that takes part") {
    const auto two_may_go = scenes<library>(4, [](auto& s) {
        for (cpu_id c = 0; c < 4; ++c) s.wake(c);
        s.sleep(0, 9), s.sleep(1, 5), s.sleep(3);
    });
    check_sound(race(two_may_go, leaves(0), leaves(2)), 20);
    check_sound(race_of_three(two_may_go, leaves(0), leaves(2), leaves(3)), 300);
    CHECK(race(scenes<available_after_walk>(4,
                                            [](auto& s) {
                                                for (cpu_id c = 0; c < 3; ++c) s.wake(c);
                                                s.sleep(0, 9), s.sleep(1, 5);
                                            }),
               leaves(0), leaves(2))
              .failed > 0);
}

TEST_CASE("K56 when some come before others go, there is always somebody to take over") {
    for (unsigned before = 1; before < 16; ++before)
        for (unsigned after = 1; after < 16; ++after) {
            scene<plain> s(4);
            s.arm(0, 5), s.arm(3, 7);
            for (cpu_id c = 0; c < 4; ++c)
                if ((before >> c & 1) == 0) s.leave(c);
            for (cpu_id c = 0; c < 4; ++c)
                if ((after & ~before) >> c & 1) s.join(c);
            for (cpu_id c = 0; c < 4; ++c)
                if ((before & ~after) >> c & 1) s.leave(c);
            for (const departure& left : s.left) CHECK((left.due == never || left.by.has_value()));
            REQUIRE(s.wrong() == "");
        }
}

TEST_CASE("K57 everybody takes part from the start, and is set apart later") {
    scene<plain> s(8);
    for (cpu_id c = 0; c < 8; ++c) CHECK(s.cpu[c].takes_part());
    s.wake(0);
    for (const cpu_id c : {0u, 1u, 2u, 3u}) s.leave(c);
    s.arm(5, 7);
    CHECK(s.armed[5] == 7);
    CHECK_FALSE(s.tree.migrator());
    CHECK(s.wrong() == "");
}

TEST_CASE("K59 with everybody set apart each timer is its own CPU's") {
    scene<plain> s(4);
    for (cpu_id c = 0; c < 4; ++c) s.leave(c);
    s.wake(0), s.wake(3);
    s.sleep(0, 9);
    s.arm(1, 7);
    CHECK(s.armed == std::vector<ticks>{9, 7, never, never});
    CHECK(s.wrong() == "");
}

TEST_CASE("K60 the caller knows its own timer, the forecast tells the effective one") {
    scene<plain> s(4);
    s.wake(0), s.wake(2);
    CHECK(s.cpu[0].peek(5) == never);
    s.sleep(2, 7);
    CHECK(s.cpu[0].peek(9) == 7);
    CHECK(s.cpu[0].peek(5) == 5);
}

TEST_CASE("K62 timers that can wait are not told, and arm nobody") {
    scene<plain> s(4);
    s.wake(0);
    s.sleep(0);  // whatever else it has that can wait
    CHECK(s.first_armed() == never);
}

TEST_CASE("K63 a sleeper that leaves somebody awake in its group touches nothing above") {
    using counting = counting_atomics<plain_atomics>;
    scene<expiry_config<counting>> s(8);
    s.wake(0), s.wake(1);
    counting::counts() = {};
    s.sleep(0, 5);
    CHECK(counting::counts().level_mask == 1);
    CHECK(counting::counts().read_modify_writes == 1);
}

namespace {

/// Keeps what a tree tells of its words, and checks each against the group as it is then.
struct told_tracer {
    static constexpr bool enabled = true;
    std::vector<std::uint64_t>* words = nullptr;
    std::vector<group_id>* children = nullptr;

    template <class Event>
    void trace(const Event& e, cpu_id) noexcept {
        if constexpr (requires {
                          e.childmask;
                          e.active;
                      })
            if (words != nullptr) words->push_back(e.active);
        if constexpr (requires { e.child_evt_expiry; })
            if (children != nullptr) children->push_back(e.child);
    }
};
struct told : expiry_config<plain_atomics> {
    using tracer = told_tracer;
};

}  // namespace

TEST_CASE("K66 K67 words are told in the order in which they are written, and a CPU's slot has no child") {
    std::vector<std::uint64_t> words;
    std::vector<group_id> children;
    basic_hierarchy<told> tree(4, 1, {.width = 2}, {&words, &children});
    for (cpu_id c = 0; c < 4; ++c) tree.add({.id = c, .node = 0});
    auto a = tree.cpu(0), b = tree.cpu(3);
    a.activate();
    b.activate();
    CHECK(words == std::vector<std::uint64_t>{1, 1, 2, 3});
    words.clear();
    children.clear();
    static_cast<void>(a.deactivate(5));
    CHECK(words == std::vector<std::uint64_t>{0, 2});
    CHECK(children == std::vector<group_id>{no_group, 1});
}
