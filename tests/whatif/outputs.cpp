// SPDX-License-Identifier: BSL-1.0

// What is written of results that were made by hand: tables, CSV, JSON, gnuplot, Chrome traces, Linux trace lines.

#include "catch.hpp"

#include "chrome_trace.hpp"
#include "figures.hpp"
#include "ftrace_lines.hpp"
#include "plot.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "timeline.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace whatif;

namespace {

constexpr nanoseconds ms = 1'000'000, second = 1'000'000'000;

/// Two small and two big CPUs, whose numbers are not their indexes.
machine four_cpus() {
    machine hardware;
    hardware.name = "four";
    hardware.cpus.add(4, 0, 512);
    hardware.cpus.add(5, 0, 512);
    hardware.cpus.add(0, 0, 1024);
    hardware.cpus.add(1, 0, 1024);
    hardware.tables = {{.states = {{.name = "WFI"}, {.name = "off, deep"}}, .busy_milliwatts = 0}};
    hardware.table_of = {0, 0, 0, 0};
    return hardware;
}

/// Ten seconds, of which each CPU sleeps `deep` in its deeper state.
result ten_seconds(std::string policy, nanoseconds deep, std::uint64_t wakeups) {
    result made;
    made.policy = std::move(policy);
    made.workload = "idle";
    made.length = 10 * second;
    for (std::uint64_t cpu = 0; cpu < 4; ++cpu) {
        cpu_result one;
        one.busy = second;
        one.in_state = {9 * second - deep - cpu * 100 * ms, deep + cpu * 100 * ms};
        one.wakeups = wakeups;
        one.idles = wakeups;
        one.ticks = 25;
        one.timer_interrupts = 40;
        one.other_interrupts = 3;
        one.too_deep = 2;
        one.too_shallow = 5;
        one.timers_run = 20;
        made.cpus.push_back(one);
    }
    made.migrations = {{0, 0}, {0, 0}};
    made.migrator_time = {0, 0};
    for (int i = 0; i < 100; ++i) made.lateness.add(i < 98 ? 5 : 2 * ms);
    made.lateness_bound = 4 * ms;
    made.armed = 100;
    made.run = 80;
    made.cancelled = 15;
    made.pending = 5;
    made.events = 1000;
    return made;
}

result with_tree(nanoseconds deep, std::uint64_t wakeups) {
    result made = ten_seconds("prefer-low", deep, wakeups);
    made.migrations = {{4, 0}, {12, 1}};  // the big ones' timers run on the small ones
    made.migrator_time = {6 * second, second};
    made.cpus[0].timers_run_for_others = 16;
    made.cpus[2].timers_run_for_others = 1;
    return made;
}

report two_policies() {
    const machine hardware = four_cpus();
    return {.hardware = hardware,
            .workload = "idle",
            .length = 10 * second,
            .governor = "menu",
            .seed = 7,
            .runs = 1,
            .baseline = "off",
            .note = {},
            .policies = {summarize(hardware, {ten_seconds("off", 5 * second, 400)}),
                         summarize(hardware, {with_tree(6 * second, 300)})}};
}

std::vector<std::vector<std::string>> parsed_csv(const std::string& text) {
    std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"' && inside && i + 1 < text.size() && text[i + 1] == '"')
            rows.back().back() += text[++i];
        else if (c == '"')
            inside = !inside;
        else if (c == ',' && !inside)
            rows.back().emplace_back();
        else if (c == '\n' && !inside)
            rows.emplace_back(1);
        else
            rows.back().back() += c;
    }
    rows.pop_back();
    return rows;
}

}  // namespace

