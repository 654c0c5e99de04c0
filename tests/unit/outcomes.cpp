// SPDX-License-Identifier: BSL-1.0
// Small stories held against the library's tree; the traces of kernels are in tests/trace.
#include <tmigr/io/outcomes.hpp>

#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace tmigr;

namespace {

// Lines `CPU EVENT FIELDS`, with the event's name without tmigr_, `none` for the largest time,
// and one microsecond between them.
std::vector<ftrace_record> records_of(const std::string& story) {
    std::ostringstream text;
    std::istringstream lines{story};
    std::size_t time = 100;
    for (std::string line; std::getline(lines, line); ++time) {
        std::istringstream words{line};
        std::string cpu, name, field;
        words >> cpu >> name;
        text << (name == "lost" ? "CPU:" + cpu + " [LOST 3 EVENTS]" : " t-1 [" + cpu + "] d..1. 1.");
        if (name != "lost") text << std::setw(6) << std::setfill('0') << time << ": tmigr_" << name << ':';
        while (words >> field) {
            const std::size_t none = field.find("=none");
            text << ' ' << (none == field.npos ? field : field.substr(0, none) + "=9223372036854775807");
        }
        text << '\n';
    }
    std::istringstream in{text.str()};
    ftrace_reader reader{in, "story"};
    std::vector<ftrace_record> records;
    while (auto record = reader.next()) records.push_back(std::move(*record));
    return records;
}

topology machine() {
    topology cpus;
    cpus.add(0, 0, 1024);
    cpus.add(1, 0, 1024);
    cpus.add(2, 1, 1024);
    return cpus;
}

outcome_report told(const std::string& story) { return compare_outcomes(records_of(story), machine()); }

// Root b over a = {0, 1} and c = {2}.
const std::string tree =
    "0 group_set group=a lvl=0 numa=0\n"
    "0 connect_cpu_parent cpu=0 groupmask=1 parent=a lvl=0 numa=0 num_children=1\n"
    "0 connect_cpu_parent cpu=1 groupmask=2 parent=a lvl=0 numa=0 num_children=2\n"
    "0 group_set group=b lvl=1 numa=-1\n"
    "0 group_set group=c lvl=0 numa=1\n"
    "0 connect_child_parent group=c groupmask=2 parent=b lvl=1 numa=-1 num_children=2\n"
    "0 connect_cpu_parent cpu=2 groupmask=1 parent=c lvl=0 numa=1 num_children=1\n"
    "0 connect_child_parent group=a groupmask=1 parent=b lvl=1 numa=-1 num_children=2\n";
const std::string wake0 =
    "0 cpu_available cpu=0 parent=a wakeup=none\n0 cpu_active cpu=0 parent=a wakeup=none\n"
    "0 group_set_cpu_active group=a lvl=0 numa=0 active=1 migrator=1 parent=b childmask=1\n"
    "0 group_set_cpu_active group=b lvl=1 numa=-1 active=1 migrator=1 parent=0 childmask=1\n";
const std::string wake1 =
    "1 cpu_active cpu=1 parent=a wakeup=none\n"
    "1 group_set_cpu_active group=a lvl=0 numa=0 active=3 migrator=1 parent=b childmask=2\n";
std::string update(const std::string& cpu, const std::string& child, const std::string& group,
                   const std::string& active, const std::string& time, const std::string& first) {
    const std::string level = group == "b" ? "1" : "0";
    return cpu + " update_events child=" + child + " group=" + group + " group_lvl=" + level +
           " child_active=0 group_active=" + active + " nextevt=" + time + " next_expiry=" + first +
           " child_evt_expiry=0 child_evtcpu=0\n";
}
const std::string sleep0 =
    "0 group_set_cpu_inactive group=a lvl=0 numa=0 active=2 migrator=2 parent=b childmask=1\n" +
    update("0", "0", "a", "2", "500", "500") + "0 cpu_idle cpu=0 parent=a nextevt=500 wakeup=none\n";
const std::string last1 =
    "1 group_set_cpu_inactive group=a lvl=0 numa=0 active=0 migrator=ff parent=b childmask=2\n"
    "1 group_set_cpu_inactive group=b lvl=1 numa=-1 active=0 migrator=ff parent=0 childmask=1\n";

std::string changed(std::string story, const std::string& from, const std::string& to) {
    const std::size_t place = story.rfind(from);
    REQUIRE(place != story.npos);
    return story.replace(place, from.size(), to);
}

}  // namespace

TEST_CASE("outcomes: the last to sleep arms for the first, as the kernel does") {
    const std::string story = tree + wake0 + wake1 + sleep0 + last1 +
                              update("1", "a", "b", "0", "500", "500") +
                              "1 cpu_idle cpu=1 parent=a nextevt=none wakeup=500\n";
    const outcome_report report = told(story);
    CHECK(report.agrees());
    CHECK(report.steps == 7);
    CHECK(report.of(outcome::equal) == report.checked());
    CHECK(report.overtaken == 0);

    // Its own line says 500 and the library says so.
    const outcome_report wrong = told(changed(story, "wakeup=500", "wakeup=600"));
    CHECK_FALSE(wrong.agrees());
    REQUIRE(wrong.differences.size() == 2);
    CHECK(wrong.differences[0].line == 21);
    CHECK(wrong.differences[0].cpu == 1);
    CHECK(wrong.differences[0].what == "wakeup= that the CPU found first");
    CHECK(wrong.differences[0].expected == "500");
    CHECK(wrong.differences[0].printed == "600");
    CHECK(wrong.differences[1].what == "wakeup=");

    CHECK_FALSE(told(changed(story, "migrator=2", "migrator=1")).agrees());
    CHECK_FALSE(told(changed(story, "nextevt=500 next_expiry=500", "nextevt=400 next_expiry=500")).agrees());
    CHECK_FALSE(told(changed(story, "0 cpu_active cpu=0 parent=a wakeup=none",
                             "0 cpu_active cpu=0 parent=a wakeup=7"))
                    .agrees());
    // The publishing line is missing.
    CHECK_FALSE(told(changed(story, update("0", "0", "a", "2", "500", "500"), "")).agrees());
}

