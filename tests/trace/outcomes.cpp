// SPDX-License-Identifier: BSL-1.0
// A tree of the library, driven by what the CPUs of running kernels did, and those kernels must have
// the same outcomes: words, wake-ups, who is in charge. Where not, a rule must say why.
#include <support/captures.hpp>

#include <tmigr/io/cpus.hpp>
#include <tmigr/io/outcomes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "catch.hpp"

using namespace tmigr;
using tmigr::test::capture;
using tmigr::test::captures;
using tmigr::test::records_of;

namespace {

// Windows of a run without the lines that built the tree.
bool has_tree(const capture& c) {
    return std::string_view{c.name}.find("late-timer") == std::string_view::npos;
}

linux_form form_of(const capture& c) {
    // Debian's 6.12.117 has 6.13's rules.
    return c.kernel == std::string_view{"6.12"} ? linux_form::v6_13 : linux_form::newest;
}

outcome_report compared(const capture& c, const std::vector<ftrace_record>& records) {
    return compare_outcomes(records, read_cpus(c.path(".topology")), {form_of(c), 32});
}

void explain(const outcome_report& report) {
    for (const outcome_difference& d : report.differences)
        UNSCOPED_INFO("up to line " << d.line << ", CPU " << d.cpu << ": " << d.what << ": expected "
                                    << d.expected << ", printed " << d.printed);
}

void add(outcome_report& total, const outcome_report& one) {
    total.steps += one.steps;
    total.cut += one.cut;
    total.overtaken += one.overtaken;
    for (std::size_t kind = 0; kind < outcome_count; ++kind) total.found[kind] += one.found[kind];
}

void print(const outcome_report& total) {
    std::cout << total.steps << " steps (" << total.overtaken << " printed late), " << total.checked()
              << " numbers checked:";
    for (std::size_t kind = 0; kind < outcome_count; ++kind)
        std::cout << ' ' << total.found[kind] << ' ' << name_of(static_cast<outcome>(kind))
                  << (kind + 1 < outcome_count ? "," : "\n");
}

}  // namespace

TEST_CASE("the library's tree has the outcomes of every captured kernel") {
    outcome_report total;
    std::size_t compared_captures = 0, lines = 0;
    for (const capture& c : captures) {
        if (!has_tree(c)) continue;
        CAPTURE(c.name);
        const auto records = records_of(c);
        const outcome_report report = compared(c, records);
        explain(report);
        CHECK(report.agrees());
        CHECK(report.cut == 0);
        CHECK(report.words.lines == c.lines);
        CHECK(report.lost_sight.empty());
        add(total, report);
        ++compared_captures;
        lines += records.size();
    }
    std::cout << compared_captures << " captures, " << lines << " lines: ";
    print(total);
    CHECK(compared_captures == 25);
    CHECK(lines == 272903);
    CHECK(total.steps == 136777);
    CHECK(total.overtaken == 116);
    CHECK(total.checked() == 349282);
    CHECK(total.of(outcome::equal) == 347843);
    CHECK(total.of(outcome::looked_later) == 308);
    CHECK(total.of(outcome::lower_group) == 640);
    CHECK(total.of(outcome::under_way) == 337);
    CHECK(total.of(outcome::untold) == 44);
    CHECK(total.of(outcome::learnt) == 51);
    CHECK(total.of(outcome::overlapped) == 46);
    CHECK(total.of(outcome::armed_twice) == 12);
    CHECK(total.of(outcome::published_late) == 1);
    CHECK(total.of(outcome::lost_sight) == 0);
    CHECK(total.of(outcome::different) == 0);
}

