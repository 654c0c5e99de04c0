// SPDX-License-Identifier: BSL-1.0
#include "catch.hpp"

#include <tmigr/invariants.hpp>
#include <tmigr/state.hpp>
#include <tmigr/wide_state.hpp>

#include <set>
#include <sstream>
#include <vector>

using namespace tmigr;

namespace {

/// The word as anybody would write it down: no masks, no arithmetic on bits.
struct naive_group {
    std::vector<bool> awake;
    int migrator = -1;

    template <class State>
    static naive_group of(State s) {
        naive_group g;
        for (unsigned i = 0; i < State::children; ++i) g.awake.push_back((s.active() >> i & 1) != 0);
        for (unsigned i = 0; i < State::children; ++i)
            if (s.has_migrator() && s.migrator() == (typename State::mask_type{1} << i)) g.migrator = static_cast<int>(i);
        return g;
    }
    int lowest_awake() const {
        for (std::size_t i = 0; i < awake.size(); ++i)
            if (awake[i]) return static_cast<int>(i);
        return -1;
    }
    void wake(unsigned child, pick how) {
        awake[child] = true;
        if (migrator < 0) migrator = static_cast<int>(child);
        if (how == pick::lowest) migrator = lowest_awake();
    }
    void sleep(unsigned child) {
        awake[child] = false;
        if (migrator == static_cast<int>(child)) migrator = lowest_awake();
    }
    friend bool operator==(const naive_group&, const naive_group&) = default;
};

/// Calls `f` with every word that invariants 1 and 2 (and 6, for `lowest`) allow.
template <class State, class F>
void for_all_valid(pick how, F f) {
    std::set<std::uint64_t> seqs{0, 1};
    if constexpr (State::seq_bits > 0) seqs.insert(~std::uint64_t{0} >> (64 - State::seq_bits));
    for (unsigned active = 0; active <= State::all; ++active)
        for (std::uint64_t seq : seqs) {
            const auto mask = static_cast<typename State::mask_type>(active);
            if (active == 0) f(State(0, State::none, seq));
            for (unsigned i = 0; i < State::children; ++i)
                if ((active >> i & 1) != 0 && (how == pick::first || (active & ((1u << i) - 1)) == 0))
                    f(State(mask, static_cast<typename State::mask_type>(1u << i), seq));
        }
}

template <class State>
std::uint64_t next_seq(State s) {
    return State::seq_bits == 64 ? s.seq() + 1 : (s.seq() + 1) % (std::uint64_t{1} << State::seq_bits);
}

/// Returns how many transitions were compared with the naive group.
template <class State>
std::size_t compare_all_transitions() {
    std::size_t compared = 0;
    for (pick how : {pick::first, pick::lowest})
        for_all_valid<State>(how, [&](State s) {
            REQUIRE_FALSE(broken(s, how));
            for (unsigned i = 0; i < State::children; ++i) {
                const auto child = static_cast<typename State::mask_type>(1u << i);
                naive_group woken = naive_group::of(s);
                woken.wake(i, how);
                naive_group slept = naive_group::of(s);
                slept.sleep(i);

                REQUIRE(naive_group::of(s.activated(child, how)) == woken);
                REQUIRE(naive_group::of(s.deactivated(child)) == slept);
                REQUIRE(naive_group::of(s.touched()) == naive_group::of(s));
                for (State after : {s.activated(child, how), s.deactivated(child), s.touched()}) {
                    REQUIRE(after.seq() == next_seq(s));
                    REQUIRE_FALSE(broken(after, how));
                }
                compared += 3;
            }
        });
    return compared;
}

/// Every pair of masks, legal or not: `broken` agrees with the invariants as they read.
template <class State>
void check_every_word() {
    for (unsigned active = 0; active <= State::all; ++active)
        for (unsigned migrator = 0; migrator <= State::all; ++migrator) {
            const State s(static_cast<typename State::mask_type>(active),
                          static_cast<typename State::mask_type>(migrator), 5);
            const bool is_none = migrator == State::none;
            const bool one_bit = migrator != 0 && (migrator & (migrator - 1)) == 0;
            const bool legal = active == 0 ? is_none : !is_none && one_bit && (active & migrator) != 0;
            INFO("active " << active << " migrator " << migrator);
            REQUIRE(broken(s).has_value() == !legal);
        }
}

template <class State>
std::string printed(State s) {
    std::ostringstream text;
    text << s;
    return text.str();
}

}  // namespace

