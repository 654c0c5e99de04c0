// SPDX-License-Identifier: BSL-1.0

// The two walks of the library, unchanged, under Relacy: root R over A = {0, 1} and
// B = {2}, three threads that wake and sleep. Then the same with one thing weakened at a
// time; each of these must fail.

#include "model.hpp"
#include "small_tree.hpp"

using namespace tmigr;
namespace model = tmigr::model;
using model::small_tree;

namespace {

/// Every CPU wakes and falls asleep; CPU 1 wakes once more and sleeps or stays awake.
template <class Config, rl::test_result_e Expected, unsigned Levels = 2>
struct walks : rl::test_suite<walks<Config, Expected, Levels>, 3, Expected> {
    small_tree<Config, Levels> tree;
    unsigned awake = 0;

    void thread(unsigned index) {
        tree.cpu(index).activate();
        tree.cpu(index).deactivate();
        if (index != 1) return;
        tree.cpu(1).activate();
        if (rl::rand(2) == 0)
            awake = 2;
        else
            tree.cpu(1).deactivate();
    }
    void after() { RL_ASSERT(tree.at_rest_with(awake)); }
};

/// The smallest race that needs three CPUs: 0 and 2, alone in their groups, fall asleep
/// while 1 wakes. Few enough steps for an exhaustive search.
template <class Config, rl::test_result_e Expected>
struct crossing_walks : rl::test_suite<crossing_walks<Config, Expected>, 3, Expected> {
    small_tree<Config> tree;

    void before() {
        tree.cpu(0).activate();
        tree.cpu(2).activate();
    }
    void thread(unsigned index) {
        if (index == 1)
            tree.cpu(1).activate();
        else
            tree.cpu(index).deactivate();
    }
    void after() { RL_ASSERT(tree.at_rest_with(2)); }
};

/// Two threads that fall asleep and wake in one group: few enough steps for every schedule.
template <class Config, rl::test_result_e Expected>
struct relieving_walks : rl::test_suite<relieving_walks<Config, Expected>, 2, Expected> {
    small_tree<Config> tree;

    void before() { tree.cpu(0).activate(); }
    void thread(unsigned index) { index == 0 ? tree.cpu(0).deactivate() : tree.cpu(1).activate(); }
    void after() { RL_ASSERT(tree.at_rest_with(2)); }
};

using library = model::config<>;
using exhaustive = model::config<cas_failures::genuine>;
constexpr auto must_pass = rl::test_result_success;
constexpr auto must_fail = rl::test_result_user_assert_failed;

// One thing weakened each.
struct walks_without_seq : library {
    using state = basic_state<std::uint32_t, 8, 0>;
};
struct exhaustive_without_seq : exhaustive {
    using state = basic_state<std::uint32_t, 8, 0>;
};
struct walks_active_swap_relaxed : library {
    struct orders : walk_orders<relacy_atomics> {
        static constexpr auto activate_swap = relacy_atomics::relaxed;
    };
};
struct walks_inactive_load_relaxed : library {
    struct orders : walk_orders<relacy_atomics> {
        static constexpr auto deactivate_load = relacy_atomics::relaxed;
    };
};
struct walks_inactive_retry_relaxed : library {
    struct orders : walk_orders<relacy_atomics> {
        static constexpr auto deactivate_retry = relacy_atomics::relaxed;
    };
};

}  // namespace

int main() {
    const auto random = model::random_schedules(1'000'000);
    bool ok = true;

    ok &= model::run<walks<library, must_pass>>("walks", random);
    ok &= model::run<walks<library, must_pass, 3>>("walks, three levels", random);
    ok &= model::run<crossing_walks<library, must_pass>>("crossing_walks", random);
    ok &= model::run<crossing_walks<exhaustive, must_pass>>("crossing_walks, all schedules with 3 switches",
                                                           model::all_schedules_with(3));

    ok &= model::run<relieving_walks<exhaustive, must_pass>>("relieving_walks, all schedules", model::all_schedules());

    ok &= model::run<relieving_walks<exhaustive_without_seq, must_fail>>("relieving_walks_without_seq, all schedules",
                                                                         model::all_schedules());
    ok &= model::run<walks<walks_without_seq, must_fail>>("walks_without_seq", random);
    ok &= model::run<walks<walks_active_swap_relaxed, must_fail>>("walks_active_swap_relaxed", random);
    ok &= model::run<walks<walks_inactive_load_relaxed, must_fail>>("walks_inactive_load_relaxed", random);
    ok &= model::run<walks<walks_inactive_retry_relaxed, must_fail>>("walks_inactive_retry_relaxed", random);
    return ok ? 0 : 1;
}
