// SPDX-License-Identifier: BSL-1.0

// CPUs leave and join, arrive, and are kicked, under Relacy: root R over A = {0, 1} and
// B = {2}. Whatever is left behind must be armed by somebody who takes part, or be handed to
// one. Then the same with one thing weakened at a time; each of these must fail.

#include "model.hpp"
#include "small_tree.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

using namespace tmigr;
namespace model = tmigr::model;
using model::small_tree;

namespace {

/// The tree, what each CPU waits for, and what it armed.
template <class Config>
struct members {
    small_tree<Config> tree;
    std::array<ticks, 3> due{never, never, never};
    std::array<ticks, 3> armed{never, never, never};
    std::array<departure, 3> left;

    void wake(unsigned cpu) {
        tree.cpu(cpu).activate();
        armed[cpu] = never;
    }
    void sleep(unsigned cpu, ticks d) { armed[cpu] = tree.cpu(cpu).deactivate(due[cpu] = d); }
    void leave(unsigned cpu) {
        left[cpu] = tree.cpu(cpu).leave();
        armed[cpu] = left[cpu].arm;
    }
    void join(unsigned cpu) { armed[cpu] = tree.cpu(cpu).join(); }
    /// An interrupt that has nothing to do with timers.
    void spurious_expire(unsigned cpu) {
        armed[cpu] = tree.cpu(cpu).expire(3, [](cpu_id, ticks) -> ticks { RL_ASSERT(!"nothing is due"); return never; });
    }
    /// Those who were told to take over wake, and fall asleep again. Who left meanwhile has
    /// told somebody else.
    void take_over() {
        for (const departure& d : left) {
            RL_ASSERT(d.due == never || d.by.has_value());
            if (d.due == never || !tree.cpu(*d.by).takes_part()) continue;
            wake(*d.by);
            sleep(*d.by, due[*d.by]);
        }
    }
    ticks first_armed() const { return *std::min_element(armed.begin(), armed.end()); }
};

/// The last CPU awake leaves while a sleeper has an interrupt of its own.
template <class Config, rl::test_result_e Expected>
struct leave_of_the_last_against_spurious_expire
    : rl::test_suite<leave_of_the_last_against_spurious_expire<Config, Expected>, 2, Expected> {
    members<Config> m;
    void before() {
        m.wake(0), m.wake(1), m.wake(2);
        m.sleep(0, 5), m.sleep(1, 8);
    }
    void thread(unsigned i) {
        if (i == 0) {
            m.leave(2);
        } else {
            m.spurious_expire(0);
            m.spurious_expire(1);
        }
    }
    void after() {
        m.take_over();
        RL_ASSERT(m.first_armed() == 5);
    }
};

/// One awake and one idle CPU leave at once; whoever is told to take over must be the third.
template <class Config, rl::test_result_e Expected>
struct two_leave_at_once : rl::test_suite<two_leave_at_once<Config, Expected>, 2, Expected> {
    members<Config> m;
    void before() {
        m.wake(0), m.wake(1), m.wake(2);
        m.sleep(0, 9), m.sleep(1, 5);
    }
    void thread(unsigned i) { m.leave(i == 0 ? 0 : 2); }
    void after() {
        RL_ASSERT(m.left[0].arm == 9);
        m.take_over();
        RL_ASSERT(m.armed[1] == 5);
    }
};

/// A CPU leaves while the last other one falls asleep.
template <class Config, rl::test_result_e Expected>
struct leave_against_sleep : rl::test_suite<leave_against_sleep<Config, Expected>, 2, Expected> {
    members<Config> m;
    void before() {
        m.wake(0), m.wake(1), m.wake(2);
        m.sleep(1, 5);
    }
    void thread(unsigned i) { i == 0 ? m.leave(0) : m.sleep(2, 7); }
    void after() {
        m.take_over();
        RL_ASSERT(m.first_armed() == 5);
    }
};

/// An idle CPU joins with a timer while the last one awake leaves.
template <class Config, rl::test_result_e Expected>
struct join_against_leave : rl::test_suite<join_against_leave<Config, Expected>, 2, Expected> {
    members<Config> m;
    void before() {
        m.leave(0);
        m.wake(0);
        m.sleep(0, 5);
        RL_ASSERT(m.armed[0] == 5);
        m.wake(2);
    }
    void thread(unsigned i) { i == 0 ? m.join(0) : m.leave(2); }
    void after() {
        m.take_over();
        RL_ASSERT(m.first_armed() == 5);
    }
};

/// A sleeper leaves while somebody runs its due timer: it was run, or is the sleeper's own.
template <class Config, rl::test_result_e Expected>
struct leave_against_expiry : rl::test_suite<leave_against_expiry<Config, Expected>, 2, Expected> {
    members<Config> m;
    rl::mutex lock;
    rl::var<bool> ran{false};
    void before() {
        m.wake(0), m.wake(2);
        m.sleep(0, 5);
    }
    void thread(unsigned i) {
        if (i == 0) {
            m.leave(0);
        } else {
            m.tree.cpu(2).expire(10, [this](cpu_id sleeper, ticks) -> ticks {
                RL_ASSERT(sleeper == 0);
                lock.lock($);
                ran($) = true;
                lock.unlock($);
                return 20;
            });
        }
    }
    void after() {
        // The owner looks at its timers when what it armed comes; the slot it left stays empty.
        RL_ASSERT(m.armed[0] == 5 || (m.armed[0] == 20 && ran($)));
        RL_ASSERT(earliest(m.tree.groups[0]) == never);
    }
};

/// CPU 1 arrives, wakes and sleeps with a timer, while CPU 0 runs what is due and then leaves
/// and looks for a successor: it may meet the new CPU, and then as it was made.
template <class Config, rl::test_result_e Expected>
struct arrival : rl::test_suite<arrival<Config, Expected>, 2, Expected> {
    using mask_type = typename Config::state::mask_type;
    typename Config::tracer tracer;
    cpu_roster<Config> roster;
    group<Config> leaf{1, 0, no_family, pick::first};
    std::array<std::optional<cpu_seat<Config>>, 2> seats;
    std::array<ticks, 2> armed{never, never};
    departure left;

