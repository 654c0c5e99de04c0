// SPDX-License-Identifier: BSL-1.0
#include "report.hpp"
#include "text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace whatif {

namespace {

/// A number with its spread where there are several runs: `12.3`, `12.3 ±0.4`.
std::string value_text(const report& all, const figure* one, int digits) {
    if (!one) return "";
    std::string text = fmt::format("{:.{}f}", one->mean, digits);
    if (all.runs > 1) text += fmt::format(" ±{:.{}f}", one->spread, digits);
    return text;
}

/// What is more or less than in the baseline; nothing for the baseline itself.
std::string difference_text(const report& all, const summary& of, const figure* one, int digits) {
    const summary* const base = all.base();
    if (!base || base == &of || !one) return "";
    const figure* const there = base->find(one->of, one->which, one->name, one->detail);
    if (!there) return "";
    const double difference = one->mean - there->mean;
    const double smallest = 0.5 * std::pow(10.0, -digits);
    if (std::abs(difference) < smallest) return fmt::format("{:.{}f}", 0.0, digits);
    return fmt::format("{:+.{}f}", difference, digits);
}

/// Value and difference, two cells.
void put(std::vector<std::string>& row, const report& all, const summary& of, const figure* one, int digits) {
    row.push_back(value_text(all, one, digits));
    row.push_back(difference_text(all, of, one, digits));
}

struct subject {
    std::string name;
    scope of = scope::all;
    std::uint64_t which = 0;
};

std::string heading(const report& all, const std::string& text) {
    return "\n" + text + (all.base() ? ", and the difference to " + all.baseline : "") + "\n";
}

std::string residency(const report& all, const std::string& title, const std::vector<subject>& subjects,
                      const std::string& column) {
    const std::vector<std::string> states = state_names(all.hardware);
    bool offline = false;
    for (const summary& of : all.policies) {
        const figure* const gone = of.find(scope::all, 0, "residency", "offline");
        offline |= gone && gone->mean > 0;
    }
    std::vector<std::string> details{"busy"};
    details.insert(details.end(), states.begin(), states.end());
    if (offline) details.emplace_back("offline");

    // Of short runs differences are short.
    const int digits = all.length < nanoseconds{100'000'000'000} ? 2 : 1;
    text_table table{2};
    std::vector<std::string> head{column, "policy"};
    for (const std::string& detail : details) {
        head.push_back(detail);
        head.emplace_back();
    }
    table.row(std::move(head));
    for (const subject& who : subjects) {
        bool first = true;
        for (const summary& of : all.policies) {
            std::vector<std::string> row{std::exchange(first, false) ? who.name : "", of.policy};
            for (const std::string& detail : details)
                put(row, all, of, of.find(who.of, who.which, "residency", detail), digits);
            table.row(std::move(row));
        }
    }
    return heading(all, title) + table.text();
}

/// A row for each policy, with figures of the whole machine.
struct column {
    std::string head;
    std::string name;
    std::string detail;
    int digits = 1;
    bool difference = true;
};

std::string per_policy(const report& all, const std::string& title, const std::vector<column>& columns) {
    text_table table{1};
    std::vector<std::string> head{"policy"};
    for (const column& one : columns) {
        head.push_back(one.head);
        if (one.difference) head.emplace_back();
    }
    table.row(std::move(head));
    for (const summary& of : all.policies) {
        std::vector<std::string> row{of.policy};
        for (const column& one : columns) {
            const figure* const found = of.find(scope::all, 0, one.name, one.detail);
            row.push_back(value_text(all, found, one.digits));
            if (one.difference) row.push_back(difference_text(all, of, found, one.digits));
        }
        table.row(std::move(row));
    }
    const bool any = std::ranges::any_of(columns, &column::difference);
    return (any ? heading(all, title) : "\n" + title + "\n") + table.text();
}

bool any_above_zero(const report& all, std::string_view name) {
    return std::ranges::any_of(all.policies, [&](const summary& of) {
        const figure* const one = of.find(scope::all, 0, name);
        return one && one->mean > 0;
    });
}

std::string migrations(const report& all, const std::vector<capacity_class>& classes) {
    if (!any_above_zero(all, "migrations")) return "";
    text_table table{2};
    std::vector<std::string> head{"policy", "timers of"};
    for (const capacity_class& by : classes) head.push_back(fmt::format("on {}", by.capacity));
    table.row(std::move(head));
    for (const summary& of : all.policies) {
        const figure* const total = of.find(scope::all, 0, "migrations");
        if (!total || total->mean <= 0) continue;
        bool first = true;
        for (const capacity_class& owner : classes) {
            std::vector<std::string> row{std::exchange(first, false) ? of.policy : "",
                                         std::to_string(owner.capacity)};
            for (const capacity_class& by : classes)
                row.push_back(value_text(all,
                                         of.find(scope::capacity_class, owner.capacity, "migrations",
                                                 std::to_string(by.capacity)),
                                         2));
            table.row(std::move(row));
        }
    }
    return "\nTimers a second that ran on another CPU than their own, by capacity\n" + table.text();
}

std::string migrators(const report& all, const std::vector<capacity_class>& classes) {
    const bool any = std::ranges::any_of(all.policies, [](const summary& of) {
        const figure* const nobody = of.find(scope::all, 0, "migrator", "nobody");
        return nobody && nobody->mean < 100;
    });
    if (!any) return "";
    text_table table{1};
    std::vector<std::string> head{"policy"};
    for (const capacity_class& one : classes) head.push_back(std::to_string(one.capacity));
    head.emplace_back("nobody");
    table.row(std::move(head));
    for (const summary& of : all.policies) {
        const figure* const nobody = of.find(scope::all, 0, "migrator", "nobody");
        if (!nobody || nobody->mean >= 100) continue;
        std::vector<std::string> row{of.policy};
        for (const capacity_class& one : classes)
            row.push_back(value_text(all, of.find(scope::capacity_class, one.capacity, "migrator"), 1));
        row.push_back(value_text(all, nobody, 1));
        table.row(std::move(row));
    }
    return "\nWho is in charge, per cent of the time, by capacity\n" + table.text();
}

std::string introduction(const report& all, const std::vector<capacity_class>& classes) {
    const auto span = all.hardware.cpus.cpus();
    std::string text = fmt::format("machine   {}, {} {}", all.hardware.name, span.size(),
                                   span.size() == 1 ? "CPU" : "CPUs");
    for (std::size_t i = 0; i < classes.size(); ++i) {
        std::vector<std::uint64_t> ids;
        for (const std::size_t cpu : classes[i].cpus) ids.push_back(span[cpu].id);
        std::ranges::sort(ids);
        text += fmt::format("{}{} (CPU {})", i == 0 ? "; capacity " : ", ", classes[i].capacity, ranges(ids));
    }
    text += fmt::format("\nworkload  {}, {:g} s, {} ticks a second, governor {}, seed {}", all.workload,
                        static_cast<double>(all.length) / 1e9, all.hardware.hertz, all.governor, all.seed);
    if (all.runs > 1)
        text += fmt::format(" to {}: mean and standard deviation of {} runs", all.seed + all.runs - 1, all.runs);
    return text + "\n" + all.note;
}

}  // namespace

std::string ranges(const std::vector<std::uint64_t>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(numbers[i]);
        if (last > i) text += '-' + std::to_string(numbers[last]);
        i = last + 1;
    }
    return text;
}

