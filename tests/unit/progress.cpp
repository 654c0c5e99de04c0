// SPDX-License-Identifier: BSL-1.0

// Nobody can block anybody: one of several programs stops for ever before each of its accesses,
// and all the others come to their ends, within the number of accesses that they need when
// nobody else moves. When the one that stopped goes on in the end, the tree is right.

#include "catch.hpp"
#include "support/interleaving_machine.hpp"
#include "support/operation_costs.hpp"
#include "support/stepping.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

using namespace tmigr;
using namespace tmigr::test;

namespace {

using machine = interleaving_machine<stepping_expiries>;
using queue = interleaving_program::queue;

struct situation {
    std::string name;
    cpu_id cpus;
    queue before;
    ticks later;
    std::vector<queue> at_once;
};

std::vector<situation> situations() {
    using enum operation::kind;
    return {
        {"the last two fall asleep, a sleeper gets a timer",
         4,
         {{wake, 0}, {wake, 2}},
         0,
         {{{sleep, 0, 6}}, {{sleep, 2, 8}}, {{timer, 1, 5}}}},
        {"three levels: two fall asleep, one wakes",
         8,
         {{wake, 0}, {wake, 4}, {timer, 6, 4}},
         0,
         {{{sleep, 0, 6}}, {{sleep, 4}}, {{wake, 1}, {sleep, 1, 3}}}},
        {"one sleeper's timer is due for three",
         4,
         {{wake, 2}, {timer, 0, 3}},
         4,
         {{{interrupt, 2}}, {{interrupt, 1}}, {{timer, 0, 4}, {interrupt, 0}}}},
        {"somebody awake and the owner see to a timer",
         8,
         {{wake, 7}, {timer, 0, 3}, {timer, 3, 3}},
         4,
         {{{tick, 7}, {sleep, 7}}, {{wake, 0}, {sleep, 0, 2}}, {{interrupt, 2}}}},
        {"the last one awake leaves",
         4,
         {{wake, 3}, {timer, 0, 4}, {timer, 1, 6}},
         0,
         {{{leave, 3}}, {{interrupt, 0}}, {{leave, 1}}}},
        {"one joins while another leaves and a third falls asleep",
         4,
         {{wake, 2}, {wake, 3}, {timer, 0, 5}, {leave, 0}},
         0,
         {{{join, 0}}, {{rejoin, 2}}, {{sleep, 3, 7}}}},
        {"the tree grows above who falls asleep",
         2,
         {{wake, 0}},
         0,
         {{{arrive, 2}, {wake, 2}, {sleep, 2, 7}}, {{sleep, 0, 5}}, {{wake, 1}}}},
        {"the tree grows twice above sleepers",
         2,
         {{timer, 0, 6}},
         0,
         {{{arrive, 2}, {arrive, 3}, {arrive, 4}},
          {{timer, 1, 4}, {interrupt, 1}},
          {{wake, 0}, {sleep, 0, 4}}}},
        {"two levels of groups get a root while it is asked",
         4,
         {{wake, 0}, {wake, 3}},
         0,
         {{{arrive, 4}}, {{query, 0}, {forecast, 0}, {tick, 0}}, {{sleep, 3, 4}, {forecast, 3}}}},
        {"kicks",
         2,
         {{kick, 0, 0, false, 1}},
         0,
         {{{kick, 0, 0, false, 1}},
          {{wake, 1}, {answer, 1}, {sleep, 1}},
          {{wake, 0}, {kick, 0, 0, false, 1}}}},
    };
}

struct result {
    std::set<std::string> labels;  ///< where somebody stopped
    std::size_t played = 0;
    std::string wrong;
};

/// In the tree as it is when all have arrived.
operation_costs costs_in(const situation& s) {
    std::size_t cpus = s.cpus;
    for (const queue& q : s.at_once)
        for (const operation& o : q) cpus += o.what == operation::kind::arrive;
    operation_costs costs{0, 0, cpus};
    for (std::size_t of_level = cpus; costs.levels == 0 || of_level > 1; ++costs.levels)
        costs.groups += of_level = (of_level + 1) / 2;
    return costs;
}

/// Program `stopped` makes that many accesses, alone or in turns with the others; then they run, in
/// the order of `others`.
/// False when the program ends before.
bool play(const situation& s, std::size_t stopped, std::size_t accesses, bool in_turns,
          const std::vector<std::size_t>& others, result& all) {
    machine m(s.cpus);
    for (const operation& o : s.before) m.act(o);
    m.now += s.later;
    std::string wrong, where;
    {
        stepper programs;
        for (const queue& q : s.at_once)
            programs.add([&m, &q] {
                for (const operation& o : q) m.act(o);
            });
        for (std::size_t k = 0; k < accesses && !programs.done(stopped); ++k) {
            programs.step(stopped);
            for (const std::size_t i : others)
                if (in_turns && !programs.done(i)) programs.step(i);
        }
        if (programs.done(stopped)) return false;
        where = programs.next(stopped).label;
        all.labels.insert(where);
        for (const std::size_t i : others) {
            // What it stands before may fail, once.
            std::size_t most = in_turns ? operation_costs::attempt : 0;
            for (const operation& o : s.at_once[i]) most += costs_in(s).of(o);
            if (!programs.finish(i, most) && wrong.empty())
                wrong = "program " + std::to_string(i) + " does not end, next " +
                        std::string(programs.next(i).label);
        }
        programs.finish(stopped, 10'000);
    }
    if (wrong.empty()) wrong = m.wrong_at_rest();
    if (wrong.empty()) wrong = m.play_out();
    ++all.played;
    if (!wrong.empty() && all.wrong.empty())
        all.wrong = s.name + ": program " + std::to_string(stopped) + " stopped before access " +
                    std::to_string(accesses) + " (" + where + "): " + wrong;
    return true;
}

result play_all() {
    result all;
    for (const situation& s : situations())
        for (std::size_t stopped = 0; stopped < s.at_once.size(); ++stopped) {
            std::vector<std::size_t> others;
            for (std::size_t i = 0; i < s.at_once.size(); ++i)
                if (i != stopped) others.push_back(i);
            do
                for (const bool in_turns : {false, true})
                    for (std::size_t k = 0; play(s, stopped, k, in_turns, others, all); ++k) {
                    }
            while (std::next_permutation(others.begin(), others.end()));
        }
    return all;
}

struct can_stop : stepping_expiries {
    static constexpr bool preference_can_stop = true;
};

/// The same where a group is told to stop preferring the lowest while one takes over and one hands over.
result play_stop() {
    using enum operation::kind;
    result all;
    for (std::size_t stopped = 0; stopped < 3; ++stopped)
        for (std::size_t k = 0, ended = 0; ended == 0; ++k) {
            interleaving_machine<can_stop> m(0, {.width = 2, .cross_family_pick = pick::lowest}, 4, 2);
            for (cpu_id c = 0; c < 4; ++c) m.come(static_cast<node_id>(c % 2));
            m.act({wake, 1});
            const auto& groups = m.tree.groups();
            const auto root = static_cast<std::size_t>(
                std::find_if(groups.begin(), groups.end(), [](const auto& g) { return g.how() == pick::lowest; }) -
                groups.begin());
            stepper programs;
            programs.add([&m] { m.act({wake, 0}); });
            programs.add([&m] { m.act({sleep, 1, 5}); });
            programs.add([&m, root] { m.tree.stop_preferring(root); });
            for (std::size_t n = 0; n < k && !programs.done(stopped); ++n) programs.step(stopped);
            if (programs.done(stopped)) {
                ++ended;
                continue;
            }
            all.labels.insert(std::string(programs.next(stopped).label));
            const operation_costs costs{2, 3, 4};
            for (std::size_t i = 0; i < 3; ++i)
                if (i != stopped && !programs.finish(i, costs.of({i == 0 ? wake : sleep, 0}) + costs.levels))
                    all.wrong = "program " + std::to_string(i) + " does not end";
            programs.finish(stopped, 10'000);
            if (const std::string wrong = m.wrong_at_rest(); !wrong.empty()) all.wrong = wrong;
            if (groups[root].how() != pick::first) all.wrong = "it did not stop";
            ++all.played;
        }
    return all;
}

std::set<std::string> labels_of_the_library() {
    const auto config = std::filesystem::path(TMIGR_TEST_DATA).parent_path().parent_path() / "include" /
                        "tmigr" / "config.hpp";
    std::ifstream in(config);
    std::set<std::string> found;
    static const std::regex label(R"(static constexpr auto \w+ = B::\w+;\s*// \(([A-Z]\d)\))");
    for (std::string line; std::getline(in, line);)
        if (std::smatch m; std::regex_search(line, m, label)) found.insert(m[1]);
    return found;
}

}  // namespace

TEST_CASE("whoever stops for ever, before whichever access, keeps nobody from the end") {
    result all = play_all();
    CHECK(all.wrong == "");
    CHECK(all.played > 2000);
    // Inside the function that runs a sleeper's timers too; and before plain cells.
    CHECK(all.labels.erase("run") == 1);
    CHECK(all.labels.erase("") == 1);
    result stopping = play_stop();
    CHECK(stopping.wrong == "");
    CHECK(stopping.played > 20);
    stopping.labels.erase("");
    CHECK(stopping.labels.count("F1") + stopping.labels.count("F2") == 2);
    all.labels.merge(stopping.labels);
    const auto labels = labels_of_the_library();
    REQUIRE(labels.size() > 35);
    CHECK(all.labels == labels);
}

TEST_CASE("while somebody stops inside the run of a sleeper's timers, others leave the sleeper out") {
    using enum operation::kind;
    machine m(4);
    for (const operation& o : queue{{wake, 2}, {timer, 0, 3}}) m.act(o);
    m.now += 4;
    {
        stepper programs;
        const std::size_t first = programs.add([&m] { m.interrupt(2); });
        REQUIRE(programs.run_to(first, "run"));
        for (const cpu_id c : {1u, 0u}) {
            const std::size_t other = programs.add([&m, c] { m.interrupt(c); });
            REQUIRE(programs.finish(other, operation_costs{2, 3, 4}.of({interrupt, c})));
        }
        CHECK(m.ran.empty());
    }
    CHECK(m.ran.size() == 1);
    CHECK(m.wrong_at_rest() == "");
    CHECK(m.play_out() == "");
}
