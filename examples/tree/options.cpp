// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>

namespace tree_tool {

namespace {

constexpr const char* version = "0.1.0";

constexpr const char* description =
    "Shows how Linux (6.9 and newer) groups the CPUs of a machine to decide which awake CPU\n"
    "looks after the timers of those that sleep: builds the tree of groups, wakes CPUs and puts\n"
    "them to sleep, draws the result. Or checks what a running kernel printed about its tree.\n";

constexpr const char* footer =
    "In the drawing each line is a group: its level (CPUs are children of level 0), node, bit in its\n"
    "parent (mask), awake children (active) and the one in charge (migrator). Of the CPUs, > marks\n"
    "the one in charge of its group, * others that are awake.\n"
    "\n"
    "Examples:\n"
    "  tmigr-tree --live --activate 0,1\n"
    "      this machine, with CPU 0 woken first and CPU 1 second\n"
    "  lstopo --of xml > server.xml && tmigr-tree --hwloc server.xml --dot - | dot -Tsvg > server.svg\n"
    "      a picture of the tree of another machine\n"
    "  tmigr-tree --cpus phone.cpus --family prefer-low --activate 7,0\n"
    "      small CPUs serve the others: CPU 0 takes over from CPU 7 as soon as it wakes\n"
    "  tmigr-tree --trace trace.txt --verify\n"
    "      whether a trace of events/timer_migration, taken from boot on, is what this library does\n"
    "\n"
    "Exit status: 0 fine, 1 --verify found a difference, 2 bad command line, input or output file.";

std::optional<std::size_t> number(std::string_view text, std::size_t least, std::size_t most) {
    return tmigr::detail::parse_number(text, least, most);
}

/// Numbers and ranges, in the order given: `0,3-5,12`.
std::vector<tmigr::cpu_id> cpu_list(const std::string& text, const std::string& option) {
    std::vector<tmigr::cpu_id> cpus;
    std::string_view rest = text;
    for (bool more = true; more;) {
        const std::string_view item = rest.substr(0, rest.find(','));
        more = item.size() < rest.size();
        if (more) rest.remove_prefix(item.size() + 1);
        const std::size_t dash = item.find('-');
        const auto first = number(item.substr(0, dash), 0, tmigr::max_cpu_id);
        const auto last = dash == item.npos ? first : number(item.substr(dash + 1), 0, tmigr::max_cpu_id);
        if (!first || !last || *last < *first)
            throw tmigr::input_error(std::string{item}, "CPU numbers and ranges such as 0,3-5,12", option);
        for (std::size_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<tmigr::cpu_id>(cpu));
    }
    return cpus;
}

tmigr::linux_form form_named(const std::string& name) {
    if (name == "6.9") return tmigr::linux_form::v6_9;
    if (name == "6.13") return tmigr::linux_form::v6_13;
    if (name == "newest") return tmigr::linux_form::newest;
    throw tmigr::input_error(name, "6.9, 6.13 or newest", "--linux");
}

tmigr::family_policy policy_named(const std::string& name) {
    try {
        return tmigr::families::named(name);
    } catch (const tmigr::input_error& error) {
        throw error.at("--family", 0);
    }
}

void read_possible(const std::string& text, options& chosen) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view all = text;
    chosen.possible_cpus = number(all.substr(0, comma), 1, tmigr::max_cpu_id + 1u);
    if (comma < text.size())
        chosen.possible_nodes = number(all.substr(comma + 1), 1, tmigr::max_node_id + 1u);
    if (!chosen.possible_cpus || (comma < text.size() && !chosen.possible_nodes))
        throw tmigr::input_error(text, "a number of CPUs, or of CPUs and nodes as in 64,2, each at least 1",
                                 "--possible");
}

}  // namespace

