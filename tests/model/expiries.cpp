// SPDX-License-Identifier: BSL-1.0

// Sleeping, waking, new expiries and remote expiry of the library, unchanged, under
// Relacy: root R over A = {0, 1} and B = {2}. At the end everybody sleeps, and somebody
// must have armed the earliest timer that is left. Then the same with one thing weakened
// at a time; each of these must fail.

#include "model.hpp"
#include "small_tree.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

using namespace tmigr;
namespace model = tmigr::model;
using model::small_tree;

namespace {

/// What every suite shares: the tree, and what each CPU armed last.
template <class Config, unsigned CpusInA = 2>
struct sleepers {
    small_tree<Config, 2, CpusInA> tree;
    std::array<ticks, 3> armed{never, never, never};

    void wake(unsigned cpu) {
        tree.cpu(cpu).activate();
        armed[cpu] = never;
    }
    void sleep(unsigned cpu, ticks due) { armed[cpu] = tree.cpu(cpu).deactivate(due); }
    void rearm(unsigned cpu, ticks due) { armed[cpu] = tree.cpu(cpu).new_expiry(due); }
    /// CPU 2 awake, CPU 0 asleep with a timer at 5.
    void one_asleep_until_5() {
        wake(0);
        wake(2);
        sleep(0, 5);
    }
    /// The awake one runs what is due for the sleeper, and sleeps too.
    template <class Timers>
    void expire_and_sleep(Timers& timers) {
        tree.cpu(2).expire(10, [&timers](cpu_id, ticks) { return timers.run_due(); });
        sleep(2, never);
    }
    ticks first_armed() const { return *std::min_element(armed.begin(), armed.end()); }
};

/// A sleeper's timers, under a lock as a user's would be: one at 5, and a later one.
struct owner_timers {
    rl::mutex lock;
    rl::var<ticks> due_timer{5}, later_timer{20};

