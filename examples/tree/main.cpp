// SPDX-License-Identifier: BSL-1.0
// tmigr-tree: shows the timer-migration tree of a machine. See docs/tmigr-tree.md.
#include "describe.hpp"
#include "input.hpp"
#include "options.hpp"
#include "output.hpp"
#include "verify.hpp"

#include <tmigr/atomics/plain.hpp>
#include <tmigr/draw.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/text_tracer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <exception>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tree_tool {

namespace {

struct traced_config : tmigr::linux_config<tmigr::plain_atomics> {
    using tracer = tmigr::text_tracer;
};
using traced_hierarchy = tmigr::basic_hierarchy<traced_config>;

/// Time in the trace is made up: a microsecond a step keeps the lines in their order.
class clock {
public:
    explicit clock(traced_hierarchy& tree) : tree_(tree) {}
    void tick() { tree_.tracer().set_time(now_ += 1000); }

private:
    traced_hierarchy& tree_;
    std::uint64_t now_ = 0;
};

/// The CPU that an option names, which must be awake or not as it says there.
auto find_cpu(traced_hierarchy& tree, const tmigr::topology& machine, tmigr::cpu_id id, bool awake,
              const char* option) {
    try {
        const auto cpu = tree.cpu(machine.cpu(id).id);
        if (cpu.is_active() != awake)
            throw tmigr::input_error(std::to_string(id),
                                     awake ? "a CPU that is awake" : "a CPU that is idle");
        return cpu;
    } catch (const tmigr::input_error& error) {
        throw error.at(option, 0);
    }
}

void let_act(traced_hierarchy& tree, const tmigr::topology& machine, clock& time, const options& chosen) {
    for (tmigr::cpu_id id : chosen.activate) {
        const auto cpu = find_cpu(tree, machine, id, false, "--activate");
        time.tick();
        cpu.activate();
    }
    for (tmigr::cpu_id id : chosen.deactivate) {
        const auto cpu = find_cpu(tree, machine, id, true, "--deactivate");
        time.tick();
        cpu.deactivate();
    }
}

std::string drawing(const traced_hierarchy& tree) {
    std::ostringstream text;
    tmigr::draw_text(text, tree);
    return std::move(text).str();
}

std::string dot_of(const traced_hierarchy& tree) {
    std::ostringstream text;
    tmigr::draw_dot(text, tree);
    return std::move(text).str();
}

/// Who is in charge, of each tree.
std::string migrators(traced_hierarchy& tree) {
    if (tree.plan().joined() || tree.shape().cpus.empty()) {
        const auto migrator = tree.migrator();
        return migrator ? fmt::format("CPU {} is the migrator of everything\n", *migrator) : "nobody is awake\n";
    }
    std::string text;
    std::vector<bool> told(tree.shape().roots.size());
    for (const tmigr::shape_cpu& cpu : tree.shape().cpus) {
        const std::size_t number = tree.shape().groups[cpu.group].tree;
        if (told[number]) continue;
        told[number] = true;
        const auto migrator = tree.cpu(cpu.info.id).migrator();
        const std::size_t root = tree.shape().roots[number] + 1;
        text += migrator ? fmt::format("CPU {} is the migrator below group {}\n", *migrator, root)
                         : fmt::format("nobody is awake below group {}\n", root);
    }
    return text;
}

/// Everything is made before anything is written, so that bad input leaves no files.
void show(const options& chosen) {
    machine_input read = read_machine(chosen);
    set_full_dynticks(read.machine, chosen);
    std::ostringstream trace;
    const tmigr::family_policy policy = chosen.family.value_or(tmigr::families::linux_default());
    traced_hierarchy tree{tmigr::family_plan{read.machine, policy, chosen.width},
                          {chosen.width, read.form},
                          chosen.ftrace ? tmigr::text_tracer{trace, read.form, chosen.ftrace_field}
                                        : tmigr::text_tracer{}};
    clock time{tree};
    for (const tmigr::cpu_info& cpu : read.machine.cpus()) {
        time.tick();
        tree.add(cpu);
    }
    let_act(tree, read.machine, time, chosen);

    std::string text =
        describe(read.machine, tree.shape(), tree.estimate(), {chosen.width, read.form},
                 chosen.family ? "families" : "nodes");
    if (chosen.family) text += describe_families(read.machine, tree.shape(), tree.plan(), policy.name);
    text += '\n';
    if (!chosen.quiet) text += drawing(tree) + '\n';
    text += migrators(tree);

    std::vector<output_file> files;
    const auto deliver = [&](const std::string& path, std::string content) {
        if (path == "-")
            text = std::move(content);
        else
            files.push_back({path, std::move(content)});
    };
    if (chosen.dot) deliver(*chosen.dot, dot_of(tree));
    if (chosen.ftrace) deliver(*chosen.ftrace, std::move(trace).str());
    write_files(files);
    write_stdout(text);
}

int run(int argc, char** argv) {
    const auto chosen = read_options(argc, argv);
    if (!chosen) return 0;
    if (!chosen->verify) {
        show(*chosen);
        return 0;
    }
    const verification result = verify(*chosen);
    write_stdout(result.report);
    return result.agrees ? 0 : 1;
}

}  // namespace

}  // namespace tree_tool

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return tree_tool::run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "tmigr-tree: {}\n", error.what());
        return 2;
    }
}
