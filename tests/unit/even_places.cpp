// SPDX-License-Identifier: BSL-1.0

// Even places: rows cut evenly, against all ways to cut them; what shares a core or a cache
// shares a group where it fits.

#include "catch.hpp"
#include "support/families.hpp"
#include "support/random_machine.hpp"

#include <tmigr/detail/even_partition.hpp>

#include <array>
#include <tuple>

using namespace tmigr;
using detail::bond;
using detail::even_partition;

namespace {

using lengths = std::vector<std::size_t>;

/// Cores cut, caches cut, runs, how uneven: what is to be small, in this order.
using price = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
price price_of(const std::vector<bond>& bonds, const lengths& runs) {
    std::size_t cores = 0, caches = 0, squares = 0, at = 0;
    for (const std::size_t run : runs) {
        if (at > 0) {
            cores += bonds[at - 1] == bond::core;
            caches += bonds[at - 1] == bond::core || bonds[at - 1] == bond::cache;
        }
        at += run;
        squares += run * run;
    }
    return {cores, caches, runs.size(), squares};
}

/// The best price of all cuts there are.
price best_price(const std::vector<bond>& bonds, std::size_t items, std::size_t width) {
    price best{SIZE_MAX, 0, 0, 0};
    for (std::size_t cuts = 0; cuts < std::size_t{1} << (items - 1); ++cuts) {
        lengths runs{1};
        for (std::size_t i = 0; i + 1 < items; ++i)
            if ((cuts >> i & 1) != 0)
                runs.push_back(1);
            else
                ++runs.back();
        if (*std::max_element(runs.begin(), runs.end()) <= width) best = std::min(best, price_of(bonds, runs));
    }
    return best;
}

std::vector<std::vector<cpu_id>> leaves(const tree_builder& tree) {
    std::map<std::size_t, std::map<std::uint64_t, cpu_id>> by_group;
    for (const shape_cpu& cpu : tree.shape().cpus) by_group[cpu.group][cpu.childmask] = cpu.info.id;
    std::vector<std::vector<cpu_id>> all;
    for (const auto& [g, cpus] : by_group) {
        all.emplace_back();
        for (const auto& [mask, id] : cpus) all.back().push_back(id);
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// CPUs i and i + 1 are threads of core i / 2; `per_cache` in a row share a cache.
topology smt(cpu_id cpus, cpu_id per_cache) {
    topology machine;
    for (cpu_id i = 0; i < cpus; ++i) {
        machine.add(i, 0);
        machine.set_locality(i, i / per_cache, i / 2);
    }
    return machine;
}

}  // namespace

TEST_CASE("even places: rows by hand") {
    const std::vector<bond> loose(100, bond::none);
    CHECK(even_partition({}, 0, 8).empty());
    CHECK(even_partition({}, 1, 8) == lengths{1});
    CHECK(even_partition(loose, 8, 8) == lengths{8});
    CHECK(even_partition(loose, 9, 8) == lengths{5, 4});
    CHECK(even_partition(loose, 17, 8) == lengths{6, 6, 5});
    CHECK(even_partition(loose, 3, 2) == lengths{2, 1});
    // Pairs stay together though that is less even.
    std::vector<bond> pairs;
    for (int i = 0; i < 9; ++i) pairs.push_back(i % 2 == 0 ? bond::core : bond::none);
    CHECK(even_partition(pairs, 10, 8) == lengths{6, 4});
    CHECK(even_partition(pairs, 10, 3) == lengths{2, 2, 2, 2, 2});
    // A cache of five that does not fit four is cut once; a core of three in groups of two as well.
    const std::vector<bond> five(4, bond::cache);
    CHECK(even_partition(five, 5, 4) == lengths{3, 2});
    CHECK(even_partition({bond::core, bond::core}, 3, 2) == lengths{2, 1});
    // Rather more runs than a cut cache, rather a cut cache than a cut core.
    CHECK(even_partition({bond::cache, bond::cache, bond::none, bond::cache, bond::cache}, 6, 4) == lengths{3, 3});
    CHECK(even_partition({bond::cache, bond::core, bond::cache}, 4, 3) == lengths{3, 1});
}

TEST_CASE("even places: no way to cut a row is better") {
    std::mt19937_64 random(11);
    std::size_t rows = 0;
    // All rows of up to six items, random longer ones.
    for (std::size_t items = 1; items <= 6; ++items) {
        std::size_t kinds = 1;
        for (std::size_t i = 1; i < items; ++i) kinds *= 3;
        for (std::size_t code = 0; code < kinds; ++code) {
            std::vector<bond> bonds;
            for (std::size_t i = 1, rest = code; i < items; ++i, rest /= 3) bonds.push_back(static_cast<bond>(rest % 3));
            for (std::size_t width = 2; width <= 6; ++width) {
                const lengths runs = even_partition(bonds, items, width);
                REQUIRE(price_of(bonds, runs) == best_price(bonds, items, width));
                ++rows;
            }
        }
    }
    for (int round = 0; round < 400; ++round) {
        const std::size_t items = 7 + random() % 6, width = 2 + random() % 8;
        std::vector<bond> bonds;
        for (std::size_t i = 1; i < items; ++i) bonds.push_back(static_cast<bond>(random() % 3));
        const lengths runs = even_partition(bonds, items, width);
        std::size_t sum = 0;
        for (const std::size_t run : runs) sum += run;
        REQUIRE(sum == items);
        REQUIRE(*std::max_element(runs.begin(), runs.end()) <= width);
        REQUIRE(price_of(bonds, runs) == best_price(bonds, items, width));
        ++rows;
    }
    CHECK(rows > 2000);
}

TEST_CASE("even places: threads of a core and sharers of a cache are together") {
    // Linux fills 8 and 2; here cores stay whole.
    CHECK(leaves(test::built(smt(10, 10), families::balanced())) ==
          std::vector<std::vector<cpu_id>>{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9}});
    // Caches of six: no group has parts of two.
    CHECK(leaves(test::built(smt(18, 6), families::balanced())) ==
          std::vector<std::vector<cpu_id>>{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}, {12, 13, 14, 15, 16, 17}});
    // Siblings that are numbered far apart, as on x86: i and i + 8.
    topology far;
    for (cpu_id i = 0; i < 16; ++i) far.add(i, 0);
    for (cpu_id i = 0; i < 16; ++i) far.set_locality(i, i % 8 / 4, i % 8);
    CHECK(leaves(test::built(far, families::balanced())) ==
          std::vector<std::vector<cpu_id>>{{0, 8, 1, 9, 2, 10, 3, 11}, {4, 12, 5, 13, 6, 14, 7, 15}});
    // Groups of one cache meet before those of others do, where they fit.
    const tree_builder deep = test::built(smt(16, 4), families::balanced(), 2);
    CHECK(test::outline(deep.shape()).find("G2.") != std::string::npos);
    for (const shape_group& g : deep.shape().groups) {
        if (g.level != 1) continue;
        std::set<cpu_id> caches;
        for (const shape_cpu& cpu : deep.shape().cpus)
            if (&deep.shape().groups[deep.shape().groups[cpu.group].parent] == &g) caches.insert(cpu.info.id / 4);
        CHECK(caches.size() == 1);
    }
}