    /// Runs what is due, if it is not already, and gives the next expiry.
    ticks run_due() {
        lock.lock($);
        due_timer($) = never;
        const ticks due = next();
        lock.unlock($);
        return due;
    }
    ticks arm_at_15() {
        lock.lock($);
        later_timer($) = ticks{15};
        const ticks due = next();
        lock.unlock($);
        return due;
    }
    ticks next() { return std::min(due_timer($).load(), later_timer($).load()); }
};

/// Two CPUs of one leaf fall asleep together, one with a timer; two levels up all sleeps.
template <class Config, rl::test_result_e Expected>
struct two_sleepers_of_one_leaf : rl::test_suite<two_sleepers_of_one_leaf<Config, Expected>, 2, Expected> {
    sleepers<Config> s;
    void before() { s.wake(0), s.wake(1); }
    void thread(unsigned i) { s.sleep(i, i == 0 ? 5 : never); }
    void after() { RL_ASSERT(s.first_armed() == 5); }
};

/// The same one level up: the last of each of two leaves.
template <class Config, rl::test_result_e Expected>
struct two_sleepers_of_two_leaves : rl::test_suite<two_sleepers_of_two_leaves<Config, Expected>, 2, Expected> {
    sleepers<Config> s;
    void before() { s.wake(0), s.wake(2); }
    void thread(unsigned i) { s.sleep(2 * i, i == 0 ? 5 : 7); }
    void after() { RL_ASSERT(s.first_armed() == 5); }
};

/// The last CPU falls asleep while a sleeper of another leaf gets a timer.
template <class Config, rl::test_result_e Expected>
struct last_sleeper_against_new_expiry
    : rl::test_suite<last_sleeper_against_new_expiry<Config, Expected>, 2, Expected> {
    sleepers<Config> s;
    void before() { s.wake(2); }
    void thread(unsigned i) { i == 0 ? s.rearm(0, 5) : s.sleep(2, never); }
    void after() { RL_ASSERT(s.first_armed() == 5); }
};

/// Sleep, sleep and new expiry at once, in both leaves.
template <class Config, rl::test_result_e Expected>
struct three_at_once : rl::test_suite<three_at_once<Config, Expected>, 3, Expected> {
    sleepers<Config> s;
    void before() { s.wake(0), s.wake(2); }
    void thread(unsigned i) {
        if (i == 0) s.sleep(0, 5);
        if (i == 1) s.rearm(1, 4);
        if (i == 2) s.sleep(2, 6);
    }
    void after() { RL_ASSERT(s.first_armed() == 4); }
};

/// In one leaf one CPU falls asleep, one wakes and one gets a new timer.
template <class Config, rl::test_result_e Expected>
struct three_in_one_leaf : rl::test_suite<three_in_one_leaf<Config, Expected>, 3, Expected> {
    sleepers<Config, 3> s;
    void before() { s.wake(0); }
    void thread(unsigned i) {
        if (i == 0) s.sleep(0, 5);
        if (i == 1) s.wake(1);
        if (i == 2) s.rearm(2, 4);
    }
    void after() {
        RL_ASSERT(s.tree.at_rest_with(2));
        s.sleep(1, never);
        RL_ASSERT(s.armed[1] == 4);
    }
};

/// One CPU sleeps, wakes and sleeps with an earlier timer, while the others fall asleep.
template <class Config, rl::test_result_e Expected>
struct flapping : rl::test_suite<flapping<Config, Expected>, 3, Expected> {
    sleepers<Config> s;
    void before() { s.wake(0), s.wake(1), s.wake(2); }
    void thread(unsigned i) {
        if (i == 0) {
            s.sleep(0, 9);
            s.wake(0);
            s.sleep(0, 5);
        }
        if (i == 1) s.sleep(1, 8);
        if (i == 2) s.sleep(2, 12);
    }
    void after() {
        RL_ASSERT(s.first_armed() <= 5);
        RL_ASSERT(earliest(s.tree.root()) == 5);
    }
};

/// A CPU wakes and sleeps again with the same expiry while another, as an expirer does that
/// finds the slot of an active group, brings that slot up to date; then it sleeps too.
template <class Config, rl::test_result_e Expected>
struct refresh_against_same_expiry : rl::test_suite<refresh_against_same_expiry<Config, Expected>, 2, Expected> {
    sleepers<Config> s;
    void before() { s.one_asleep_until_5(); }
    void thread(unsigned i) {
        if (i == 0) {
            s.wake(0);
            s.sleep(0, 5);
        } else {
            refresh(s.tree.root(), s.tree.groups[0], 2, s.tree.tracer);
            s.sleep(2, never);
        }
    }
    void after() { RL_ASSERT(s.first_armed() == 5); }
};

/// A CPU wakes and sleeps again with a later expiry while another brings the slot of its group
/// up to date twice, as expirers of two groups above would; then it sleeps too.
template <class Config, rl::test_result_e Expected>
struct two_refreshes_against_owner : rl::test_suite<two_refreshes_against_owner<Config, Expected>, 2, Expected> {
    sleepers<Config> s;
    void before() { s.one_asleep_until_5(); }
    void thread(unsigned i) {
        if (i == 0) {
            s.wake(0);
            s.sleep(0, 15);
        } else {
            for (int again = 0; again < 2; ++again) refresh(s.tree.root(), s.tree.groups[0], 2, s.tree.tracer);
            s.sleep(2, never);
        }
    }
    // Early is allowed: the last to sleep may have seen what was there before.
    void after() { RL_ASSERT(s.first_armed() <= 15 && earliest(s.tree.root()) == 15); }
};

/// An awake CPU runs a sleeper's due timer while the sleeper wakes, arms another and sleeps;
/// then the awake one falls asleep too. What was due ran, what is left is armed.
template <class Config, rl::test_result_e Expected>
struct expiry_against_owner : rl::test_suite<expiry_against_owner<Config, Expected>, 2, Expected> {
    sleepers<Config> s;
    owner_timers timers;