    cpu_handle<Config> cpu(unsigned id) { return cpu_handle<Config>(*seats[id]); }
    void arrive(unsigned id) {
        const auto mask = static_cast<mask_type>(1u << id);
        seats[id].emplace(id, leaf, mask, roster, tracer);
        leaf.down().set(mask, &*seats[id]);
        roster.add(*seats[id]);
    }
    void before() {
        arrive(0);
        cpu(0).activate();
    }
    void thread(unsigned i) {
        if (i == 1) {
            arrive(1);
            cpu(1).activate();
            armed[1] = cpu(1).deactivate(5);
        } else {
            cpu(0).expire(10, [](cpu_id sleeper, ticks) -> ticks {
                RL_ASSERT(sleeper == 1);
                return 20;
            });
            left = cpu(0).leave();
        }
    }
    void after() {
        RL_ASSERT(left.due == never || left.by == cpu_id{1});
        RL_ASSERT(std::min(left.due, armed[1]) == 5 || std::min(left.due, armed[1]) == 20);
    }
};

/// Two threads have work for a sleeping CPU and kick it. Whoever need not send a signal can
/// rely on the other's: once all signals are answered, the CPU has seen all work.
template <class Config, rl::test_result_e Expected>
struct kicks : rl::test_suite<kicks<Config, Expected>, 3, Expected> {
    small_tree<Config> tree;
    std::array<rl::atomic<int>, 2> work;
    rl::atomic<int> signals;
    std::array<bool, 2> seen{};
    int sent = 0;