TEST_CASE("every transition of every valid word agrees with a naive group") {
    CHECK(compare_all_transitions<basic_state<std::uint8_t, 2>>() > 0);
    CHECK(compare_all_transitions<basic_state<std::uint16_t, 3>>() > 0);
    CHECK(compare_all_transitions<basic_state<std::uint32_t, 4>>() > 0);
    CHECK(compare_all_transitions<basic_state<std::uint64_t, 4>>() > 0);
    CHECK(compare_all_transitions<basic_state<uint128, 4>>() > 0);
    // 8 children: 1 + 8 * 128 words with pick first, 256 with lowest, 3 values of seq, 8 children, 3 transitions
    CHECK(compare_all_transitions<state32>() == (1 + 8 * 128 + 256) * 3 * 8 * 3);
}

TEST_CASE("the invariants of a word are those that are written down") {
    check_every_word<basic_state<std::uint8_t, 2>>();
    check_every_word<basic_state<std::uint32_t, 3>>();
    check_every_word<basic_state<std::uint32_t, 4>>();
    check_every_word<state32>();
    CHECK(broken(state32(0b110, 0b100, 0)) == std::nullopt);
    CHECK(broken(state32(0b110, 0b100, 0), pick::lowest) == invariant::low_first);
    CHECK(broken(state32(0b110, 0, 0)) == invariant::one_migrator);
    CHECK(broken(state32(0b110, 0b110, 0)) == invariant::one_migrator);
    CHECK(broken(state32(0b110, 0b001, 0)) == invariant::migrator_is_active);
    CHECK(broken(state32(0, 0b001, 0)) == invariant::migrator_is_active);
}

TEST_CASE("the default word has Linux's layout") {
    STATIC_REQUIRE(state32().word() == 0x0000ff00u);
    STATIC_REQUIRE(state32(0x12, 0x02, 0xbeef).word() == 0xbeef0212u);
    STATIC_REQUIRE(state32::from_word(0x00018180u).active() == 0x80);
    STATIC_REQUIRE(state32::from_word(0x00018180u).migrator() == 0x81);
    STATIC_REQUIRE(state32::from_word(0x00018180u).seq() == 1);
    STATIC_REQUIRE(state32::seq_bits == 16);
    STATIC_REQUIRE(state64::seq_bits == 48);
    STATIC_REQUIRE(state64x24::seq_bits == 16);
    STATIC_REQUIRE(state64x24::none == 0xffffff);
    STATIC_REQUIRE(state128x16::seq_bits == 64);
    STATIC_REQUIRE(state128x48::none == 0xffff'ffff'ffff);
}

TEST_CASE("transitions work at compile time") {
    constexpr state32 two = state32().activated(4).activated(1);
    STATIC_REQUIRE(two == state32(5, 4, 2));
    STATIC_REQUIRE(state32().activated(4, pick::lowest).activated(1, pick::lowest) == state32(5, 1, 2));
    STATIC_REQUIRE(two.deactivated(4) == state32(1, 1, 3));
    STATIC_REQUIRE(two.deactivated(1) == state32(4, 4, 3));
    STATIC_REQUIRE(two.deactivated(1).deactivated(4) == state32(0, state32::none, 4));
    STATIC_REQUIRE(state128x48().activated(std::uint64_t{1} << 47).migrator() == std::uint64_t{1} << 47);
}

TEST_CASE("seq wraps to 0 and leaves the masks alone") {
    CHECK(state32(3, 1, 0xffff).touched() == state32(3, 1, 0));
    CHECK(state64(3, 1, 0xffff'ffff'ffff).touched() == state64(3, 1, 0));
    CHECK(state128x16(3, 1, ~std::uint64_t{0}).touched() == state128x16(3, 1, 0));
    CHECK(basic_state<std::uint8_t, 3>(5, 4, 3).touched() == basic_state<std::uint8_t, 3>(5, 4, 0));
    CHECK(basic_state<std::uint32_t, 8, 0>(5, 4, 3).touched() == basic_state<std::uint32_t, 8, 0>(5, 4, 0));
}

TEST_CASE("wide words keep every child apart") {
    for (unsigned i = 0; i < 48; ++i) {
        const auto bit = std::uint64_t{1} << i;
        const auto s = state128x48(0, state128x48::none, 0xffff'ffff).activated(bit);
        REQUIRE(s.active() == bit);
        REQUIRE(s.migrator() == bit);
        REQUIRE(s.seq() == 0);
        REQUIRE(state128x48::place(bit) == i);
        REQUIRE(s.deactivated(bit) == state128x48(0, state128x48::none, 1));
    }
}

TEST_CASE("words print for humans") {
    CHECK(printed(state32(0x1f, 0x10, 12)) == "{active=1f migrator=10 seq=12}");
    CHECK(printed(state32()) == "{active=0 migrator=none seq=0}");
    CHECK(printed(state128x48(std::uint64_t{1} << 47, std::uint64_t{1} << 47, 7)) ==
          "{active=800000000000 migrator=800000000000 seq=7}");
    std::ostringstream decimal;
    decimal << state32() << 255;
    CHECK(decimal.str() == "{active=0 migrator=none seq=0}255");
}
