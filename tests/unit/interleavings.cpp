// SPDX-License-Identifier: BSL-1.0

// Faults put into the library, one at a time: random programs of several CPUs, each with an order
// of all accesses, must find them, and so must an input that is kept for each. The library itself
// passes the very same inputs. docs/fuzzing.md has the format, and how long each fault lived.

#include "catch.hpp"
#include "support/interleaving_player.hpp"
#include "support/random_machine.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using namespace tmigr;
using namespace tmigr::test;

namespace {

using library = stepping_expiries;
using input = std::vector<std::uint8_t>;

#define TMIGR_WITHOUT(twin, step)                                   \
    struct twin : library {                                         \
        [[maybe_unused]] static constexpr const char* name = #twin; \
        struct steps : algorithm_steps {                            \
            static constexpr bool step = false;                     \
        };                                                          \
    }
TMIGR_WITHOUT(resign_first, publish_first);
TMIGR_WITHOUT(skipped_write, write_unchanged_slot);
TMIGR_WITHOUT(stop_at_idle_groups, leave_idle_groups);
TMIGR_WITHOUT(clear_blindly, clear_only_idle);
TMIGR_WITHOUT(carried_blindly, carry_only_active);
TMIGR_WITHOUT(no_refresh_after_link, refresh_after_link);
TMIGR_WITHOUT(load_instead_of_swap, swap_after_link);
TMIGR_WITHOUT(root_alone, remember_lower_groups);
TMIGR_WITHOUT(expirer_stores, owner_wins);
TMIGR_WITHOUT(without_claim, claim_sleepers);
TMIGR_WITHOUT(available_after_walk, unavailable_first);
struct without_seq : library {
    static constexpr const char* name = "without_seq";
    using state = basic_state<std::uint32_t, 8, 0>;
};
struct without_tag : library {
    static constexpr const char* name = "without_tag";
    using slot = basic_slot<std::uint64_t, 48, 0>;
};
/// Without expiries: with them it can crash.
struct mask_after_link : stepping_words {
    static constexpr const char* name = "mask_after_link";
    struct steps : algorithm_steps {
        static constexpr bool mask_before_link = false;
    };
};
struct one_refresh : library {
    static constexpr const char* name = "one_refresh";
    struct steps : algorithm_steps {
        static constexpr int refresh_attempts = 1;
    };
};

input random_input(std::mt19937_64& random) {
    input bytes(32 + random() % 64);
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
    // Now and then one thing is done by many.
    const std::size_t first_phase = 4 + bytes[0] % 6u;
    const std::uint64_t favourite = random() % 32;
    if (favourite >= 16) return bytes;
    for (std::size_t o = first_phase + 1; o < first_phase + 17; o += 2)
        if (random() % 2 == 0) bytes[o] = static_cast<std::uint8_t>((bytes[o] & 15u) | favourite << 4);
    return bytes;
}

/// What the twin is without its fault.
template <class Twin>
using sound = std::conditional_t<has_expiries<Twin>, stepping_expiries, stepping_words>;

/// Random inputs until the twin fails, or so many of them: how many, and what went wrong.
template <class Twin>
std::pair<std::size_t, std::string> search(std::size_t most) {
    std::mt19937_64 random(seed());
    for (std::size_t n = 1; n <= most; ++n) {
        const input bytes = random_input(random);
        const std::string right = play_interleaving<sound<Twin>>(bytes);
        if (!right.empty())
            FAIL("the library itself: " << right << '\n' << tell_interleaving<sound<Twin>>(bytes));
        const std::string wrong = play_interleaving<Twin>(bytes);
        if (!wrong.empty()) return {n, wrong};
    }
    return {most, ""};
}

const std::filesystem::path corpus =
    std::filesystem::path(TMIGR_TEST_DATA).parent_path() / "fuzz" / "corpus" / "interleavings";

input kept(const std::string& name) {
    std::ifstream in(corpus / name, std::ios::binary);
    REQUIRE(in);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

TEMPLATE_TEST_CASE("random interleavings find what is wrong with", "", without_seq, without_tag, one_refresh,
                   resign_first, skipped_write, stop_at_idle_groups, clear_blindly, carried_blindly,
                   mask_after_link, no_refresh_after_link, root_alone, expirer_stores, without_claim,
                   available_after_walk) {
    const auto [executions, wrong] = search<TestType>(200'000);
    std::cout << TestType::name << ": " << executions << " executions, " << wrong << '\n';
    CHECK(wrong != "");

    const input bytes = kept(TestType::name);
    CHECK(play_interleaving<TestType>(bytes) != "");
    CHECK(play_interleaving<sound<TestType>>(bytes) == "");
}

TEST_CASE("what takes weak memory to go wrong is not found") {
    // A load in the place of the swap (G2): one of two that each write and then look sees the other, if there
    // is one order of all accesses.
    CHECK(search<load_instead_of_swap>(20'000).second == "");
}

TEST_CASE("the story of an input names the program and every access") {
    const std::string story = tell_interleaving<resign_first>(kept("resign_first"));
    INFO(story);
    for (const char* part : {"CPUs, width", "at once", "sleeps", "D3 swap group"})
        CHECK(story.find(part) != std::string::npos);
    CHECK(story.find("nothing is wrong") == std::string::npos);
    CHECK(tell_interleaving<library>(kept("resign_first")).find("nothing is wrong") != std::string::npos);
}

TEST_CASE("every kept input passes") {
    std::size_t files = 0;
    for (const auto& file : std::filesystem::directory_iterator(corpus)) {
        INFO(file.path());
        CHECK(play_interleaving<library>(kept(file.path().filename().string())) == "");
        CHECK(play_interleaving<stepping_words>(kept(file.path().filename().string())) == "");
        ++files;
    }
    CHECK(files >= 14);
}
