// SPDX-License-Identifier: BSL-1.0
#include "verify.hpp"

#include "describe.hpp"
#include "input.hpp"

#include <tmigr/builder.hpp>
#include <tmigr/io/compare_trees.hpp>
#include <tmigr/io/ftrace.hpp>
#include <tmigr/io/replay.hpp>
#include <tmigr/io/traced_tree.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tree_tool {

namespace {

constexpr std::size_t most_shown = 10;

struct kernel_story {
    tmigr::traced_tree tree;
    tmigr::topology machine;
    tmigr::replay<> words;
    tmigr::ftrace_counts counts;
    std::size_t marked_gaps = 0;
};

kernel_story read_story(const std::string& name, std::string text, const std::vector<std::string>& gap_at) {
    kernel_story story;
    std::istringstream in{std::move(text)};
    tmigr::ftrace_reader reader{in, name, tmigr::ftrace_reader::others::keep};
    while (const auto record = reader.next()) {
        try {
            story.tree.add(record->event);
            if (const auto* joined = std::get_if<tmigr::event::connect_cpu_parent>(&record->event))
                story.machine.add(joined->cpu, joined->numa, joined->capacity);
        } catch (const tmigr::input_error& error) {
            throw error.at(name, record->line);
        }
        story.words.add(*record);
        const auto* const other = std::get_if<tmigr::event::other>(&record->event);
        if (other != nullptr && std::ranges::find(gap_at, other->name) != gap_at.end()) {
            story.words.gap();
            ++story.marked_gaps;
        }
    }
    story.words.finish();
    story.counts = reader.counts();
    if (story.machine.empty() && story.words.counts().lines == 0)
        throw tmigr::input_error("a trace without any", "lines of tmigr_connect_* or tmigr_group_set_cpu_*",
                                 name);
    return story;
}

void add_row(std::string& report, std::size_t value, std::string_view what, std::string_view remark = "") {
    report += fmt::format("{:>8}  {}{}\n", value, what, value == 0 ? "" : remark);
}

void add_first(std::string& report, const std::vector<std::string>& sentences, std::size_t all) {
    for (std::size_t i = 0; i < std::min(most_shown, sentences.size()); ++i)
        report += "  " + sentences[i] + '\n';
    if (all > most_shown) report += fmt::format("  and {} more\n", all - most_shown);
}

void add_tree(std::string& report, const kernel_story& story, const std::vector<std::string>& differing) {
    const auto groups = story.tree.groups();
    const auto links = static_cast<std::size_t>(
        std::ranges::count_if(groups, [](const auto& group) { return group.parent != tmigr::no_group; }));
    add_row(report, groups.size(), "groups compared");
    add_row(report, links + story.tree.cpus().size(), "connect events compared",
            fmt::format(": {} of groups, {} of CPUs", links, story.tree.cpus().size()));
    add_row(report, differing.size(), "differences between the trees");
}

void add_words(std::string& report, const tmigr::replay_counts& words) {
    add_row(report, words.checked, "transitions checked");
    add_row(report, words.agreed, "  agreed");
    add_row(report, words.reordered, "    of these reordered", ": printed behind a line that happened later");
    add_row(report, words.different, "  different");
    add_row(report, words.learnt, "transitions learnt",
            ": taken as printed, the state before not being known");
}

}  // namespace

verification verify(const options& chosen) {
    std::string text = read_text(chosen.file);
    const tmigr::shape_options how{chosen.width, chosen.form.value_or(form_of_trace(text))};
    kernel_story story = read_story(chosen.file, std::move(text), chosen.gap_at);

    std::string report;
    std::vector<std::string> tree_differs;
    if (!story.machine.empty()) {
        set_possible(story.machine, chosen);
        tmigr::tree_builder builder{story.machine.possible_cpus(),
                                    std::max(story.machine.possible_nodes(), story.machine.family_count()),
                                    how};
        for (const tmigr::cpu_info& cpu : story.machine.cpus()) builder.add(cpu);
        tree_differs = tmigr::differences(story.tree, builder.shape());
        report = describe(story.machine, builder.shape(), builder.estimate(), how) + '\n';
    }

    const tmigr::replay_counts& words = story.words.counts();
    add_row(report, story.counts.lines, "lines read");
    if (story.counts.unrecognised != 0) add_row(report, story.counts.unrecognised, "  of these not ftrace's");
    if (story.counts.lost != 0) add_row(report, story.counts.lost, "places where the tracer lost lines");
    if (!chosen.gap_at.empty()) add_row(report, story.marked_gaps, "gaps, behind events of --gap-at");
    if (story.machine.empty())
        report += "          no connect events: the tree is not compared\n";
    else
        add_tree(report, story, tree_differs);
    add_words(report, words);

    if (!tree_differs.empty()) {
        report += "\nThe trees differ:\n";
        add_first(report, tree_differs, tree_differs.size());
        if (!chosen.possible_cpus)
            report +=
                "  (kernels plan for all CPUs and nodes that are possible, absent ones too: see "
                "--possible)\n";
    }
    if (words.different != 0) {
        std::vector<std::string> sentences;
        for (const tmigr::replay_difference& d : story.words.differences())
            sentences.push_back(fmt::format("{}:{}: group {:x}: got '{}', expected {}", chosen.file, d.line,
                                            d.group, d.printed, d.expected));
        report += "\nThe transitions differ:\n";
        add_first(report, sentences, words.different);
    }
    const bool agrees = tree_differs.empty() && words.different == 0;
    report += agrees ? "\nkernel and library agree\n" : "\nkernel and library do not agree\n";
    return {std::move(report), agrees};
}

}  // namespace tree_tool
