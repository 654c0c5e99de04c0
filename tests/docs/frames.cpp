// SPDX-License-Identifier: BSL-1.0

// The stories of docs/algorithm.md, played on the library one access at a time, and what it
// says of them checked: `frames print` shows all, `frames write FILE` puts them into a
// document between the markers of their names, `frames check FILE` compares.

#include "docs/frames.hpp"

#include <concepts>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string_view>

using namespace tmigr;
using namespace tmigr::test;

namespace {

using words = stepping_words;
using library = stepping_expiries;
using strings = std::vector<std::string>;

// One thing left out each.
struct without_seq : words {
    using state = basic_state<std::uint32_t, 8, 0>;
};
struct without_tag : library {
    using slot = basic_slot<std::uint64_t, 48, 0>;
};
struct one_refresh : library {
    struct steps : algorithm_steps {
        static constexpr int refresh_attempts = 1;
    };
};
#define WITHOUT(base, name, step)               \
    struct name : base {                        \
        struct steps : algorithm_steps {        \
            static constexpr bool step = false; \
        };                                      \
    }
WITHOUT(words, clear_blindly, clear_only_idle);

/// What weak memory may do and a backend of one thread does not: as long as `old_child` is set,
/// the load of the word below, (D2), gives what was there before the last change.
struct weak_atomics : stepping_atomics {
    static inline bool old_child = false;
    template <class T>
    class atomic {
    public:
        atomic() = default;
        explicit atomic(T value) : cell_(value), before_(value), now_(value) {}
        T load(order o) const {
            const T value = cell_.load(o);
            return old_child && std::string_view(o.label) == "D2" ? before_ : value;
        }
        void store(T value, order o) { cell_.store(value, o), note(value); }
        bool compare_exchange_weak(T& expected, T desired, order o, order failed) {
            return cell_.compare_exchange_weak(expected, desired, o, failed) && note(desired);
        }
        bool compare_exchange_strong(T& expected, T desired, order o, order failed) {
            return cell_.compare_exchange_strong(expected, desired, o, failed) && note(desired);
        }

