// SPDX-License-Identifier: BSL-1.0
// tmigr-whatif: what another timer-migration policy would do. See docs/tmigr-whatif.md.
#include "chrome_trace.hpp"
#include "files.hpp"
#include "ftrace_lines.hpp"
#include "options.hpp"
#include "plot.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "runs.hpp"
#include "scene.hpp"
#include "sweep.hpp"
#include "timeline.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace whatif {

namespace {

constexpr std::size_t few_cpus = 16;

/// What is written while simulations run, and what watches them for that.
class recorder {
public:
    recorder(const options& chosen, const machine& hardware, file_set& files)
        : chosen_(chosen), hardware_(hardware) {
        if (chosen.chrome) chrome_.emplace(files.open(*chosen.chrome));
        if (chosen.ftrace) {
            trace_ = &files.open(*chosen.ftrace);
            lines_.emplace(*trace_, hardware_, !is_tree(chosen.policies.front()));
        }
    }

    /// For the next policy; valid until `finish`.
    watchers begin(const std::string& policy) {
        watchers all;
        if (chrome_) {
            process_.emplace(*chrome_, hardware_, policy, ++processes_, chosen_.shown.value_or(window{}));
            all.observers.push_back(&*process_);
        }
        if (lines_) all.observers.push_back(&*lines_);
        all.trace = trace_;
        if (chosen_.plot) {
            timelines_.emplace_back(policy, hardware_.size(), chosen_.shown.value_or(window{0, 1'000'000'000}));
            all.observers.push_back(&timelines_.back());
        }
        return all;
    }
    void finish(nanoseconds length) {
        if (process_) process_->finish(length);
        process_.reset();
        if (chosen_.plot) timelines_.back().finish(length);
    }
    void close() {
        if (chrome_) chrome_->close();
    }
    std::vector<timeline> take_timelines() {
        return {std::make_move_iterator(timelines_.begin()), std::make_move_iterator(timelines_.end())};
    }

private:
    const options& chosen_;
    const machine& hardware_;
    std::optional<chrome_trace> chrome_;
    std::optional<chrome_process> process_;
    std::ostream* trace_ = nullptr;
    std::optional<ftrace_lines> lines_;
    std::list<timeline> timelines_;
    unsigned processes_ = 0;
};

void compare(const options& chosen) {
    // Places first: a run can be long, and in vain where its results have nowhere to go.
    file_set files;
    std::ostream* const csv = chosen.csv ? &files.open(*chosen.csv) : nullptr;
    std::ostream* const json = chosen.json ? &files.open(*chosen.json) : nullptr;

    const scene_source source{chosen.scene};
    const scene made = source.make(chosen.base);
    recorder record{chosen, made.hardware, files};

    report all{.hardware = made.hardware,
               .workload = made.load.name,
               .length = scene_source::length_of(made, chosen.base),
               .governor = std::string{name_of(chosen.base.governor)},
               .seed = chosen.base.seed,
               .runs = chosen.runs,
               .baseline = chosen.baseline,
               .note = made.note,
               .policies = {}};
    {
        progress_bar bar{chosen.policies.size() * chosen.runs};
        for (const std::string& policy : chosen.policies) {
            point_parameters parameters = chosen.base;
            parameters.policy = policy;
            const watchers first = record.begin(policy);
            all.policies.push_back(run_policy(made, parameters, chosen.runs, policy, bar, first));
            record.finish(all.length);
        }
    }
    record.close();
    if (csv) *csv << csv_of(all);
    if (json) *json << json_of(all);
    bool drawn = true;
    if (chosen.plot) drawn = plot(all, record.take_timelines(), *chosen.plot, files);
    files.commit();
    if (!drawn) fmt::print(stderr, "tmigr-whatif: gnuplot is not there; it would draw {}.gp\n", *chosen.plot);

    bool table = !chosen.quiet;
    for (const auto* place : {&chosen.csv, &chosen.json, &chosen.ftrace, &chosen.chrome})
        if (*place == "-") table = false;
    if (table) write_stdout(table_of(all, chosen.per_cpu || made.hardware.size() <= few_cpus));
}

int run_tool(int argc, char** argv) {
    const auto chosen = read_options(argc, argv);
    if (!chosen) return 0;
    switch (chosen->what) {
        case command::simulate: compare(*chosen); break;
        case command::sweep: write_stdout(run_sweep(*chosen) + '\n'); break;
        case command::merge: write_stdout(fmt::format("{} points in {}\n", merge_sweep(*chosen), chosen->out)); break;
    }
    return 0;
}

}  // namespace

}  // namespace whatif

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return whatif::run_tool(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "tmigr-whatif: {}\n", error.what());
        return 2;
    }
}