namespace {

// Windows of a machine of two groups without the lines that built them: those lines, made up from what
// the others say, and a gap between windows.
std::vector<ftrace_record> with_tree(const capture& c) {
    std::map<cpu_id, group_id> leaf;
    group_id root = no_group;
    const auto records = records_of(c);
    for (const ftrace_record& record : records)
        std::visit(
            [&](const auto& e) {
                if constexpr (requires { e.cpu, e.parent, e.wakeup; }) leaf[e.cpu] = e.parent;
                if constexpr (requires { e.childmask; })
                    if (e.lvl == 0) root = e.parent;
            },
            record.event);
    std::vector<ftrace_record> all;
    std::vector<group_id> leaves;
    std::map<group_id, unsigned> children;
    const auto say = [&](const ftrace_event& event) { all.emplace_back().event = event; };
    const topology machine = read_cpus(c.path(".topology"));
    for (std::size_t i = 0; i < machine.size(); ++i) {
        const cpu_info& cpu = machine.cpus()[i];
        // Not every CPU has a line: eight in order of arrival make a group.
        const auto said =
            std::find_if(leaf.begin(), leaf.end(), [&](const auto& l) { return l.first / 8 == i / 8; });
        REQUIRE(said != leaf.end());
        const group_id parent = said->second;
        if (std::ranges::find(leaves, parent) == leaves.end()) {
            leaves.push_back(parent);
            say(event::group_set{parent, 0, 0});
            if (leaves.size() == 2) {
                say(event::group_set{root, 1, 0});
                say(event::connect_child_parent{leaves[1], 2, root, 1, 0, 1024, 2});
                say(event::connect_child_parent{leaves[0], 1, root, 1, 0, 1024, 2});
            }
        }
        const unsigned place = children[parent]++;
        say(event::connect_cpu_parent{cpu.id, std::uint64_t{1} << place, parent, 0, 0, 1024, place + 1});
    }
    say(event::lost{});
    for (const ftrace_record& record : records) {
        all.push_back(record);
        const auto* const other = std::get_if<event::other>(&record.event);
        if (other != nullptr && other->name == "do_stress") say(event::lost{});
    }
    return all;
}

}  // namespace

// Each is the line with which CPU 2 goes idle. Published behind the back of the last who leaves, the kernels'
// order (docs/algorithm.md, "Publish before you resign"): in each window they arm nobody for a timer for
// which the library arms.
TEST_CASE("where kernels lost sight of a timer, the library's tree arms for it") {
    const std::map<std::string_view, std::vector<std::size_t>> lost = {
        {"kernel-6.12-16cpu-late-timer", {309}}, {"kernel-7.3-16cpu-late-timer", {313, 690, 1068}}};
    outcome_report total;
    for (const capture& c : captures) {
        if (has_tree(c)) continue;
        CAPTURE(c.name);
        const outcome_report report = compared(c, with_tree(c));
        explain(report);
        CHECK(report.agrees());
        CHECK(report.lost_sight == lost.at(c.name));
        add(total, report);
    }
    print(total);
    CHECK(total.checked() == 1954);
    CHECK(total.of(outcome::lost_sight) == 12);
}