    private:
        bool note(T value) {
            before_ = std::exchange(now_, value);
            return true;
        }
        stepping_atomics::atomic<T> cell_;
        T before_{}, now_{};
    };
};
static_assert(atomics_backend<weak_atomics>);
struct load_relaxed : linux_config<weak_atomics> {
    using orders = labelled_orders;
};

WITHOUT(library, resign_first, publish_first);
WITHOUT(library, skipped_write, write_unchanged_slot);
WITHOUT(library, without_claim, claim_sleepers);
WITHOUT(library, expirer_stores, owner_wins);
WITHOUT(library, available_after_walk, unavailable_first);
WITHOUT(words, carried_blindly, carry_only_active);
WITHOUT(words, mask_after_link, mask_before_link);
WITHOUT(library, stop_at_idle_groups, leave_idle_groups);
WITHOUT(library, no_refresh_after_link, refresh_after_link);
WITHOUT(library, root_alone, remember_lower_groups);

/// A word of R as in "{A B, A, seq 2}": who is awake, who is migrator.
template <class State>
std::string text(State word) {
    std::string all = "{";
    for (unsigned place = 0; place < 2; ++place)
        if (word.is_active(static_cast<typename State::mask_type>(1u << place)))
            all += (all.size() > 1 ? " " : "") + std::string(place == 0 ? "A" : "B");
    if (!word.is_active()) all += "-";
    all += std::string(", ") + (!word.has_migrator() ? "none" : word.migrator() == 1 ? "A" : "B");
    if (State::seq_bits > 0) all += ", seq " + std::to_string(word.seq());
    return all + "}";
}

/// Whether all who take part sleep, one of them has a timer, and nobody is armed for it in time.
template <class Scene>
bool lost(const Scene& s) {
    ticks first = never;
    for (cpu_id c = 0; c < s.cpu.size(); ++c) {
        if (!s.cpu[c].takes_part()) continue;
        if (s.awake[c]) return false;
        first = std::min(first, s.next(c));
    }
    return first < s.first_armed();
}

/// The frame that explains how frames are read.
story drawing() {
    story t("drawing");
    stage<library> p(3);
    p.s.wake(0), p.s.wake(1), p.s.wake(2);
    t.show(false);
    t.frame(p.s, "");
    t.show(true), t.count_from(1);
    p.s.sleep(0, 5);
    t.frame(p.s, "CPU 0 falls asleep until 5.", {changed("A", "CPU 0")});
    return t;
}

// ---- Waking and falling asleep

story walks() {
    story t("walks", {.seq = false});
    t.columns(3);
    stage<words> p(3);
    const auto rests = [&p] { TOLD(p.s.broken_invariant().empty()); };
    t.show(false);
    t.frame(p.s, "All sleep");
    t.show(true);
    p.s.wake(0), rests();
    t.frame(p.s, "CPU 0 wakes: two levels", {changed("R", "swapped"), changed("A", "swapped")});
    p.s.wake(1), rests();
    t.frame(p.s, "CPU 1 wakes: one level", {changed("A", "swapped")});
    p.s.sleep(0), rests();
    t.frame(p.s, "CPU 0 sleeps: one level", {changed("A", "1 inherits")});
    p.s.wake(2), rests();
    t.frame(p.s, "CPU 2 wakes: two levels", {changed("R", "swapped"), changed("B", "swapped")});
    p.s.sleep(1), rests();
    t.frame(p.s, "CPU 1 sleeps: two levels", {changed("R", "B inherits"), changed("A", "swapped")});
    p.s.sleep(2), rests();
    t.frame(p.s, "CPU 2 sleeps: two levels", {changed("R", "swapped"), changed("B", "swapped")});
    return t;
}

template <class Config>
story late_swap(const char* name) {
    constexpr bool seq = std::same_as<Config, words>;
    story t(name);
    t.show(seq);
    stage<Config> p(3);
    p.s.wake(0), p.s.wake(2);
    t.frame(p.s, "At the start.");
    const auto cpu0 = p.start([&p] { p.s.sleep(0); });
    TOLD(p.past(cpu0, "D3"));
    t.frame(p.s, "CPU 0 falls asleep and swaps A (D3). A is idle, so R must be told.", {changed("A", "CPU 0")});

    TOLD(p.before(cpu0, "D3"));
    const auto seen = p.g("R").current();
    const strings holds{"CPU 0 holds:  if R is " + text(seen) + " make it " +
                        text(seen.deactivated(p.g("A").groupmask()))};
    t.frame(p.s,
            "CPU 0 reads R (D1), then A (D2). A is idle, so it prepares R's next word. Before it can swap, it "
            "is held up.",
            {looked("R", "read by CPU 0"), looked("A", "read by CPU 0, after R")}, holds);

    const auto cpu1 = p.start([&p] { p.s.wake(1); });
    TOLD(p.past(cpu1, "A2"));
    t.frame(p.s, "CPU 1 wakes and swaps A (A2). A had no migrator, so CPU 1 goes on to R.", {changed("A", "CPU 1")},
            holds);

    TOLD(p.past(cpu1, "A2"));
    TOLD(p.run.done(cpu1));
    t.show(true);
    if constexpr (seq)
        t.frame(p.s,
                "CPU 1 swaps R. The bit of A is still set there and A is still migrator: only seq changes. R had a "
                "migrator, so the walk of CPU 1 is over.",
                {changed("R", "CPU 1: seq, nothing else")}, holds);
    else
        t.frame(p.s, "CPU 1 swaps R. The word does not change at all.", {looked("R", "CPU 1: the same word")}, holds);

    const auto before = p.g("R").current();
    TOLD(p.at(cpu0, "D3"));
    p.run.step(cpu0);
    if constexpr (seq) {
        // It failed, and A is to be read again.
        TOLD(p.g("R").current() == before && before != seen && p.at(cpu0, "D2"));
        TOLD(p.end(cpu0));
        TOLD(p.g("R").current() == before.touched());
        t.frame(p.s,
                "CPU 0 goes on. Its swap fails, since seq is not what it expects. It reads A again, finds it awake, "
                "and leaves the bit of A alone.",
                {changed("R", "CPU 0: touched")});
        TOLD(p.s.broken_invariant().empty());
    } else {
        TOLD(before == seen && p.g("R").current() == seen.deactivated(1));
        TOLD(p.end(cpu0));
        t.frame(p.s, "CPU 0 goes on. R is what it expects, and it swaps.",
                {changed("R", "CPU 0: wrong, CPU 1 of A is awake")});
        TOLD(p.s.broken_invariant() == "3 active-up");
    }
    return t;
}

template <class Config>
story second_look(const char* name) {
    constexpr bool looks = !std::same_as<Config, clear_blindly>, weak = std::same_as<Config, load_relaxed>;
    constexpr bool right = looks && !weak;
    story t(name);
    t.show(right);
    stage<Config> p(3);
    p.s.wake(0), p.s.wake(2);
    const auto cpu0 = p.start([&p] { p.s.sleep(0); });
    TOLD(p.past(cpu0, "D3") && p.before(cpu0, "D1"));
    const auto old = p.g("A").current();
    t.frame(p.s, "CPU 0 has swapped A, which is idle now. It is held up before it reads anything of R.");

    const auto cpu1 = p.start([&p] { p.s.wake(1); });
    TOLD(p.past(cpu1, "A2", 2) && p.run.done(cpu1));
    t.frame(p.s, "CPU 1 wakes, swaps A (A2), then R (A2).",
            {changed("R", "CPU 1, second"), changed("A", "CPU 1, first")});

    t.show(true);
    weak_atomics::old_child = weak;
    TOLD(p.before(cpu0, "D3"));
    weak_atomics::old_child = false;
    const auto seen = p.g("R").current();
    const auto next = right ? seen.touched() : seen.deactivated(1);
    std::vector marks{looked("R", weak ? "read by CPU 0: new" : "read by CPU 0")};
    if (weak) marks.push_back(looked("A", "read by CPU 0: idle and seq " + std::to_string(old.seq()) + ", as it was"));
    else if (looks) marks.push_back(looked("A", "read by CPU 0, after R"));
    t.frame(p.s,
            weak    ? "CPU 0 reads R (D1): the new word. Then it reads A (D2), and is given the old word, its own."
            : looks ? "CPU 0 reads R (D1): the new word, seq and all. Then it looks at A (D2), and finds it awake."
                    : "CPU 0 reads R (D1): the new word, seq and all. It does not look at A.",
            marks, {"CPU 0 holds:  if R is " + text(seen) + " make it " + text(next)});
    p.run.step(cpu0);
    TOLD(p.g("R").current() == next && p.end(cpu0));
    t.frame(p.s, right ? "The swap (D3) succeeds, and the bit of A stays." : "The swap (D3) succeeds.",
            {changed("R", right ? "CPU 0: touched" : "CPU 0: wrong, CPU 1 of A is awake")});
    TOLD(p.s.broken_invariant() == (right ? "" : "3 active-up"));
    return t;
}

// ---- Publish before you resign

/// Two of one leaf. The library has no step that would turn the order round here, so the wrong
/// order is made of its parts.
template <bool Right>
story publish_in_leaf(const char* name) {
    story t(name, {.seq = false});
    stage<library> p(3);
    p.s.wake(0), p.s.wake(1);
    t.frame(p.s, "CPUs 0 and 1 are awake, CPU 0 has a timer at 5.");
    if constexpr (Right) {
        const auto cpu0 = p.start([&p] { p.s.sleep(0, 5); });
        TOLD(p.past(cpu0, "O1"));
        t.frame(p.s, "CPU 0 publishes: it stores its expiry (O1). Nobody looks there yet, since its bit is set.",
                {changed("A", "CPU 0 published")});
        TOLD(p.past(cpu0, "D3") && p.end(cpu0));
        t.frame(p.s, "CPU 0 resigns: it clears its bit (D3). CPU 1 is still in, so CPU 0's walk ends here.",
                {changed("A", "CPU 0 resigned")});
        p.s.sleep(1);
        t.frame(p.s,
                "CPU 1 clears its bit, goes up, and brings R's slot for A up to date (S4) before it clears the bit of A. "
                "Nobody is left, so it arms what it finds in R.",
                {changed("R", "CPU 1: slot, then bit"), changed("A", "CPU 1"), changed("armed", "CPU 0's timer")});
        TOLD(p.s.armed[1] == 5 && p.s.wrong().empty());
    } else {
        p.s.add(0, 5);
        walk_inactive<library>(p.g("A"), 1, 0, p.s.tree.tracer());
        p.s.awake[0] = false;
        t.frame(p.s, "CPU 0 resigns: it clears its bit. CPU 1 is still in, so CPU 0's walk ends here.",
                {changed("A", "CPU 0 resigned")});
        p.s.sleep(1);
        t.frame(p.s, "CPU 1 clears its bit, goes up, finds nothing in the slots, and sleeps with nothing armed.",
                {changed("R", "idle"), changed("A", "CPU 1")});
        TOLD(p.s.armed[1] == never);
        auto& slot = p.g("A").table().slot(0);
        slot.store(slot.load(labelled{"O3"}).by_owner(5), labelled{"O1"});
        t.frame(p.s, "Only now CPU 0 publishes its timer. Its walk is over.", {changed("A", "too late")});
        TOLD(lost(p.s));
    }
    return t;
}

template <class Config>
story publish_one_level_up(const char* name) {
    constexpr bool right = std::same_as<Config, library>;
    story t(name, {.seq = false});
    stage<Config> p(3);
    p.s.wake(0), p.s.wake(2);
    const auto cpu0 = p.start([&p] { p.s.sleep(0, 5); });
    if constexpr (right) {
        TOLD(p.past(cpu0, "D3"));
        t.frame(p.s, "CPU 0, alone in A, has fallen asleep until 5. A is idle, and CPU 0 is on its way to R.");
        TOLD(p.past(cpu0, "S4"));
        t.frame(p.s, "CPU 0 publishes what A offers: it brings R's slot for A up to date (S4).",
                {changed("R", "CPU 0 published")});
        TOLD(p.past(cpu0, "D3"));
        t.frame(p.s, "CPU 0 resigns for A: it clears the bit of A in R (D3). B is still in.",
                {changed("R", "CPU 0 resigned for A")});
        TOLD(p.end(cpu0));
        p.s.sleep(2, 7);
        t.frame(p.s, "CPU 2 falls asleep until 7. Nobody is left, so it arms the earliest in R.",
                {changed("R", "CPU 2"), changed("B", "CPU 2"), changed("armed", "right")});
        TOLD(p.s.armed[2] == 5 && p.s.wrong().empty());
    } else {
        TOLD(p.past(cpu0, "D3"));
        t.frame(p.s, "CPU 0, alone in A, has fallen asleep until 5. A is idle, and CPU 0 is on its way to R.");
        TOLD(p.past(cpu0, "D3"));
        t.frame(p.s, "CPU 0 resigns for A: it clears the bit of A in R. B is still in, so its walk will end here. It is "
                     "held up before it publishes.",
                {changed("R", "CPU 0 resigned for A")});
        p.s.sleep(2, 7);
        t.frame(p.s, "CPU 2 falls asleep until 7. Nobody is left, and the earliest in R is its own.",
                {changed("R", "CPU 2"), changed("B", "CPU 2"), changed("armed", "wrong")});
        TOLD(p.s.armed[2] == 7);
        TOLD(p.end(cpu0));
        t.frame(p.s, "CPU 0 publishes what A offers. Its walk is over.", {changed("R", "too late")});
        TOLD(lost(p.s));
    }
    return t;
}

// ---- Refreshes

template <class Config>
story two_attempts(const char* name) {
    constexpr bool twice = std::same_as<Config, library>;
    story t(name, {.seq = false, .tags = true});
    t.show(twice);
    stage<Config> p(3);
    p.s.wake(0), p.s.wake(1), p.s.wake(2);
    p.s.sleep(0, 9);
    t.frame(p.s, "CPU 0 sleeps until 9, and CPU 1 looks after it. CPU 2 is awake as well.");
    const auto cpu1 = p.start([&p] { p.s.sleep(1); });
    TOLD(p.before(cpu1, "S4"));
    t.frame(p.s,
            "CPU 1 falls asleep and swaps A. On its way to R it reads R's slot for A (S2) and A (S3, S1), and is held up "
            "before it can swap the slot (S4).",
            {changed("A", "CPU 1, then read"), looked("R", "slot of A read by CPU 1")},
            {"CPU 1 holds:  make the slot 9"});
    const auto cpu0 = p.start([&p] { p.s.arm(0, 5); });
    TOLD(p.before(cpu0, "S4"));
    t.frame(p.s, "CPU 0 gets a timer at 5. It stores it (N1), finds A idle (N2), and goes up: it reads R's slot for A and A, as "
            "CPU 1 did, and is held up as well.",
            {changed("A", "CPU 0, then read"), looked("R", "slot of A read by CPU 0")},
            {"CPU 1 holds:  make the slot 9", "CPU 0 holds:  make the slot 5"});
    p.run.step(cpu1);
    TOLD(p.offered("R", 0) == 9);
    t.frame(p.s, "CPU 1 goes on. Its swap succeeds.", {changed("R", "CPU 1: older news")},
            {"CPU 0 holds:  make the slot 5"});
    p.run.step(cpu0);
    TOLD(p.offered("R", 0) == 9);
    t.show(true);
    if constexpr (twice) {
        TOLD(p.at(cpu0, "S2"));
        TOLD(p.past(cpu0, "S4") && p.end(cpu1) && p.end(cpu0));
        t.frame(p.s, "CPU 0's swap fails. It tries once more, and this time it succeeds. CPU 1 ends its walk.",
                {changed("R", "CPU 0")});
    } else {
        TOLD(p.end(cpu1) && p.end(cpu0));
        t.frame(p.s, "CPU 0's swap fails, and it leaves it at that. CPU 1 ends its walk.",
                {changed("R", "bit of A cleared by CPU 1; the slot is too late")});
    }
    p.s.sleep(2);
    t.frame(p.s, "CPU 2 falls asleep too, and arms the earliest in R.",
            {changed("R", "CPU 2"), changed("B", "CPU 2"), changed("armed", twice ? "right" : "wrong: there is a timer at 5")});
    TOLD(p.s.armed[2] == (twice ? 5 : 9));
    if (twice) TOLD(p.s.wrong().empty());
    else TOLD(lost(p.s));
    return t;
}

template <class Config>
story same_expiry(const char* name) {
    constexpr bool right = std::same_as<Config, library>, writes = !std::same_as<Config, skipped_write>;
    story t(name, {.seq = false, .tags = true});
    t.show(right);
    stage<Config> p(3);
    p.s.wake(0), p.s.wake(2);
    p.s.sleep(0, 5);
    p.s.wake(0);
    t.frame(p.s, "CPU 0 is awake again with its timer at 5. R still holds what A offered before.");
    p.s.now = 5;
    const auto cpu2 = p.start([&p] { p.s.interrupt(2); });
    TOLD(p.before(cpu2, "S4"));
    t.frame(p.s,
            "It is 5. CPU 2 finds R's slot for A due. A is awake and looks after itself, so CPU 2 brings the slot up to "
            "date: it reads the slot (S2), then A (S3), and is held up before it can swap (S4).",
            {looked("R", "read by CPU 2"), looked("A", "read by CPU 2: awake")}, {"CPU 2 holds:  make the slot never"});
    const auto slot_of_a = [&p] { return p.g("R").table().slot(0).load(labelled{"Q2"}); };
    const auto before = slot_of_a();
    p.s.sleep(0);
    TOLD((slot_of_a() != before) == right && slot_of_a().due() == 5);
    t.show(true);
    t.frame(p.s,
            right     ? "CPU 0, which has not come to its timer yet, falls asleep, and brings R's slot up to date: 5 again, "
                        "but another tag."
            : !writes ? "CPU 0 falls asleep. It finds in R's slot the 5 that it would put there, and does not write."
                      : "CPU 0 falls asleep, and brings R's slot up to date: 5 again, the very same word.",
            {changed("R", right ? "CPU 0: tag, and bit of A" : "CPU 0: bit of A; the slot is as it was"),
             changed("A", "CPU 0")},
            {"CPU 2 holds:  make the slot never"});
    p.run.step(cpu2);
    if constexpr (right) {
        TOLD(p.at(cpu2, "S2"));
        TOLD(p.end(cpu2));
        t.frame(p.s, "CPU 2's swap fails. Its second attempt finds A idle, and 5 in it.", {changed("R", "CPU 2: 5 again")});
    } else {
        TOLD(p.offered("R", 0) == never && p.end(cpu2));
        t.frame(p.s, "CPU 2's swap succeeds.", {changed("R", "CPU 2: wrong")});
    }
    p.s.sleep(2);
    std::vector marks{changed("R", "CPU 2"), changed("B", "CPU 2")};
    if (right) marks.push_back(changed("armed", "right"));
    else marks.push_back(looked("armed", "nobody for the timer of CPU 0"));
    t.frame(p.s, "CPU 2 falls asleep, and arms the earliest in R.", marks);
    TOLD(p.s.armed[2] == (right ? 5 : never));
    if (right) TOLD(p.s.wrong().empty());
    else TOLD(lost(p.s));
    return t;
}

template <bool Right>
story new_expiry(const char* name) {
    story t(name, {.seq = false});
    stage<library> p(3);
    p.s.wake(2);
    t.frame(p.s, "Only CPU 2 is awake. CPU 0, idle, gets a timer at 5.");
    if constexpr (Right) {
        const auto cpu0 = p.start([&p] { p.s.arm(0, 5); });
        TOLD(p.past(cpu0, "S4") && p.before(cpu0, "N2"));
        t.frame(p.s,
                "CPU 0 stores its slot (N1), then looks at A (N2): idle. It brings R's slot up to date (S4), and is held "
                "up before it looks at R.",
                {changed("R", "CPU 0, second"), changed("A", "CPU 0, first")});
        p.s.sleep(2);
        t.frame(p.s, "CPU 2 falls asleep: it clears the bit of B in R (D3), then reads R's slots (S1), and arms 5.",
                {changed("R", "CPU 2"), changed("B", "CPU 2"), changed("armed", "CPU 0's timer")});
        TOLD(p.s.armed[2] == 5);
        TOLD(p.end(cpu0));
        t.frame(p.s, "CPU 0 looks at R (N2): idle. So it arms as well. One of the two would have been enough; "
                     "neither cannot be.",
                {looked("R", "read by CPU 0"), changed("armed", "both")});
        TOLD(p.s.armed[0] == 5 && p.s.wrong().empty());
    } else {
        const bool somebody_looks = p.g("R").current().is_active();
        t.frame(p.s, "CPU 0 looks before it stores: R is active, so it need not arm. It is held up.",
                {looked("R", "read by CPU 0")});
        p.s.sleep(2);
        t.frame(p.s, "CPU 2 falls asleep, finds nothing in the slots, and arms nothing.",
                {changed("R", "CPU 2"), changed("B", "CPU 2")});
        TOLD(somebody_looks && p.s.armed[2] == never);
        p.s.add(0, 5);
        auto& slot = p.g("A").table().slot(0);
        slot.store(slot.load(labelled{"O3"}).by_owner(5), labelled{"N1"});
        refresh(p.g("R"), p.g("A"), 0, p.s.tree.tracer());
        t.frame(p.s, "CPU 0 stores its slot, and R's. It trusts in what it saw.",
                {changed("R", "too late"), changed("A", "too late")});
        TOLD(lost(p.s));
    }
    return t;
}

// ---- Remote expiry

/// A sleeper's timers, with a place to stand in while they are run.
template <class Config>
struct at_work {
    stepping_atomics::atomic<int> door{0};
    int inside = 0, most = 0;
    void stand_in(scene<Config>& s) {
        s.during_run = [this](cpu_id) {
            most = std::max(most, ++inside);
            static_cast<void>(door.load(labelled{"run"}));
            --inside;
        };
    }
};

template <class Config>
story claim(const char* name) {
    constexpr bool claims = std::same_as<Config, library>;
    story t(name, {.seq = false});
    t.show(claims);
    at_work<Config> work;
    stage<Config> p(3);
    work.stand_in(p.s);
    p.s.wake(0), p.s.wake(2);
    p.s.add(0, 9);
    p.s.sleep(0, 5);
    p.s.now = 5;
    t.frame(p.s, "It is 5. CPU 0 sleeps, with timers at 5 and 9. CPU 1 sleeps beside it, CPU 2 is awake.");
    const auto cpu2 = p.start([&p] { p.s.interrupt(2); });
    TOLD(p.before(cpu2, "run"));
    t.frame(p.s,
            "CPU 2 is migrator of B and R. It finds R's slot for A due, looks into A, finds CPU 0's slot due, claims "
            "CPU 0 (X2), and begins to run its timers.",
            {looked("R", "A due"), looked("A", "0 due, claimed")}, {"inside run for CPU 0:  CPU 2"});
    const auto cpu1 = p.start([&p] { p.s.interrupt(1); });
    t.show(true);
    if constexpr (claims) {
        TOLD(p.end(cpu1) && p.s.armed[1] == never && work.inside == 1);
        t.frame(p.s,
                "CPU 1 has an interrupt. A has no migrator, so it looks there too. Its claim fails (X2), and it goes on. "
                "At R somebody else is in charge: nothing to arm.",
                {looked("A", "0 due; no claim for CPU 1")}, {"inside run for CPU 0:  CPU 2"});
        TOLD(p.before(cpu2, "X4"));
        TOLD(p.offered("A", 0) == 5);
        TOLD(p.end(cpu2));
        t.frame(p.s,
                "CPU 2 has run what was due. CPU 0's next timer goes into its slot (X4), the claim is given up (X3), and "
                "R's slot is brought up to date (S4).",
                {changed("R", "CPU 2, second"), changed("A", "CPU 2, first")});
        TOLD(work.most == 1 && p.s.has_run(0, 5) && p.s.wrong().empty());
    } else {
        TOLD(p.before(cpu1, "run") && work.inside == 2);
        t.frame(p.s, "CPU 1 has an interrupt, and finds CPU 0's slot due as well.", {looked("A", "0 due")},
                {"inside run for CPU 0:  CPU 2, CPU 1"});
    }
    return t;
}

template <class Config>
story owner(const char* name) {
    constexpr bool wins = std::same_as<Config, library>;
    story t(name, {.seq = false, .tags = true});
    t.show(wins);
    stage<Config> p(3);
    p.s.wake(0), p.s.wake(2);
    p.s.add(0, 9);
    p.s.sleep(0, 5);
    p.s.now = 5;
    t.frame(p.s, "It is 5. CPU 0 sleeps, with timers at 5 and 9. CPU 2 is awake.");
    const auto cpu2 = p.start([&p] { p.s.interrupt(2); });
    TOLD(p.before(cpu2, "X4"));
    TOLD(p.s.has_run(0, 5));
    t.frame(p.s, "CPU 2 has run the timer at 5, is told that 9 is the next, and is held up before it writes that (X4).",
            {looked("A", "0 claimed by CPU 2")}, {"CPU 2 holds:  make the slot of CPU 0 9"});
    p.s.arm(0, 7);
    t.frame(p.s, "CPU 0, idle still, gets a timer at 7: it stores its slot (N1), and brings R's up to date.",
            {changed("R", "CPU 0, second"), changed("A", "CPU 0, first")},
            {"CPU 2 holds:  make the slot of CPU 0 9"});
    t.show(true);
    TOLD(p.at(cpu2, "X4"));
    p.run.step(cpu2);
    TOLD(p.offered("A", 0) == (wins ? 7 : 9));
    TOLD(p.end(cpu2));
    if constexpr (wins)
        t.frame(p.s, "CPU 2's swap fails: the owner has written, and knows better. R's slot is brought up to date: 7 again.",
                {changed("R", "CPU 2: only the tag"), looked("A", "as CPU 0 left it")});
    else
        t.frame(p.s, "CPU 2 stores what it holds, and brings R's slot up to date.",
                {changed("R", "CPU 2: too late"), changed("A", "CPU 2: too late")});
    p.s.sleep(2);
    t.frame(p.s, "CPU 2 falls asleep.",
            {changed("R", "CPU 2"), changed("B", "CPU 2"), changed("armed", wins ? "right" : "wrong: there is a timer at 7")});
    TOLD(p.s.armed[2] == (wins ? 7 : 9));
    if (wins) TOLD(p.s.wrong().empty());
    else TOLD(lost(p.s));
    return t;
}

story due_and_active() {
    story t("due-and-active", {.seq = false});
    stage<library> p(3);
    p.s.wake(0), p.s.wake(2);
    p.s.sleep(0, 5);
    t.frame(p.s, "CPU 0 sleeps until 5, and R knows.");
    p.s.wake(1);
    t.frame(p.s, "CPU 1 wakes. It is in charge of A now. R's slot for A stays: too early does no harm.",
            {changed("R", "bit of A"), changed("A", "CPU 1")});
    p.s.now = 5;
    p.s.interrupt(2);
    TOLD(p.s.ran.empty());
    t.frame(p.s, "It is 5. CPU 2 finds R's slot for A due, and A awake: it brings the slot up to date, and runs nothing.",
            {changed("R", "CPU 2: A offers nothing"), looked("A", "awake")});
    p.s.interrupt(1);
    TOLD(p.s.has_run(0, 5));
    t.frame(p.s, "CPU 1 finds CPU 0's slot due in its own group, and runs the timer.", {changed("A", "CPU 1")});
    TOLD(p.s.wrong().empty());
    return t;
}

// ---- Growth

story ninth() {
    story t("ninth", {.masks = true});
    stage<words> p(8, {.width = 8});
    p.s.wake(3);
    t.frame(p.s, "Eight CPUs, CPU 3 awake. A is the root, and has its future mask.");
    const auto grower = p.start([&p] { p.s.arrive(); });
    TOLD(p.before(grower, "G1", 2));
    TOLD(p.g("A").parent() == nullptr && p.g("B").parent() == &p.g("R"));
    t.frame(p.s,
            "CPU 8 arrives. A is full, so there is a new group B for it, and a new root R. R gets its own future mask, "
            "and keeps the place 0x1 for the old root; B takes the next. Nobody can meet any of this yet.",
            {changed("R", "new"), changed("B", "new"), looked("A", "does not know of R")});
    p.run.step(grower);
    t.frame(p.s, "The old root takes the place that was kept: its mask is there, so the link is made for all to see (G1).",
            {changed("R", "place 0x1 taken"), changed("A", "linked")});
    TOLD(!p.s.tree.migrator());
    TOLD(p.past(grower, "G2"));
    t.frame(p.s, "The word of A is swapped for one that differs in seq only (G2).", {changed("A", "touched")});
    TOLD(p.past(grower, "G5"));
    t.frame(p.s, "A was active in that word. So R is read (G3), then A (G4), and the bit of A is set in R (G5).",
            {changed("R", "told"), looked("A", "read after R")});
    TOLD(p.end(grower) && p.s.tree.migrator() == 3 && p.s.broken_invariant().empty());
    return t;
}

template <class Config>
story carried(const char* name) {
    constexpr bool looks = std::same_as<Config, words>;
    story t(name);
    t.show(looks);
    stage<Config> p(2);
    p.s.wake(0);
    const auto grower = p.start([&p] { p.s.arrive(); });
    TOLD(p.before(grower, "G5"));
    const strings holds{"the grower holds:  if R is " + text(p.g("R").current()) + " make it " +
                        text(p.g("R").current().activated(1))};
    t.frame(p.s, "A is linked and has been swapped. The grower has read R (G3) and A (G4), and is held up.",
            {looked("R", "read by the grower"), looked("A", "read by the grower, after R")}, holds);
    p.s.sleep(0);
    t.frame(p.s, "CPU 0 falls asleep. It sees the link (P1) and goes up to R, which was idle in its word: only seq changes.",
            {changed("R", "CPU 0, second"), changed("A", "CPU 0, first")}, holds);
    const auto before = p.g("R").current();
    p.run.step(grower);
    TOLD(p.g("R").current() == before);
    TOLD(p.end(grower));
    t.show(true);
    if constexpr (looks)
        t.frame(p.s, "The grower's swap (G5) fails. It reads A again (G4): idle. There is nothing to tell.",
                {looked("R", "as CPU 0 left it"), looked("A", "read by the grower: idle")});
    else
        t.frame(p.s, "The grower's swap fails. It does not look at A again, and swaps what R is now.",
                {changed("R", "wrong: nobody is awake")});
    TOLD(p.s.broken_invariant() == (looks ? "" : "3 active-up"));
    return t;
}

template <class Config>
story idle_groups(const char* name) {
    constexpr bool goes_on = std::same_as<Config, library>;
    story t(name);
    t.show(goes_on);
    stage<Config> p(2);
    p.s.wake(0);
    const auto grower = p.start([&p] { p.s.arrive(); });
    TOLD(p.before(grower, "G3"));
    t.frame(p.s, "A is linked and has been swapped; R is not told yet. So R is idle in its word, though A is awake.");
    t.show(true);
    p.s.sleep(0, 5);
    const std::vector where{changed("R", goes_on ? "CPU 0: slot, seq; it goes on" : "CPU 0: slot, seq; it ends here"),
                            changed("A", "CPU 0"),
                            goes_on ? changed("armed", "right") : looked("armed", "nobody for the timer of CPU 0")};
    t.frame(p.s, goes_on ? "CPU 0 falls asleep until 5 and goes up. R is idle after its swap, so it goes on; there is nothing "
                           "above R, so it arms what R holds."
                         : "CPU 0 falls asleep until 5 and goes up. R was idle before its swap, so it takes that for somebody "
                           "else's business.",
            where);
    TOLD(p.s.armed[0] == (goes_on ? 5 : never));
    TOLD(p.end(grower));
    t.frame(p.s, "The grower finds A idle, and tells R what A's sleepers wait for. It arms nothing.",
            {looked("A", "read by the grower: idle")});
    TOLD(goes_on ? p.s.wrong().empty() : lost(p.s));
    return t;
}

template <class Config>
story refresh_after(const char* name) {
    constexpr bool refreshes = std::same_as<Config, library>;
    story t(name, {.seq = false});
    t.show(refreshes);
    stage<Config> p(2);
    p.s.wake(0);
    p.s.sleep(0, 5);
    t.frame(p.s, "CPU 0 sleeps until 5, and has armed that. A is the root.");
    const auto grower = p.start([&p] { p.s.arrive(); });
    TOLD(p.past(grower, "G2"));
    t.frame(p.s, "CPU 2 arrives; A is linked and has been swapped. It was idle, so its bit is not carried up.",
            {changed("R", "new"), changed("A", "linked"), changed("B", "new")});
    TOLD(p.end(grower));
    t.show(true);
    if (refreshes)
        t.frame(p.s, "R's slot for A is brought up to date (S4). Nothing has to be armed: CPU 0 still is.",
                {changed("R", "told"), looked("armed", "as before")});
    else
        t.frame(p.s, "The grower leaves it at that.", {looked("R", "A is said to wait for nothing: too late")});
    TOLD(p.s.broken_invariant() == (refreshes ? "" : "5 no-late"));
    return t;
}

template <class Config>
story alone(const char* name) {
    constexpr bool remembers = std::same_as<Config, library>;
    story t(name, {.seq = false});
    t.show(remembers);
    stage<Config> p(2);
    p.s.wake(0);
    p.s.sleep(0, 5);
    p.s.now = 3;
    const auto grower = p.start([&p] { p.s.arrive(); });
    TOLD(p.before(grower, "S2"));
    t.frame(p.s, "CPU 0 sleeps until 5, and has armed that. A is linked below R, and R's slot for A is not up to date yet.");
    p.s.interrupt(0);
    t.show(true);
    if (remembers)
        t.frame(p.s,
                "It is 3, and CPU 0 has an interrupt of another kind. It looks for what is due, and remembers the earliest "
                "of every idle group on its way: 5 in A, nothing in R. It stays armed for 5.",
                {looked("R", "nothing"), looked("A", "5"), looked("armed", "still")});
    else
        t.frame(p.s, "It is 3, and CPU 0 has an interrupt of another kind. It looks for what is due, and arms what the root "
                     "says: nothing.",
                {looked("R", "nothing"), changed("armed", "wrong: there is a timer at 5")});
    TOLD(p.s.armed[0] == (remembers ? 5 : never));
    TOLD(p.end(grower));
    t.frame(p.s, "The grower brings R's slot up to date, and arms nothing.",
            {changed("R", remembers ? "told" : "too late")});
    TOLD(remembers ? p.s.wrong().empty() : lost(p.s));
    return t;
}

template <class Config>
story mask(const char* name) {
    constexpr bool first = std::same_as<Config, words>;
    story t(name, {.masks = true});
    stage<Config> p(2, {.width = 2, .form = linux_form::v6_9});
    const auto grower = p.start([&p] { p.s.arrive(); });
    while (!p.run.done(grower) && p.g("A").parent() == nullptr) p.run.step(grower);
    t.frame(p.s, first ? "The grower has just linked A below R (G1). All sleep."
                       : "The grower has just linked A below R, and is held up before it sets A's mask. All sleep.");
    p.s.wake(0);
    t.frame(p.s, "CPU 0 wakes, finds the link, and tells R with the mask that it finds.",
            {changed("R", first ? "CPU 0" : "CPU 0: in charge is nobody's bit"), changed("A", "CPU 0")});
    TOLD(p.g("R").current().migrator() == (first ? p.g("A").groupmask() : 0));
    TOLD(p.end(grower));
    if (first)
        t.frame(p.s, "The grower goes on with the new CPU, swaps A, and tells R once more. Nobody minds.",
                {changed("R", "the grower: seq"), changed("A", "the grower: seq"), changed("B", "CPU 2")});
    else
        t.frame(p.s, "The grower sets the mask, goes on with the new CPU, swaps A, and tells R. R has a migrator, as it seems.",
                {changed("R", "wrong: A is awake, and not in charge"), changed("A", "mask and seq"),
                 changed("B", "CPU 2")});
    TOLD(p.s.broken_invariant() == (first ? "" : "2 one-migrator"));
    return t;
}

// ---- Leaving

story leave_last() {
    story t("leave-last", {.seq = false});
    stage<library> p(3);
    p.s.wake(0), p.s.wake(1), p.s.wake(2);
    p.s.sleep(0, 5), p.s.sleep(1, 8);
    t.frame(p.s, "CPU 2 is the last awake, and looks after the timers of CPUs 0 and 1.");
    p.s.leave(2);
    TOLD(p.s.left[0] == departure{.arm = never, .due = 5, .by = 0});
    t.frame(p.s, "CPU 2 leaves. Its walk leaves the tree idle, and finds an expiry for which somebody has to be armed.",
            {changed("R", "CPU 2"), changed("B", "CPU 2"), looked("armed", "nobody yet")},
            {"leave() returns:  due 5, by CPU 0"});
    p.s.wake(0);
    t.frame(p.s, "CPU 0 is woken, by whatever means the user has.", {changed("R", "CPU 0"), changed("A", "CPU 0")});
    p.s.sleep(0);
    t.frame(p.s, "It has nothing to do and falls asleep again, as the last of all: it arms the right thing by itself.",
            {changed("R", "CPU 0"), changed("A", "CPU 0"), changed("armed", "right")});
    TOLD(p.s.armed[0] == 5);
    p.s.left.clear();
    TOLD(p.s.wrong().empty());
    return t;
}

template <class Config>
story leave_two(const char* name) {
    constexpr bool first = std::same_as<Config, library>;
    story t(name, {.seq = false});
    t.show(first);
    stage<Config> p(3);
    p.s.wake(0), p.s.wake(1), p.s.wake(2);
    p.s.sleep(0, 9), p.s.sleep(1, 5);
    t.frame(p.s, "CPUs 0 and 1 sleep until 9 and 5, CPU 2 looks after them.");
    const auto cpu0 = p.start([&p] { p.s.leave(0); });
    TOLD(p.past(cpu0, "S4") && p.past(cpu0, "N2"));
    t.show(true);
    t.frame(p.s,
            first ? "CPU 0 leaves: it says so (V1), and only then takes its timer out of the tree (N1, S4). It finds R active "
                    "(N2): CPU 2 will see to what is left. There it is held up."
                  : "CPU 0 leaves: it takes its timer out of the tree (N1, S4), and finds R active (N2). It is held up before "
                    "it says that it leaves.",
            {changed("A", "CPU 0")});
    p.s.leave(2);
    TOLD(p.s.left[0].due == 5 && p.s.left[0].by == (first ? 1u : 0u));
    t.frame(p.s, "CPU 2 leaves, and finds nobody awake. It names the first who takes part (V2).",
            {changed("R", "CPU 2"), changed("B", "CPU 2")},
            {std::string("leave() returns:  due 5, by CPU ") + (first ? "1" : "0")});
    TOLD(p.end(cpu0));
    TOLD(p.s.left[1].due == never);
    p.s.take_over();
    if (first) {
        t.frame(p.s, "CPU 1 is woken, and sleeps again.", {changed("armed", "right; CPU 0 for itself")});
        TOLD(p.s.armed[1] == 5 && p.s.wrong().empty());
    } else {
        t.frame(p.s, "CPU 0 has left, and arms what is its own. It takes over nothing any more, and names nobody.",
                {changed("armed", "nobody for the timer of CPU 1")});
        TOLD(p.s.armed[1] == never && lost(p.s));
    }
    return t;
}

// ---- Kicks

story kicks() {
    story t("kicks");
    stage<library> p(3);
    bool first[2] = {false, false};
    const auto kick = [&](int i) { return [&p, &first, i] { first[i] = p.s.cpu[2].kick(); }; };
    const auto cpu0 = p.start(kick(0)), cpu1 = p.start(kick(1));
    TOLD(p.before(cpu0, "K1") && p.before(cpu1, "K1"));
    TOLD(p.end(cpu0) && first[0]);
    t.plain_frame("CPU 2 sleeps. CPUs 0 and 1 both want it, and both read its flag: 0 (K3). CPU 0 swaps it first (K1).",
            {"flag of CPU 2:  1         kick() by CPU 0 returns true: it sends a signal"});
    TOLD(p.end(cpu1) && !first[1]);
    t.plain_frame("CPU 1's swap fails; it swaps 1 for 1 then, so that CPU 2 will see what it did before.",
            {"flag of CPU 2:  1         kick() by CPU 1 returns false: a signal is under way"});
    p.s.wake(2);
    TOLD(!p.s.cpu[2].answer_kick());
    t.plain_frame("CPU 2 has its signal, wakes, and takes the flag away (K2). The next kick needs a signal again.",
            {"flag of CPU 2:  0"});
    TOLD(p.s.cpu[2].kick());
    return t;
}

// ---- The document

std::vector<story> play_all() {
    std::vector<story> all;
    all.push_back(drawing());
    all.push_back(walks());
    all.push_back(late_swap<words>("late-swap"));
    all.push_back(late_swap<without_seq>("late-swap-without-seq"));
    all.push_back(second_look<words>("second-look"));
    all.push_back(second_look<clear_blindly>("second-look-left-out"));
    all.push_back(second_look<load_relaxed>("second-look-relaxed"));
    all.push_back(publish_in_leaf<false>("resign-first"));
    all.push_back(publish_in_leaf<true>("publish-first"));
    all.push_back(publish_one_level_up<resign_first>("resign-first-above"));
    all.push_back(publish_one_level_up<library>("publish-first-above"));
    all.push_back(two_attempts<library>("two-attempts"));
    all.push_back(two_attempts<one_refresh>("one-attempt"));
    all.push_back(same_expiry<library>("same-expiry"));
    all.push_back(same_expiry<skipped_write>("same-expiry-skipped-write"));
    all.push_back(same_expiry<without_tag>("same-expiry-without-tag"));
    all.push_back(new_expiry<true>("new-expiry"));
    all.push_back(new_expiry<false>("new-expiry-looks-first"));
    all.push_back(claim<library>("claim"));
    all.push_back(claim<without_claim>("claim-left-out"));
    all.push_back(owner<library>("owner"));
    all.push_back(owner<expirer_stores>("owner-overwritten"));
    all.push_back(due_and_active());
    all.push_back(ninth());
    all.push_back(carried<words>("carried"));
    all.push_back(carried<carried_blindly>("carried-blindly"));
    all.push_back(idle_groups<library>("idle-groups"));
    all.push_back(idle_groups<stop_at_idle_groups>("idle-groups-end"));
    all.push_back(refresh_after<library>("refresh-after-link"));
    all.push_back(refresh_after<no_refresh_after_link>("no-refresh-after-link"));
    all.push_back(alone<library>("interrupt"));
    all.push_back(alone<root_alone>("interrupt-root-alone"));
    all.push_back(mask<words>("mask-first"));
    all.push_back(mask<mask_after_link>("mask-after-link"));
    all.push_back(leave_last());
    all.push_back(leave_two<library>("two-leave"));
    all.push_back(leave_two<available_after_walk>("two-leave-late"));
    all.push_back(kicks());
    return all;
}

const std::string mark_begin = "<!-- frames: ", mark_end = " -->";

std::string block(const story& t) {
    std::string all = "```text\n";
    for (const std::string& line : t.lines()) all += line + '\n';
    return all + "```\n";
}

/// The document with every block as it is played now, and the names of those that differ.
std::string renewed(const std::string& name, std::istream& in, const std::vector<story>& all, strings& differ) {
    std::map<std::string, const story*> left;
    for (const story& t : all) left[t.name()] = &t;
    std::string out, line;
    for (int number = 1; std::getline(in, line); ++number) {
        out += line + '\n';
        if (line.rfind(mark_begin, 0) != 0 || line.size() < mark_begin.size() + mark_end.size()) continue;
        const std::string which = line.substr(mark_begin.size(), line.size() - mark_begin.size() - mark_end.size());
        const auto found = left.find(which);
        if (found == left.end()) {
            std::cerr << name << ':' << number << ": no story of that name, or for the second time: " << which << '\n';
            std::exit(1);
        }
        const std::string now = block(*found->second);
        left.erase(found);
        std::string there;
        // A marker that stands alone is given its block.
        if (in.peek() == '`')
            do {
                if (!std::getline(in, line)) break;
                ++number;
                there += line + '\n';
            } while (line != "```");
        if (there != now) differ.push_back(which);
        out += now;
    }
    for (const auto& [which, t] : left) {
        std::cerr << name << ": has no place for the story " << which << ": " << mark_begin << which << mark_end << '\n';
        std::exit(1);
    }
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view what = argc > 1 ? argv[1] : "";
    if (!(what == "print" && argc == 2) && !((what == "check" || what == "write") && argc == 3)) {
        std::cerr << "frames print | frames check FILE | frames write FILE\n";
        return 2;
    }
    const std::vector<story> all = play_all();
    if (what == "print") {
        for (const story& t : all) std::cout << mark_begin << t.name() << mark_end << '\n' << block(t) << '\n';
        return 0;
    }
    const std::string file = argv[2];
    std::ifstream in(file);
    if (!in) {
        std::cerr << file << ": cannot be read\n";
        return 1;
    }
    strings differ;
    const std::string now = renewed(file, in, all, differ);
    if (what == "check") {
        for (const std::string& which : differ)
            std::cerr << file << ": the frames of " << which << " are not what the library does\n";
        if (!differ.empty()) std::cerr << "scripts/frames writes them anew; read then whether the prose around still holds\n";
        return differ.empty() ? 0 : 1;
    }
    in.close();
    std::ofstream out(file);
    out << now;
    return out.flush() ? 0 : 1;
}
