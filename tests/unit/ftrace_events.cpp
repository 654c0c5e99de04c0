// SPDX-License-Identifier: BSL-1.0
// Every event of a hierarchy, one by one: read as Linux prints it, written the same way.
#include <tmigr/io/ftrace.hpp>
#include <tmigr/text_tracer.hpp>

#include <cstddef>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "catch.hpp"

using namespace tmigr;

namespace {

const std::string prefix = "          <idle>-0       [004] d..5.     2.888058: ";

ftrace_record one(const std::string& event) {
    std::istringstream in{prefix + event + '\n'};
    ftrace_reader reader{in, "t.trace"};
    const auto record = reader.next();
    REQUIRE(record);
    CHECK(reader.counts().events == 1);
    CHECK_FALSE(reader.next());
    return *record;
}

void refused(const std::string& event, const std::string& value, const std::string& expected) {
    CAPTURE(event);
    try {
        one(event);
        FAIL_CHECK("accepted; expected: " << expected);
    } catch (const input_error& error) {
        CHECK(error.file() == "t.trace");
        CHECK(error.line() == 1);
        CHECK(error.value() == value);
        CHECK(error.expected() == expected);
    }
}

std::string printed(const ftrace_event& event, linux_form form) {
    std::ostringstream out;
    text_tracer tracer{out, form};
    std::visit(
        [&](const auto& e) {
            if constexpr (requires { e.name; }) {
                if constexpr (!std::is_same_v<decltype(e.name), std::string>) tracer.trace(e, 4);
            }
        },
        event);
    std::string text = out.str();
    text.erase(0, text.rfind(": tmigr_") + 2);
    text.erase(text.size() - 1);
    return text;
}

struct example {
    std::string text;  ///< as a kernel printed it
    ftrace_event event;
    linux_form form = linux_form::newest;
};

// From captures of 7.3, and of 6.12 where the form is another one.
const std::vector<example> examples = {
    {"tmigr_group_set: group=00000000eb40ba85 lvl=0 numa=0", event::group_set{0xeb40ba85, 0, 0}},
    {"tmigr_connect_child_parent: group=00000000eb40ba85 groupmask=1 parent=0000000001bc3c11 lvl=1 numa=-1 "
     "capacity=1024 num_children=2",
     event::connect_child_parent{0xeb40ba85, 1, 0x1bc3c11, 1, no_family, 1024, 2}},
    {"tmigr_connect_cpu_parent: cpu=10 groupmask=80 parent=00000000eb40ba85 lvl=0 numa=0 num_children=8",
     event::connect_cpu_parent{10, 0x80, 0xeb40ba85, 0, 0, 1024, 8}, linux_form::v6_13},
    {"tmigr_group_set_cpu_active: group=0000000001bc3c11 lvl=1 numa=-1 active=3 migrator=2 "
     "parent=0000000000000000 childmask=1",
     event::group_set_cpu_active{{0x1bc3c11, 1, no_family, 3, 2, no_group, 1}}},
    {"tmigr_group_set_cpu_inactive: group=00000000eb40ba85 lvl=0 numa=0 active=0 migrator=ff "
     "parent=0000000001bc3c11 childmask=80",
     event::group_set_cpu_inactive{{0xeb40ba85, 0, 0, 0, 0xff, 0x1bc3c11, 0x80}}},
    {"tmigr_cpu_active: cpu=1 parent=00000000eb40ba85 wakeup=9223372036854775807",
     event::cpu_active{1, 0xeb40ba85, event::never}},
    {"tmigr_cpu_idle: cpu=0 parent=00000000eb40ba85 nextevt=3308000000 wakeup=9223372036854775807",
     event::cpu_idle{0, 0xeb40ba85, 3308000000, event::never}},
    {"tmigr_cpu_new_timer: cpu=4 parent=00000000cbcef7b5 wakeup=9223372036854775807",
     event::cpu_new_timer{4, 0xcbcef7b5, event::never}},
    {"tmigr_cpu_new_timer_idle: cpu=0 parent=00000000eb40ba85 nextevt=3308000000 wakeup=3204000000",
     event::cpu_new_timer_idle{0, 0xeb40ba85, 3308000000, 3204000000}},
    {"tmigr_cpu_available: cpu=1 parent=000000002e7df955 wakeup=9223372036854775807",
     event::cpu_available{1, 0x2e7df955, event::never}},
    {"tmigr_cpu_online: cpu=1 parent=00000000eb40ba85 wakeup=9223372036854775807",
     event::cpu_available{1, 0xeb40ba85, event::never}, linux_form::v6_9},
    {"tmigr_cpu_online: cpu=1 parent=00000000eb40ba85 wakeup=9223372036854775807",
     event::cpu_available{1, 0xeb40ba85, event::never}, linux_form::v6_13},
    {"tmigr_cpu_unavailable: cpu=3 parent=000000002e7df955 wakeup=9223372036854775807",
     event::cpu_unavailable{3, 0x2e7df955, event::never}},
    {"tmigr_cpu_offline: cpu=3 parent=00000000eb40ba85 wakeup=9223372036854775807",
     event::cpu_unavailable{3, 0xeb40ba85, event::never}, linux_form::v6_13},
    {"tmigr_update_events: child=0000000000000000 group=00000000eb40ba85 group_lvl=0 child_active=0 "
     "group_active=fe nextevt=3308000000 next_expiry=3308000000 child_evt_expiry=0 child_evtcpu=0",
     event::update_events{no_group, 0xeb40ba85, 0, 0, 0xfe, 3308000000, 3308000000, 0, 0}},
    {"tmigr_update_events: child=00000000eb40ba85 group=0000000001bc3c11 group_lvl=1 child_active=1f "
     "group_active=2 nextevt=9223372036854775807 next_expiry=4012000000 child_evt_expiry=4012000000 "
     "child_evtcpu=63",
     event::update_events{0xeb40ba85, 0x1bc3c11, 1, 0x1f, 2, event::never, 4012000000, 4012000000, 63}},
    {"tmigr_handle_remote: group=0000000001bc3c11 lvl=1", event::handle_remote{0x1bc3c11, 1}},
    {"tmigr_handle_remote_cpu: cpu=11 parent=0000000032b449f8 wakeup=9223372036854775807",
     event::handle_remote_cpu{11, 0x32b449f8, event::never}},
};

std::string with(std::string text, const std::string& key, const std::string& value) {
    const std::size_t start = text.find(' ' + key + '=') + key.size() + 2;
    return text.replace(start, text.find_first_of(' ', start) - start, value);
}

}  // namespace