TEST_CASE("outcomes: a timer that is published behind the back of the last is lost sight of") {
    const std::string story =
        tree + wake0 + wake1 +
        "0 group_set_cpu_inactive group=a lvl=0 numa=0 active=2 migrator=2 parent=b childmask=1\n" + last1 +
        "1 cpu_idle cpu=1 parent=a nextevt=none wakeup=none\n" + update("0", "0", "a", "0", "500", "500") +
        "0 cpu_idle cpu=0 parent=a nextevt=500 wakeup=none\n";
    // The kernel prints its look into the empty queue, too.
    const std::string published =
        changed(story, "1 cpu_idle", update("1", "a", "b", "0", "none", "none") + "1 cpu_idle");
    const outcome_report report = told(published);
    CHECK(report.agrees());
    CHECK(report.lost_sight == std::vector<std::size_t>{21});
    CHECK(report.of(outcome::lost_sight) == 2);  // what is offered to the root, and what is armed
    // Another expiry than the one published cannot be missing.
    CHECK_FALSE(told(changed(published, "nextevt=500 wakeup=none", "nextevt=600 wakeup=none")).agrees());
}

TEST_CASE("outcomes: lines of several CPUs may be in the opposite order") {
    // 2 woke, 0 slept, 1 woke.
    const std::string swapped =
        tree + wake0 +
        "2 cpu_active cpu=2 parent=c wakeup=none\n"
        "1 cpu_active cpu=1 parent=a wakeup=none\n"
        "1 group_set_cpu_active group=a lvl=0 numa=0 active=2 migrator=2 parent=b childmask=2\n"
        "0 group_set_cpu_inactive group=a lvl=0 numa=0 active=0 migrator=ff parent=b childmask=1\n"
        "2 group_set_cpu_active group=c lvl=0 numa=1 active=1 migrator=1 parent=b childmask=1\n"
        "0 group_set_cpu_inactive group=b lvl=1 numa=-1 active=2 migrator=2 parent=0 childmask=1\n"
        "1 group_set_cpu_active group=b lvl=1 numa=-1 active=3 migrator=2 parent=0 childmask=1\n"
        "2 group_set_cpu_active group=b lvl=1 numa=-1 active=3 migrator=1 parent=0 childmask=2\n" +
        update("0", "a", "b", "2", "none", "none") + "0 cpu_idle cpu=0 parent=a nextevt=none wakeup=none\n";
    const outcome_report report = told(swapped);
    CHECK(report.agrees());
    CHECK(report.of(outcome::overlapped) == 0);
    CHECK(report.overtaken == 2);
    // As lines of one CPU, in that order, they are wrong.
    CHECK_FALSE(told(changed(swapped, "1 group_set_cpu_active group=a",
                             "1 cpu_new_timer_idle cpu=1 parent=a nextevt=none wakeup=none\n1 "
                             "group_set_cpu_active group=a"))
                    .agrees());
}

TEST_CASE("outcomes: what is known of the CPUs is void behind a gap") {
    const std::string gap =
        tree + wake0 + "0 lost\n" +
        "1 group_set_cpu_inactive group=a lvl=0 numa=0 active=0 migrator=ff parent=b childmask=2\n"
        "1 group_set_cpu_inactive group=b lvl=1 numa=-1 active=0 migrator=ff parent=0 childmask=1\n" +
        update("1", "a", "b", "0", "none", "none") +
        "1 cpu_idle cpu=1 parent=a nextevt=none wakeup=none\n"
        "0 cpu_active cpu=0 parent=a wakeup=77\n"
        "0 group_set_cpu_active group=a lvl=0 numa=0 active=1 migrator=1 parent=b childmask=1\n"
        "0 group_set_cpu_active group=b lvl=1 numa=-1 active=1 migrator=1 parent=0 childmask=1\n";
    CHECK(told(gap).agrees());
    CHECK(told(gap).of(outcome::learnt) == 1);  // wakeup=77
    CHECK_FALSE(told(changed(gap, "0 lost\n", "")).agrees());
    // Lines of a walk that began before are cut.
    const outcome_report cut = told(
        tree +
        "0 lost\n0 group_set_cpu_active group=b lvl=1 numa=-1 active=1 migrator=1 parent=0 childmask=1\n");
    CHECK(cut.cut == 1);
    CHECK(cut.of(outcome::different) == 0);
    CHECK_FALSE(
        told(tree + wake0 +
             "0 group_set_cpu_inactive group=b lvl=1 numa=-1 active=0 migrator=ff parent=0 childmask=1\n")
            .agrees());
}

TEST_CASE("outcomes: a trace without a tree, or with another one, is refused") {
    CHECK_THROWS_AS(told(wake0), input_error);
    CHECK_THROWS_AS(told(""), input_error);
    CHECK_THROWS_AS(told(changed(tree, "cpu=2", "cpu=1")), input_error);
    CHECK_THROWS_AS(told(changed(tree, "cpu=2 groupmask=1 parent=c", "cpu=2 groupmask=1 parent=a")),
                    input_error);
    CHECK_THROWS_AS(told(changed(tree, "group=a groupmask=1 parent=b", "group=a groupmask=1 parent=c")),
                    input_error);
    // Less than all of it may be there.
    CHECK_FALSE(told(tree + "5 cpu_active cpu=5 parent=a wakeup=none\n").agrees());
}
