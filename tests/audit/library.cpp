// SPDX-License-Identifier: BSL-1.0
// The library's own traces, of machines that live at random, are found to be without fault; and those of its
// twins, each with one step left out, are not.
#include "machine.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace tmigr;
using namespace tmigr::test;

namespace {

template <class Config = stepping_expiries>
using machine = random_machine_of<Config>;

struct resign_first : stepping_expiries {
    struct steps : algorithm_steps {
        static constexpr bool publish_first = false;
    };
};
struct without_seq : stepping_expiries {
    using state = basic_state<std::uint32_t, 8, 0>;
};
struct clears_active : stepping_expiries {
    struct steps : algorithm_steps {
        static constexpr bool clear_only_idle = false;
    };
};
struct mask_after_link : stepping_expiries {
    struct steps : algorithm_steps {
        static constexpr bool mask_before_link = false;
    };
};
struct carried_blindly : stepping_expiries {
    struct steps : algorithm_steps {
        static constexpr bool carry_only_active = false;
    };
};

struct tally {
    std::size_t lines = 0, findings = 0, named = 0, judged = 0;
    std::size_t seeds = 0, seeds_found = 0;
    std::string first;
};

/// What is found in the lives of so many machines, and how much of it has the name.
template <class Config>
tally lives(typename machine<Config>::shape s, misdeed what, std::string_view fault, std::size_t seeds,
            std::size_t rounds) {
    tally all;
    for (std::size_t seed = 1; seed <= seeds; ++seed) {
        const std::string text = machine<Config>{s, seed, what}.run(rounds);
        const auditor audit = audited_text(text);
        all.lines += audit.counts().events;
        all.judged += audit.counts().judged;
        all.findings += audit.counts().findings();
        ++all.seeds;
        bool named = false;
        for (const audit_finding& f : audit.findings()) {
            const bool right = std::string_view{f.fault} == fault;
            all.named += right ? 1 : 0;
            named = named || right;
            if (!right && all.first.empty())
                all.first = std::string{name_of(f.kind)} + ' ' + f.fault + " seed " + std::to_string(seed) + " line " +
                            std::to_string(f.begin.line) + " to " + std::to_string(f.end.line) + ": " + f.cause + ' ' +
                            f.detail;
        }
        all.seeds_found += named ? 1 : 0;
    }
    return all;
}

}  // namespace

TEST_CASE("an audit finds nothing in a million lines of the library's own") {
    std::size_t lines = 0;
    const auto check = [&](machine<>::shape s, std::size_t seeds, std::size_t rounds) {
        const tally all = lives<stepping_expiries>(s, misdeed::none, "", seeds, rounds);
        INFO(all.first);
        CHECK(all.findings == 0);
        CHECK(all.judged > 0);
        lines += all.lines;
    };
    check({.cpus = 4, .width = 2}, 20, 300);
    check({.cpus = 8, .width = 2}, 20, 200);
    check({.cpus = 12, .width = 4}, 20, 150);
    check({.cpus = 16, .width = 4, .nodes = 2}, 20, 150);
    check({.cpus = 12, .width = 4, .leaves = true}, 20, 150);
    check({.cpus = 12, .width = 4, .late = 8}, 20, 150);
    check({.cpus = 20, .width = 8, .nodes = 2, .late = 10, .leaves = true}, 20, 100);
    CHECK(lines > 1'000'000);
}
