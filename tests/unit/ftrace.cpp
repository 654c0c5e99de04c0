// SPDX-License-Identifier: BSL-1.0
#include <tmigr/io/ftrace.hpp>
#include <tmigr/io/traced_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "catch.hpp"

using namespace tmigr;

namespace {

using others = ftrace_reader::others;

std::vector<ftrace_record> read(const std::string& text, others mode = others::skip) {
    std::istringstream in{text};
    ftrace_reader reader{in, "t.trace", mode};
    std::vector<ftrace_record> records;
    while (auto record = reader.next()) records.push_back(std::move(*record));
    return records;
}
ftrace_counts counted(const std::string& text) {
    std::istringstream in{text};
    ftrace_reader reader{in, "t.trace"};
    while (reader.next()) {
    }
    return reader.counts();
}
ftrace_record one(const std::string& line) {
    const auto records = read(line + '\n');
    REQUIRE(records.size() == 1);
    return records[0];
}

template <class Read>
void check_error(Read&& read_it, const std::string& file, std::size_t line, const std::string& value,
                 const std::string& expected) {
    try {
        read_it();
        FAIL_CHECK("accepted; expected: " << expected);
    } catch (const input_error& error) {
        CHECK(error.file() == file);
        CHECK(error.line() == line);
        CHECK(error.value() == value);
        CHECK(error.expected() == expected);
    }
}
void check_error(const std::string& text, std::size_t line, const std::string& value,
                 const std::string& expected) {
    CAPTURE(text);
    check_error([&] { read(text); }, "t.trace", line, value, expected);
}

const std::string header = "# tracer: nop\n#\n";
const std::string prefix = "            init-1       [000] d..1.     0.452942: ";
const std::string word_fields =
    "group=000000004809b735 lvl=1 numa=-1 active=8a migrator=2 parent=00000000deadbeef childmask=80";
const std::string good = prefix + "tmigr_group_set_cpu_active: " + word_fields + "\n";

std::string with(const std::string& key, const std::string& value) {
    std::string line = good;
    const std::size_t start = line.find(key + '=') + key.size() + 1;
    return line.replace(start, line.find_first_of(" \n", start) - start, value);
}
std::string without(const std::string& key) {
    std::string line = good;
    const std::size_t start = line.find(key + '=');
    return line.erase(start, line.find_first_of(" \n", start) - start);
}
std::string fields_of(const std::string& line) {
    std::string fields =
        line.substr(line.find(": group") == line.npos ? line.find("active: ") + 8 : line.find(": group") + 2);
    fields.erase(fields.find_last_not_of(" \n") + 1);
    return fields.substr(fields.find_first_not_of(' '));
}

}  // namespace

TEST_CASE("ftrace: the events of a hierarchy are read as printed") {
    const ftrace_record record = read(header + good)[0];
    CHECK(record.task == "init");
    CHECK(record.pid == 1u);
    CHECK(record.cpu == 0);
    CHECK(record.time == 452'942'000);
    CHECK(record.line == 3);
    const event::group_word expected{0x4809b735, 1, no_family, 0x8a, 2, 0xdeadbeef, 0x80};
    CHECK(std::get<event::group_set_cpu_active>(record.event) == event::group_set_cpu_active{expected});

    const auto event_of = [](const std::string& text) { return one(prefix + text).event; };
    CHECK(std::get<event::group_set_cpu_inactive>(event_of("tmigr_group_set_cpu_inactive: " + word_fields)) ==
          event::group_set_cpu_inactive{expected});
    CHECK(std::get<event::group_set>(event_of("tmigr_group_set: group=00000000eb40ba85 lvl=0 numa=3")) ==
          event::group_set{0xeb40ba85, 0, 3});
    CHECK(std::get<event::connect_child_parent>(event_of(
              "tmigr_connect_child_parent: group=00000000000000a1 groupmask=10 parent=00000000000000b1 "
              "lvl=1 numa=0 capacity=512 num_children=2")) ==
          event::connect_child_parent{0xa1, 0x10, 0xb1, 1, 0, 512, 2});
    CHECK(std::get<event::connect_cpu_parent>(event_of(
              "tmigr_connect_cpu_parent: cpu=12 groupmask=80 parent=00000000000000a1 lvl=0 numa=0 "
              "num_children=8")) == event::connect_cpu_parent{12, 0x80, 0xa1, 0, 0, max_capacity, 8});
    CHECK(std::get<event::cpu_active>(event_of("tmigr_cpu_active: cpu=1 parent=00000000000000a1 "
                                               "wakeup=9223372036854775807")) ==
          event::cpu_active{1, 0xa1, event::never});
    CHECK(std::get<event::cpu_idle>(event_of(
              "tmigr_cpu_idle: cpu=1 parent=00000000000000a1 nextevt=12 wakeup=9223372036854775806")) ==
          event::cpu_idle{1, 0xa1, 12, event::never - 1});
}