TEST_CASE("ftrace: every event is read as what it is") {
    for (const example& e : examples) {
        CAPTURE(e.text);
        CHECK(one(e.text).event == e.event);
    }
}

TEST_CASE("ftrace: every event is written as Linux does, and reads as it was") {
    for (const example& e : examples) {
        CHECK(printed(e.event, e.form) == e.text);
        for (const linux_form form : {linux_form::v6_9, linux_form::v6_13, linux_form::newest}) {
            CAPTURE(e.text);
            CHECK(one(printed(e.event, form)).event == e.event);
        }
    }
}

TEST_CASE("ftrace: every key of every event is needed, but capacity=") {
    for (const example& e : examples) {
        const std::string name = e.text.substr(0, e.text.find(':'));
        for (std::size_t space = e.text.find(' '); space != e.text.npos;
             space = e.text.find(' ', space + 1)) {
            const std::string key = e.text.substr(space + 1, e.text.find('=', space) - space - 1);
            const std::size_t end = std::min(e.text.find(' ', space + 1), e.text.size());
            std::string text = e.text;
            text.erase(space, end - space);
            const std::string fields = text.size() > name.size() + 2 ? text.substr(name.size() + 2) : "";
            if (key == "capacity")
                CHECK(one(text).event == e.event);
            else
                refused(text, fields, "the key " + key + "= in " + name);
        }
    }
}