std::optional<options> read_options(int argc, char** argv) {
    options chosen;
    std::optional<std::string> cpus, hwloc, trace, activate, deactivate, form, width, possible, family, full_dynticks;
    bool live = false, family_lines = false;

    CLI::App app{description, "tmigr-tree"};
    app.get_formatter()->column_width(28);
    app.footer(footer);
    app.set_help_flag("--help,-h", "Print this and exit");
    app.set_version_flag("--version", std::string{"tmigr-tree "} + version, "Print the version and exit");

    const auto file = [&](const char* name, auto& to, const char* group, const char* text) {
        return app.add_option(name, to, text)->type_name("FILE")->group(group);
    };
    const char* const inputs = "Input, exactly one of";
    file("--cpus", cpus, inputs, "List of CPUs, a line each: cpu node capacity (1..1024)");
    file("--hwloc", hwloc, inputs, "XML that `lstopo --of xml` wrote (hwloc 2)");
    app.add_flag("--live", live, "This machine")->group(inputs);
    file("--trace", trace, inputs, "Kernel trace: the CPUs in the order in which they were connected");

    const char* const building = "Tree";
    app.add_option("--linux", form,
                   "Rules of which kernels: 6.9 (to 6.12), 6.13 (to 6.18, later 6.12.x) or\n"
                   "newest (6.19 on); default newest, for a trace what its lines look like")
        ->type_name("FORM")
        ->group(building);
    app.add_option("--width", width, "Children of a group, 2..8; Linux and the default: 8")
        ->type_name("N")
        ->group(building);
    app.add_option("--possible", possible,
                   "CPUs, and nodes, that the machine could have at most: 64 or 64,2;\n"
                   "default what the input says, or what is there")
        ->type_name("CPUS[,NODES]")
        ->group(building);

    app.add_option("--family", family,
                   "Who shares groups, and who is preferred: linux-default (nodes), balanced, split,\n"
                   "gated-split[:N], prefer-low, prefer-low-per-node, buckets[:STEP] or\n"
                   "tolerance[:PERCENT]; shows the families, too")
        ->type_name("POLICY")
        ->group(building);
    app.add_option("--full-dynticks", full_dynticks,
                   "With --family: these CPUs stop their tick (nohz_full=); trees are not split then")
        ->type_name("LIST")
        ->group(building);

    const char* const acting = "What the CPUs do";
    app.add_option("--activate", activate, "Wake these, in this order: 0,3-5,12")
        ->type_name("LIST")
        ->group(acting);
    app.add_option("--deactivate", deactivate, "Then put these to sleep, in this order")
        ->type_name("LIST")
        ->group(acting);

    const char* const showing = "Output";
    file("--dot", chosen.dot, showing, "Write the tree for Graphviz; - for standard output");
    file("--ftrace", chosen.ftrace, showing,
         "Write what happens as lines of a kernel trace; - for standard output");
    app.add_flag("--family-field", family_lines, "With --ftrace: lines say family= in place of numa=")->group(showing);
    app.add_flag("--quiet,-q", chosen.quiet, "Leave out the drawing")->group(showing);
    app.add_flag("--verify", chosen.verify,
                 "With --trace: compare the kernel's tree with ours, and each of its state\n"
                 "words with what the one before makes of it")
        ->group(showing);
    app.add_option("--gap-at", chosen.gap_at,
                   "With --verify: lines are missing after each line of this event;\n"
                   "may be given more than once")
        ->type_name("EVENT")
        ->allow_extra_args(false)
        ->group(showing);

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked) {
        app.exit(asked);
        return std::nullopt;
    } catch (const CLI::ParseError& error) {
        throw usage_error(error.what());
    }

    const int given = cpus.has_value() + hwloc.has_value() + live + trace.has_value();
    if (given != 1)
        throw usage_error((given == 0 ? "no input" : "more than one input") +
                          std::string{"; expected one of --cpus, --hwloc, --live, --trace (see --help)"});
    chosen.input = cpus    ? input_kind::cpus
                   : hwloc ? input_kind::hwloc
                   : live  ? input_kind::live
                           : input_kind::trace;
    chosen.file = cpus.value_or(hwloc.value_or(trace.value_or("")));
    if (chosen.verify && !trace) throw usage_error("--verify needs --trace");
    if (chosen.verify && (activate || deactivate || chosen.dot || chosen.ftrace || chosen.quiet))
        throw usage_error(
            "--verify does not go together with --activate, --deactivate, --dot, --ftrace or --quiet");
    if (chosen.verify && family) throw usage_error("--verify does not go together with --family");
    if (full_dynticks && !family) throw usage_error("--full-dynticks needs --family");
    if (family_lines && !chosen.ftrace) throw usage_error("--family-field needs --ftrace");
    if (!chosen.gap_at.empty() && !chosen.verify) throw usage_error("--gap-at needs --verify");
    if (std::ranges::count(chosen.gap_at, "") != 0)
        throw tmigr::input_error("", "the name of an event", "--gap-at");
    if (form) chosen.form = form_named(*form);
    if (width) {
        const auto children = number(*width, 2, 8);
        if (!children) throw tmigr::input_error(*width, "a number from 2 to 8", "--width");
        chosen.width = static_cast<unsigned>(*children);
    }
    if (possible) read_possible(*possible, chosen);
    if (family) chosen.family = policy_named(*family);
    if (full_dynticks) chosen.full_dynticks = cpu_list(*full_dynticks, "--full-dynticks");
    if (family_lines) chosen.ftrace_field = tmigr::family_field::family;
    if (activate) chosen.activate = cpu_list(*activate, "--activate");
    if (deactivate) chosen.deactivate = cpu_list(*deactivate, "--deactivate");
    if (chosen.dot && chosen.dot == chosen.ftrace)
        throw usage_error("--dot and --ftrace cannot go to the same place");
    return chosen;
}

}  // namespace tree_tool
