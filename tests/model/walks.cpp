// SPDX-License-Identifier: BSL-1.0

// The two walks of the library, unchanged, under Relacy: root R over A = {0, 1} and
// B = {2}, three threads that wake and sleep. Then the same with one thing weakened at a
// time; each of these must fail.

#include "model.hpp"
#include "small_tree.hpp"

#include <cstdint>

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

/// CPU 0 falls asleep, and is perhaps held up before it swaps the root, while that changes `2 *
/// Flicks + 2` times: for a seq of so few bits that it has come round by then, the wrong thing
/// happens. Three CPUs of one group: a change that nobody sees by the bits takes a wake-up that
/// overtakes a sleeper, and two of these make an even number.
template <class Config, rl::test_result_e Expected, unsigned Flicks>
struct wrapping : rl::test_suite<wrapping<Config, Expected, Flicks>, 3, Expected> {
    small_tree<Config, 2, 3> tree;

    void before() { tree.cpu(0).activate(); }
    void thread(unsigned index) {
        if (index == 0) return tree.cpu(0).deactivate();
        tree.cpu(index).activate();
        if (index == 1) return tree.cpu(1).deactivate();
        for (unsigned n = 0; n < Flicks; ++n) {
            tree.cpu(2).deactivate();
            tree.cpu(2).activate();
        }
    }
    void after() { RL_ASSERT(tree.at_rest_with(4)); }
};
template <class Config, rl::test_result_e Expected>
using two_changes = wrapping<Config, Expected, 0>;
template <class Config, rl::test_result_e Expected>
using four_changes = wrapping<Config, Expected, 1>;
template <class Config, rl::test_result_e Expected>
using eight_changes = wrapping<Config, Expected, 3>;

using library = model::config<>;
using exhaustive = model::config<cas_failures::genuine>;
constexpr auto must_pass = rl::test_result_success;

// Less than the rule before C++17 allows (growth.cpp), and not missed.
struct less : library {
    struct orders : library::orders {
        static constexpr auto deactivate_swap = relacy_atomics::release;
    };
};

// One thing weakened each.
template <class Base, unsigned Bits>
struct with_seq_of : Base {
    using state = basic_state<std::uint32_t, 8, Bits>;
};
struct without_seq : with_seq_of<library, 0> {
    static constexpr const char* lacks = "seq";
};
struct never_any_seq : with_seq_of<exhaustive, 0> {
    static constexpr const char* lacks = "seq";
};
struct seq_of_1_bit : with_seq_of<exhaustive, 1> {
    static constexpr const char* lacks = "seq of more than 1 bit";
};
struct seq_of_2_bits : with_seq_of<exhaustive, 2> {
    static constexpr const char* lacks = "seq of more than 2 bits";
};
struct seq_of_3_bits : with_seq_of<exhaustive, 3> {
    static constexpr const char* lacks = "seq of more than 3 bits";
};
TMIGR_WEAKER(library, activate_swap_acquire, activate_swap, acquire);
TMIGR_WEAKER(library, deactivate_load_relaxed, deactivate_load, relaxed);
TMIGR_WEAKER(library, deactivate_retry_relaxed, deactivate_retry, relaxed);
TMIGR_WITHOUT(library, clear_blindly, clear_only_idle);

}  // namespace

int main(int argc, char** argv) {
    model::start(argc, argv);
    const auto random = model::random_schedules(1'000'000);
    const unsigned switches = model::asked.longer ? 4 : 3;
    bool ok = true;

    ok &= model::run<walks<library, must_pass>>("walks", random);
    ok &= model::run<walks<library, must_pass, 3>>("walks, three levels", random);
    ok &= model::sound<crossing_walks<library, must_pass>, crossing_walks<exhaustive, must_pass>>(
        "crossing_walks", 1'000'000, switches);
    ok &= model::run<crossing_walks<less, must_pass>>("crossing_walks, weaker_than_the_rule", random);
    ok &= model::run<walks<less, must_pass>>("walks, weaker_than_the_rule", random);
    ok &= model::run<relieving_walks<exhaustive, must_pass>>("relieving_walks", model::all_schedules());
    ok &= model::sound<two_changes<library, must_pass>, two_changes<exhaustive, must_pass>>("two_changes", 100'000, switches);
    ok &= model::sound<four_changes<library, must_pass>, four_changes<exhaustive, must_pass>>("four_changes", 100'000, 2);
    ok &= model::sound<eight_changes<library, must_pass>, eight_changes<exhaustive, must_pass>>("eight_changes", 100'000, 2);

    ok &= TMIGR_TWIN(relieving_walks, never_any_seq, user_assert_failed, model::all_schedules());
    ok &= TMIGR_TWIN(walks, without_seq, user_assert_failed, random);
    ok &= TMIGR_TWIN(two_changes, seq_of_1_bit, user_assert_failed, model::all_schedules_with(2));
    ok &= TMIGR_TWIN(four_changes, seq_of_2_bits, user_assert_failed, model::all_schedules_with(2));
    ok &= TMIGR_TWIN(eight_changes, seq_of_3_bits, user_assert_failed, model::all_schedules_with(2));
    ok &= TMIGR_TWIN(walks, activate_swap_acquire, user_assert_failed, random);
    ok &= TMIGR_TWIN(walks, deactivate_load_relaxed, user_assert_failed, random);
    ok &= TMIGR_TWIN(walks, deactivate_retry_relaxed, user_assert_failed, random);
    ok &= TMIGR_TWIN(walks, clear_blindly, user_assert_failed, random);
    return ok ? 0 : 1;
}
