// SPDX-License-Identifier: BSL-1.0
// Traces with lines swapped, lost, doubled, renamed, cut and mixed: an audit of any ends, and where two CPUs'
// lines only stand in swapped order, it finds nothing.
#include "machine.hpp"

#include <support/captures.hpp>

#include <tmigr/input_error.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tmigr;
using namespace tmigr::test;

namespace {

using lines = std::vector<std::string>;

lines lines_of(std::istream& in, std::size_t most = static_cast<std::size_t>(-1)) {
    lines all;
    for (std::string line; all.size() < most && std::getline(in, line);) all.push_back(line);
    return all;
}
std::string text_of(const lines& all) {
    std::string text;
    for (const std::string& line : all) text += line + '\n';
    return text;
}
std::string cpu_of(const std::string& line) {
    const std::size_t at = line.find(" [");
    return at == line.npos ? "" : line.substr(at + 2, 3);
}
/// Lines of two CPUs change places where they stand one behind the other; their times stay in order.
std::size_t swap_some(lines& all, std::mt19937& random, unsigned one_of) {
    std::size_t swapped = 0;
    const auto stamp = [](const std::string& line) { return line.find(": tmigr_"); };
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        std::string &a = all[i], &b = all[i + 1];
        const std::size_t at = stamp(a), bt = stamp(b);
        if (at == a.npos || bt == b.npos || cpu_of(a) == cpu_of(b) || random() % one_of != 0) continue;
        const std::size_t from_a = a.rfind(' ', at), from_b = b.rfind(' ', bt);
        const std::string time_a = a.substr(from_a, at - from_a), time_b = b.substr(from_b, bt - from_b);
        // Growth is printed under a lock.
        if (a.find("connect") != a.npos || b.find("connect") != b.npos || a.find("group_set:") != a.npos)
            continue;
        a.replace(from_a, time_a.size(), time_b);
        b.replace(from_b, time_b.size(), time_a);
        std::swap(a, b);
        ++swapped;
        ++i;
    }
    return swapped;
}

/// Audits as far as can be read.
void check_ends(const std::string& text) {
    std::istringstream in{text};
    ftrace_reader reader{in, "mutated", ftrace_reader::others::keep};
    auditor audit{{.details = 10, .stories = true}};
    try {
        while (const auto record = reader.next()) audit.add(*record);
    } catch (const input_error& error) {
        CHECK(!error.expected().empty());
    }
    audit.finish();
    CHECK(audit.findings().size() <= 10);
}

}  // namespace

TEST_CASE("lines of two CPUs in swapped order fake no finding") {
    std::mt19937 random{1};
    std::size_t swapped = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const std::string text =
            random_machine_of<stepping_expiries>{{.cpus = 12, .width = 4, .nodes = 2}, seed}.run(60);
        std::istringstream in{text};
        lines all = lines_of(in);
        swapped += swap_some(all, random, 50);
        const auditor audit = audited_text(text_of(all));
        CAPTURE(seed);
        tell(audit);
        CHECK(audit.counts().findings() == 0);
    }
    for (const capture& c : captures) {
        if (std::string_view{c.name}.find("late-timer") != std::string_view::npos) continue;
        std::ifstream in{c.path(".trace")};
        lines all = lines_of(in);
        swapped += swap_some(all, random, 50);
        const auditor audit = audited_text(text_of(all));
        CAPTURE(c.name);
        tell(audit);
        CHECK(audit.counts().findings() == 0);
    }
    CHECK(swapped > 1000);
}

TEST_CASE("lines that are lost, and said to be, fake no finding") {
    std::mt19937 random{3};
    std::size_t gaps = 0;
    for (const capture& c : captures) {
        if (std::string_view{c.name}.find("late-timer") != std::string_view::npos) continue;
        for (unsigned round = 0; round < 8; ++round) {
            std::ifstream in{c.path(".trace")};
            const lines whole = lines_of(in);
            lines all;
            for (std::size_t i = 0; i < whole.size(); ++i) {
                if (i > 0 && random() % 500 == 0) {
                    const std::size_t lost = 1 + random() % 60;
                    all.push_back("CPU:" + std::to_string(random() % 8) + " [LOST " + std::to_string(lost) + " EVENTS]");
                    i += lost;
                    ++gaps;
                    if (i >= whole.size()) break;
                }
                all.push_back(whole[i]);
            }
            const auditor audit = audited_text(text_of(all));
            CAPTURE(c.name, round);
            tell(audit);
            CHECK(audit.counts().findings() == 0);
        }
    }
    CHECK(gaps > 1000);
}

TEST_CASE("a trace that begins or ends anywhere fakes no finding") {
    std::mt19937 random{4};
    for (const capture& c : captures) {
        if (std::string_view{c.name}.find("late-timer") != std::string_view::npos) continue;
        std::ifstream in{c.path(".trace")};
        const lines whole = lines_of(in);
        for (unsigned round = 0; round < 8; ++round) {
            const std::size_t begin = random() % (whole.size() - 100);
            const std::size_t length = 100 + random() % (whole.size() - begin - 99);
            lines all{"# tracer: nop"};
            for (std::size_t i = begin; i < begin + length; ++i) all.push_back(whole[i]);
            const auditor audit = audited_text(text_of(all));
            CAPTURE(c.name, begin, length);
            tell(audit);
            CHECK(audit.counts().findings() == 0);
        }
    }
}

TEST_CASE("an audit of a damaged trace ends") {
    std::mt19937 random{2};
    std::vector<lines> machines;
    for (const char* name : {"kernel-7.3-16cpu-late-timer", "kernel-6.12-16cpu-late-timer",
                             "kernel-7.3-20cpu-2node-late-online"}) {
        std::ifstream in{std::filesystem::path{TMIGR_TEST_CAPTURES} / (std::string{name} + ".trace")};
        machines.push_back(lines_of(in, 1500));
        REQUIRE(machines.back().size() > 300);
    }
    for (unsigned round = 0; round < 60; ++round) {
        lines all = machines[round % machines.size()];
        const auto& other = machines[(round + 1) % machines.size()];
        for (std::size_t i = 1; i < all.size(); ++i) {
            if (random() % 30 != 0) continue;
            switch (round / 3 % 6) {
                case 0: all.erase(all.begin() + static_cast<std::ptrdiff_t>(i)); break;
                case 1:
                    all.insert(all.begin() + static_cast<std::ptrdiff_t>(i), all[random() % all.size()]);
                    break;
                case 2: std::swap(all[i], all[random() % all.size()]); break;
                case 3:
                    if (const std::size_t at = all[i].find("tmigr_"); at != std::string::npos)
                        all[i].replace(at, 6, "other_");
                    break;
                case 4: all[i] = other[random() % other.size()]; break;
                default:
                    if (random() % 20 == 0) all[i].resize(random() % (all[i].size() + 1));
            }
        }
        check_ends(text_of(all));
    }
}
