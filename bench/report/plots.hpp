// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_REPORT_PLOTS_HPP
#define TMIGR_BENCH_REPORT_PLOTS_HPP

#include "results.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tmigr::report {

/// A drawing: of the benchmarks of one kind that have the given labels, one line for each `who`
/// (and backend), over the numbers of one label.
struct plot {
    std::string file;
    std::string title;
    std::string what;
    labels given;
    std::string over;
    std::string over_text;
    std::string of;  ///< a counter; empty: nanoseconds
    std::string of_text;
    bool log_x;
};

inline std::vector<plot> all_plots() {
    return {
        {"walk", "Sleep and wake, by levels visited", "walk", {{"word", "32"}, {"expiries", "0"}}, "levels",
         "levels", "", "ns", false},
        {"walk_expiries", "Sleep and wake with expiries, by levels visited", "walk",
         {{"word", "32"}, {"expiries", "1"}}, "levels", "levels", "", "ns", false},
        {"sweep_cpus", "A change, one CPU in ten awake, one thread", "sweep", {{"expiries", "0"}, {"a", "0.1"}},
         "cpus", "CPUs", "", "ns", true},
        {"sweep_cpus_expiries", "A change with expiries, one CPU in ten awake, one thread", "sweep",
         {{"expiries", "1"}, {"a", "0.1"}}, "cpus", "CPUs", "", "ns", true},
        {"sweep_activity", "A change, 4096 CPUs, one thread", "sweep", {{"expiries", "0"}, {"cpus", "4096"}}, "a",
         "part of CPUs that is awake", "", "ns", true},
        {"sweep_levels", "Levels that a change visits, 4096 CPUs", "sweep", {{"expiries", "0"}, {"cpus", "4096"}},
         "a", "part of CPUs that is awake", "levels", "levels", true},
        {"contention_leaf", "Sleeps and wakes in one leaf", "contention", {{"where", "leaf"}, {"expiries", "0"}},
         "threads", "threads", "", "ns", true},
        {"contention_root", "Sleeps and wakes up to the root", "contention", {{"where", "root"}, {"expiries", "0"}},
         "threads", "threads", "", "ns", true},
        {"contention_leaf_expiries", "Sleeps and wakes with expiries in one leaf", "contention",
         {{"where", "leaf"}, {"expiries", "1"}}, "threads", "threads", "", "ns", true},
        {"expire", "Running due timers of sleepers, one thread", "timers", {{"what", "expire"}, {"threads", ""}},
         "due", "sleepers with something due", "", "ns for each", true},
        {"model_cpus", "A change as the model predicts it, a core for each CPU, one in ten awake", "model",
         {{"expiries", "0"}, {"a", "0.1"}}, "cpus", "CPUs", "", "ns, predicted", true},
        {"model_cpus_idle", "A change as the model predicts it, a core for each CPU, one in a hundred awake", "model",
         {{"expiries", "0"}, {"a", "0.01"}}, "cpus", "CPUs", "", "ns, predicted", true},
        {"model_cpus_expiries", "A change with expiries as the model predicts it, one in ten awake", "model",
         {{"expiries", "1"}, {"a", "0.1"}}, "cpus", "CPUs", "", "ns, predicted", true},
        {"memory", "Memory", "build", {}, "cpus", "CPUs", "bytes", "bytes per CPU", true},
        {"build", "Building", "build", {}, "cpus", "CPUs", "", "ns per CPU", true},
    };
}

/// Writes what gnuplot needs into `folder`: NAME.dat and NAME.gp, which makes NAME.svg beside
/// them. What was not measured is left out. Returns the names.
inline std::vector<std::string> write_plots(const std::filesystem::path& folder, const std::vector<program>& all) {
    std::vector<std::string> made;
    for (const plot& p : all_plots()) {
        std::vector<std::pair<std::string, std::vector<std::pair<double, double>>>> lines;
        for (const program& from : all)
            for (const measurement& m : from.all) {
                if (m.what != p.what || m[p.over].empty()) continue;
                if (!std::all_of(p.given.begin(), p.given.end(), [&m](const auto& l) { return m[l.first] == l.second; }))
                    continue;
                if (!m["width"].empty() && m["width"] != "8") continue;
                const double x = std::atof(std::string(m[p.over]).c_str());
                const double y = p.of.empty() ? m.ns() : m.counter(p.of);
                if (std::isnan(y) || x <= 0 || y <= 0) continue;
                std::string name(m["who"]);
                if (!m["backend"].empty() && name == "tmigr") name += " " + std::string(m["backend"]);
                if (p.given.empty() && m["expiries"] == "1") name += " with expiries";
                std::replace(name.begin(), name.end(), '_', ' ');
                auto at = std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return l.first == name; });
                if (at == lines.end()) at = lines.insert(lines.end(), {name, {}});
                at->second.emplace_back(x, y);
            }
        if (std::none_of(lines.begin(), lines.end(), [](const auto& l) { return l.second.size() > 1; })) continue;
        std::ofstream data(folder / (p.file + ".dat"));
        std::ofstream script(folder / (p.file + ".gp"));
        fmt::print(script,
                   "set terminal svg size 900,520 noenhanced background '#ffffff'\nset output '{}.svg'\nset title '{}'\n"
                   "set xlabel '{}'\nset ylabel '{}'\nset key outside right\nset grid\nset logscale y\n{}plot ",
                   p.file, p.title, p.over_text, p.of_text, p.log_x ? "set logscale x\n" : "");
        for (std::size_t i = 0; i < lines.size(); ++i) {
            std::sort(lines[i].second.begin(), lines[i].second.end());
            for (const auto& [x, y] : lines[i].second) fmt::print(data, "{} {}\n", x, y);
            data << "\n\n";
            std::string title = lines[i].first;
            std::replace(title.begin(), title.end(), '\'', ' ');
            fmt::print(script, "{}'{}.dat' index {} with linespoints linewidth {} title '{}'", i == 0 ? "" : ", ", p.file, i,
                       title.starts_with("tmigr") ? 3 : 1, title);
        }
        script << '\n';
        if (!data.flush() || !script.flush())
            throw bad_input(fmt::format("{}: expected a folder that can be written to", folder.string()));
        made.push_back(p.file);
    }
    return made;
}

}  // namespace tmigr::report

#endif
