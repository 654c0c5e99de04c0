// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>

#include <CLI/CLI.hpp>

#include <string_view>

namespace audit_tool {

namespace {

constexpr const char* version = "0.1.0";

constexpr const char* description =
    "Looks in a trace of Linux's timer_migration events (6.9 and newer) for timers that the tree of CPUs lost\n"
    "sight of: an idle CPU waits for one, and nobody is awake or armed to run it. Says when, for how long and why,\n"
    "and which known fault that is. Also finds groups whose words contradict each other.\n";

constexpr const char* footer =
    "The trace is what ftrace's `trace` or `trace_pipe` or `trace-cmd report` print. It may start anywhere; what\n"
    "cannot be known is not judged. Events of `timer` tell how late the timers ran (docs/tmigr-audit.md says how\n"
    "to record all this).\n"
    "\n"
    "Examples:\n"
    "  tmigr-audit trace.txt --details\n"
    "  trace-cmd report | tmigr-audit --json findings.json\n"
    "  xzcat trace.xz | tmigr-audit --html report.html\n"
    "  tmigr-audit trace.txt --explain 1\n"
    "      the story of the first finding, line by line, with the tree drawn\n"
    "\n"
    "Exit status: 0 nothing found, 1 something found, 2 bad command line, input or output file.";

/// A number of at least 1.
std::size_t number(const std::string& text, const char* option) {
    const auto n = tmigr::detail::parse_number<std::size_t>(text, 1, 1'000'000);
    if (!n) throw tmigr::input_error(text, "a number from 1 to 1000000", option);
    return *n;
}

}  // namespace

std::optional<options> read_options(int argc, char** argv) {
    options chosen;
    std::optional<std::string> most;
    std::vector<std::string> explain;
    bool no_progress = false;

    CLI::App app{description, "tmigr-audit"};
    app.get_formatter()->column_width(28);
    app.footer(footer);
    app.set_help_flag("--help,-h", "Print this and exit");
    app.set_version_flag("--version", std::string{"tmigr-audit "} + version, "Print the version and exit");

    app.add_option("TRACE", chosen.trace, "The trace; - or nothing for standard input")->type_name("");
    app.add_option("--gap-at", chosen.gap_at,
                   "Lines are missing after each line of this event; may be given more than once")
        ->type_name("EVENT")
        ->allow_extra_args(false);
    app.add_option("--most", most, "Keep at most so many findings (default 1000); all are counted")->type_name("N");

    const char* const showing = "Output";
    app.add_flag("--details,-d", chosen.details, "List each finding, with the lines that prove it")->group(showing);
    app.add_option("--explain,-e", explain, "Tell the story of this finding, or of `all`; may be given more than once")
        ->type_name("N")
        ->allow_extra_args(false)
        ->group(showing);
    app.add_option("--json", chosen.json, "Write all as JSON; - for standard output")->type_name("FILE")->group(showing);
    app.add_option("--html", chosen.html, "Write a page to look at: one file, nothing else needed; - for standard output")
        ->type_name("FILE")
        ->group(showing);
    app.add_flag("--quiet,-q", chosen.quiet, "Print nothing but what was asked for")->group(showing);
    app.add_flag("--no-progress", no_progress, "No progress bar, even on a terminal")->group(showing);

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked) {
        app.exit(asked);
        return std::nullopt;
    } catch (const CLI::ParseError& error) {
        throw usage_error(std::string{error.what()} + " (tmigr-audit --help tells more)");
    }
    chosen.progress = !no_progress;
    if (most) chosen.most = number(*most, "--most");
    for (const std::string& which : explain) {
        if (which == "all")
            chosen.explain_all = true;
        else
            chosen.explain.push_back(number(which, "--explain"));
    }
    if (chosen.json == "-" && chosen.html == "-")
        throw usage_error("--json and --html cannot both go to standard output (tmigr-audit --help tells more)");
    return chosen;
}

}  // namespace audit_tool