TEST_CASE("figures of one run and of several") {
    const machine hardware = four_cpus();
    const summary one = summarize(hardware, {with_tree(6 * second, 300)});
    const auto mean = [&](scope of, std::uint64_t which, const char* name, const char* detail = "") {
        const figure* const found = one.find(of, which, name, detail);
        REQUIRE(found);
        CHECK(found->spread == 0);
        return found->mean;
    };
    CHECK(mean(scope::all, 0, "residency", "busy") == 4);
    CHECK(mean(scope::all, 0, "residency", "off, deep") == Approx(24.6));
    CHECK(mean(scope::capacity_class, 512, "residency", "off, deep") == Approx(12.1));
    CHECK(mean(scope::capacity_class, 1024, "residency", "WFI") == Approx(5.5));
    CHECK(mean(scope::cpu, 5, "residency", "WFI") == Approx(2.9));
    CHECK(mean(scope::all, 0, "wakeups") == 120);
    CHECK(mean(scope::all, 0, "wakeups_per_timer") == 15);
    CHECK(mean(scope::all, 0, "migrations") == Approx(1.7));
    CHECK(mean(scope::capacity_class, 1024, "migrations", "512") == Approx(1.2));
    CHECK(mean(scope::capacity_class, 512, "migrator") == 60);
    CHECK(mean(scope::capacity_class, 1024, "migrator") == 10);
    CHECK(mean(scope::all, 0, "migrator", "nobody") == 30);
    CHECK(mean(scope::all, 0, "lateness", "p50") == Approx(0.005));
    CHECK(mean(scope::all, 0, "lateness", "max") == 2000);
    CHECK(mean(scope::cpu, 4, "timers_run_for_others") == Approx(1.6));
    CHECK(!one.find(scope::all, 0, "energy"));
    CHECK(!one.find(scope::cpu, 9, "wakeups"));

    const summary three = summarize(hardware, {ten_seconds("off", 5 * second, 400), ten_seconds("off", 5 * second, 410),
                                               ten_seconds("off", 5 * second, 420)});
    const figure* const wakeups = three.find(scope::all, 0, "wakeups");
    REQUIRE(wakeups);
    CHECK(wakeups->mean == Approx(164));
    CHECK(wakeups->spread == Approx(4));  // of 160, 164, 168
    CHECK(three.find(scope::all, 0, "residency", "busy")->spread == 0);
}

TEST_CASE("energy is a figure where power is given") {
    machine hardware = four_cpus();
    hardware.tables[0].busy_milliwatts = 500;
    result run = ten_seconds("off", 5 * second, 400);
    run.joules = 2.5;
    const summary one = summarize(hardware, {run});
    REQUIRE(one.find(scope::all, 0, "energy"));
    CHECK(one.find(scope::all, 0, "energy")->mean == 2.5);
    CHECK(table_of({.hardware = hardware, .workload = "idle", .length = second, .governor = "menu", .baseline = "",
                    .note = {}, .policies = {one}},
                   false)
              .find("\nEnergy\npolicy  joules\noff      2.500\n") != std::string::npos);
}

TEST_CASE("the table of two policies") {
    CHECK(table_of(two_policies(), true) == R"(machine   four, 4 CPUs; capacity 512 (CPU 4-5), 1024 (CPU 0-1)
workload  idle, 10 s, 250 ticks a second, governor menu, seed 7

Seconds in each state, summed over the CPUs of a capacity, and the difference to off
capacity  policy      busy          WFI         off, deep
all       off         4.00        15.40             20.60
          prefer-low  4.00  0.00  11.40  -4.00      24.60  +4.00
512       off         2.00         7.90             10.10
          prefer-low  2.00  0.00   5.90  -2.00      12.10  +2.00
1024      off         2.00         7.50             10.50
          prefer-low  2.00  0.00   5.50  -2.00      12.50  +2.00

Seconds in each state, and the difference to off
CPU  policy      busy         WFI         off, deep
4    off         1.00        4.00              5.00
     prefer-low  1.00  0.00  3.00  -1.00       6.00  +1.00
5    off         1.00        3.90              5.10
     prefer-low  1.00  0.00  2.90  -1.00       6.10  +1.00
0    off         1.00        3.80              5.20
     prefer-low  1.00  0.00  2.80  -1.00       6.20  +1.00
1    off         1.00        3.70              5.30
     prefer-low  1.00  0.00  2.70  -1.00       6.30  +1.00

Wake-ups and interrupts a second, and the difference to off
policy      wake-ups         per timer run          ticks       timer interrupts       others       too deep       too shallow
off            160.0                20.000           10.0                   16.0          1.2            0.8               2.0
prefer-low     120.0  -40.0         15.000  -5.000   10.0  0.0              16.0  0.0     1.2  0.0       0.8  0.0          2.0  0.0

Timers a second that ran on another CPU than their own, by capacity
policy      timers of  on 512  on 1024
prefer-low  512          0.40     0.00
            1024         1.20     0.10

Who is in charge, per cent of the time, by capacity
policy       512  1024  nobody
prefer-low  60.0  10.0    30.0

Microseconds by which global timers ran late; the model's bound
policy      p50     p99     max   bound
off         0.0  2000.0  2000.0  4000.0
prefer-low  0.0  2000.0  2000.0  4000.0

Timers
policy      armed  run  cancelled  pending  run for others a second
off           100   80         15        5                     0.00
prefer-low    100   80         15        5                     1.70
)");
}

