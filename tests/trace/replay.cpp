// SPDX-License-Identifier: BSL-1.0
// Running kernels and the transitions of the state word must agree, line by line.
#include <support/captures.hpp>

#include <tmigr/io/replay.hpp>
#include <tmigr/io/traced_tree.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace tmigr;
using tmigr::test::capture;
using tmigr::test::captures;
using tmigr::test::feed;
using tmigr::test::records_of;

namespace {

event::group_word* word_of(ftrace_record& record) {
    if (auto* const woke = std::get_if<event::group_set_cpu_active>(&record.event)) return woke;
    return std::get_if<event::group_set_cpu_inactive>(&record.event);
}
bool woke(const ftrace_record& record) {
    return std::holds_alternative<event::group_set_cpu_active>(record.event);
}

std::vector<std::size_t> word_lines(std::vector<ftrace_record>& records) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < records.size(); ++i)
        if (word_of(records[i]) != nullptr) found.push_back(i);
    return found;
}

replay<> replayed(const std::vector<ftrace_record>& records) {
    replay<> check;
    feed(check, records);
    return check;
}

// Lines whose active= does not follow from the line before of the same group: what a strict
// replay in file order would have to tolerate.
std::size_t count_strays(std::vector<ftrace_record>& records) {
    std::size_t strays = 0;
    std::map<group_id, std::uint64_t> active;
    for (ftrace_record& record : records) {
        if (const auto* const made = std::get_if<event::group_set>(&record.event)) active[made->group] = 0;
        if (std::holds_alternative<event::lost>(record.event)) active.clear();
        const event::group_word* const word = word_of(record);
        if (word == nullptr) continue;
        if (const auto before = active.find(word->group); before != active.end()) {
            const std::uint64_t after =
                woke(record) ? before->second | word->childmask : before->second & ~word->childmask;
            strays += after != word->active ? 1 : 0;
        }
        active[word->group] = word->active;
    }
    return strays;
}

const capture& named(const std::string& name) {
    return *std::ranges::find(captures, name, [](const capture& c) { return std::string{c.name}; });
}

}  // namespace

// The kernels' lines fit the transitions in full. `reordered` counts each swap once, as the line that was
// overtaken. The strays are more: a swap makes up to three (the two lines and the one behind them), and
// an inactive line of a group whose child was awake again is one without any swap.
TEST_CASE("every capture agrees with the state word line by line") {
    replay_counts total;
    std::size_t strays = 0;
    for (const capture& c : captures) {
        CAPTURE(c.name);
        auto records = records_of(c);
        const replay<> check = replayed(records);
        const replay_counts& found = check.counts();
        for (const replay_difference& d : check.differences())
            UNSCOPED_INFO(d.line << ": expected " << d.expected << ", printed " << d.printed);
        CHECK(found.lines == c.lines);
        CHECK(found.learnt == c.learnt);
        CHECK(found.checked == c.lines - c.learnt);
        CHECK(found.agreed == found.checked);
        CHECK(found.reordered == c.reordered);
        CHECK(found.different == 0);
        CHECK(found.early_links == 0);
        CHECK(count_strays(records) == c.strays);
        CHECK(c.reordered <= c.strays);

        total.lines += found.lines;
        total.checked += found.checked;
        total.agreed += found.agreed;
        total.reordered += found.reordered;
        total.learnt += found.learnt;
        total.different += found.different;
        strays += c.strays;
    }
    std::cout << std::size(captures) << " captures: " << total.lines << " lines, " << total.learnt
              << " learnt, " << total.checked << " checked, " << total.agreed << " agreed ("
              << total.reordered << " of them overtaken; " << strays << " do not follow in file order), "
              << total.different << " different\n";
    CHECK(total.lines == 81228);
    CHECK(total.checked == 81204);
    CHECK(total.agreed == 81204);
    CHECK(total.reordered == 86);
}

TEST_CASE("captures agree whatever the width of the state word") {
    for (const char* name : {"kernel-6.12-64cpu-4node", "kernel-7.3-arm64-12cpu-1node-3capacity"}) {
        const auto records = records_of(named(name));
        const replay<> narrow = replayed(records);
        replay<state64> wide;
        feed(wide, records);
        CHECK(wide.counts() == narrow.counts());
    }
    // Kernels print migrator=ff for "none"; with 16 children that would be eight migrators at once.
    replay<state64x16> other;
    feed(other, records_of(named("kernel-6.12-8cpu-1node")));
    CHECK(other.counts().different > 0);
}