TEST_CASE("ftrace: values of the events of timers that cannot be") {
    const std::string timer = "tmigr_cpu_new_timer: cpu=4 parent=a1 wakeup=9223372036854775807";
    const std::string cpu = "a CPU number from 0 to 1048575";
    const auto time = [](const std::string& key) {
        return key + "= with nanoseconds from 0 to 9223372036854775807";
    };
    const auto pointer = [](const std::string& key) {
        return key + "= with a pointer of at most 16 hexadecimal digits";
    };
    for (const char* name : {"tmigr_cpu_new_timer", "tmigr_cpu_available", "tmigr_cpu_online",
                             "tmigr_cpu_unavailable", "tmigr_cpu_offline", "tmigr_handle_remote_cpu"}) {
        const std::string text = name + timer.substr(timer.find(':'));
        for (const char* bad : {"", "-1", "1048576", "0x1", "4294967295"})
            refused(with(text, "cpu", bad), bad, cpu);
        for (const char* bad : {"", "-1", "(____ptrval____)", "12345678901234567"})
            refused(with(text, "parent", bad), bad, pointer("parent"));
        for (const char* bad : {"", "-1", "9223372036854775808", "1e9", "0x1"})
            refused(with(text, "wakeup", bad), bad, time("wakeup"));
        refused(text + " wakeup=1", "wakeup=1", "each key once");
        refused(text + " more", "more", "fields of the form KEY=VALUE");
    }

    const std::string idle = "tmigr_cpu_new_timer_idle: cpu=4 parent=a1 nextevt=1 wakeup=2";
    refused(with(idle, "nextevt", "9223372036854775808"), "9223372036854775808", time("nextevt"));
    refused(with(idle, "wakeup", "-1"), "-1", time("wakeup"));
    refused(with(idle, "cpu", "1048576"), "1048576", cpu);

    const std::string update =
        "tmigr_update_events: child=a1 group=b1 group_lvl=1 child_active=1 group_active=2 nextevt=3 "
        "next_expiry=4 child_evt_expiry=5 child_evtcpu=6";
    CHECK(std::get<event::update_events>(one(update).event) ==
          event::update_events{0xa1, 0xb1, 1, 1, 2, 3, 4, 5, 6});
    refused(with(update, "child", "none"), "none", pointer("child"));
    refused(with(update, "group", "0"), "0", "group= with a pointer that is not 0");
    refused(with(update, "group_lvl", "256"), "256", "group_lvl= with a level from 0 to 255");
    for (const char* key : {"child_active", "group_active"})
        for (const char* bad : {"", "0x1", "-1", "1ffffffffffffffff"})
            refused(with(update, key, bad), bad,
                    std::string{key} + "= with a mask of at most 16 hexadecimal digits, without 0x");
    for (const char* key : {"nextevt", "next_expiry", "child_evt_expiry"})
        for (const char* bad : {"", "-1", "9223372036854775808"})
            refused(with(update, key, bad), bad, time(key));
    for (const char* bad : {"", "-1", "4294967295"}) refused(with(update, "child_evtcpu", bad), bad, cpu);

    refused("tmigr_handle_remote: group=0 lvl=1", "0", "group= with a pointer that is not 0");
    refused("tmigr_handle_remote: group=x lvl=1", "x", pointer("group"));
    refused("tmigr_handle_remote: group=a1 lvl=-1", "-1", "lvl= with a level from 0 to 255");
}

TEST_CASE("ftrace: names of keys that begin like others are told apart") {
    // Of every length up to beyond the longest: unknown ones are skipped.
    for (std::size_t length = 1; length < 40; ++length) {
        const std::string unknown(length, 'z');
        CHECK(one("tmigr_handle_remote: " + unknown + "=1 group=a1 " + unknown + "=2 lvl=3").event ==
              ftrace_event{event::handle_remote{0xa1, 3}});
    }
    CHECK(one("tmigr_handle_remote: group_lvl=x child_active=y group=a1 groupmask=z lvl=3").event ==
          ftrace_event{event::handle_remote{0xa1, 3}});
}
