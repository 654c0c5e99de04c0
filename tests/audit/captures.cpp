// SPDX-License-Identifier: BSL-1.0
// Kernels at work: where one lost sight of a timer, that is found and named; elsewhere nothing is.
#include "support.hpp"

#include <support/captures.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace tmigr;
using tmigr::test::audited;
using tmigr::test::capture;
using tmigr::test::captures;

namespace {

std::filesystem::path with_timers(const std::string& name) {
    return std::filesystem::path{TMIGR_TEST_CAPTURES_TIMERS} / (name + "-timers.trace");
}

struct lost_timer {
    std::size_t begin, end;  ///< lines
    audit_end ended_by;
    std::uint64_t due;
    std::optional<std::uint64_t> late;
    std::uint64_t at_least;
    std::vector<std::size_t> proof;
};

void check_lost(const auditor& audit, const std::vector<lost_timer>& expected) {
    test::tell(audit);
    REQUIRE(audit.findings().size() == expected.size());
    CHECK(audit.counts().findings() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const audit_finding& f = audit.findings()[i];
        const lost_timer& e = expected[i];
        CHECK(f.kind == audit_kind::uncovered);
        CHECK(std::string_view{f.fault} == "K71");
        CHECK(f.cpu == 2);
        CHECK(f.begin.line == e.begin);
        CHECK(f.end.line == e.end);
        CHECK(f.ended_by == e.ended_by);
        CHECK(f.due == e.due);
        CHECK(f.late == e.late);
        CHECK(f.late_at_least == e.at_least);
        CHECK(f.silent == 0);
        std::vector<std::size_t> lines;
        for (const audit_evidence& proof : f.evidence) lines.push_back(proof.at.line);
        CHECK(lines == e.proof);
    }
}

}  // namespace

// The last to leave the group, what it tells above, the expiry published behind its back, the line with which its
// CPU goes idle.
TEST_CASE("an audit finds the timer that 7.3 lost sight of, in three windows") {
    const auditor audit = audited(with_timers("kernel-7.3-16cpu-late-timer"));
    check_lost(audit, {{343, 385, audit_end::served, 20212000000, 160000000, 157995000, {337, 340, 342, 343}},
                       {752, 801, audit_end::gap, 22088000000, std::nullopt, 158880000, {747, 749, 751, 752}},
                       {1161, 1202, audit_end::trace, 23788000000, std::nullopt, 146526000, {1156, 1158, 1160, 1161}}});
    CHECK(audit.counts().gaps == 2);
}

TEST_CASE("an audit finds the timer that 6.12 lost sight of") {
    check_lost(audited(with_timers("kernel-6.12-16cpu-late-timer")),
               {{334, 400, audit_end::trace, 170172000000, std::nullopt, 156391000, {328, 330, 333, 334}}});
}

TEST_CASE("an audit finds nothing wrong in ordinary captures") {
    std::size_t files = 0, lines = 0, judged = 0, unjudged = 0;
    for (const capture& c : captures) {
        if (std::string_view{c.name}.find("late-timer") != std::string_view::npos) continue;
        CAPTURE(c.name);
        const auditor audit = audited(c.path(".trace"));
        test::tell(audit);
        CHECK(audit.counts().findings() == 0);
        CHECK(audit.counts().gaps == 0);
        CHECK(audit.counts().words.reordered == c.reordered);
        ++files;
        lines += audit.counts().events;
        judged += audit.counts().judged;
        unjudged += audit.counts().unjudged;
    }
    CHECK(files == 25);
    CHECK(lines == 272600);
    CHECK(judged == 815727);
    CHECK(unjudged == 34573);
}

// Timers that ran late there did so for want of a CPU that was running: no group had lost sight of them.
TEST_CASE("an audit counts how late timers ran") {
    const auditor audit = audited(with_timers("workload-7.3-8cpu-hotplug"));
    CHECK(audit.counts().findings() == 0);
    CHECK(audit.counts().timers == std::array<std::size_t, 4>{301, 47, 33, 8});
}