TEST_CASE("topology and tree of a capture are those of its machine") {
    for (const capture& c : captures) {
        CAPTURE(c.name);
        std::vector<cpu_info> cpus;
        std::ifstream in{c.path(".topology")};
        for (cpu_info cpu; in >> cpu.id >> cpu.node >> cpu.capacity;) cpus.push_back(cpu);
        CHECK(cpus.size() == c.cpus);
        std::set<node_id> nodes;
        for (const cpu_info& cpu : cpus) nodes.insert(cpu.node);
        CHECK(nodes.size() == c.nodes);
        if (!c.starts_at_boot() && !c.has_hierarchy()) {
            CHECK_THROWS_AS(topology_from_trace(c.path(".trace")), input_error);
            continue;
        }

        const auto path = c.path(c.has_hierarchy() ? ".hierarchy" : ".trace");
        const topology machine = topology_from_trace(path);
        REQUIRE(machine.size() == cpus.size());
        const traced_tree tree = read_traced_tree(path);
        REQUIRE(tree.cpus().size() == cpus.size());
        CHECK(tree.roots().size() == 1);
        for (std::size_t i = 0; i < cpus.size(); ++i) {
            CHECK(machine.cpus()[i].id == cpus[i].id);
            CHECK(machine.cpus()[i].node == cpus[i].node);
            CHECK(machine.cpus()[i].capacity == max_capacity);  // as printed, whatever the CPU's own is
            CHECK(tree.cpus()[i].id == cpus[i].id);
            const traced_group* const leaf = tree.find(tree.cpus()[i].parent);
            REQUIRE(leaf != nullptr);
            CHECK(leaf->lvl == 0);
            CHECK(std::ranges::count(leaf->cpus, cpus[i].id) == 1);
        }
        for (const traced_group& group : tree.groups()) {
            const std::size_t children = group.groups.size() + group.cpus.size();
            CHECK(static_cast<std::size_t>(std::popcount(group.childmasks)) == children);
            CHECK((children >= 1 && children <= 8));
            CHECK((group.lvl == 0) == group.groups.empty());
            for (group_id child : group.groups) CHECK(tree.find(child)->parent == group.id);
        }
    }
}

// The replay must not talk itself into anything: what is wrong in a line must not pass as a change of
// order. What can pass is an inactive line above level 0 with the bit of its child left set: that is what the
// kernel prints when the child was awake again, and a later line can fit both. So one in some hundred may.
TEST_CASE("a wrong number in one line is reported as that line") {
    std::mt19937 random{20260101};
    std::size_t tried = 0, exact = 0, unnoticed = 0;
    for (const capture& c : captures) {
        if (!c.starts_at_boot()) continue;
        auto records = records_of(c);
        const auto lines = word_lines(records);
        for (int i = 0; i < 40; ++i) {
            ftrace_record& record = records[lines[random() % lines.size()]];
            const ftrace_record kept = record;
            event::group_word& word = *word_of(record);
            if (random() % 2 != 0) {
                word.active ^= std::uint64_t{1} << random() % 8;
            } else {
                const std::uint64_t right = word.migrator;
                while (word.migrator == right)
                    word.migrator = random() % 9 == 8 ? 0xff : std::uint64_t{1} << random() % 8;
            }
            const replay<> check = replayed(records);
            ++tried;
            if (check.counts().different == 0) {
                ++unnoticed;
                CHECK(std::holds_alternative<event::group_set_cpu_inactive>(record.event));
                CHECK(word.lvl > 0);
            }
            if (check.counts().different == 1 && check.differences().at(0).line == record.line) ++exact;
            record = kept;
        }
    }
    std::cout << tried << " lines with a wrong mask: " << exact << " found as that line, " << unnoticed
              << " not noticed\n";
    CHECK(unnoticed * 100 <= tried);
    CHECK(exact * 100 >= tried * 98);
}

TEST_CASE("a missing line is noticed") {
    std::mt19937 random{20260102};
    std::size_t tried = 0, unnoticed = 0;
    for (const capture& c : captures) {
        if (!c.starts_at_boot()) continue;
        auto records = records_of(c);
        const auto lines = word_lines(records);
        for (int i = 0; i < 40; ++i) {
            const auto place = records.begin() + static_cast<std::ptrdiff_t>(lines[random() % lines.size()]);
            const ftrace_record kept = *place;
            place->event = event::other{};
            ++tried;
            unnoticed += replayed(records).counts().different == 0 ? 1 : 0;
            *place = kept;
        }
    }
    std::cout << tried << " missing lines: " << unnoticed << " not noticed\n";
    CHECK(unnoticed * 100 <= tried);
}

