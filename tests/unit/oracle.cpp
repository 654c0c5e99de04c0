// SPDX-License-Identifier: BSL-1.0

// Random trees and a brute-force oracle: it knows which CPUs are awake and how many below
// each group, nothing of masks. After every operation the groups on the CPU's path are
// compared with it, at times the whole tree with the shared checker.

#include "catch.hpp"
#include "support/random_machine.hpp"

#include <tmigr/atomics/counting.hpp>
#include <tmigr/atomics/plain.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/invariants.hpp>
#include <tmigr/wide_state.hpp>

#include <random>
#include <vector>

using namespace tmigr;

namespace {

template <class State>
struct counted : linux_config<counting_atomics<plain_atomics>> {
    using state = State;
};

template <class State>
class oracle {
public:
    using config = counted<State>;
    using counting = typename config::atomics;

    oracle(const topology& machine, hierarchy_options options)
        : tree_(machine, options), awake_(machine.size()), awake_below_(tree_.groups().size()) {}

    std::size_t cpus() const { return awake_.size(); }

    /// Wakes a CPU that sleeps, or the reverse; returns what disagreed, or "".
    std::string flip(std::size_t index) {
        const shape_cpu& cpu = tree_.shape().cpus[index];
        const bool waking = !awake_[index];
        // How far up anything has to change: to the first group that has, and keeps, somebody else awake.
        unsigned levels = 0;
        bool changed = true;
        for (std::size_t g = cpu.group; g != tree_shape::none; g = tree_.shape().groups[g].parent) {
            levels += changed;
            changed = changed && awake_below_[g] == (waking ? 0u : 1u);
            awake_below_[g] += waking ? 1u : ~0u;
        }
        awake_[index] = waking;

        counting::counts() = {};
        auto handle = tree_.cpu(cpu.info.id);
        waking ? handle.activate() : handle.deactivate();
        const operation_counts counts = counting::counts();

        if (counts.group_visits != levels) return "8 silent-top: a level too many or too few";
        if (counts.levels() != levels) return "7 bounded: a level twice";
        if (counts.read_modify_writes != levels || counts.failed_read_modify_writes != 0 || counts.stores != 0)
            return "not one read-modify-write per level";
        if (handle.is_active() != waking) return "3 active-up: the CPU itself";
        return path_disagrees(cpu.group, cpu.childmask, waking);
    }

    std::string tree_disagrees() const {
        const auto bad = check_at_rest(tree_.groups(), [this](const auto& leaf) {
            typename State::mask_type mask = 0;
            for (std::size_t c = 0; c < awake_.size(); ++c)
                if (awake_[c] && tree_.shape().cpus[c].group == leaf.id() - 1)
                    mask = static_cast<typename State::mask_type>(mask | tree_.shape().cpus[c].childmask);
            return mask;
        });
        if (bad) return name(bad->what);
        bool anybody = false;
        for (bool a : awake_) anybody = anybody || a;
        if (tree_.any_active() != anybody) return "any_active";
        const auto migrator = tree_.migrator();
        if (migrator.has_value() != anybody) return "migrator";
        if (migrator && !awake_[index_of(*migrator)]) return "the migrator sleeps";
        return "";
    }

private:
    std::string path_disagrees(std::size_t g, std::uint64_t mask, bool active) const {
        for (;;) {
            const auto& group = tree_.groups()[g];
            const State word = group.current();
            if (const auto bad = broken(word, group.how())) return name(*bad);
            if (word.is_active(static_cast<typename State::mask_type>(mask)) != active) return "3 active-up";
            if (word.is_active() != (awake_below_[g] != 0)) return "3 active-up: the group as a whole";
            const shape_group& shape = tree_.shape().groups[g];
            if (shape.parent == tree_shape::none) return "";
            mask = shape.groupmask;
            active = awake_below_[g] != 0;
            g = shape.parent;
        }
    }
    std::size_t index_of(cpu_id id) const {
        for (std::size_t c = 0; c < awake_.size(); ++c)
            if (tree_.shape().cpus[c].info.id == id) return c;
        return 0;
    }

    basic_hierarchy<config> tree_;
    std::vector<bool> awake_;
    std::vector<unsigned> awake_below_;
};

/// One random machine, `operations` operations at a random activity.
template <class State>
void hammer(std::mt19937_64& random, std::size_t cpus, unsigned width, std::size_t operations) {
    const pick how = random() % 2 == 0 ? pick::first : pick::lowest;
    oracle<State> tree(test::random_machine(random, cpus), {.width = width, .cross_family_pick = how});
    INFO(cpus << " CPUs, width " << width << ", pick " << (how == pick::lowest ? "lowest" : "first"));
    // A few CPUs do nearly everything in some rounds: then groups empty and fill often.
    const std::size_t busy = random() % 2 == 0 ? cpus : 1 + random() % std::min<std::size_t>(cpus, 6);
    for (std::size_t i = 0; i < operations; ++i) {
        const std::size_t cpu = random() % 50 == 0 ? random() % cpus : random() % busy;
        if (const std::string wrong = tree.flip(cpu); !wrong.empty()) FAIL(wrong << " at operation " << i);
        if (i % 5000 == 0 || i + 1 == operations)
            if (const std::string wrong = tree.tree_disagrees(); !wrong.empty()) FAIL(wrong << " at rest after " << i);
    }
}

}  // namespace

TEST_CASE("a million operations on random trees agree with a brute-force oracle") {
    const auto seed = test::seed();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    constexpr std::size_t operations = 20'000;
    std::size_t total = 0;
    for (const std::size_t cpus : {1u, 2u, 9u, 64u, 65u, 300u, 513u, 1000u, 4096u}) {
        hammer<state32>(random, cpus, 2, operations);
        hammer<state32>(random, cpus, 4, operations);
        hammer<state32>(random, cpus, 8, operations);
        hammer<state64x16>(random, cpus, 16, operations);
        hammer<state64x24>(random, cpus, 24, operations);
        hammer<state128x48>(random, cpus, 48, operations);
        total += 6 * operations;
    }
    CHECK(total >= 1'000'000);
}
