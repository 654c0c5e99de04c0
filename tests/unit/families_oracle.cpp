// SPDX-License-Identifier: BSL-1.0

// Random lives of small machines under every preset: CPUs wake, sleep, get timers, are
// interrupted, leave and come back, arrive late, and trees are made anew. After every step all
// invariants are checked, against what is true. TMIGR_LONG=1 makes it a hundred times as long.

#include "catch.hpp"
#include "support/family_world.hpp"
#include "support/random_machine.hpp"

#include <tmigr/draw.hpp>

#include <cstdlib>
#include <iostream>
#include <sstream>

using namespace tmigr;

namespace {

struct counters {
    std::size_t operations = 0, timers = 0, for_others = 0, hand_overs = 0, trees_left = 0, reshapes = 0, refused = 0, grown = 0, stopped = 0,
                split_lives = 0;
};

topology random_classes(std::mt19937_64& random) {
    static const std::vector<unsigned> capacities{200, 210, 400, 512, 600, 800, 900, 950, 1000, 1010, 1024};
    const std::size_t classes = random() % 4 == 0 ? capacities.size() : 1 + random() % 3;
    const std::size_t nodes = 1 + random() % 3;
    topology machine;
    const std::size_t count = 2 + random() % 22;
    for (std::size_t i = 0; i < count; ++i)
        machine.add(static_cast<cpu_id>(i), static_cast<node_id>(random() % nodes), capacities[random() % classes]);
    return machine;
}

/// One machine's life; what went wrong, or "".
std::string live(std::mt19937_64& random, const family_policy& policy, std::size_t operations, counters& counts) {
    const topology all = random_classes(random);
    topology present;
    const std::size_t first = random() % 3 == 0 ? all.size() : 1 + random() % all.size();
    for (std::size_t i = 0; i < first; ++i) present.add(all.cpus()[i].id, all.cpus()[i].node, all.cpus()[i].capacity);
    if (random() % 2 == 0) {
        // Announced: most of them find a place.
        present.set_possible(all.size(), all.node_count());
        present.set_possible_capacities(all.capacities());
    }
    const unsigned width = std::vector{2u, 3u, 4u, 8u}[random() % 4];
    test::family_world world(present, all, policy, width);
    // A few CPUs are busy in some lives: then groups empty and fill often.
    const std::size_t busy = random() % 2 == 0 ? all.size() : 1 + random() % 4;
    const bool stops = random() % 8 == 0;
    const bool sleepy = random() % 2 == 0;
    counts.split_lives += !world.tree.plan().joined();
    std::string wrong = world.wrong();
    for (std::size_t i = 0; i < operations && wrong.empty(); ++i) {
        const std::size_t c = random() % std::min(busy, world.cpus.size());
        const auto dice = random() % 100;
        if (dice < 45) {
            if (world.cpus[c].awake)
                world.sleep(c);
            else if (!sleepy || random() % 4 == 0)
                world.wake(c);
        } else if (dice < 60) {
            world.arm(c, world.now + 1 + random() % 30);
        } else if (dice < 64) {
            world.cancel(c);
        } else if (dice < 74) {
            world.pass(1 + random() % 5);
        } else if (dice < 78) {
            world.interrupt(c);
        } else if (dice < 88) {
            world.cpus[c].in_tree.takes_part() ? world.leave(c, random() % 2 == 0) : world.join(c);
        } else if (dice < 90) {
            world.join(c);
        } else if (dice < 96) {
            if (world.cpus.size() < all.size()) world.grow(all.cpus()[world.cpus.size()]);
        } else if (dice == 96) {
            if (random() % 8 == 0) world.reshape(policy);
        } else if (dice == 97 && stops) {
            world.preference_stopped = true;
            world.tree.stop_preferring(random() % world.tree.groups().size());
            ++counts.stopped;
        } else {
            static_cast<void>(world.cpus[c].in_tree.peek(world.now + 3));
        }
        wrong = world.wrong();
        if (!wrong.empty()) wrong += " after operation " + std::to_string(i) + ", dice " + std::to_string(dice);
        ++counts.operations;
    }
    if (wrong.empty()) wrong = world.play_out();
    if (!wrong.empty()) {
        std::ostringstream text;
        draw_text(text, world.tree);
        for (const auto& cpu : world.cpus)
            text << cpu.info.id << ": capacity " << cpu.info.capacity << (cpu.awake ? ", awake" : ", asleep")
                 << (cpu.in_tree.takes_part() ? "" : ", apart") << ", armed " << static_cast<std::int64_t>(cpu.armed)
                 << ", next " << static_cast<std::int64_t>(cpu.next()) << '\n';
        wrong += " at " + std::to_string(world.now) + ", width " + std::to_string(width) + '\n' + text.str();
    }
    counts.timers += world.timers_run;
    counts.for_others += world.run_for_others;
    counts.hand_overs += world.hand_overs;
    counts.trees_left += world.trees_left;
    counts.reshapes += world.reshapes;
    counts.refused += world.refused;
    counts.grown += world.grown;
    return wrong;
}

}  // namespace

TEST_CASE("families: random lives under every preset keep the invariants") {
    const auto seed = test::seed();
    const char* longer = std::getenv("TMIGR_LONG");
    const std::size_t operations = longer != nullptr && *longer != '0' ? 1'000'000 : 10'000;
    std::uint64_t preset = 0;
    for (const family_policy& policy : families::presets()) {
        std::mt19937_64 random(seed + preset++);
        counters counts;
        for (std::size_t round = 0; counts.operations < operations; ++round) {
            const std::string wrong = live(random, policy, 250, counts);
            INFO(policy.name << ", seed " << seed << ", life " << round);
            REQUIRE(wrong == "");
        }
        std::cout << policy.name << ": " << counts.operations << " operations, " << counts.timers << " timers run, "
                  << counts.for_others << " for others, " << counts.hand_overs << " hand-overs, " << counts.trees_left
                  << " trees left empty, " << counts.grown << " CPUs came, " << counts.refused << " were refused, "
                  << counts.reshapes << " trees made anew, " << counts.stopped << " times no preference\n";
        CHECK((counts.split_lives > 0) == !policy.joined);
        CHECK(counts.for_others > operations / 200);
        CHECK(counts.hand_overs > operations / 500);
        CHECK(counts.trees_left > operations / 1000);
    }
}
