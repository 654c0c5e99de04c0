// SPDX-License-Identifier: BSL-1.0

// Counters come round: a walk is held up between its read and its swap while a word, or a
// slot, changes exactly as often as the counter has values. What the 32-bit word and the 64-bit
// slot cannot promise, and that the wider ones do.

#include "catch.hpp"
#include "support/scene.hpp"
#include "support/stepping.hpp"

#include <tmigr/wide_state.hpp>

#include <cstddef>
#include <string>

using namespace tmigr;
using namespace tmigr::test;

namespace {

struct words_of_64 : stepping_words {
    using state = state64;
};
#ifdef __SIZEOF_INT128__
struct slots_of_128 : stepping_expiries {
    using slot = slot128;
};
#endif

/// Root R over A = {0, 1, 2} and B = {3}. CPU 0 falls asleep and is held up before it swaps R;
/// then R changes so many times, A is awake in the end, and R's bits are as CPU 0 read them.
/// Returns what is wrong when all is over.
template <class Config>
std::string sleep_through(std::size_t changes) {
    scene<Config> s(4, {.width = 3});
    s.wake(0), s.wake(3);
    const auto& root = *s.tree.root();
    {
        stepper all;
        const auto zero = all.add([&s] { s.sleep(0); });
        REQUIRE(all.run_to(zero, "D3", 2));
        const auto read = root.current();
        // CPU 1 wakes: R's bits stay. It sleeps, and is held up too.
        s.wake(1);
        const auto one = all.add([&s] { s.sleep(1); });
        REQUIRE(all.run_to(one, "D3", 2));
        s.wake(2);
        for (std::size_t done = 2; done < changes; done += 2) {
            s.sleep(3);
            s.wake(3);
        }
        REQUIRE(root.current().active() == read.active());
        REQUIRE(root.current().migrator() == read.migrator());
        constexpr auto mask = ~std::uint64_t{0} >> (64 - Config::state::seq_bits);
        REQUIRE(((static_cast<std::uint64_t>(root.current().seq()) - read.seq()) & mask) == (changes & mask));
    }
    return s.broken_invariant();
}

/// The same for the slot that R has for A = {0, 1}: CPU 0's refresh, with a later expiry, is
/// held up before its swap while CPU 1's refreshes write the slot so many times, and leave the
/// due time that CPU 0 has read.
template <class Config>
std::string refresh_through(std::size_t writes) {
    scene<Config> s(3);
    s.arm(0, 5);
    {
        stepper all;
        s.timers[0] = {9};
        const auto zero = all.add([&s] { s.arm(0, 9); });
        REQUIRE(all.run_to(zero, "S4"));
        for (std::size_t done = 0; done + 1 < writes; ++done) s.arm(1, 6), s.timers[1] = {};
        s.arm(1, 5);
    }
    return s.broken_invariant();
}

}  // namespace

TEST_CASE("a walk that sleeps through 2^16 changes of a 32-bit word is fooled") {
    constexpr std::size_t all = std::size_t{1} << 16;
    CHECK(sleep_through<stepping_words>(all) == "3 active-up");
    CHECK(sleep_through<stepping_words>(2 * all) == "3 active-up");
    CHECK(sleep_through<stepping_words>(2) == "");
    CHECK(sleep_through<stepping_words>(all - 2) == "");
    CHECK(sleep_through<stepping_words>(all + 2) == "");
}

TEST_CASE("a 64-bit word does not come round in 2^16 changes, nor in 2^20") {
    STATIC_REQUIRE(state64::seq_bits == 48);
    CHECK(sleep_through<words_of_64>(std::size_t{1} << 16) == "");
    CHECK(sleep_through<words_of_64>(std::size_t{1} << 20) == "");
}

TEST_CASE("a refresh that sleeps through 2^15 others is fooled by a tag of 16 bits") {
    constexpr std::size_t all = std::size_t{1} << 15;
    STATIC_REQUIRE(slot64::tag_bits == 16);
    CHECK(refresh_through<stepping_expiries>(all) == "5 no-late");
    CHECK(refresh_through<stepping_expiries>(all - 1) == "");
    CHECK(refresh_through<stepping_expiries>(all + 1) == "");
    CHECK(refresh_through<stepping_expiries>(1) == "");
}

#ifdef __SIZEOF_INT128__
TEST_CASE("slots of 128 bits do not come round in 2^15 refreshes, nor in 2^20") {
    STATIC_REQUIRE(slot128::tag_bits == 64);
    CHECK(refresh_through<slots_of_128>(std::size_t{1} << 15) == "");
    CHECK(refresh_through<slots_of_128>(std::size_t{1} << 20) == "");
}
#endif
