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
bool has_tree(const capture& c) { return std::string_view{c.name}.find("late-timer") == std::string_view::npos; }

linux_form form_of(const capture& c) {
    // Debian's 6.12.117 has 6.13's rules.
    return c.kernel == std::string_view{"6.12"} ? linux_form::v6_13 : linux_form::newest;
}

outcome_report compared(const capture& c, const std::vector<ftrace_record>& records) {
    return compare_outcomes(records, read_cpus(c.path(".topology")), {form_of(c), 32});
}

void explain(const outcome_report& report) {
    for (const outcome_difference& d : report.differences)
        UNSCOPED_INFO("up to line " << d.line << ", CPU " << d.cpu << ": " << d.what << ": expected " << d.expected
                                    << ", printed " << d.printed);
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
    CHECK(total.of(outcome::different) == 0);
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
    if (wakeup == nullptr || std::holds_alternative<event::cpu_available>(record.event)) return false;
    change_time(*wakeup, random);
    return true;
}
bool change_migrator(ftrace_record& record, std::mt19937& random) {
    event::group_word* const word = word_of(record);
    if (word == nullptr) return false;
    const std::uint64_t right = word->migrator;
    while (word->migrator == right) word->migrator = random() % 9 == 8 ? 0xff : std::uint64_t{1} << random() % 8;
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
    if (std::holds_alternative<event::other>(record.event) || std::holds_alternative<event::lost>(record.event) ||
        std::holds_alternative<event::handle_remote>(record.event))
        return false;
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
    for (const auto& [kind, times] : unnoticed) std::cout << "    not noticed in " << kind << ": " << times << '\n';
    return result;
}

}  // namespace

TEST_CASE("a trace with one wrong number has other outcomes") {
    const auto check = [](const char* what, change how, std::size_t per_capture, std::size_t percent) {
        const trials found = corrupted(how, per_capture, 20260103);
        std::cout << what << ": " << found.noticed << " of " << found.tried << " noticed\n";
        CHECK(found.noticed * 100 >= found.tried * percent);
    };
    check("wakeup= changed", change_wakeup, 40, 95);
    check("migrator= changed", change_migrator, 20, 98);
    check("nextevt= changed", change_nextevt, 20, 50);
    check("another CPU served", change_served, 10, 90);
    check("a line left out", drop_line, 20, 90);
}