TEST_CASE("the table without a baseline, with spreads, without CPUs") {
    report all = two_policies();
    all.baseline.clear();
    all.runs = 2;
    all.note = "recording 5 lines\n";
    all.policies = {summarize(all.hardware, {ten_seconds("off", 5 * second, 400), ten_seconds("off", 6 * second, 400)})};
    const std::string text = table_of(all, false);
    CHECK(text.find("seed 7 to 8: mean and standard deviation of 2 runs\nrecording 5 lines\n") != std::string::npos);
    CHECK(text.find(R"(
Seconds in each state, summed over the CPUs of a capacity
capacity  policy        busy          WFI    off, deep
all       off     4.00 ±0.00  13.40 ±2.83  22.60 ±2.83
)") != std::string::npos);
    CHECK(text.find("difference") == std::string::npos);
    all.length = 100 * second;
    CHECK(table_of(all, false).find("\nall       off     4.0 ±0.0  13.4 ±2.8  22.6 ±2.8\n") != std::string::npos);
    CHECK(text.find("\nCPU ") == std::string::npos);
    CHECK(text.find("in charge") == std::string::npos);
    CHECK(text.find("another CPU") == std::string::npos);
}

TEST_CASE("CSV has every figure, and quotes what has commas") {
    const report all = two_policies();
    const auto rows = parsed_csv(csv_of(all));
    REQUIRE(rows.size() == 1 + all.policies[0].figures.size() + all.policies[1].figures.size());
    CHECK(rows[0] == std::vector<std::string>{"policy", "scope", "which", "figure", "detail", "unit", "mean", "spread",
                                              "difference"});
    for (const auto& row : rows) REQUIRE(row.size() == 9);
    const std::vector<std::string> deep{"prefer-low", "class", "512", "residency", "off, deep", "s", "12.1", "0", "2"};
    CHECK(std::ranges::find(rows, deep) != rows.end());
    CHECK(csv_of(all).find("prefer-low,class,512,residency,\"off, deep\",s,12.1,0,2\n") != std::string::npos);
    CHECK(csv_of(all).find("prefer-low,all,,migrator,nobody,%,30,0,-70\n") != std::string::npos);
}

TEST_CASE("JSON is read back") {
    const report all = two_policies();
    const auto read = nlohmann::json::parse(json_of(all));
    CHECK(read["format"] == "tmigr-whatif 1");
    CHECK(read["machine"]["cpus"].size() == 4);
    CHECK(read["machine"]["cpus"][0]["id"] == 4);
    CHECK(read["machine"]["idle_tables"][0]["states"][1]["name"] == "off, deep");
    CHECK(read["baseline"] == "off");
    CHECK(read["seconds"] == 10.0);
    REQUIRE(read["policies"].size() == 2);
    for (std::size_t p = 0; p < 2; ++p) {
        const auto& figures = read["policies"][p]["figures"];
        REQUIRE(figures.size() == all.policies[p].figures.size());
        for (std::size_t i = 0; i < figures.size(); ++i) {
            const figure& one = all.policies[p].figures[i];
            CHECK(figures[i]["scope"] == name_of(one.of));
            CHECK(figures[i].value("which", std::uint64_t{0}) == one.which);
            CHECK(figures[i]["figure"] == one.name);
            CHECK(figures[i].value("detail", "") == one.detail);
            CHECK(figures[i]["mean"].get<double>() == rounded(one.mean));
            CHECK(figures[i]["difference"].get<double>() == rounded(one.mean - all.policies[0].figures[i].mean));
        }
    }
    report alone = all;
    alone.baseline.clear();
    const auto without = nlohmann::json::parse(json_of(alone));
    CHECK(without["baseline"].is_null());
    CHECK(!without["policies"][0]["figures"][0].contains("difference"));
}

TEST_CASE("ranges of numbers") {
    CHECK(ranges({}).empty());
    CHECK(ranges({3}) == "3");
    CHECK(ranges({0, 1, 2, 8, 10, 11}) == "0-2,8,10-11");
}

TEST_CASE("a Chrome trace: tracks without gaps, arrows with two ends") {
    const machine hardware = four_cpus();
    std::ostringstream out;
    chrome_trace file{out};
    for (unsigned process = 1; process <= 2; ++process) {
        chrome_process one{file, hardware, process == 1 ? "off" : "a \"policy\"", process, {}};
        for (std::size_t cpu = 0; cpu < 4; ++cpu) one.busy(cpu, 0, "task 1");
        one.migrator(0, 0);
        for (std::size_t cpu = 1; cpu < 4; ++cpu) one.idle(cpu, (cpu + 1) * ms, 1, true);
        one.timer(17, 2, 0, 6 * ms, 8 * ms);
        one.timer(18, 0, 0, 8 * ms, 8 * ms);  // its own: no arrow
        one.timer(19, 3, 1, 8 * ms, 9 * ms + 1);
        one.idle(0, 9 * ms, 0, false);
        one.migrator(SIZE_MAX, 9 * ms);
        one.offline(3, 9 * ms);
        one.finish(10 * ms);
    }
    file.close();

    const auto read = nlohmann::json::parse(out.str());
    std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> tracks;
    std::map<std::uint64_t, std::vector<nlohmann::json>> flows;
    std::map<std::pair<int, int>, std::string> names;
    std::map<int, std::string> processes;
    for (const auto& event : read["traceEvents"]) {
        const std::string kind = event["ph"];
        if (kind == "X") {
            const double from = event["ts"], length = event["dur"];
            tracks[{event["pid"], event["tid"]}].emplace_back(from, from + length);
        } else if (kind == "s" || kind == "f") {
            flows[event["id"]].push_back(event);
        } else {
            REQUIRE(kind == "M");
            if (event["name"] == "thread_name") names[{event["pid"], event["tid"]}] = event["args"]["name"];
            if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
        }
    }
    CHECK(processes == std::map<int, std::string>{{1, "off"}, {2, "a \"policy\""}});
    CHECK(names[{1, 0}] == "CPU 4 (512)");
    CHECK(names[{2, 4}] == "in charge");
    REQUIRE(tracks.size() == 10);
    for (auto& [track, slices] : tracks) {
        std::ranges::sort(slices);
        CHECK(slices.front().first == 0);
        CHECK(slices.back().second == 10'000);
        for (std::size_t i = 1; i < slices.size(); ++i) CHECK(slices[i].first == slices[i - 1].second);
    }
    REQUIRE(flows.size() == 4);
    for (const auto& [id, ends] : flows) {
        REQUIRE(ends.size() == 2);
        CHECK(ends[0]["ph"] == "s");
        CHECK(ends[1]["ph"] == "f");
        CHECK(ends[1]["bp"] == "e");
        CHECK(ends[0]["pid"] == ends[1]["pid"]);
        CHECK(ends[0]["ts"].get<double>() <= ends[1]["ts"].get<double>());
    }
    CHECK(out.str().find(R"({"ph":"X","pid":1,"tid":1,"ts":2000.000,"dur":8000.000,"name":"off, deep","cat":"idle"})") !=
          std::string::npos);
    CHECK(out.str().find(R"("name":"WFI, ticking")") != std::string::npos);
    CHECK(out.str().find(R"({"ph":"f","bp":"e","pid":2,"tid":1,"ts":9000.001,)") != std::string::npos);
}

TEST_CASE("a Chrome trace of a window shows no more than that") {
    const machine hardware = four_cpus();
    std::ostringstream out;
    chrome_trace file{out};
    chrome_process one{file, hardware, "off", 1, {2 * ms, 4 * ms}};
    one.busy(0, 0, "");
    one.idle(0, 1 * ms, 0, true);
    one.timer(1, 1, 0, 1 * ms, 3 * ms);
    one.timer(2, 1, 0, 1 * ms, 4 * ms);
    one.busy(0, 3 * ms, "handler");
    one.busy(0, 5 * ms, "");
    one.finish(9 * ms);
    file.close();
    const auto read = nlohmann::json::parse(out.str());
    std::vector<std::string> seen;
    for (const auto& event : read["traceEvents"])
        if (event["ph"] != "M")
            seen.push_back(event["ph"].get<std::string>() + ' ' + std::to_string(event["ts"].get<int>()) +
                           (event.contains("dur") ? '+' + std::to_string(event["dur"].get<int>()) : ""));
    CHECK(seen == std::vector<std::string>{"s 2000", "f 3000", "X 2000+1000", "X 3000+1000"});
}

TEST_CASE("lines of a Linux trace") {
    const machine hardware = four_cpus();
    std::ostringstream out;
    ftrace_lines lines{out, hardware, true};
    lines.busy(0, 0, "task");
    lines.idle(0, 1'500'000, 1, true);
    lines.idle(0, 2 * ms, 0, true);
    lines.timer(26, 0, 2, 2 * ms, 3 * second + 4000);
    lines.busy(0, 4 * second, "");
    CHECK(out.str() == R"(# tracer: nop
#
#           TASK-PID     CPU#  FLAGS   TIMESTAMP  FUNCTION
          <idle>-0       [004] d....     0.001500: cpu_idle: state=1 cpu_id=4
          <idle>-0       [004] d....     0.002000: cpu_idle: state=4294967295 cpu_id=4
          <idle>-0       [004] d....     0.002000: cpu_idle: state=0 cpu_id=4
          <idle>-0       [000] d....     3.000004: timer_expire_entry: timer=000000000000001a function=whatif now=3000004000 baseclk=2000000 owner=4
          <idle>-0       [004] d....     4.000000: cpu_idle: state=4294967295 cpu_id=4
)");
    std::ostringstream behind_a_tree;
    ftrace_lines{behind_a_tree, hardware, false}.idle(1, 0, 0, true);
    CHECK(behind_a_tree.str() == "          <idle>-0       [005] d....     0.000000: cpu_idle: state=0 cpu_id=5\n");
}

TEST_CASE("a timeline keeps a window, and no more than it may") {
    timeline kept{"off", 2, {2 * ms, 6 * ms}};
    kept.busy(0, 0, "a");
    kept.busy(0, 1 * ms, "b");  // still busy
    kept.idle(0, 3 * ms, 1, true);
    kept.idle(1, 0, 0, true);
    kept.offline(1, 5 * ms);
    kept.busy(0, 8 * ms, "");
    kept.finish(9 * ms);
    std::vector<std::string> seen;
    for (const auto& one : kept.stretches())
        seen.push_back(std::to_string(one.cpu) + ' ' + std::to_string(one.from / ms) + '-' +
                       std::to_string(one.to / ms) + ' ' +
                       (one.what == timeline::is_busy      ? "busy"
                        : one.what == timeline::is_offline ? "offline"
                                                           : std::to_string(one.what)));
    CHECK(seen == std::vector<std::string>{"0 2-3 busy", "1 2-5 0", "0 3-6 1", "1 5-6 offline"});
    CHECK(!kept.cut());

    timeline much{"off", 1, {}};
    for (std::size_t i = 0; i < timeline::most + 3; ++i)
        if (i % 2 == 0)
            much.busy(0, i, "");
        else
            much.idle(0, i, 0, true);
    much.finish(timeline::most + 3);
    CHECK(much.stretches().size() == timeline::most);
    CHECK(much.cut());
}

TEST_CASE("the script for gnuplot") {
    report all = two_policies();
    all.hardware.name = "it's";
    timeline line{"off", 4, {0, 2 * ms}};
    line.busy(0, 0, "");
    line.idle(0, 1 * ms, 1, true);
    line.finish(10 * second);
    const std::string text = plot_script(all, {line}, "dir/a'b");
    CHECK(text.find("if (!exists('out')) out = 'dir/a''b'\n") != std::string::npos);
    CHECK(text.find("$class0 << END_OF_DATA\n"
                    "\"off\" 10.0000 38.5000 51.5000\n"
                    "\"prefer-low\" 10.0000 28.5000 61.5000\n"
                    "END_OF_DATA\n$class1 << END_OF_DATA\n") != std::string::npos);
    CHECK(text.find("$class2 << END_OF_DATA\n\"off\" 10.0000 37.5000 52.5000\n") != std::string::npos);
    CHECK(text.find("set title 'it''s, idle: per cent of the time' noenhanced offset 0,0.9\n") != std::string::npos);
    CHECK(text.find("$class0 using 4 title 'off, deep' lc rgb 0xa3c4dc") != std::string::npos);
    CHECK(text.find("$timeline0 << END_OF_DATA\n"
                    "0.000000000 0.001000000 0 0xd9534f\n"
                    "0.001000000 0.002000000 0 0xa3c4dc\n"
                    "END_OF_DATA\n") != std::string::npos);
    CHECK(text.find("set ytics scale 0 ('CPU 4' 0, 'CPU 5' 1, 'CPU 0' 2, 'CPU 1' 3)\n") != std::string::npos);
    CHECK(plot_script(all, {}, "x").find("multiplot") == std::string::npos);
}

TEST_CASE("the progress bar's line") {
    CHECK(progress_bar::line(0, "off") == "[..............................]   0% off");
    CHECK(progress_bar::line(0.5, "off") == "[###############...............]  50% off");
    CHECK(progress_bar::line(1, "prefer-low") == "[##############################] 100% prefer-low");
}
