// SPDX-License-Identifier: BSL-1.0
#include "input.hpp"

#include <tmigr/io/cpus.hpp>
#include <tmigr/io/ftrace.hpp>
#ifdef TMIGR_TREE_WITH_HWLOC
#include <tmigr/io/hwloc.hpp>
#include <tmigr/io/live.hpp>
#endif

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace tree_tool {

namespace {

#ifdef TMIGR_TREE_WITH_HWLOC
tmigr::topology read_hwloc(const std::string& file) { return tmigr::read_hwloc(file); }
tmigr::topology read_live() { return tmigr::read_live(); }
#else
tmigr::topology read_hwloc(const std::string&) { throw usage_error("--hwloc: built without hwloc"); }
tmigr::topology read_live() { throw usage_error("--live: built without hwloc"); }
#endif

machine_input read_input(const options& chosen) {
    switch (chosen.input) {
        case input_kind::cpus: return {tmigr::read_cpus(std::filesystem::path{chosen.file})};
        case input_kind::hwloc: return {read_hwloc(chosen.file)};
        case input_kind::live: return {read_live()};
        case input_kind::trace: break;
    }
    std::string text = read_text(chosen.file);
    const tmigr::linux_form form = form_of_trace(text);
    std::istringstream in{std::move(text)};
    return {tmigr::topology_from_trace(in, chosen.file), form};
}

}  // namespace

machine_input read_machine(const options& chosen) {
    machine_input read = read_input(chosen);
    set_possible(read.machine, chosen);
    if (chosen.form) read.form = *chosen.form;
    return read;
}

void set_possible(tmigr::topology& machine, const options& chosen) {
    machine.set_possible(chosen.possible_cpus.value_or(machine.possible_cpus()),
                         chosen.possible_nodes.value_or(machine.possible_nodes()));
}

std::string read_text(const std::string& path) {
    if (std::error_code none; std::filesystem::is_directory(path, none))
        throw tmigr::input_error("a directory", "a readable file", path);
    std::ifstream in{path, std::ios::binary};
    if (!in) throw tmigr::input_error(path, "a readable file", path);
    std::ostringstream text;
    if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
    if (in.bad() || text.bad()) throw tmigr::input_error(path, "a readable file", path);
    return std::move(text).str();
}

tmigr::linux_form form_of_trace(std::string_view text) {
    const std::size_t at = text.find(": tmigr_connect_");
    if (at == text.npos) return tmigr::linux_form::newest;
    const std::string_view line = text.substr(at, text.substr(at).find('\n'));
    const bool newest = line.find(" capacity=") != line.npos || line.find(" family=") != line.npos;
    return newest ? tmigr::linux_form::newest : tmigr::linux_form::v6_13;
}

}  // namespace tree_tool