namespace {

using change = bool (*)(ftrace_record&, std::mt19937&);

std::uint64_t* wakeup_of(ftrace_record& record) {
    return std::visit(
        [](auto& e) -> std::uint64_t* {
            if constexpr (requires { e.wakeup; }) return &e.wakeup;
            return nullptr;
        },
        record.event);
}
event::group_word* word_of(ftrace_record& record) {
    if (auto* const woke = std::get_if<event::group_set_cpu_active>(&record.event)) return woke;
    return std::get_if<event::group_set_cpu_inactive>(&record.event);
}

// Another time: none where there was one, one where there was none, or some ticks off.
void change_time(std::uint64_t& time, std::mt19937& random) {
    constexpr std::uint64_t tick = 4'000'000;
    const std::uint64_t right = time;
    while (time == right) {
        if (right == event::never)
            time = (1'000 + random() % 10'000) * tick;
        else if (random() % 3 == 0)
            time = event::never;
        else
            time = right + tick * (random() % 64) - std::min(right, tick * (random() % 64));
    }
}

bool change_wakeup(ftrace_record& record, std::mt19937& random) {
    std::uint64_t* const wakeup = wakeup_of(record);
    if (wakeup == nullptr) return false;
    change_time(*wakeup, random);
    return true;
}
bool change_migrator(ftrace_record& record, std::mt19937& random) {
    event::group_word* const word = word_of(record);
    if (word == nullptr) return false;
    const std::uint64_t right = word->migrator;
    while (word->migrator == right)
        word->migrator = random() % 9 == 8 ? 0xff : std::uint64_t{1} << random() % 8;
    return true;
}
bool change_nextevt(ftrace_record& record, std::mt19937& random) {
    if (auto* const idle = std::get_if<event::cpu_idle>(&record.event)) {
        change_time(idle->nextevt, random);
        return true;
    }
    auto* const again = std::get_if<event::cpu_new_timer_idle>(&record.event);
    if (again == nullptr) return false;
    change_time(again->nextevt, random);
    return true;
}
bool change_served(ftrace_record& record, std::mt19937& random) {
    auto* const served = std::get_if<event::handle_remote_cpu>(&record.event);
    if (served == nullptr) return false;
    served->cpu ^= 1u << random() % 3;
    return true;
}
bool drop_line(ftrace_record& record, std::mt19937&) {
    if (std::holds_alternative<event::other>(record.event) ||
        std::holds_alternative<event::lost>(record.event) ||
        std::holds_alternative<event::handle_remote>(record.event) ||
        std::holds_alternative<event::cpu_new_timer_idle>(record.event))
        return false;  // lines that mostly tell nothing new
    record.event = event::other{};
    return true;
}

std::string name_of_event(const ftrace_record& record) {
    return std::visit(
        [](const auto& e) -> std::string {
            if constexpr (requires { e.name; }) return e.name;
            return {};
        },
        record.event);
}

struct trials {
    std::size_t tried = 0;
    std::size_t noticed = 0;
};

// Changes one line at random, again and again, and counts how often that is noticed.
trials corrupted(change how, std::size_t per_capture, unsigned seed) {
    std::mt19937 random{seed};
    trials result;
    std::map<std::string, std::size_t> unnoticed;
    for (const capture& c : captures) {
        if (!has_tree(c)) continue;
        auto records = records_of(c);
        const std::size_t start = c.has_hierarchy() ? records.size() / 4 : 0;
        for (std::size_t i = 0; i < per_capture;) {
            ftrace_record& record = records[start + random() % (records.size() - start)];
            const ftrace_record kept = record;
            if (!how(record, random)) continue;
            ++i;
            ++result.tried;
            bool noticed = true;
            try {
                noticed = !compared(c, records).agrees();
            } catch (const input_error&) {
            }
            result.noticed += noticed ? 1 : 0;
            if (!noticed) ++unnoticed[name_of_event(kept)];
            record = kept;
        }
    }
    for (const auto& [kind, times] : unnoticed)
        std::cout << "    not noticed in " << kind << ": " << times << '\n';
    return result;
}

// Sanitizers look at the code, not at the rates: fewer trials, and no rate of them.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

void check_noticed(const char* what, change how, std::size_t per_capture, std::size_t percent) {
    const trials found = corrupted(how, sanitized ? 1 : per_capture, 20260103);
    std::cout << what << ": " << found.noticed << " of " << found.tried << " noticed\n";
    CHECK(found.noticed * 100 >= found.tried * (sanitized ? 50 : percent));
}

}  // namespace

TEST_CASE("a trace with one wrong wake-up or migrator has other outcomes") {
    check_noticed("wakeup= changed", change_wakeup, 20, 99);
    check_noticed("migrator= changed", change_migrator, 10, 99);
}

// What says the same with another number, or without a line, goes unnoticed: a CPU that looks again and tells
// nothing may as well find no timer; of two CPUs with the same expiry either may be served first.
TEST_CASE("a trace with another wrong number, or a line left out, has other outcomes") {
    check_noticed("nextevt= changed", change_nextevt, 10, 90);
    check_noticed("another CPU served", change_served, 8, 85);
    check_noticed("a line left out", drop_line, 10, 88);
}
