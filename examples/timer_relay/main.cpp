// SPDX-License-Identifier: BSL-1.0
// timer_relay: threads that sleep leave their timers to threads that are awake. See
// docs/timer-relay.md.
#include "trial.hpp"

#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

namespace relay {

namespace {

struct options {
    cpu_id threads = 4;
    ticks length = 3'000'000;
    std::uint64_t seed = 1;
    unsigned width = 8;
    bool quiet = false;
};

constexpr const char* description =
    "Lets some threads work, keep timers and sleep: once without the tree, so that each arms its\n"
    "own timers, and once with it, so that whoever is awake runs those of the sleepers. Prints what\n"
    "that did to wake-ups and lateness. The times are of this machine and whatever else it did.\n";

constexpr const char* footer =
    "Exit status: 0 every timer was run once and none early, 1 not so, 2 bad command line.";

template <class Number>
void read_number(const std::optional<std::string>& text, const char* option, std::size_t least,
                 std::size_t most, Number& to) {
    if (!text) return;
    const auto value = tmigr::detail::parse_number(*text, least, most);
    if (!value) throw tmigr::input_error(*text, fmt::format("a number from {} to {}", least, most), option);
    to = static_cast<Number>(*value);
}

void read_seconds(const std::optional<std::string>& text, ticks& to) {
    if (!text) return;
    double seconds = 0;
    const auto [rest, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
    if (error != std::errc{} || rest != text->data() + text->size() || !(seconds >= 0.05 && seconds <= 600))
        throw tmigr::input_error(*text, "a number of seconds from 0.05 to 600", "--seconds");
    to = tmigr::to_ticks<tick_clock::period>(std::chrono::duration<double>(seconds));
}

std::optional<options> read_options(int argc, char** argv) {
    options chosen;
    std::optional<std::string> threads, seconds, seed, width;
    CLI::App app{description, "timer_relay"};
    app.footer(footer);
    app.set_help_flag("--help,-h", "Print this and exit");
    app.add_option("--threads", threads, "How many, 2..64; default 4")->type_name("N");
    app.add_option("--seconds", seconds, "How long there is work, each time; default 3")->type_name("S");
    app.add_option("--seed", seed, "Of the workload; default 1")->type_name("N");
    app.add_option("--width", width, "Children of a group, 2..8; default 8")->type_name("N");
    app.add_flag("--quiet,-q", chosen.quiet, "Print the last line only");
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked) {
        app.exit(asked);
        return std::nullopt;
    }
    read_number(threads, "--threads", 2, 64, chosen.threads);
    read_seconds(seconds, chosen.length);
    read_number(seed, "--seed", 0, std::numeric_limits<std::size_t>::max(), chosen.seed);
    read_number(width, "--width", 2, 8, chosen.width);
    return chosen;
}

std::string table(const outcome& without, const outcome& with) {
    std::string text = fmt::format("{:<30}{:>14}{:>14}\n", "", "without tree", "with tree");
    const auto row = [&](const char* what, const char* unit, auto value) {
        text += fmt::format("{:<30}{:>14}{:>14}{}\n", what, value(without), value(with), unit);
    };
    const auto quantile = [](double part) {
        return [part](const outcome& o) {
            if (o.lateness.empty()) return ticks{0};
            return o.lateness[static_cast<std::size_t>(part * static_cast<double>(o.lateness.size() - 1))];
        };
    };
    const auto count = [](std::size_t tally::*what) {
        return [what](const outcome& o) { return o.counted.*what; };
    };
    row("timers run by their own thread", "", [](const outcome& o) { return o.run_at_home; });
    row("timers run by another", "", [](const outcome& o) { return o.run_elsewhere; });
    row("late by: median", " us", quantile(0.5));
    row("         99th percentile", " us", quantile(0.99));
    row("         maximum", " us", quantile(1));
    row("wake-ups", "", count(&tally::wake_ups));
    row("  for timers only", "", count(&tally::wake_ups_for_timers));
    row("    which found none to run", "", count(&tally::wake_ups_for_nothing));
    row("signals sent", "", count(&tally::signals_sent));
    row("  saved", "", count(&tally::signals_saved));
    row("handed over by one that left", "", count(&tally::hand_overs));
    return text;
}

double ratio(std::size_t with, std::size_t without) {
    return static_cast<double>(with) / static_cast<double>(std::max<std::size_t>(without, 1));
}

int run(int argc, char** argv) {
    const auto chosen = read_options(argc, argv);
    if (!chosen) return 0;
    const workload work = make_workload(chosen->threads, chosen->length, chosen->seed);
    if (!chosen->quiet)
        fmt::print("{} threads, {} requests, {} timers, seed {}\n\n", chosen->threads, work.size(),
                   work.timers, chosen->seed);
    std::fflush(stdout);
    const outcome without = try_out(work, chosen->threads, chosen->width, false);
    const outcome with = try_out(work, chosen->threads, chosen->width, true);
    if (!chosen->quiet) {
        const tally &a = without.counted, &b = with.counted;
        fmt::print("{}\nwith/without: wake-ups {:.2f}, wake-ups for timers only {:.2f}\n",
                   table(without, with), ratio(b.wake_ups, a.wake_ups),
                   ratio(b.wake_ups_for_timers, a.wake_ups_for_timers));
    }
    for (const std::string& what : without.wrong) fmt::print("without the tree: {}\n", what);
    for (const std::string& what : with.wrong) fmt::print("with the tree: {}\n", what);
    const bool right = without.wrong.empty() && with.wrong.empty();
    if (right) fmt::print("each of {} timers was run once, none early, both times\n", work.timers);
    return right ? 0 : 1;
}

}  // namespace

}  // namespace relay

int main(int argc, char** argv) {
    try {
        return relay::run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "timer_relay: {}\n", error.what());
        return 2;
    }
}
