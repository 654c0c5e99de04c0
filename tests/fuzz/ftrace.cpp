// SPDX-License-Identifier: BSL-1.0
// Any text is either a trace or an input_error that names its file. What a replay makes of a trace adds up,
// and so does what the library's tree has to do with it.
#include <tmigr/io/ftrace.hpp>
#include <tmigr/io/outcomes.hpp>
#include <tmigr/io/replay.hpp>
#include <tmigr/io/traced_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

template <class Read>
void attempt(const std::string& text, Read&& read) {
    std::istringstream in{text};
    try {
        read(in);
    } catch (const tmigr::input_error& error) {
        require(error.file() == "input.trace" && !error.expected().empty());
    }
}

template <class State>
void replay_of(const std::string& text, tmigr::replay_options options) {
    attempt(text, [&](std::istream& in) {
        tmigr::ftrace_reader reader{in, "input.trace", tmigr::ftrace_reader::others::keep};
        tmigr::replay<State> check{options};
        const auto counts_add_up = [&](bool finished) {
            const tmigr::replay_counts& c = check.counts();
            require(c.checked == c.agreed + c.different && c.reordered <= c.agreed &&
                    c.early_links <= c.agreed);
            require(finished ? c.lines == c.checked + c.learnt : c.lines >= c.checked + c.learnt);
        };
        while (const auto record = reader.next()) {
            require(record->line == reader.counts().lines);
            check.add(*record);
            counts_add_up(false);
        }
        check.finish();
        counts_add_up(true);
    });
}

void outcomes_of(const std::string& text) {
    std::istringstream for_machine{text}, in{text};
    try {
        const tmigr::topology machine = tmigr::topology_from_trace(for_machine, "input.trace");
        std::vector<tmigr::ftrace_record> records;
        tmigr::ftrace_reader reader{in, "input.trace"};
        while (auto record = reader.next()) records.push_back(std::move(*record));
        const tmigr::outcome_report report = tmigr::compare_outcomes(records, machine, {{}, 2});
        require(report.cut <= report.steps && report.overtaken <= report.steps);
        require(report.differences.size() <= 2 && report.of(tmigr::outcome::different) <= report.checked());
        require(report.differences.empty() == (report.of(tmigr::outcome::different) == 0));
    } catch (const tmigr::input_error& error) {
        require(!error.expected().empty());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text{data, data + size};
    replay_of<tmigr::state32>(text, {});
    replay_of<tmigr::state64x16>(text, {tmigr::pick::lowest, false, 1});
    attempt(text, [](std::istream& in) {
        const tmigr::traced_tree tree = tmigr::read_traced_tree(in, "input.trace");
        require(!tree.cpus().empty() && !tree.roots().empty());
        for (const tmigr::traced_cpu& cpu : tree.cpus()) require(tree.find(cpu.parent) != nullptr);
    });
    outcomes_of(text);
    attempt(text, [](std::istream& in) { require(!tmigr::topology_from_trace(in, "input.trace").empty()); });
    return 0;
}
