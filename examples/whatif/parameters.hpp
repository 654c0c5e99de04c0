// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_PARAMETERS_HPP
#define TMIGR_EXAMPLES_WHATIF_PARAMETERS_HPP

#include "machine.hpp"
#include "simulate.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whatif {

/// What can differ between the points of a sweep.
struct point_parameters {
    std::string policy = "linux-default";
    std::string workload;      ///< of the named ones; empty: what the command line says
    std::uint64_t seed = 1;
    unsigned hertz = 250;
    predictor governor = predictor::menu;
    nanoseconds length = 0;    ///< 0: that of the recording, or 60 s
    bool tick_stops = true;
};

/// One parameter of a sweep and its values, as text.
struct axis {
    std::string name;
    std::vector<std::string> values;
};

/// `NAME=V1,V2,...`; whole numbers also as `V1..V2`. Several that set the policy (`policy`, `buckets`, `gated-split`,
/// `tolerance`) are one axis: see `add_axis`. Throws `tmigr::input_error` for unknown names and bad values.
axis read_axis(std::string_view text);

/// Appends, or joins the policies of several parameters in one axis. Throws for one that is there already.
void add_axis(std::vector<axis>& axes, axis more);

/// How many points: the product of the numbers of values. Throws `tmigr::input_error` above a million.
std::size_t count_points(const std::vector<axis>& axes);

/// The values of a point; the last axis changes fastest.
std::vector<std::pair<std::string, std::string>> values_of(const std::vector<axis>& axes, std::size_t point);

/// Sets one parameter from text. Throws `tmigr::input_error` without place.
void set_parameter(point_parameters& to, std::string_view name, std::string_view value);

std::uint64_t read_whole(std::string_view text, std::uint64_t least, std::uint64_t most);
/// Seconds with or without a fraction, at least `least` and at most ten days.
nanoseconds read_seconds(std::string_view text, nanoseconds least = 1000);
predictor read_governor(std::string_view text);
std::string_view name_of(predictor guess) noexcept;
/// Throws for a policy that there is not, or with a parameter that it does not take.
void check_policy(std::string_view name);
/// Whether it is one of the library's trees.
bool is_tree(std::string_view policy);

}  // namespace whatif

#endif