TEST_CASE("wrong lvl, numa, parent and childmask are reported") {
    auto records = records_of(named("kernel-7.3-24cpu-2node"));
    const auto lines = word_lines(records);
    ftrace_record& record = records[lines[2000]];
    const ftrace_record kept = record;
    const auto only_difference = [&] {
        const replay<> check = replayed(records);
        record = kept;
        REQUIRE(check.counts().different == 1);
        CHECK(check.differences()[0].line == kept.line);
        return check.differences()[0].expected;
    };
    const event::group_word right = *word_of(record);

    word_of(record)->lvl = right.lvl + 1;
    CHECK(only_difference() == "lvl=" + std::to_string(right.lvl));
    word_of(record)->numa = right.numa + 1;
    CHECK(only_difference() == "numa=" + std::to_string(right.numa));
    word_of(record)->parent = right.parent + 1;
    CHECK(only_difference().starts_with("parent="));
    word_of(record)->childmask = 3;
    CHECK(only_difference() == "childmask= with one bit, at most ff");
    word_of(record)->childmask = 0x100;
    CHECK(only_difference() == "childmask= with one bit, at most ff");
}

namespace {

// Lines for small stories: `CPU kind group lvl active migrator parent childmask`.
replay<> tell(const std::string& story, replay_options options = {}) {
    std::string text;
    std::istringstream in{story};
    std::size_t time = 100;
    for (std::string line; std::getline(in, line); time += 10) {
        std::istringstream words{line};
        std::string cpu, kind, a, b, c, d, e, f;
        words >> cpu >> kind >> a >> b >> c >> d >> e >> f;
        const std::string head =
            " t-1 [" + cpu + "] d..1. 0." + std::to_string(1000000 + time).substr(1) + ": ";
        if (kind == "made")
            text += head + "tmigr_group_set: group=" + a + " lvl=" + b + " numa=0\n";
        else if (kind == "joins")  // CPU group mask
            text += head + "tmigr_connect_cpu_parent: cpu=" + a + " groupmask=" + c + " parent=" + b +
                    " lvl=0 numa=0 num_children=8\n";
        else if (kind == "link")  // group parent lvl mask
            text += head + "tmigr_connect_child_parent: group=" + a + " groupmask=" + d + " parent=" + b +
                    " lvl=" + c + " numa=0 num_children=8\n";
        else if (kind == "lost")
            text += "CPU:" + cpu + " [LOST 3 EVENTS]\n";
        else if (kind == "runs")
            text += head + "tmigr_cpu_active: cpu=" + cpu + " parent=a1 wakeup=0\n";
        else
            text += head + "tmigr_group_set_cpu_" + kind + ": group=" + a + " lvl=" + b +
                    " numa=0 active=" + c + " migrator=" + d + " parent=" + e + " childmask=" + f + "\n";
    }
    std::istringstream lines{text};
    ftrace_reader reader{lines, "story"};
    replay<> check{options};
    while (const auto record = reader.next()) check.add(*record);
    check.finish();
    return check;
}

const std::string two_cpus = "0 made a1 0\n0 joins 0 a1 1\n0 joins 1 a1 2\n0 joins 2 a1 4\n";

}  // namespace

TEST_CASE("lines of two CPUs may be swapped, those of one CPU may not") {
    // 1 woke first and printed last.
    const replay<> swapped = tell(two_cpus + "0 active a1 0 3 2 0 1\n1 active a1 0 2 2 0 2\n");
    CHECK(swapped.counts() == replay_counts{2, 0, 2, 2, 1, 0, 0, 0});
    CHECK(tell(two_cpus + "0 active a1 0 3 2 0 1\n0 active a1 0 2 2 0 2\n").counts().different > 0);
    // 1 printed something in between: it cannot have changed the group before that.
    CHECK(tell(two_cpus + "0 active a1 0 3 2 0 1\n1 runs\n1 active a1 0 2 2 0 2\n").counts().different > 0);
    CHECK(tell(two_cpus + "1 runs\n0 active a1 0 3 2 0 1\n1 active a1 0 2 2 0 2\n").counts().different == 0);
}

