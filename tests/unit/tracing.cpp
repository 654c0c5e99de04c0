// SPDX-License-Identifier: BSL-1.0

// What a hierarchy with expiries tells about itself, line by line as Linux prints it; and a
// long random life of it, read back: every line is understood, and every change of a word
// follows from the one before.

#include "catch.hpp"
#include "support/random_machine.hpp"

#include <tmigr/atomics/plain.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/io/replay.hpp>
#include <tmigr/text_tracer.hpp>

#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace tmigr;

namespace {

struct traced : expiry_config<plain_atomics> {
    using tracer = text_tracer;
};

/// Takes what was written since the last time, without what stands before the event.
std::vector<std::string> lines_of(std::ostringstream& text) {
    std::istringstream in(text.str());
    text.str("");
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
        if (const auto at = line.find("tmigr_"); at != std::string::npos) lines.push_back(line.substr(at + 6));
    return lines;
}

using lines = std::vector<std::string>;

}  // namespace

TEST_CASE("expiries are traced as the kernel traces its own") {
    std::ostringstream text;
    topology machine;
    machine.add(0, 0);
    machine.add(1, 0);
    machine.add(2, 1);
    basic_hierarchy<traced> tree(machine, {.width = 2}, text_tracer(text));
    const auto a = tree.cpu(0), c = tree.cpu(2);
    a.activate();
    c.activate();
    lines_of(text);

    CHECK(a.deactivate(5) == never);
    CHECK(lines_of(text) ==
          lines{"update_events: child=0000000000000000 group=0000000000000001 group_lvl=0 child_active=0 group_active=1 "
                "nextevt=5 next_expiry=5 child_evt_expiry=9223372036854775807 child_evtcpu=0",
                "group_set_cpu_inactive: group=0000000000000001 lvl=0 numa=0 active=0 migrator=ff parent=0000000000000003 "
                "childmask=1",
                "update_events: child=0000000000000001 group=0000000000000003 group_lvl=1 child_active=0 group_active=3 "
                "nextevt=5 next_expiry=5 child_evt_expiry=9223372036854775807 child_evtcpu=0",
                "group_set_cpu_inactive: group=0000000000000003 lvl=1 numa=-1 active=2 migrator=2 parent=0000000000000000 "
                "childmask=1",
                "cpu_idle: cpu=0 parent=0000000000000001 nextevt=5 wakeup=9223372036854775807"});

    CHECK(c.expire(6, [](cpu_id, ticks) { return ticks{9}; }) == never);
    CHECK(lines_of(text) ==
          lines{"handle_remote: group=0000000000000002 lvl=0", "handle_remote: group=0000000000000003 lvl=1",
                "handle_remote: group=0000000000000001 lvl=0",
                "handle_remote_cpu: cpu=0 parent=0000000000000001 wakeup=9223372036854775807",
                "update_events: child=0000000000000000 group=0000000000000001 group_lvl=0 child_active=0 group_active=0 "
                "nextevt=9 next_expiry=9 child_evt_expiry=5 child_evtcpu=0",
                "update_events: child=0000000000000001 group=0000000000000003 group_lvl=1 child_active=0 group_active=2 "
                "nextevt=9 next_expiry=9 child_evt_expiry=5 child_evtcpu=0"});

    CHECK(c.leave() == departure{never, 9, 0});
    CHECK(lines_of(text).back() == "cpu_unavailable: cpu=2 parent=0000000000000002 wakeup=9223372036854775807");

    CHECK(a.new_expiry(8) == 8);
    CHECK(lines_of(text) ==
          lines{"cpu_new_timer: cpu=0 parent=0000000000000001 wakeup=9223372036854775807",
                "update_events: child=0000000000000000 group=0000000000000001 group_lvl=0 child_active=0 group_active=0 "
                "nextevt=8 next_expiry=8 child_evt_expiry=9 child_evtcpu=0",
                "update_events: child=0000000000000001 group=0000000000000003 group_lvl=1 child_active=0 group_active=0 "
                "nextevt=8 next_expiry=8 child_evt_expiry=9 child_evtcpu=0",
                "cpu_new_timer_idle: cpu=0 parent=0000000000000001 nextevt=8 wakeup=8"});

    CHECK(c.join() == never);
    CHECK(lines_of(text).front() == "cpu_available: cpu=2 parent=0000000000000002 wakeup=9223372036854775807");
    a.activate();
    CHECK(lines_of(text).front() == "cpu_active: cpu=0 parent=0000000000000001 wakeup=8");
}

TEST_CASE("a long life with expiries is traced so that it can be read back") {
    std::mt19937_64 random(test::seed());
    std::stringstream text;
    const topology machine = test::random_machine(random, 40);
    basic_hierarchy<traced> tree(machine, {.width = 4}, text_tracer(text));
    std::vector<bool> awake(machine.size()), there(machine.size(), true);
    for (int step = 0; step < 5000; ++step) {
        const std::size_t i = random() % machine.size();
        const auto cpu = tree.cpu(machine.cpus()[i].id);
        const ticks due = random() % 3 == 0 ? never : random() % 1000;
        switch (random() % 8) {
            case 0: there[i] ? static_cast<void>(cpu.leave()) : static_cast<void>(cpu.join()); there[i] = !there[i]; break;
            case 1: cpu.expire(random() % 1000, [&](cpu_id, ticks now) { return now + 1; }); break;
            case 2: case 3: if (!awake[i]) static_cast<void>(cpu.new_expiry(due)); break;
            default:
                awake[i] ? static_cast<void>(cpu.deactivate(due)) : cpu.activate();
                awake[i] = !awake[i];
        }
    }
    ftrace_reader reader(text, "trace", ftrace_reader::others::keep);
    replay<> check;
    while (const auto record = reader.next()) check.add(*record);
    check.finish();
    CHECK(reader.counts().other == 0);
    CHECK(reader.counts().unrecognised == 0);
    CHECK(reader.counts().events > 5'000);
    CHECK(check.counts().different == 0);
    CHECK(check.counts().agreed > 1000);
}
