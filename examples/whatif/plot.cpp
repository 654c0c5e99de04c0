// SPDX-License-Identifier: BSL-1.0
#include "plot.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <stdexcept>

extern "C" char** environ;

namespace whatif {

namespace {

/// For gnuplot's single quotes, in which a quote is written twice; line ends have no place there.
std::string quoted(const std::string& text) {
    std::string safe = "'";
    for (const char c : text) {
        if (c == '\'') safe += '\'';
        safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return safe + '\'';
}

/// A label in a data block, where double quotes hold it together.
std::string label(const std::string& text) {
    std::string safe = "\"";
    for (const char c : text) safe += c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    return safe + '"';
}

/// Busy stands out, deeper states are darker.
constexpr std::array<const char*, 8> colours{"0xd9534f", "0xd6e4f0", "0xa3c4dc", "0x6a9cc4",
                                             "0x3b74a8", "0x1f4e79", "0x122f4a", "0x0a1c2c"};
constexpr const char* offline_colour = "0xbbbbbb";

const char* colour(std::size_t what) {
    if (what == timeline::is_busy) return colours[0];
    if (what == timeline::is_offline) return offline_colour;
    return colours[1 + std::min(what, colours.size() - 2)];
}

struct bars {
    std::string title;
    scope of;
    std::uint64_t which;
    std::size_t cpus;
};

std::string residency(const report& all) {
    std::vector<bars> groups{{"all", scope::all, 0, all.hardware.size()}};
    const std::vector<capacity_class> classes = classes_of(all.hardware);
    if (classes.size() > 1)
        for (const capacity_class& one : classes)
            groups.push_back(
                {fmt::format("capacity {}", one.capacity), scope::capacity_class, one.capacity, one.cpus.size()});
    const std::vector<std::string> states = state_names(all.hardware);
    std::vector<std::string> details{"busy"};
    details.insert(details.end(), states.begin(), states.end());
    const bool offline = std::ranges::any_of(all.policies, [](const summary& of) {
        const figure* const one = of.find(scope::all, 0, "residency", "offline");
        return one && one->mean > 0;
    });
    if (offline) details.emplace_back("offline");

    std::string text;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        text += fmt::format("$class{} << END_OF_DATA\n", g);
        const double time = static_cast<double>(all.length) / 1e9 * static_cast<double>(groups[g].cpus);
        for (const summary& of : all.policies) {
            text += label(of.policy);
            for (const std::string& detail : details) {
                const figure* const one = of.find(groups[g].of, groups[g].which, "residency", detail);
                text += fmt::format(" {:.4f}", one && time > 0 ? 100 * one->mean / time : 0.0);
            }
            text += '\n';
        }
        text += "END_OF_DATA\n";
    }
    const std::size_t columns = groups.size() * (all.policies.size() + 2);
    text += fmt::format("set terminal @TERMINAL size {},600\n", std::clamp<std::size_t>(200 + 28 * columns, 700, 6000));
    text += "set output out.'-residency.'.format\n";
    text += fmt::format("set title {} noenhanced offset 0,0.9\n",
                        quoted(fmt::format("{}, {}: per cent of the time", all.hardware.name, all.workload)));
    text += "set style data histograms\nset style histogram rowstacked\n"
            "set style fill solid border rgb 'white'\nset boxwidth 0.85\nset yrange [0:100]\n"
            "set tmargin 4\nset bmargin 9\nset xtics rotate by -55 scale 0 noenhanced\nset key outside right noenhanced\n";
    for (std::size_t g = 0; g < groups.size(); ++g)
        text += fmt::format("set label {} at {:.1f}, graph 1.03 center noenhanced\n", quoted(groups[g].title),
                            static_cast<double>(g * (all.policies.size() + 1)) +
                                static_cast<double>(all.policies.size() - 1) / 2);
    text += "plot ";
    for (std::size_t g = 0; g < groups.size(); ++g) {
        text += fmt::format("{}newhistogram at {}", g == 0 ? "" : ", \\\n     ",
                            g * (all.policies.size() + 1));
        for (std::size_t d = 0; d < details.size(); ++d)
            text += fmt::format(", \\\n     $class{} using {}{} {} lc rgb {}", g, d + 2,
                                d == 0 ? ":xtic(1)" : "",
                                g == 0 ? "title " + quoted(details[d]) : "notitle",
                                colour(d == 0                ? timeline::is_busy
                                       : d > states.size() ? timeline::is_offline
                                                            : d - 1));
    }
    return text + "\n";
}

std::string timelines(const report& all, const std::vector<timeline>& lines) {
    std::string text = "reset\n";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        text += fmt::format("$timeline{} << END_OF_DATA\n", i);
        for (const timeline::stretch& one : lines[i].stretches())
            text += fmt::format("{:.9f} {:.9f} {} {}\n", static_cast<double>(one.from) / 1e9,
                                static_cast<double>(one.to) / 1e9, one.cpu, colour(one.what));
        // gnuplot does not draw from an empty block.
        if (lines[i].stretches().empty()) text += fmt::format("0 0 0 {}\n", colour(timeline::is_busy));
        text += "END_OF_DATA\n";
    }
    const std::size_t rows = all.hardware.size();
    text += fmt::format("set terminal @TERMINAL size 1400,{}\n",
                        std::clamp<std::size_t>(lines.size() * (80 + 18 * rows), 300, 16000));
    text += "set output out.'-timeline.'.format\n";
    text += fmt::format("set multiplot layout {},1\n", lines.size());
    text += "set style fill solid noborder\nunset key\n";
    text += fmt::format("set yrange [-0.6:{}.6]\n", rows - 1);
    text += "set ytics scale 0 (";
    const std::size_t every = (rows + 31) / 32;
    for (std::size_t cpu = 0; cpu < rows; cpu += every)
        text += fmt::format("{}'CPU {}' {}", cpu == 0 ? "" : ", ", all.hardware.cpus.cpus()[cpu].id, cpu);
    text += ")\n";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const window shown = lines[i].shown();
        text += fmt::format("set xrange [{:.9f}:{:.9f}]\n", static_cast<double>(shown.from) / 1e9,
                            static_cast<double>(shown.to) / 1e9);
        text += fmt::format("set title {} noenhanced\n",
                            quoted(lines[i].policy() + (lines[i].cut() ? " (not all of it: too much)" : "") +
                                   ", time in seconds"));
        text += fmt::format("plot $timeline{} using 1:3:1:2:($3-0.42):($3+0.42):4 with boxxyerror lc rgb variable\n", i);
    }
    return text + "unset multiplot\n";
}