    void before() {
        for (auto& w : work) w($).store(0, rl::mo_relaxed);
        signals($).store(0, rl::mo_relaxed);
    }
    void thread(unsigned i) {
        if (i < 2) {
            work[i]($).store(1, rl::mo_relaxed);
            if (tree.cpu(0).kick()) signals($).fetch_add(1, rl::mo_release);
        } else {
            for (int look = 0; look < 2; ++look) answer();
        }
    }
    void answer() {
        if (signals($).load(rl::mo_relaxed) == 0) return;
        signals($).fetch_sub(1, rl::mo_acquire);
        tree.cpu(0).activate();
        for (unsigned i = 0; i < 2; ++i) seen[i] = seen[i] || work[i]($).load(rl::mo_relaxed) != 0;
        static_cast<void>(tree.cpu(0).deactivate(never));
    }
    void after() {
        while (signals($).load(rl::mo_relaxed) != 0) answer();
        RL_ASSERT(seen[0] && seen[1]);
    }
};

/// The CPU is awake, and has kicked itself: whoever has work for it need not signal, until it
/// has answered its kick; then it looks once more.
template <class Config, rl::test_result_e Expected>
struct kicks_while_awake : rl::test_suite<kicks_while_awake<Config, Expected>, 3, Expected> {
    small_tree<Config> tree;
    std::array<rl::atomic<int>, 2> work;
    std::array<bool, 2> seen{}, signalled{};

    void before() {
        for (auto& w : work) w($).store(0, rl::mo_relaxed);
        tree.cpu(0).activate();
        RL_ASSERT(tree.cpu(0).kick());
    }
    void thread(unsigned i) {
        if (i < 2) {
            work[i]($).store(1, rl::mo_relaxed);
            signalled[i] = tree.cpu(0).kick();
        } else {
            RL_ASSERT(tree.cpu(0).answer_kick());
            for (unsigned w = 0; w < 2; ++w) seen[w] = work[w]($).load(rl::mo_relaxed) != 0;
            static_cast<void>(tree.cpu(0).deactivate(never));
        }
    }
    void after() {
        RL_ASSERT((seen[0] || signalled[0] || signalled[1]) && (seen[1] || signalled[0] || signalled[1]));
    }
};

using library = model::with_expiries<>;
using exhaustive = model::with_expiries<cas_failures::genuine>;
constexpr auto must_pass = rl::test_result_success;

// One thing weakened each.
TMIGR_WITHOUT(library, available_after_walk, unavailable_first);
TMIGR_WEAKER(library, sleep_slot_relaxed, sleep_slot_store, relaxed);
TMIGR_WEAKER(library, kick_swap_relaxed, kick_swap, relaxed);
TMIGR_WEAKER(library, kicked_swap_relaxed, kicked_swap, relaxed);

template <template <class, rl::test_result_e> class Suite>
bool sound(const char* name, unsigned switches) {
    return model::sound<Suite<library, must_pass>, Suite<exhaustive, must_pass>>(
        name, model::asked.longer ? 1'000'000 : 100'000, switches);
}

}  // namespace

int main(int argc, char** argv) {
    model::start(argc, argv);
    const bool longer = model::asked.longer;
    const unsigned two_threads = longer ? 4 : 2;
    bool ok = true;
    ok &= sound<leave_of_the_last_against_spurious_expire>("leave_of_the_last_against_spurious_expire", two_threads);
    ok &= sound<two_leave_at_once>("two_leave_at_once", two_threads);
    ok &= sound<leave_against_sleep>("leave_against_sleep", two_threads);
    ok &= sound<join_against_leave>("join_against_leave", two_threads);
    ok &= sound<leave_against_expiry>("leave_against_expiry", two_threads);
    ok &= sound<arrival>("arrival", two_threads);
    ok &= sound<kicks>("kicks", longer ? 3 : 2);
    ok &= sound<kicks_while_awake>("kicks_while_awake", 3);

    const auto random = model::random_schedules(1'000'000);
    ok &= TMIGR_TWIN(two_leave_at_once, available_after_walk, user_assert_failed, random);
    ok &= TMIGR_TWIN(arrival, sleep_slot_relaxed, user_assert_failed, random);
    ok &= TMIGR_TWIN(kicks, kick_swap_relaxed, user_assert_failed, random);
    ok &= TMIGR_TWIN(kicks, kicked_swap_relaxed, user_assert_failed, random);
    ok &= TMIGR_TWIN(kicks_while_awake, kicked_swap_relaxed, user_assert_failed, random);
    return ok ? 0 : 1;
}
