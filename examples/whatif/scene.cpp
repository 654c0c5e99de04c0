// SPDX-License-Identifier: BSL-1.0
#include "scene.hpp"

#include "background.hpp"
#include "idle_states.hpp"
#include "named_workloads.hpp"
#include "recording.hpp"
#include "rt_app.hpp"

#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>
#include <tmigr/io/cpus.hpp>
#ifdef TMIGR_WHATIF_WITH_HWLOC
#include <tmigr/io/hwloc.hpp>
#include <tmigr/io/live.hpp>
#endif

#include <fmt/format.h>

#include <array>
#include <bit>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

namespace whatif {

namespace {

constexpr std::size_t most_text = std::size_t{1} << 30;

#ifdef TMIGR_WHATIF_WITH_HWLOC
tmigr::topology read_hwloc(const std::string& file) { return tmigr::read_hwloc(file); }
tmigr::topology read_live() { return tmigr::read_live(); }
#else
tmigr::topology read_hwloc(const std::string&) { throw usage_error("--hwloc: built without hwloc"); }
tmigr::topology read_live() { throw usage_error("--live: built without hwloc"); }
#endif

tmigr::topology read_cpus(const scene_options& chosen) {
    switch (chosen.machine) {
        case machine_source::cpus: return tmigr::read_cpus(std::filesystem::path{chosen.machine_file});
        case machine_source::hwloc: return read_hwloc(chosen.machine_file);
        case machine_source::live: break;
    }
    return read_live();
}

/// A whole file: points of a sweep read it again and again, and it may come from a pipe.
std::string read_text(const std::string& path) {
    std::ifstream in = tmigr::detail::open_input(path);
    std::string text;
    std::array<char, 65536> piece;
    do {
        in.read(piece.data(), piece.size());
        if (in.bad()) throw tmigr::input_error(path, "a readable file", path);
        text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
        if (text.size() > most_text)
            throw tmigr::input_error("more", fmt::format("at most {} MiB", most_text >> 20), path);
    } while (in);
    return text;
}

/// FNV-1a, 64 bits.
class fingerprint_maker {
public:
    void add(std::string_view text) {
        add(text.size());
        for (const char c : text) byte(static_cast<unsigned char>(c));
    }
    void add(std::uint64_t number) {
        for (unsigned shift = 0; shift < 64; shift += 8) byte(static_cast<unsigned char>(number >> shift));
    }
    std::uint64_t value() const { return value_; }

private:
    void byte(unsigned char b) { value_ = (value_ ^ b) * 0x100000001b3u; }
    std::uint64_t value_ = 0xcbf29ce484222325u;
};

std::string note_of(const recording& read) {
    return fmt::format("recording {} lines; it counted {} wake-ups, {} timers run by their own CPU and {} by another\n",
                       read.lines, read.wakeups(), read.own_expiries(), read.remote_expiries());
}

}  // namespace

scene_source::scene_source(const scene_options& chosen) : chosen_(chosen) {
    const std::string name = chosen_.machine == machine_source::live
                                 ? "this machine"
                                 : std::filesystem::path{chosen_.machine_file}.stem().string();
    hardware_ = make_machine(read_cpus(chosen_), name);
    if (chosen_.idle_states) read_idle_states(std::filesystem::path{*chosen_.idle_states}, hardware_);
    if (hardware_.size() == 0)
        throw tmigr::input_error("", "a machine with at least one CPU", chosen_.machine_file);
    if (chosen_.background) {
        background_file_ = read_text(*chosen_.background);
        std::istringstream in{background_file_};
        background_ = read_background(in, *chosen_.background);
    }
    if (chosen_.load != workload_source::named) load_file_ = read_text(chosen_.load_text);
}

scene scene_source::make(const point_parameters& point) const {
    scene made{hardware_, {}, {}};
    made.hardware.hertz = point.hertz;
    if (chosen_.load == workload_source::named || !point.workload.empty()) {
        made.load =
            make_workload(point.workload.empty() ? chosen_.load_text : point.workload, made.hardware, background_);
        if (chosen_.background)
            made.note = fmt::format("background {}\n", std::filesystem::path{*chosen_.background}.filename().string());
        return made;
    }
    std::istringstream in{load_file_};
    if (chosen_.load == workload_source::rt_app) {
        made.load = read_rt_app(in, chosen_.load_text, made.hardware);
    } else {
        recording read = read_recording(in, chosen_.load_text, made.hardware);
        made.note = note_of(read);
        made.load = std::move(read.load);
    }
    if (made.load.name.empty()) made.load.name = std::filesystem::path{chosen_.load_text}.stem().string();
    return made;
}

nanoseconds scene_source::length_of(const scene& made, const point_parameters& point) {
    if (point.length != 0) return point.length;
    return made.load.length != 0 ? made.load.length : nanoseconds{60'000'000'000};
}

std::uint64_t scene_source::fingerprint() const {
    fingerprint_maker made;
    made.add(hardware_.name);
    for (const tmigr::cpu_info& cpu : hardware_.cpus.cpus()) {
        made.add(cpu.id);
        made.add(static_cast<std::uint64_t>(cpu.node));
        made.add(cpu.capacity);
        made.add(cpu.cache);
        made.add(cpu.core);
    }
    made.add(hardware_.cpus.possible_cpus());
    made.add(hardware_.cpus.possible_nodes());
    for (const idle_table& table : hardware_.tables) {
        made.add(std::bit_cast<std::uint64_t>(table.busy_milliwatts));
        for (const idle_state& state : table.states) {
            made.add(state.name);
            for (const nanoseconds time : {state.entry, state.exit, state.residency}) made.add(time);
            made.add(std::bit_cast<std::uint64_t>(state.milliwatts));
        }
    }
    for (const std::size_t table : hardware_.table_of) made.add(table);
    made.add(static_cast<std::uint64_t>(chosen_.load));
    made.add(chosen_.load == workload_source::named ? std::string_view{chosen_.load_text} : load_file_);
    // What parts of older versions agreed on stays the same where there is none.
    if (chosen_.background) made.add(background_file_);
    return made.value();
}

}  // namespace whatif