TEST_CASE("swaps are found wherever the window ends") {
    for (int between = 0; between < 40; ++between) {
        std::string story = two_cpus;
        bool awake = false;  // CPU 2
        const auto fill = [&] {
            story += awake ? "2 inactive a1 0 0 ff 0 4\n" : "2 active a1 0 4 4 0 4\n";
            awake = !awake;
        };
        const auto swap = [&] {
            story += awake ? "0 active a1 0 7 4 0 1\n1 active a1 0 6 4 0 2\n0 inactive a1 0 6 4 0 1\n1 "
                             "inactive a1 0 4 4 0 2\n"
                           : "0 active a1 0 3 2 0 1\n1 active a1 0 2 2 0 2\n0 inactive a1 0 2 2 0 1\n1 "
                             "inactive a1 0 0 ff 0 2\n";
        };
        for (int i = 0; i < 12; ++i) fill();
        swap();
        for (int i = 0; i < between; ++i) fill();
        swap();
        const std::size_t lines = 12 + 8 + static_cast<std::size_t>(between);
        CAPTURE(between);
        CHECK(tell(story).counts().reordered == 2);
        CHECK(tell(story).counts().agreed == lines);
    }
}

TEST_CASE("an order that fits at first is given up when it leads nowhere") {
    const std::string tree =
        "0 made b1 1\n0 made a1 0\n0 made a2 0\n0 made a3 0\n"
        "0 link a1 b1 1 1\n0 link a2 b1 1 2\n0 link a3 b1 1 4\n";
    // 2 fills the third group, 0 the first, 1 empties it, 4 fills it again, 3 fills the second, 5 the third
    // once more: the lines of 3 and 5 fit where they stand, but then the next one does not.
    const std::string story =
        "2 active b1 1 4 4 0 4\n0 active b1 1 5 4 0 1\n3 active b1 1 7 4 0 2\n5 active b1 1 7 4 0 4\n"
        "1 inactive b1 1 4 4 0 1\n4 active b1 1 5 4 0 1\n";
    CHECK(tell(tree + story, {pick::first, false, 9}).counts() == replay_counts{6, 0, 6, 6, 2, 0, 0, 0});
}

TEST_CASE("a line that no order explains is different, and the replay goes on") {
    const replay<> wrong_migrator =
        tell(two_cpus + "0 active a1 0 1 1 0 1\n1 active a1 0 3 2 0 2\n2 active a1 0 7 1 0 4\n");
    CHECK(wrong_migrator.counts() == replay_counts{3, 0, 3, 2, 0, 1, 0, 0});
    REQUIRE(wrong_migrator.differences().size() == 1);
    CHECK(wrong_migrator.differences()[0].line == 6);
    CHECK(wrong_migrator.differences()[0].group == 0xa1);
    CHECK(wrong_migrator.differences()[0].expected == "active=3 migrator=1");
    CHECK(wrong_migrator.differences()[0].printed == "active=3 migrator=2 lvl=0 numa=0 parent=0 childmask=2");

    // A line is missing: what is printed is taken over.
    const replay<> missing =
        tell(two_cpus + "0 active a1 0 1 1 0 1\n2 active a1 0 7 1 0 4\n1 inactive a1 0 5 1 0 2\n");
    CHECK(missing.counts() == replay_counts{3, 0, 3, 2, 0, 1, 0, 0});

    const replay<> twice = tell(two_cpus + "0 active a1 0 1 1 0 1\n0 active a1 0 1 1 0 1\n");
    REQUIRE(twice.counts().different == 1);
    CHECK(twice.differences()[0].expected == "childmask= of a CPU that was not awake");

    CHECK(tell(two_cpus + "0 active a1 0 3 2 0 1\n", {pick::first, true, 0}).differences().empty());
}

