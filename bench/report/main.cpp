// SPDX-License-Identifier: BSL-1.0
// tmigr-bench-report: makes tables and plots of what the benchmark programs wrote, and compares
// two runs. scripts/bench calls it.

#include "compare.hpp"
#include "plots.hpp"
#include "results.hpp"
#include "tables.hpp"
#include "targets.hpp"

#include <CLI/CLI.hpp>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

namespace {

using namespace tmigr::report;

void write_report(std::ostream& out, const std::vector<program>& all, const std::vector<std::string>& plots) {
    out << "<!-- SPDX-License-Identifier: BSL-1.0 -->\n# Benchmarks\n\n";
    write_context(out, all);
    targets(all).write(out);
    for (const program& p : all) write_program(out, p);
    if (plots.empty()) return;
    out << "## Plots\n\n";
    for (const std::string& name : plots) out << "![" << name << "](" << name << ".svg)\n";
}

void make_tables(const std::filesystem::path& folder) {
    const std::vector<program> all = read_results(folder);
    const auto plots = write_plots(folder, all);
    std::ofstream out(folder / "results.md");
    write_report(out, all, plots);
    if (!out.flush()) throw bad_input(folder.string() + ": expected a folder that can be written to");
    std::cout << (folder / "results.md").string() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Tables, plots and comparisons of what the benchmarks of tmigr measured"};
    app.name("tmigr-bench-report");
    app.require_subcommand(1);
    std::string folder, before, after;
    CLI::App* const tables = app.add_subcommand("tables", "Writes results.md, and data and scripts for gnuplot");
    tables->add_option("folder", folder, "Folder with *.json, as --benchmark_out writes them")->required();
    CLI::App* const print = app.add_subcommand("print", "Prints the same tables and writes nothing");
    print->add_option("results", folder, "Folder, or one file")->required();
    CLI::App* const comparison = app.add_subcommand("compare", "How much longer the second took than the first");
    comparison->add_option("before", before, "Folder, or one file")->required();
    comparison->add_option("after", after, "Folder, or one file")->required();
    try {
        app.parse(argc, argv);
        if (*tables)
            make_tables(folder);
        else if (*print)
            write_report(std::cout, read_results(folder), {});
        else
            write_comparison(std::cout, read_results(before), read_results(after));
        return std::cout.flush() ? 0 : 1;
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const std::exception& error) {
        std::cerr << "tmigr-bench-report: " << error.what() << '\n';
        return 2;
    }
}