TEST_CASE("even places: the same for any order of arrival, as even as can be, cores whole") {
    const auto seed = test::seed();
    std::mt19937_64 random(seed);
    for (int round = 0; round < 200; ++round) {
        const unsigned width = std::vector{2u, 3u, 4u, 8u}[random() % 4];
        const cpu_id cpus = 1 + static_cast<cpu_id>(random() % 90);
        const cpu_id threads = 1 + static_cast<cpu_id>(random() % 2), nodes = 1 + static_cast<cpu_id>(random() % 4);
        const bool caches = random() % 2 == 0;
        topology machine;
        for (cpu_id i = 0; i < cpus; ++i) machine.add(i, static_cast<node_id>(i / threads % nodes));
        for (cpu_id i = 0; i < cpus; ++i)
            machine.set_locality(i, caches ? i / threads % nodes * 100 + i / threads / 5 : no_locality, threads > 1 ? i / threads : no_locality);
        const tree_builder tree = test::built(machine, families::balanced(), width);
        INFO("seed " << seed << ", round " << round << ", width " << width);
        REQUIRE(test::breaks_rules(machine, families::balanced(), tree) == "");
        for (int order = 0; order < 3; ++order)
            REQUIRE(leaves(test::built(test::shuffled(machine, random), families::balanced(), width)) == leaves(tree));

        std::map<cpu_id, std::set<std::size_t>> groups_of_core, groups_of_cache;
        std::map<cpu_id, std::size_t> sharers;
        std::map<node_id, std::set<std::size_t>> groups_of_node;
        std::map<node_id, std::size_t> members;
        for (const shape_cpu& cpu : tree.shape().cpus) {
            groups_of_core[cpu.info.id / threads].insert(cpu.group);
            groups_of_cache[machine.cpu(cpu.info.id).cache].insert(cpu.group);
            ++sharers[machine.cpu(cpu.info.id).cache];
            groups_of_node[cpu.info.node].insert(cpu.group);
            ++members[cpu.info.node];
        }
        if (tree.shape().groups[tree.shape().cpus[0].group].cross) continue;
        for (const auto& [core, groups] : groups_of_core) REQUIRE((threads == 1 || groups.size() == 1));
        for (const auto& [cache, groups] : groups_of_cache)
            if (caches && sharers[cache] <= width) REQUIRE(groups.size() == 1);
        if (caches || threads > 1) continue;
        // Nothing is shared: sizes differ by one at most, and no group could be spared.
        for (const auto& [node, groups] : groups_of_node) {
            REQUIRE(groups.size() == (members[node] + width - 1) / width);
            for (const std::size_t g : groups) {
                const unsigned children = tree.shape().groups[g].children;
                REQUIRE(children >= members[node] / groups.size());
                REQUIRE(children <= members[node] / groups.size() + 1);
            }
        }
    }
}

TEST_CASE("even places: with families by rank, each family is filled evenly") {
    topology machine;
    for (cpu_id i = 0; i < 20; ++i) machine.add(i, 0, i < 9 ? 400 : 1024);
    family_policy policy = families::prefer_low();
    policy.filling = fill::even;
    std::mt19937_64 random(3);
    const tree_builder tree = test::built(machine, policy);
    CHECK(test::breaks_rules(machine, policy, tree) == "");
    CHECK(leaves(tree) == std::vector<std::vector<cpu_id>>{
                              {0, 1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12, 13, 14}, {15, 16, 17, 18, 19}});
    CHECK(leaves(test::built(test::shuffled(machine, random), policy)) == leaves(tree));
    for (const test::machine_facts& m : test::machines) {
        if (m.kind != test::reader::cpus) continue;
        const topology real = read_cpus(m.path());
        for (family_policy asked : families::presets()) {
            asked.filling = fill::even;
            for (const unsigned width : {2u, 8u}) {
                INFO(m.file << ", " << asked.name << ", width " << width);
                const tree_builder filled = test::built(test::shuffled(real, random), asked, width);
                REQUIRE(test::breaks_rules(real, filled.plan().policy(), filled) == "");
            }
        }
    }
}