    void before() { s.one_asleep_until_5(); }
    void thread(unsigned i) {
        if (i == 0) {
            s.wake(0);
            timers.run_due();
            s.sleep(0, timers.arm_at_15());
        } else {
            s.expire_and_sleep(timers);
        }
    }
    void after() { RL_ASSERT(s.first_armed() == 15); }
};

/// An awake CPU runs a sleeper's due timer while the sleeper, still idle, gets an earlier
/// next one; then the awake one falls asleep.
template <class Config, rl::test_result_e Expected>
struct expiry_against_new_expiry : rl::test_suite<expiry_against_new_expiry<Config, Expected>, 2, Expected> {
    sleepers<Config> s;
    owner_timers timers;

    void before() { s.one_asleep_until_5(); }
    void thread(unsigned i) {
        if (i == 0) {
            s.rearm(0, timers.arm_at_15());
        } else {
            s.expire_and_sleep(timers);
        }
    }
    // Early is allowed: the owner may have seen its due timer before it was run.
    void after() { RL_ASSERT(s.first_armed() <= 15); }
};

/// A CPU asks what it would have to arm while the only other one falls asleep with a timer: it
/// would have nothing to arm, or not later than that.
template <class Config, rl::test_result_e Expected>
struct peek_against_sleep : rl::test_suite<peek_against_sleep<Config, Expected>, 2, Expected> {
    sleepers<Config> s;
    void before() { s.wake(0), s.wake(1); }
    void thread(unsigned i) {
        if (i == 0) {
            s.sleep(0, 5);
        } else {
            const ticks forecast = s.tree.cpu(1).peek(9);
            RL_ASSERT(forecast == never || forecast <= 5);
        }
    }
};

/// Two CPUs find the same sleeper's timer due: one of them runs it, and what `run` touches
/// needs no lock of the user's as long as the owner sleeps.
template <class Config, rl::test_result_e Expected>
struct two_expirers : rl::test_suite<two_expirers<Config, Expected>, 2, Expected> {
    sleepers<Config> s;
    rl::var<ticks> timer{5};