TEST_CASE("words are learnt in the middle of a trace and after a gap") {
    const replay<> middle = tell("0 active a1 0 3 2 0 1\n1 inactive a1 0 1 1 0 2\n");
    CHECK(middle.counts() == replay_counts{2, 1, 1, 1, 0, 0, 0, 0});
    // Impossible masks are not learnt.
    const replay<> odd = tell("0 active a1 0 3 4 0 1\n0 active a1 0 3 2 0 1\n1 inactive a1 0 1 1 0 2\n");
    CHECK(odd.counts() == replay_counts{3, 1, 2, 1, 0, 1, 0, 0});
    CHECK(odd.differences().at(0).line == 1);
    // If the first two lines are swapped, the first to happen is learnt.
    const replay<> swapped = tell("0 active a1 0 7 4 0 1\n1 active a1 0 6 4 0 2\n2 inactive a1 0 3 1 0 4\n");
    CHECK(swapped.counts() == replay_counts{3, 1, 2, 2, 1, 0, 0, 0});

    const std::string story = two_cpus + "0 active a1 0 1 1 0 1\n";
    CHECK(tell(story + "2 inactive a1 0 2 2 0 4\n").counts().different == 1);
    const replay<> gap = tell(story + "2 lost\n2 inactive a1 0 2 2 0 4\n");
    CHECK(gap.counts() == replay_counts{2, 1, 1, 1, 0, 0, 0, 1});
}

TEST_CASE("a gap may hide links, steps of walks and growth") {
    const std::string tree =
        "0 made a1 0\n0 made b1 1\n0 link a1 b1 1 1\n0 joins 0 a1 1\n0 joins 1 a1 2\n"
        "0 active a1 0 1 1 b1 1\n0 active b1 1 1 1 0 1\n";
    // 0 emptied a1 in between; another child and another level have appeared.
    const replay<> check = tell(tree + "0 lost\n0 inactive b1 1 2 2 c1 1\n3 active a1 0 9 1 b1 8\n");
    CHECK(check.counts() == replay_counts{4, 2, 2, 2, 0, 0, 0, 1});
    CHECK(tell(tree + "0 inactive b1 1 2 2 c1 1\n3 active a1 0 9 1 b1 8\n").counts().different == 2);
    CHECK(tell(tree + "0 lost\n1 active a1 0 2 2 c1 2\n").counts().different == 1);  // a link once made stays
    CHECK(tell(tree + "0 lost\n1 active a1 0 2 2 b1 2\n1 inactive b1 1 0 ff 0 2\n").counts().different == 1);
}

TEST_CASE("a walk goes on to the parent when it fills or empties a group, and only then") {
    const std::string tree = "0 made a1 0\n0 made b1 1\n0 link a1 b1 1 1\n0 joins 0 a1 1\n0 joins 1 a1 2\n";
    const std::string wakes = "0 active a1 0 1 1 b1 1\n0 active b1 1 1 1 0 1\n";
    CHECK(tell(tree + wakes + "1 active a1 0 3 1 b1 2\n").counts().different == 0);

    const replay<> no_cause = tell(tree + "0 active b1 1 1 1 0 1\n");
    REQUIRE(no_cause.counts().different == 0);  // the CPU connected the group: it may carry it up
    const replay<> too_far = tell(tree + wakes + "1 active a1 0 3 1 b1 2\n1 active b1 1 1 1 0 1\n");
    REQUIRE(too_far.counts().different == 1);
    CHECK(too_far.differences()[0].expected == "a line of the same CPU for the child before it");

    const replay<> other_child = tell(
        "0 made a2 0\n0 made a1 0\n0 made b1 1\n0 link a2 b1 1 2\n0 link a1 b1 1 1\n0 joins 0 a1 1\n0 joins "
        "1 a2 1\n"
        "0 active a1 0 1 1 b1 1\n0 active b1 1 2 2 0 2\n");
    CHECK(other_child.counts().different == 1);

    // 0 does not tell the parent that the group is empty; it is held back at that time, or already settled.
    for (int rounds : {0, 20}) {
        std::string story = tree + wakes + "0 inactive a1 0 0 ff b1 1\n";
        for (int i = 0; i < rounds; ++i)
            story +=
                "1 active a1 0 2 2 b1 2\n1 active b1 1 1 1 0 1\n1 inactive a1 0 0 ff b1 2\n1 inactive b1 1 0 "
                "ff 0 1\n";
        const replay<> stopped = tell(story + "0 active a1 0 1 1 b1 1\n0 active b1 1 1 1 0 1\n");
        REQUIRE(stopped.counts().different == 1);
        CHECK(stopped.differences()[0].line == 8);
        CHECK(stopped.differences()[0].expected == "a line of the same CPU for group=b1 behind it");
    }
    CHECK(tell(tree + wakes + "0 inactive a1 0 0 ff b1 1\n0 active a1 0 1 1 b1 1\n0 active b1 1 1 1 0 1\n",
               {pick::first, false, 9})
              .counts()
              .different == 0);
}