std::string table_of(const report& all, bool cpus) {
    const std::vector<capacity_class> classes = classes_of(all.hardware);
    std::string text = introduction(all, classes);

    std::vector<subject> subjects{{"all", scope::all, 0}};
    if (classes.size() > 1)
        for (const capacity_class& one : classes)
            subjects.push_back({std::to_string(one.capacity), scope::capacity_class, one.capacity});
    text += residency(all, "Seconds in each state, summed over the CPUs of a capacity", subjects, "capacity");
    if (cpus) {
        subjects.clear();
        for (const tmigr::cpu_info& cpu : all.hardware.cpus.cpus())
            subjects.push_back({std::to_string(cpu.id), scope::cpu, cpu.id});
        text += residency(all, "Seconds in each state", subjects, "CPU");
    }

    text += per_policy(all, "Wake-ups and interrupts a second",
                       {{"wake-ups", "wakeups", "", 1, true},
                        {"per timer run", "wakeups_per_timer", "", 3, true},
                        {"ticks", "ticks", "", 1, true},
                        {"timer interrupts", "timer_interrupts", "", 1, true},
                        {"others", "other_interrupts", "", 1, true},
                        {"too deep", "too_deep", "", 1, true},
                        {"too shallow", "too_shallow", "", 1, true}});
    text += migrations(all, classes);
    text += migrators(all, classes);
    text += per_policy(all, "Microseconds by which global timers ran late; the model's bound",
                       {{"p50", "lateness", "p50", 1, false},
                        {"p99", "lateness", "p99", 1, false},
                        {"max", "lateness", "max", 1, false},
                        {"bound", "lateness", "bound", 1, false}});
    text += per_policy(all, "Timers",
                       {{"armed", "timers", "armed", 0, false},
                        {"run", "timers", "run", 0, false},
                        {"cancelled", "timers", "cancelled", 0, false},
                        {"pending", "timers", "pending", 0, false},
                        {"run for others a second", "timers_run_for_others", "", 2, false}});
    if (any_above_zero(all, "remote_lines_per_enqueue"))
        text += per_policy(all, "Where to queue a global timer",
                           {{"decisions a second", "enqueues", "", 1, true},
                            {"remote cache lines each", "remote_lines_per_enqueue", "", 2, true}});
    if (any_above_zero(all, "kicks"))
        text += per_policy(all, "Interrupts sent to wake CPUs, a second", {{"kicks", "kicks", "", 2, true}});
    if (any_above_zero(all, "energy")) text += per_policy(all, "Energy", {{"joules", "energy", "", 3, true}});
    return text;
}

}  // namespace whatif
