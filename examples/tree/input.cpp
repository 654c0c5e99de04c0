// SPDX-License-Identifier: BSL-1.0
#include "input.hpp"

#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>
#include <tmigr/io/cpus.hpp>
#include <tmigr/io/ftrace.hpp>
#ifdef TMIGR_TREE_WITH_HWLOC
#include <tmigr/io/hwloc.hpp>
#include <tmigr/io/live.hpp>
#endif

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace tree_tool {

namespace {

constexpr std::size_t most_text = std::size_t{1} << 30;

#ifdef TMIGR_TREE_WITH_HWLOC
tmigr::topology read_hwloc(const std::string& file) { return tmigr::read_hwloc(file); }
tmigr::topology read_live() { return tmigr::read_live(); }
#else
tmigr::topology read_hwloc(const std::string&) { throw usage_error("--hwloc: built without hwloc"); }
tmigr::topology read_live() { throw usage_error("--live: built without hwloc"); }
#endif

[[noreturn]] void refuse_zero(std::string_view text, std::size_t zero, const std::string& path) {
    const std::string_view before = text.substr(0, zero);
    const auto line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
    const std::size_t begin = before.rfind('\n') + 1;  // 0 where there is none
    throw tmigr::input_error(std::string{text.substr(begin, text.find('\n', begin) - begin)},
                             "text without bytes of value 0", path, line);
}

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

void set_full_dynticks(tmigr::topology& machine, const options& chosen) {
    try {
        machine.set_full_dynticks(chosen.full_dynticks);
    } catch (const tmigr::input_error& error) {
        throw error.at("--full-dynticks", 0);
    }
}

std::string read_text(const std::string& path) {
    std::ifstream in = tmigr::detail::open_input(path);
    std::string text;
    std::array<char, 65536> piece;
    do {
        in.read(piece.data(), piece.size());
        if (in.bad()) throw tmigr::input_error(path, "a readable file", path);
        text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
        // A device or a disk image need not be read up to the limit to be known for what it is.
        if (const std::size_t zero = text.find('\0', text.size() - static_cast<std::size_t>(in.gcount()));
            zero != text.npos)
            refuse_zero(text, zero, path);
        if (text.size() > most_text)
            throw tmigr::input_error("more", fmt::format("at most {} MiB", most_text >> 20), path);
    } while (in);
    return text;
}

tmigr::linux_form form_of_trace(std::string_view text) {
    const std::size_t at = text.find(": tmigr_connect_");
    if (at == text.npos) return tmigr::linux_form::newest;
    const std::string_view line = text.substr(at, text.substr(at).find('\n'));
    const bool newest = line.find(" capacity=") != line.npos || line.find(" family=") != line.npos;
    return newest ? tmigr::linux_form::newest : tmigr::linux_form::v6_13;
}

}  // namespace tree_tool