/// False where there is no such program.
bool run_gnuplot(const std::string& settings, const std::string& script) {
    std::string program = "gnuplot", option = "-e", setting = settings, file = script;
    std::array<char*, 5> arguments{program.data(), option.data(), setting.data(), file.data(), nullptr};
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, "gnuplot", nullptr, nullptr, arguments.data(), environ);
    if (error == ENOENT) return false;
    int status = 0;
    if (error == 0)
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (error == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127) return false;
    if (error != 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw std::runtime_error("gnuplot failed; without --plot there is no need for it");
    return true;
}

}  // namespace

std::string plot_script(const report& all, const std::vector<timeline>& lines, const std::string& prefix) {
    std::string text = "# Written by tmigr-whatif. gnuplot -e \"out='NAME'; format='svg'\" draws it elsewhere, as SVG.\n";
    text += fmt::format("if (!exists('out')) out = {}\n", quoted(prefix));
    text += "if (!exists('format')) format = 'png'\n"
            "TERMINAL = format eq 'svg' ? 'svg background rgb \"white\"' : 'pngcairo noenhanced'\n";
    text += residency(all);
    if (!lines.empty()) text += timelines(all, lines);
    return text + "unset output\n";
}

bool plot(const report& all, const std::vector<timeline>& lines, const std::string& prefix, file_set& files) {
    std::ostream& script = files.open(prefix + ".gp");
    script << plot_script(all, lines, prefix);
    script.flush();
    const std::string script_file = files.written(prefix + ".gp");
    // gnuplot makes up the names itself, from one that nobody else has.
    const std::string out = script_file + "-drawn";
    files.adopt(out + "-residency.png", prefix + "-residency.png");
    if (!lines.empty()) files.adopt(out + "-timeline.png", prefix + "-timeline.png");
    return run_gnuplot("out=" + quoted(out), script_file);
}

}  // namespace whatif