TEST_CASE("ftrace: keys stand in any order, unknown ones are skipped, numa may be called family") {
    const auto word = [](const std::string& fields) {
        return std::get<event::group_set_cpu_active>(
            one(prefix + "tmigr_group_set_cpu_active: " + fields).event);
    };
    const auto plain = word(word_fields);
    CHECK(word("childmask=80 parent=00000000deadbeef new=x=y migrator=2 active=8a numa=-1 lvl=1 "
               "group=000000004809b735 hint=") == plain);
    CHECK(word("group=4809b735 lvl=1 family=-1 active=8a migrator=2 parent=deadbeef childmask=80") == plain);
    CHECK(word("group=4809b735 lvl=1 family=7 numa=-1 active=8a migrator=2 parent=deadbeef childmask=80") ==
          plain);
    CHECK(word("group=0x4809b735 lvl=1 numa=-1 active=8a migrator=2 parent=(nil) childmask=80").parent ==
          no_group);
    CHECK(word("group=ffff888100a1b2c3 lvl=1 numa=-1 active=0 migrator=ffffffffffffffff parent=0 childmask=1")
              .migrator == ~std::uint64_t{0});
}

TEST_CASE("ftrace: columns may be missing, and tasks be called anything") {
    const std::string text = "tmigr_cpu_active: cpu=3 parent=a1 wakeup=0";
    struct form {
        std::string line;
        std::string task;
        std::optional<std::uint32_t> pid;
        cpu_id cpu;
        std::uint64_t time;
    };
    const form forms[] = {
        {"          <idle>-0       [003] dN.2.    13.665843: " + text, "<idle>", 0, 3, 13'665'843'000},
        {"          <idle>-0     [003]  1234.567890: " + text, "<idle>", 0, 3,
         1'234'567'890'000},  // no flags
        {"          <idle>-0     [003] d..2.  1234.567890123: " + text, "<idle>", 0, 3,
         1'234'567'890'123},  // ns
        {"  <idle>-0     [010] 12: tmigr_cpu_active:     cpu=3 parent=a1 wakeup=0", "<idle>", 0, 10, 12},
        {"     kworker/u32:2-41    (     41) [008] ..... 1.000001: " + text, "kworker/u32:2", 41, 8,
         1'000'001'000},
        {"       shell-7     (-------) [0] ..... 1.5: " + text, "shell", 7, 0, 1'500'000'000},
        {" log writer: a=0-99 [012] d..1. 0.000001: " + text, "log writer: a=0", 99, 12, 1000},
        {" a-b-c-5 [012] d..1. 0.000001: " + text, "a-b-c", 5, 12, 1000},
        {" x [1] y-5 [012] d..1. 0.000001: " + text, "x [1] y", 5, 12, 1000},
        {" -5 [000] d..1. 0.000000: " + text, "", 5, 0, 0},
        {" odd [1048575] d..1. 0.000000: " + text, "odd", std::nullopt, 1048575, 0},
        {" big-99999999999 [000] d..1. 0.000000: " + text, "big", std::nullopt, 0, 0},
        {"\tname-5\t[000]\td..1.\t1.000000:\t" + text + " \r", "name", 5, 0, 1'000'000'000},
    };
    for (const form& f : forms) {
        CAPTURE(f.line);
        const ftrace_record record = one(f.line);
        CHECK(record.task == f.task);
        CHECK(record.pid == f.pid);
        CHECK(record.cpu == f.cpu);
        CHECK(record.time == f.time);
        CHECK(std::get<event::cpu_active>(record.event) == event::cpu_active{3, 0xa1, 0});
    }
}

TEST_CASE("ftrace: other lines are counted, and returned on request") {
    const std::string marker =
        prefix + "tracing_mark_write:  x [001] d..1. 1.000000: tmigr_cpu_active: cpu=1\n";
    const std::string text = header + "\n" + prefix + "sched_switch: prev_comm=a b prev_pid=1\n" + good +
                             marker + "=== mark:b\n" + prefix + "do_fork <-sys_fork\n";
    const ftrace_counts counts = counted(text);
    CHECK(counts.lines == 8);
    CHECK(counts.events == 1);
    CHECK(counts.other == 3);
    CHECK(counts.unrecognised == 1);
    CHECK(counts.lost == 0);
    CHECK(read(text).size() == 1);

    const auto all = read(text, others::keep);
    REQUIRE(all.size() == 5);
    CHECK(std::get<event::other>(all[0].event) == event::other{"sched_switch", "prev_comm=a b prev_pid=1"});
    CHECK(all[0].line == 4);
    CHECK(std::get<event::other>(all[2].event) ==
          event::other{"tracing_mark_write", "x [001] d..1. 1.000000: tmigr_cpu_active: cpu=1"});
    CHECK(std::get<event::other>(all[3].event) == event::other{"", "=== mark:b"});
    CHECK(all[3].task.empty());
    CHECK(std::get<event::other>(all[4].event) == event::other{"", "do_fork <-sys_fork"});
    // Events that kernels yet to come may have.
    CHECK(counted(prefix + "tmigr_handle_local: group=x lvl=y\n").other == 1);
    CHECK(counted(prefix + "tmigr_: group=x lvl=y\n").other == 1);
}

TEST_CASE("ftrace: places where lines were lost are returned") {
    const auto lost = [](const std::string& line) {
        const auto records = read(line + '\n');
        REQUIRE(records.size() == 1);
        return std::pair{records[0].cpu, std::get<event::lost>(records[0].event).events};
    };
    CHECK(lost("CPU:3 [LOST 12 EVENTS]") == std::pair{cpu_id{3}, std::uint64_t{12}});
    CHECK(lost("CPU:3 [LOST EVENTS]") == std::pair{cpu_id{3}, std::uint64_t{0}});
    CHECK(lost("CPU:14 [7 EVENTS DROPPED]") == std::pair{cpu_id{14}, std::uint64_t{7}});
    CHECK(lost("CPU:14 [EVENTS DROPPED]") == std::pair{cpu_id{14}, std::uint64_t{0}});
    CHECK(lost("##### CPU 5 buffer started ####") == std::pair{cpu_id{5}, std::uint64_t{0}});
    CHECK(counted("CPU:3 [LOST 12 EVENTS]\n" + good).lost == 1);
    check_error("CPU:x [LOST 12 EVENTS]\n", 1, "x", "a CPU number from 0 to 1048575");
}

TEST_CASE("ftrace: a missing or impossible value names file, line, value and what was expected") {
    for (const char* key : {"group", "lvl", "numa", "active", "migrator", "parent", "childmask"})
        check_error(header + good + without(key), 4, fields_of(without(key)),
                    "the key " + std::string{key} + "= in tmigr_group_set_cpu_active");

    const std::string level = "lvl= with a level from 0 to 255";
    for (const char* bad : {"", "-1", "256", "1x", "0x1", "+1", "1.0", "99999999999999999999"})
        check_error(header + with("lvl", bad), 3, bad, level);
    for (const char* bad : {"", "-2", "1048576", "-99999999999999999999", "none"})
        check_error(with("numa", bad), 1, bad, "numa= with a node number (-1 is none) from -1 to 1048575");
    for (const char* key : {"active", "migrator", "childmask"})
        for (const char* bad : {"", "0x1", "-1", "g", "1ffffffffffffffff", "00000000000000001"})
            check_error(with(key, bad), 1, bad,
                        std::string{key} + "= with a mask of at most 16 hexadecimal digits, without 0x");
    for (const char* bad : {"", "-1", "(____ptrval____)", "0x", "12345678901234567"})
        check_error(with("parent", bad), 1, bad, "parent= with a pointer of at most 16 hexadecimal digits");
    check_error(with("group", "0000000000000000"), 1, "0000000000000000",
                "group= with a pointer that is not 0");

    const std::string joins = prefix + "tmigr_connect_cpu_parent: cpu=";
    check_error(joins + "1048576 groupmask=1 parent=a1 lvl=0 numa=0 num_children=1\n", 1, "1048576",
                "a CPU number from 0 to 1048575");
    check_error(joins + "-1 groupmask=1 parent=a1 lvl=0 numa=0 num_children=1\n", 1, "-1",
                "a CPU number from 0 to 1048575");
    check_error(joins + "1 groupmask=1 parent=0 lvl=0 numa=0 num_children=1\n", 1, "0",
                "parent= with a pointer that is not 0");
    check_error(joins + "1 groupmask=1 parent=a1 lvl=0 numa=0 num_children=65\n", 1, "65",
                "num_children= with a number from 0 to 64");
    for (const char* bad : {"0", "1025", "-1", ""})
        check_error(joins + "1 groupmask=1 parent=a1 lvl=0 numa=0 capacity=" + bad + " num_children=1\n", 1,
                    bad, "capacity= with a capacity from 1 to 1024");
    for (const char* bad : {"-1", "9223372036854775808", "1e9", ""})
        check_error(prefix + "tmigr_cpu_idle: cpu=1 parent=a1 nextevt=1 wakeup=" + bad + "\n", 1, bad,
                    "wakeup= with nanoseconds from 0 to 9223372036854775807");

    check_error(prefix + "tmigr_cpu_active: cpu=1 cpu=1 parent=a1 wakeup=0\n", 1, "cpu=1", "each key once");
    check_error(prefix + "tmigr_cpu_active: cpu=1 par ent=a1 wakeup=0\n", 1, "par",
                "fields of the form KEY=VALUE");
    check_error(" t-1 [1048576] d..1. 1.000000: tmigr_cpu_active: cpu=1 parent=a1 wakeup=0\n", 1, "1048576",
                "a CPU number from 0 to 1048575");
    check_error(" t-1 [000] d..1. 18446744073.709551: tmigr_cpu_active: cpu=1 parent=a1 wakeup=0\n", 1,
                "18446744073.709551", "a time stamp below 2^64 nanoseconds");
    check_error(" t-1 [000] d..1. 18446744073709551616: tmigr_cpu_active: cpu=1 parent=a1 wakeup=0\n", 1,
                "18446744073709551616", "a time stamp below 2^64 nanoseconds");
}

TEST_CASE("ftrace: CPU numbers are decimal, leading zeros or not") {
    CHECK(one(" t-1 [010] d..1. 1.000000: tmigr_cpu_active: cpu=010 parent=a1 wakeup=0").cpu == 10);
    CHECK(std::get<event::cpu_active>(
              one(" t-1 [008] d..1. 1.000000: tmigr_cpu_active: cpu=010 parent=a1 wakeup=0").event)
              .cpu == 10);
}

TEST_CASE("ftrace: a trace that was cut is told from one that ends") {
    const std::string whole = header + good + good;
    CHECK(read(whole).size() == 2);
    // Wherever it is cut within the last line: its last number may lack digits, too.
    for (std::size_t cut = 1; cut < good.size(); ++cut) {
        const std::string text = whole.substr(0, whole.size() - cut);
        std::string last = text.substr(text.rfind('\n') + 1);
        last.erase(last.find_last_not_of(' ') + 1);
        if (last.empty()) {
            CHECK(read(text).size() == 1);
        } else {
            check_error(text, 4, last, "a line feed after the last line (the trace is cut here)");
        }
    }
    CHECK(read(header + "#  no line feed").empty());
}

TEST_CASE("ftrace: what is not ftrace text is refused") {
    const std::string expected = "ftrace text, lines of the form 'TASK-PID [CPU] FLAGS TIME: EVENT: FIELDS'";
    check_error("", 0, "", expected);
    check_error("\n\n", 0, "", expected);
    check_error("# a list of CPUs\n0 0 1024\n1 0 1024\n", 2, "0 0 1024", expected);
    check_error("\n<topology version=\"2.0\">\n", 2, "<topology version=\"2.0\">", expected);
    check_error(std::string{"\x7f"} + "ELF\x02\x01\n\xff\xfe garbage \n", 1,
                "\x7f"
                "ELF\x02\x01",
                expected);
    const std::string zero{" t-1 [000]\0", 11};
    check_error(good + zero + "\n", 2, zero, "text without bytes of value 0");
    check_error(zero, 1, zero, "text without bytes of value 0");
    // A long file is not read to its end.
    std::string lines = "odd\n";
    for (int i = 0; i < 999; ++i) lines += "0 0 1024\n";
    std::istringstream in{lines + good};
    ftrace_reader reader{in, "t.trace"};
    check_error([&] { reader.next(); }, "t.trace", 1, "odd", expected);
    CHECK(reader.counts().lines == 1000);

    const std::string shape = "a line of the form 'TASK-PID [CPU] FLAGS TIME: EVENT: FIELDS'";
    check_error(good + "tmigr_group_set_cpu_active: group=1\n", 2, "tmigr_group_set_cpu_active: group=1",
                shape);
    for (const char* head :
         {" t-1 (000) d..1. 1.000000: ", " t-1 [00x] d..1. 1.000000: ", " t-1 [000] d..1. 1.0000000000: ",
          " t-1 [000] d..1. 1.: ", " t-1 [000] d..1. 1.000000 ",
          " t-1 [000] d..1. -1.000000: ", " t-1 [000] more.than.8 1.000000: ", " t-1[000] d..1. 1.000000: ",
          " [000] d..1. 1.000000: ", "[000] d..1. 1.000000: "}) {
        const std::string line = std::string{head} + "tmigr_cpu_active: cpu=1 parent=a1 wakeup=0";
        check_error(line + "\n", 1, line, shape);
    }
    // A trace in which nothing happened is one.
    CHECK(read(header).empty());
    CHECK(read("# tracer: nop\r\n#\r\n").empty());
}

TEST_CASE("ftrace: lines have a limit") {
    const std::string head = prefix + "tracing_mark_write: ";
    const std::string longest = head + std::string(65536 - head.size(), 'x');
    CHECK(counted(longest + "\n" + good).other == 1);
    check_error(good + longest + "x\n", 2, longest, "a line of at most 65536 bytes");
    check_error(std::string(1'000'000, '['), 1, std::string(65536, '['), "a line of at most 65536 bytes");
    // Nothing is quadratic: a line full of what could begin a match.
    std::string brackets;
    while (brackets.size() < 65000) brackets += " [1]";
    CHECK(counted(good + brackets + "\n").unrecognised == 1);
}

TEST_CASE("ftrace: long traces cross the blocks they are read in") {
    std::string text = header;
    const auto noise = [](std::size_t i) { return std::string(i % 300, static_cast<char>('a' + i % 26)); };
    for (std::size_t i = 0; i < 5000; ++i) text += i % 7 == 0 ? good : prefix + "x: " + noise(i) + "\n";
    std::istringstream in{text};
    ftrace_reader reader{in, "t.trace", others::keep};
    std::size_t found = 0;
    for (; const auto record = reader.next(); ++found) {
        REQUIRE(record->line == 3 + found);
        if (found % 7 == 0)
            CHECK(std::get<event::group_set_cpu_active>(record->event).childmask == 0x80);
        else
            CHECK(std::get<event::other>(record->event) == event::other{"x", noise(found)});
    }
    CHECK(found == 5000);
    CHECK(reader.counts().unrecognised == 0);
}

namespace {

const std::string made = "tmigr_group_set: group=";
const std::string child = "tmigr_connect_child_parent: group=";
const std::string joins = "tmigr_connect_cpu_parent: cpu=";

std::string lines(const std::vector<std::string>& events) {
    std::string text;
    for (const std::string& line : events) text += prefix + line + '\n';
    return text;
}
traced_tree tree_of(const std::vector<std::string>& events) {
    std::istringstream in{lines(events)};
    return read_traced_tree(in, "t.trace");
}

// 7.3 brings a second group and the root that joins both.
const std::vector<std::string> growth = {
    made + "a1 lvl=0 numa=0",
    joins + "3 groupmask=1 parent=a1 lvl=0 numa=0 capacity=1024 num_children=1",
    made + "a2 lvl=0 numa=1",
    made + "b1 lvl=1 numa=-1",
    child + "a2 groupmask=2 parent=b1 lvl=1 numa=-1 capacity=1024 num_children=2",
    joins + "0 groupmask=1 parent=a2 lvl=0 numa=1 capacity=512 num_children=1",
    child + "a1 groupmask=1 parent=b1 lvl=1 numa=-1 capacity=1024 num_children=2",
    joins + "1 groupmask=2 parent=a1 lvl=0 numa=0 capacity=1024 num_children=2",
};

}  // namespace

TEST_CASE("ftrace: the machine that a trace tells of") {
    std::istringstream in{lines(growth)};
    const topology machine = topology_from_trace(in, "t.trace");
    REQUIRE(machine.size() == 3);
    CHECK(machine.cpus()[0] == cpu_info{3, 0, 1024, 0});
    CHECK(machine.cpus()[1] == cpu_info{0, 1, 512, 1});
    CHECK(machine.cpus()[2] == cpu_info{1, 0, 1024, 0});

    check_error(
        [] {
            std::istringstream twice{lines({growth[1], growth[1]})};
            topology_from_trace(twice, "t.trace");
        },
        "t.trace", 2, "3", "a CPU number that was not used before");
    check_error(
        [] {
            std::istringstream none{good};
            topology_from_trace(none, "t.trace");
        },
        "t.trace", 0, "a trace without any", "lines of tmigr_connect_cpu_parent");
}

TEST_CASE("ftrace: the tree that a trace describes") {
    const traced_tree tree = tree_of(growth);
    REQUIRE(tree.groups().size() == 3);
    REQUIRE(tree.cpus().size() == 3);
    CHECK(tree.roots() == std::vector<group_id>{0xb1});
    CHECK(tree.find(0xb1)->groups == std::vector<group_id>{0xa2, 0xa1});
    CHECK(tree.find(0xb1)->childmasks == 3);
    CHECK(tree.find(0xa1)->cpus == std::vector<cpu_id>{3, 1});
    CHECK(tree.find(0xa1)->parent == 0xb1);
    CHECK(tree.find(0xa1)->groupmask == 1);
    CHECK(tree.find(0xa2)->numa == 1);
    CHECK(tree.find_cpu(0)->parent == 0xa2);
    CHECK(tree.find_cpu(0)->capacity == 512);
    CHECK(tree.find_cpu(1)->groupmask == 2);
    CHECK(tree.find(0xc1) == nullptr);
    CHECK(tree.find_cpu(9) == nullptr);
}

TEST_CASE("ftrace: lines that contradict each other are refused") {
    const auto refused = [](const std::string& line, const std::string& value, const std::string& expected) {
        CAPTURE(line);
        std::vector<std::string> events = growth;
        events.push_back(line);
        check_error([&] { tree_of(events); }, "t.trace", growth.size() + 1, value, expected);
    };
    refused(made + "a1 lvl=0 numa=0", "a1", "a group that was not made before");
    refused(child + "c1 groupmask=4 parent=b1 lvl=1 numa=-1 num_children=3", "c1",
            "a group that was made before");
    refused(child + "b1 groupmask=1 parent=c1 lvl=2 numa=-1 num_children=3", "c1",
            "a group that was made before");
    refused(child + "a1 groupmask=4 parent=b1 lvl=1 numa=-1 num_children=3", "a1",
            "a group without parent (its parent is b1)");
    refused(child + "b1 groupmask=4 parent=b1 lvl=1 numa=-1 num_children=3", "1", "a parent of level 2");
    refused(joins + "3 groupmask=4 parent=a1 lvl=0 numa=0 num_children=3", "3",
            "a CPU that was not connected before");
    refused(joins + "4 groupmask=4 parent=c1 lvl=0 numa=0 num_children=3", "c1",
            "a group that was made before");
    refused(joins + "4 groupmask=4 parent=b1 lvl=1 numa=-1 num_children=3", "1",
            "a group of level 0 as parent of a CPU");
    refused(joins + "4 groupmask=4 parent=a1 lvl=1 numa=0 num_children=3", "1",
            "lvl=0, as the parent was made");
    refused(joins + "4 groupmask=4 parent=a1 lvl=0 numa=1 num_children=3", "1",
            "numa=0, as the parent was made");
    refused(joins + "4 groupmask=3 parent=a1 lvl=0 numa=0 num_children=3", "3", "groupmask= with one bit");
    refused(joins + "4 groupmask=0 parent=a1 lvl=0 numa=0 num_children=3", "0", "groupmask= with one bit");
    refused(joins + "4 groupmask=2 parent=a1 lvl=0 numa=0 num_children=3", "2",
            "groupmask= with a bit that no other child has");
    refused(joins + "4 groupmask=4 parent=a1 lvl=0 numa=0 num_children=2", "2",
            "num_children= of at least 3");

    // A refused line changes nothing.
    traced_tree tree = tree_of(growth);
    CHECK_THROWS_AS(tree.add(event::connect_cpu_parent{4, 2, 0xa1, 0, 0, 1024, 3}), input_error);
    CHECK(tree.cpus().size() == 3);
    CHECK(tree.find_cpu(4) == nullptr);
    tree.add(event::connect_cpu_parent{4, 4, 0xa1, 0, 0, 1024, 3});
    CHECK(tree.cpus().size() == 4);

    check_error([] { tree_of({growth[0]}); }, "t.trace", 0, "a trace without any",
                "lines of tmigr_connect_cpu_parent");
}

TEST_CASE("ftrace: files that cannot be read") {
    const auto folder = std::filesystem::temp_directory_path();
    const auto missing = folder / "tmigr-no-such-folder" / "x.trace";
    check_error([&] { topology_from_trace(missing); }, missing.string(), 0, missing.string(),
                "a readable file");
    check_error([&] { read_traced_tree(missing); }, missing.string(), 0, missing.string(), "a readable file");
    check_error([&] { topology_from_trace(folder); }, folder.string(), 0, "a directory", "a readable file");

    std::ifstream in{folder};  // opens, but cannot be read
    ftrace_reader reader{in, "a folder"};
    CHECK_THROWS_AS(reader.next(), input_error);
    std::istream nothing{nullptr};
    ftrace_reader of_nothing{nothing, "nothing"};
    CHECK_THROWS_AS(of_nothing.next(), input_error);
}