    void before() { s.one_asleep_until_5(); }
    void thread(unsigned i) {
        const unsigned cpu = i + 1;  // 1 sleeps beside the sleeper, 2 is awake
        const ticks arm = s.tree.cpu(cpu).expire(10, [this](cpu_id sleeper, ticks now) {
            RL_ASSERT(sleeper == 0);
            if (timer($).load() <= now) timer($) = ticks{30};
            return timer($).load();
        });
        cpu == 1 ? void(s.armed[1] = arm) : s.sleep(2, never);
    }
    void after() {
        // Early is allowed: the last to sleep may have seen the timer before it ran.
        RL_ASSERT(s.first_armed() <= 30);
        if (s.first_armed() <= 10) s.armed[2] = s.tree.cpu(2).expire(10, [this](cpu_id, ticks) { return timer($).load(); });
        RL_ASSERT(s.first_armed() == 30 || s.first_armed() == s.armed[1]);
        RL_ASSERT(earliest(s.tree.root()) == 30);
    }
};

using library = model::with_expiries<>;
using exhaustive = model::with_expiries<cas_failures::genuine>;
constexpr auto must_pass = rl::test_result_success;

// One thing weakened each.
struct one_refresh : library {
    struct steps : algorithm_steps {
        static constexpr int refresh_attempts = 1;
    };
    static constexpr const char* lacks = "refresh_attempts";
};
TMIGR_WITHOUT(library, skipped_write, write_unchanged_slot);
TMIGR_WITHOUT(library, resign_first, publish_first);
TMIGR_WITHOUT(library, without_claim, claim_sleepers);
TMIGR_WITHOUT(library, expirer_stores, owner_wins);
struct without_tag : library {
    using slot = basic_slot<std::uint64_t, 48, 0>;
    static constexpr const char* lacks = "tag";
};

TMIGR_WEAKER(library, slot_scan_acquire, slot_scan, acquire);
TMIGR_WEAKER(library, refresh_state_acquire, refresh_state, acquire);
TMIGR_WEAKER(library, refresh_swap_acq_rel, refresh_swap, acq_rel);
TMIGR_WEAKER(library, peek_load_relaxed, peek_load, relaxed);
TMIGR_WEAKER(library, new_slot_release, new_slot_store, release);
TMIGR_WEAKER(library, new_state_acquire, new_state_load, acquire);
TMIGR_WEAKER(library, deactivate_swap_acq_rel, deactivate_swap, acq_rel);
TMIGR_WEAKER(library, deactivate_swap_acquire, deactivate_swap, acquire);
TMIGR_WEAKER(library, claim_swap_relaxed, claim_swap, relaxed);
TMIGR_WEAKER(library, claim_release_relaxed, claim_release, relaxed);
TMIGR_WEAKER(exhaustive, refresh_load_acquire, refresh_load, acquire);

template <template <class, rl::test_result_e> class Suite>
bool sound(const char* name) {
    const bool longer = model::asked.longer;
    using suite = Suite<exhaustive, must_pass>;
    return model::sound<Suite<library, must_pass>, suite>(
        name, longer ? 1'000'000 : 100'000, !longer ? 2 : suite::params::thread_count == 2 ? 4 : 3);
}

}  // namespace

int main(int argc, char** argv) {
    model::start(argc, argv);
    const auto random = model::random_schedules(100'000);
    bool ok = true;
    ok &= sound<two_sleepers_of_one_leaf>("two_sleepers_of_one_leaf");
    ok &= sound<two_sleepers_of_two_leaves>("two_sleepers_of_two_leaves");
    ok &= sound<last_sleeper_against_new_expiry>("last_sleeper_against_new_expiry");
    ok &= sound<three_at_once>("three_at_once");
    ok &= sound<three_in_one_leaf>("three_in_one_leaf");
    ok &= sound<flapping>("flapping");
    ok &= sound<refresh_against_same_expiry>("refresh_against_same_expiry");
    ok &= sound<two_refreshes_against_owner>("two_refreshes_against_owner");
    ok &= sound<expiry_against_owner>("expiry_against_owner");
    ok &= sound<expiry_against_new_expiry>("expiry_against_new_expiry");
    ok &= sound<peek_against_sleep>("peek_against_sleep");
    ok &= sound<two_expirers>("two_expirers");

    ok &= TMIGR_TWIN(flapping, one_refresh, user_assert_failed, random);
    ok &= TMIGR_TWIN(refresh_against_same_expiry, skipped_write, user_assert_failed, random);
    ok &= TMIGR_TWIN(two_sleepers_of_two_leaves, resign_first, user_assert_failed, random);
    ok &= TMIGR_TWIN(refresh_against_same_expiry, without_tag, user_assert_failed, random);
    ok &= TMIGR_TWIN(last_sleeper_against_new_expiry, slot_scan_acquire, user_assert_failed, random);
    ok &= TMIGR_TWIN(two_refreshes_against_owner, refresh_state_acquire, user_assert_failed, random);
    ok &= TMIGR_TWIN(last_sleeper_against_new_expiry, refresh_swap_acq_rel, user_assert_failed, random);
    ok &= TMIGR_TWIN(three_at_once, new_slot_release, user_assert_failed, random);
    ok &= TMIGR_TWIN(last_sleeper_against_new_expiry, new_state_acquire, user_assert_failed, random);
    ok &= TMIGR_TWIN(last_sleeper_against_new_expiry, deactivate_swap_acq_rel, user_assert_failed, random);
    ok &= TMIGR_TWIN(two_sleepers_of_one_leaf, deactivate_swap_acquire, user_assert_failed, random);
    ok &= TMIGR_TWIN(peek_against_sleep, peek_load_relaxed, user_assert_failed, random);
    ok &= TMIGR_TWIN(two_expirers, claim_swap_relaxed, data_race, random);
    ok &= TMIGR_TWIN(two_expirers, claim_release_relaxed, data_race, random);
    ok &= TMIGR_TWIN(two_expirers, without_claim, data_race, random);
    ok &= TMIGR_TWIN(expiry_against_owner, expirer_stores, user_assert_failed, random);
    // A stale load makes one of the two attempts void; random schedules hardly find it.
    ok &= TMIGR_TWIN(two_refreshes_against_owner, refresh_load_acquire, user_assert_failed, model::all_schedules_with(3));
    return ok ? 0 : 1;
}