TEST_CASE("an inactive line may leave the bit of a group that was awake again, not that of a CPU") {
    const std::string tree = "0 made a1 0\n0 made b1 1\n0 link a1 b1 1 1\n0 joins 0 a1 1\n0 joins 1 a1 2\n";
    const replay<> again = tell(tree +
                                "0 active a1 0 1 1 b1 1\n0 active b1 1 1 1 0 1\n0 inactive a1 0 0 ff b1 1\n"
                                "1 active a1 0 2 2 b1 2\n0 inactive b1 1 1 1 0 1\n1 active b1 1 1 1 0 1\n");
    CHECK(again.counts() == replay_counts{6, 0, 6, 6, 0, 0, 0, 0});
    CHECK(tell(two_cpus + "0 active a1 0 1 1 0 1\n0 inactive a1 0 1 1 0 1\n").counts().different == 1);
}

TEST_CASE("a parent may show a few lines before or after its link is printed") {
    const std::string tree = "0 made a1 0\n0 joins 0 a1 1\n0 joins 1 a1 2\n0 made b1 1\n";
    const std::string link = "0 link a1 b1 1 1\n";
    CHECK(tell(tree + link + "1 active a1 0 2 2 0 2\n").counts() == replay_counts{1, 0, 1, 1, 0, 0, 1, 0});
    CHECK(tell(tree + "1 active a1 0 2 2 b1 2\n" + link).counts() == replay_counts{1, 0, 1, 1, 0, 0, 1, 0});
    // Only lines that are right count: not one that is learnt, nor one from which the CPU then does not go
    // on.
    CHECK(tell(tree + "0 lost\n" + link + "1 active a1 0 2 2 0 2\n").counts() ==
          replay_counts{1, 1, 0, 0, 0, 0, 0, 1});
    const std::string stays = "1 active a1 0 2 2 b1 2\n" + link;
    CHECK(tell(tree + stays + "1 inactive a1 0 0 ff b1 2\n").counts() ==
          replay_counts{2, 0, 2, 1, 0, 1, 0, 0});
    std::string settled;
    for (int i = 0; i < 5; ++i) settled += "0 active a1 0 3 2 b1 1\n0 inactive a1 0 2 2 b1 1\n";
    CHECK(tell(tree + stays + settled + "1 inactive a1 0 0 ff b1 2\n").counts() ==
          replay_counts{12, 0, 12, 11, 0, 1, 0, 0});
    CHECK(tell(tree + "1 active a1 0 2 2 b1 2\n").counts().different == 1);
    CHECK(tell(tree + "1 active a1 0 2 2 c1 2\n" + link).counts().different == 1);
    std::string later;
    for (int i = 0; i < 20; ++i) later += "3 runs\n";
    CHECK(tell(tree + link + later + "1 active a1 0 2 2 0 2\n").counts().different == 1);
    CHECK(tell(tree + "1 active a1 0 2 2 b1 2\n" + later + link).counts().different == 1);
}

TEST_CASE("a childmask must be that of a connected child") {
    const replay<> stranger = tell(two_cpus + "3 active a1 0 8 8 0 8\n");
    REQUIRE(stranger.counts().different == 1);
    CHECK(stranger.differences()[0].expected == "childmask= of a connected child");
}

TEST_CASE("with pick::lowest a lower child takes over") {
    const std::string story = two_cpus + "1 active a1 0 2 2 0 2\n0 active a1 0 3 1 0 1\n";
    CHECK(tell(story, {pick::lowest, true, 9}).counts().different == 0);
    CHECK(tell(story).counts().different == 1);
}

TEST_CASE("a hopeless mixture is decided in bounded time") {
    // Each line fits each word, but one per window fits none.
    std::string story = "0 made a1 0\n0 made b1 1\n0 joins 0 a1 1\n0 link a1 b1 1 1\n";
    for (int i = 0; i < 500; ++i)
        for (int cpu = 0; cpu < 16; ++cpu)
            story += std::to_string(cpu) + (cpu == 15 ? " active b1 1 3 2 0 1\n" : " active b1 1 1 1 0 1\n");
    const replay<> check = tell(story, {pick::first, false, 9});
    CHECK(check.counts().lines == 8000);
    CHECK(check.counts().different >= 500);
}
