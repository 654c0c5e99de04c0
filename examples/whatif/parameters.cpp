// SPDX-License-Identifier: BSL-1.0
#include "parameters.hpp"

#include "named_workloads.hpp"

#include <tmigr/detail/text.hpp>
#include <tmigr/family.hpp>
#include <tmigr/input_error.hpp>
#include <tmigr/topology.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

namespace whatif {

namespace {

constexpr std::size_t most_points = 1'000'000;
constexpr std::string_view policy_parameters[] = {"buckets", "gated-split", "tolerance"};
constexpr std::string_view names = "policy, buckets, gated-split, tolerance, workload, seed, hz, governor, seconds or tick-stop";

/// `1..4` as 1, 2, 3, 4; anything else as it is.
void append_values(std::vector<std::string>& to, std::string_view text) {
    const std::size_t dots = text.find("..");
    if (dots == text.npos) {
        to.emplace_back(text);
        return;
    }
    const std::uint64_t last = read_whole(text.substr(dots + 2), 0, std::numeric_limits<std::uint64_t>::max());
    const std::uint64_t first = read_whole(text.substr(0, dots), 0, last);
    if (last - first >= most_points)
        throw tmigr::input_error(std::string{text}, fmt::format("at most {} values", most_points));
    for (std::uint64_t value = first;; ++value) {
        to.push_back(std::to_string(value));
        if (value == last) break;
    }
}

}  // namespace

std::uint64_t read_whole(std::string_view text, std::uint64_t least, std::uint64_t most) {
    const auto number = tmigr::detail::parse_number<std::uint64_t>(text, least, most);
    if (!number) throw tmigr::input_error(std::string{text}, fmt::format("a number from {} to {}", least, most));
    return *number;
}

nanoseconds read_seconds(std::string_view text, nanoseconds least) {
    constexpr double most = 864'000;
    double seconds = -1;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, seconds, std::chars_format::fixed);
    // Written so that what is no number fails too.
    if (error == std::errc{} && stop == end && seconds >= 0 && seconds <= most) {
        const auto time = static_cast<nanoseconds>(std::llround(seconds * 1e9));
        if (time >= least) return time;
    }
    throw tmigr::input_error(std::string{text}, fmt::format("a number of seconds from {:g} to {}",
                                                            static_cast<double>(least) / 1e9, most));
}

predictor read_governor(std::string_view text) {
    if (text == "menu") return predictor::menu;
    if (text == "perfect") return predictor::perfect;
    throw tmigr::input_error(std::string{text}, "menu or perfect");
}

std::string_view name_of(predictor guess) noexcept { return guess == predictor::menu ? "menu" : "perfect"; }

bool is_tree(std::string_view policy) {
    const auto presets = tmigr::families::presets();
    return std::ranges::find(presets, policy.substr(0, policy.find(':')), &tmigr::family_policy::name) != presets.end();
}

void check_policy(std::string_view name) {
    const std::vector<std::string> known = policies();
    if (std::ranges::find(known, name) != known.end()) return;
    const std::string_view stem = name.substr(0, name.find(':'));
    if (is_tree(name)) {
        static_cast<void>(tmigr::families::named(name));
        return;
    }
    // Whether the machine has a CPU of that number is seen when there is one.
    const bool older = name == "push:off" || name == "ilb:off" ||
                       (stem == "ilb" && stem.size() < name.size() &&
                        tmigr::detail::parse_number<tmigr::cpu_id>(name.substr(4), 0, tmigr::max_cpu_id));
    if (older) return;
    throw tmigr::input_error(std::string{name}, fmt::format("a policy: {}, push:off, ilb:off or ilb:CPU",
                                                            fmt::join(known.begin(), known.end(), ", ")));
}

void set_parameter(point_parameters& to, std::string_view name, std::string_view value) {
    if (name == "policy") {
        check_policy(value);
        to.policy = value;
    } else if (name == "workload") {
        const auto known = workload_names();
        if (std::ranges::find(known, value) == known.end())
            throw tmigr::input_error(std::string{value}, fmt::format("a workload: {}", fmt::join(known, ", ")));
        to.workload = value;
    } else if (name == "seed") {
        to.seed = read_whole(value, 0, std::numeric_limits<std::uint64_t>::max());
    } else if (name == "hz") {
        to.hertz = static_cast<unsigned>(read_whole(value, 10, 10'000));
    } else if (name == "governor") {
        to.governor = read_governor(value);
    } else if (name == "seconds") {
        to.length = read_seconds(value);
    } else if (name == "tick-stop") {
        if (value != "on" && value != "off") throw tmigr::input_error(std::string{value}, "on or off");
        to.tick_stops = value == "on";
    } else {
        throw tmigr::input_error(std::string{name}, std::string{names});
    }
}

axis read_axis(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == text.npos || equals + 1 == text.size())
        throw tmigr::input_error(std::string{text}, "NAME=VALUE,VALUE,...");
    axis read{std::string{text.substr(0, equals)}, {}};
    const bool of_policy = std::ranges::find(policy_parameters, read.name) != std::end(policy_parameters);
    std::string_view rest = text.substr(equals + 1);
    for (bool more = true; more;) {
        const std::string_view item = rest.substr(0, rest.find(','));
        more = item.size() < rest.size();
        if (more) rest.remove_prefix(item.size() + 1);
        append_values(read.values, item);
        if (read.values.size() > most_points)
            throw tmigr::input_error(std::string{text}, fmt::format("at most {} values", most_points));
    }
    if (of_policy) {
        for (std::string& value : read.values) value.insert(0, ":").insert(0, read.name);
        read.name = "policy";
    }
    point_parameters ignored;
    std::set<std::string_view> seen;
    for (const std::string& value : read.values) {
        set_parameter(ignored, read.name, value);
        if (!seen.insert(value).second) throw tmigr::input_error(value, "each value once");
    }
    return read;
}

void add_axis(std::vector<axis>& axes, axis more) {
    const auto there = std::ranges::find(axes, more.name, &axis::name);
    if (there == axes.end()) {
        axes.push_back(std::move(more));
        return;
    }
    for (std::string& value : more.values) {
        if (more.name != "policy" || std::ranges::find(there->values, value) != there->values.end())
            throw tmigr::input_error(value, more.name == "policy" ? "each value once" : more.name + " given once");
        there->values.push_back(std::move(value));
    }
}

std::size_t count_points(const std::vector<axis>& axes) {
    std::size_t points = 1;
    for (const axis& one : axes) {
        if (one.values.size() > most_points / points)
            throw tmigr::input_error(one.name, fmt::format("a sweep of at most {} points", most_points));
        points *= one.values.size();
    }
    return points;
}

std::vector<std::pair<std::string, std::string>> values_of(const std::vector<axis>& axes, std::size_t point) {
    std::vector<std::pair<std::string, std::string>> values(axes.size());
    for (std::size_t i = axes.size(); i-- > 0;) {
        values[i] = {axes[i].name, axes[i].values[point % axes[i].values.size()]};
        point /= axes[i].values.size();
    }
    return values;
}

}  // namespace whatif
