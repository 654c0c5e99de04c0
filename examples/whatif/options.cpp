// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include "named_workloads.hpp"

#include <tmigr/input_error.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <utility>

namespace whatif {

namespace {

constexpr const char* version = "0.1.0";

constexpr const char* description =
    "Answers what another timer-migration policy would do: simulates a workload on a machine under\n"
    "each policy and compares how long CPUs sleep, what wakes them, and how late timers run.\n";

constexpr const char* footer =
    "Examples:\n"
    "  tmigr-whatif --cpus orion-o6.cpus --idle-states orion-o6.idle.json --seconds 600 --policy all\n"
    "      an idle Orion O6 under every policy, against none; --background orion-o6.background.json adds what it\n"
    "      was seen to do meanwhile\n"
    "  tmigr-whatif --cpus phone.cpus --rt-app video.json --policy prefer-low,buckets:128 --runs 10\n"
    "      a workload of rt-app, mean and standard deviation of ten seeds\n"
    "  tmigr-whatif sweep --live seed=1..100 policy=off,split --shard 3/8 --out results\n"
    "  tmigr-whatif merge --out results.jsonl results.*-of-8.jsonl\n"
    "      the third of eight parts of a sweep; all parts together\n"
    "\n"
    "Exit status: 0 fine, 2 bad command line, input or output file.";

/// Runs a reader and says which option the value that it refuses was given to.
template <class Read>
auto for_option(const char* option, Read read) {
    try {
        return read();
    } catch (const tmigr::input_error& error) {
        throw error.at(option, 0);
    }
}

/// As text from the command line, where there was some.
struct raw_options {
    std::optional<std::string> cpus, hwloc, idle_states, background, workload, rt_app, trace, policy, baseline, seconds, seed, runs,
        hz, governor, window, shard, out;
    bool live = false, keep_tick = false;
    std::vector<std::string> axes;
};

void add_scene(CLI::App& app, raw_options& raw) {
    const auto file = [&](const char* name, auto& to, const char* group, const char* text) {
        app.add_option(name, to, text)->type_name("FILE")->group(group);
    };
    const char* const machines = "Machine, one of the first three";
    file("--cpus", raw.cpus, machines, "List of CPUs, a line each: cpu node capacity (1..1024)");
    file("--hwloc", raw.hwloc, machines, "XML that `lstopo --of xml` wrote (hwloc 2)");
    app.add_flag("--live", raw.live, "This machine")->group(machines);
    file("--idle-states", raw.idle_states, machines, "What its CPUs can do when idle (JSON)");
    app.add_option("--hz", raw.hz, "Ticks a second, 10..10000; default 250")->type_name("N")->group(machines);
    app.add_option("--governor", raw.governor, "How CPUs guess how long they will sleep: menu\n(default) or perfect")
        ->type_name("NAME")
        ->group(machines);
    app.add_flag("--keep-tick", raw.keep_tick, "The tick does not stop on idle CPUs")->group(machines);

    const char* const loads = "Workload, one of the first three";
    const auto names = workload_names();
    app.add_option("--workload", raw.workload, fmt::format("{}; default idle", fmt::join(names, ", ")))
        ->type_name("NAME")
        ->group(loads);
    file("--rt-app", raw.rt_app, loads, "Workload of rt-app (JSON)");
    file("--trace", raw.trace, loads, "Linux trace text: its timers and busy phases");
    file("--background", raw.background, loads, "What the system does besides a named workload (JSON)");
    app.add_option("--seconds", raw.seconds, "Simulated time; default 60, of a trace its own")
        ->type_name("S")
        ->group(loads);
    app.add_option("--seed", raw.seed, "Of the random numbers; default 1")->type_name("N")->group(loads);
    app.add_option("--runs", raw.runs, "Runs of this many seeds, 1..10000: mean and standard\ndeviation")
        ->type_name("N")
        ->group(loads);
}

void take_scene(const raw_options& raw, options& chosen) {
    const int machines = raw.cpus.has_value() + raw.hwloc.has_value() + raw.live;
    if (machines != 1)
        throw usage_error(std::string{machines == 0 ? "no machine" : "more than one machine"} +
                          "; expected one of --cpus, --hwloc, --live (see --help)");
    scene_options& scene = chosen.scene;
    scene.machine = raw.cpus ? machine_source::cpus : raw.hwloc ? machine_source::hwloc : machine_source::live;
    scene.machine_file = raw.cpus.value_or(raw.hwloc.value_or(""));
    scene.idle_states = raw.idle_states;
    if (raw.workload.has_value() + raw.rt_app.has_value() + raw.trace.has_value() > 1)
        throw usage_error("more than one workload; expected one of --workload, --rt-app, --trace (see --help)");
    if (raw.rt_app) {
        scene.load = workload_source::rt_app;
        scene.load_text = *raw.rt_app;
    } else if (raw.trace) {
        scene.load = workload_source::trace;
        scene.load_text = *raw.trace;
    } else if (raw.workload) {
        point_parameters checked;
        for_option("--workload", [&] { set_parameter(checked, "workload", *raw.workload); });
        scene.load_text = *raw.workload;
    }
    if (raw.background && scene.load != workload_source::named)
        throw usage_error("--background with --rt-app or --trace; expected it with a named workload only");
    scene.background = raw.background;
    const auto set = [&](const char* option, const char* name, const std::optional<std::string>& value) {
        if (value) for_option(option, [&] { set_parameter(chosen.base, name, *value); });
    };
    set("--hz", "hz", raw.hz);
    set("--governor", "governor", raw.governor);
    set("--seconds", "seconds", raw.seconds);
    set("--seed", "seed", raw.seed);
    chosen.base.tick_stops = !raw.keep_tick;
    if (raw.runs) chosen.runs = for_option("--runs", [&] { return static_cast<std::size_t>(read_whole(*raw.runs, 1, 10'000)); });
    if (chosen.base.seed > std::numeric_limits<std::uint64_t>::max() - chosen.runs)
        throw tmigr::input_error(*raw.seed, "a seed with room for those of all runs", "--seed");
}

std::vector<std::string> read_policies(const std::string& text) {
    if (text == "all") return policies();
    std::vector<std::string> chosen;
    std::string_view rest = text;
    for (bool more = true; more;) {
        const std::string_view item = rest.substr(0, rest.find(','));
        more = item.size() < rest.size();
        if (more) rest.remove_prefix(item.size() + 1);
        check_policy(item);
        if (std::ranges::find(chosen, item) != chosen.end())
            throw tmigr::input_error(std::string{item}, "each policy once");
        chosen.emplace_back(item);
    }
    return chosen;
}

/// `TO` or `FROM-TO`, in seconds.
window read_window(const std::string& text) {
    const std::string_view all = text;
    const std::size_t dash = all.find('-');
    window shown;
    if (dash != all.npos) shown.from = read_seconds(all.substr(0, dash), 0);
    shown.to = read_seconds(dash == all.npos ? all : all.substr(dash + 1));
    if (shown.to <= shown.from) throw tmigr::input_error(text, "an end behind the begin, as in 1.5-2");
    return shown;
}

void take_outputs(const raw_options& raw, options& chosen) {
    chosen.policies = for_option("--policy", [&] { return read_policies(raw.policy.value_or("linux-default")); });
    if (raw.baseline) {
        chosen.baseline = *raw.baseline == "none" ? "" : *raw.baseline;
        if (!chosen.baseline.empty()) for_option("--baseline", [&] { check_policy(chosen.baseline); });
    }
    // The one that others are compared with comes first.
    if (!chosen.baseline.empty()) {
        std::erase(chosen.policies, chosen.baseline);
        chosen.policies.insert(chosen.policies.begin(), chosen.baseline);
    }
    if (raw.window) chosen.shown = for_option("--window", [&] { return read_window(*raw.window); });
    if (raw.window && !chosen.plot && !chosen.chrome) throw usage_error("--window needs --plot or --chrome-trace");
    if (chosen.ftrace && chosen.policies.size() != 1)
        throw usage_error("--ftrace needs one policy: --policy NAME --baseline none");
    if (chosen.plot && (*chosen.plot == "-" || chosen.plot->empty()))
        throw tmigr::input_error(*chosen.plot, "the beginning of file names", "--plot");
    std::vector<std::string> places;
    for (const auto* place : {&chosen.csv, &chosen.json, &chosen.ftrace, &chosen.chrome})
        if (*place) places.push_back(**place);
    if (chosen.plot)
        for (const char* made : {".gp", "-residency.png", "-timeline.png"}) places.push_back(*chosen.plot + made);
    std::ranges::sort(places);
    const auto twice = std::ranges::adjacent_find(places);
    if (twice != places.end()) throw usage_error("two outputs cannot go to the same place: " + *twice);
}

std::optional<std::uint64_t> number_from(const char* variable) {
    const char* const text = std::getenv(variable);
    if (!text) return std::nullopt;
    try {
        return read_whole(text, 0, std::numeric_limits<std::uint32_t>::max());
    } catch (const tmigr::input_error& error) {
        throw error.at(variable, 0);
    }
}

}  // namespace

shard read_shard(std::string_view text) {
    constexpr std::uint64_t most = 1'000'000;
    if (text != "env") {
        const std::size_t slash = text.find('/');
        try {
            if (slash == text.npos) throw tmigr::input_error("", "");
            const std::uint64_t parts = read_whole(text.substr(slash + 1), 1, most);
            return {read_whole(text.substr(0, slash), 1, parts), parts};
        } catch (const tmigr::input_error&) {
            throw tmigr::input_error(std::string{text}, "K/N with K from 1 to N, or env", "--shard");
        }
    }
    const auto ranked = [&](const char* rank_name, const char* size_name) -> std::optional<shard> {
        const auto rank = number_from(rank_name), size = number_from(size_name);
        if (!rank || !size) return std::nullopt;
        if (*size < 1 || *rank >= *size || *size > most)
            throw tmigr::input_error(fmt::format("{}={}, {}={}", rank_name, *rank, size_name, *size),
                                     "a rank below the size", "--shard");
        return shard{*rank + 1, *size};
    };
    if (const auto found = ranked("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")) return *found;
    if (const auto found = ranked("PMI_RANK", "PMI_SIZE")) return *found;
    const auto id = number_from("SLURM_ARRAY_TASK_ID"), first = number_from("SLURM_ARRAY_TASK_MIN"),
               step = number_from("SLURM_ARRAY_TASK_STEP"), count = number_from("SLURM_ARRAY_TASK_COUNT");
    if (id && first && count) {
        const std::uint64_t by = std::max<std::uint64_t>(step.value_or(1), 1);
        if (*id < *first || (*id - *first) % by != 0 || (*id - *first) / by >= *count || *count > most)
            throw tmigr::input_error(fmt::format("SLURM_ARRAY_TASK_ID={}", *id), "a task of an array without holes",
                                     "--shard");
        return {(*id - *first) / by + 1, *count};
    }
    if (const auto found = ranked("SLURM_PROCID", "SLURM_NTASKS")) return *found;
    throw tmigr::input_error("env", "a process that mpirun, srun or a Slurm array started, or K/N",
                             "--shard");
}

std::optional<options> read_options(int argc, char** argv) {
    options chosen;
    raw_options raw, raw_sweep;

    CLI::App app{description, "tmigr-whatif"};
    app.get_formatter()->column_width(28);
    app.footer(footer);
    app.set_help_flag("--help,-h", "Print this and exit");
    app.set_version_flag("--version", std::string{"tmigr-whatif "} + version, "Print the version and exit");
    app.require_subcommand(0, 1);
    add_scene(app, raw);

    const char* const asking = "Policies";
    app.add_option("--policy", raw.policy,
                   fmt::format("all, or one or more of: {}\n(parameters behind a colon, as in buckets:128); default linux-default",
                               fmt::join(policies(), ", ")))
        ->type_name("NAME,...")
        ->group(asking);
    app.add_option("--baseline", raw.baseline, "What the others are compared with; default off; or none")
        ->type_name("POLICY")
        ->group(asking);

    const char* const showing = "Output, besides a table; - is standard output, in its place";
    const auto file = [&](const char* name, std::optional<std::string>& to, const char* type, const char* text) {
        app.add_option(name, to, text)->type_name(type)->group(showing);
    };
    file("--csv", chosen.csv, "FILE", "A line for each figure");
    file("--json", chosen.json, "FILE", "Machine and figures");
    file("--plot", chosen.plot, "PREFIX", "PREFIX.gp for gnuplot and, where that is there, its\npictures PREFIX-residency.png, PREFIX-timeline.png");
    file("--ftrace", chosen.ftrace, "FILE", "Linux trace text of the first run of one policy");
    file("--chrome-trace", chosen.chrome, "FILE", "The first run of each policy for chrome://tracing or\nPerfetto (JSON)");
    app.add_option("--window", raw.window, "Seconds of the run in timelines (default 0-1) and the\nChrome trace (default all)")
        ->type_name("[FROM-]TO")
        ->group(showing);
    app.add_flag("--per-cpu", chosen.per_cpu, "CPUs one by one also where there are more than 16")->group(showing);
    app.add_flag("--quiet,-q", chosen.quiet, "No table")->group(showing);

    CLI::App* const sweep = app.add_subcommand("sweep", "Runs all combinations of parameters, or a part of them");
    CLI::App* const merge = app.add_subcommand("merge", "Puts the parts of a sweep together");
    sweep->get_formatter()->column_width(28);
    add_scene(*sweep, raw_sweep);
    sweep->add_option("parameters", raw_sweep.axes,
                      "policy, buckets, gated-split, tolerance, workload, seed, hz,\ngovernor, seconds, tick-stop; each with its values")
        ->type_name("NAME=V1,V2,...")
        ->required();
    sweep->add_option("--shard", raw_sweep.shard, "This is part K of N; env: as mpirun or Slurm says")->type_name("K/N");
    sweep->add_option("--out", raw_sweep.out, "Writes PREFIX.K-of-N.jsonl")->type_name("PREFIX")->required();
    bool sweep_per_cpu = false;
    sweep->add_flag("--per-cpu", sweep_per_cpu, "Figures of each CPU, too");
    merge->add_option("parts", chosen.parts, "What all parts of one sweep wrote")->type_name("FILE")->required();
    std::optional<std::string> merged;
    merge->add_option("--out", merged, "Writes what one part alone would have written")->type_name("FILE")->required();

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked) {
        app.exit(asked);
        return std::nullopt;
    } catch (const CLI::ParseError& error) {
        throw usage_error(error.what());
    }

    if (*sweep || *merge) {
        const std::string name = *sweep ? "sweep" : "merge";
        for (const CLI::Option* option : app.get_options())
            if (option->count() > 0)
                throw usage_error(option->get_name() + " does not belong in front of " + name);
    }
    if (*merge) {
        chosen.what = command::merge;
        chosen.out = *merged;
        return chosen;
    }
    if (*sweep) {
        chosen.what = command::sweep;
        chosen.per_cpu = sweep_per_cpu;
        take_scene(raw_sweep, chosen);
        chosen.out = *raw_sweep.out;
        if (raw_sweep.shard) chosen.shard = read_shard(*raw_sweep.shard);
        for (const std::string& text : raw_sweep.axes)
            for_option("sweep", [&] { add_axis(chosen.axes, read_axis(text)); });
        for_option("sweep", [&] { return count_points(chosen.axes); });
        const bool names_load = std::ranges::find(chosen.axes, "workload", &axis::name) != chosen.axes.end();
        if (names_load && (raw_sweep.workload || raw_sweep.rt_app || raw_sweep.trace))
            throw usage_error("the workload is a parameter of the sweep, or an option, not both");
        return chosen;
    }
    take_scene(raw, chosen);
    take_outputs(raw, chosen);
    return chosen;
}

}  // namespace whatif
