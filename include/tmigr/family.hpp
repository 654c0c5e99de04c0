// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_FAMILY_HPP
#define TMIGR_FAMILY_HPP

#include <tmigr/input_error.hpp>
#include <tmigr/state.hpp>
#include <tmigr/topology.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tmigr {

/// One property by which CPUs are told apart: those alike in all properties of a policy are a
/// family and share groups; families that differ in this one meet in groups above.
struct family_key {
    enum class kind : std::uint8_t {
        family,            ///< `cpu_info::family`: the node, unless families were assigned
        node,              ///< the NUMA node
        capacity,          ///< the capacity, each value by itself
        capacity_step,     ///< the capacity rounded up to a multiple of `size`
        capacity_percent,  ///< capacities up to `size` percent above the smallest of their bucket
        user,              ///< what `value_of` says
    };

    kind by = kind::family;
    /// How the groups choose in which families meet that differ in this key. With `lowest`,
    /// the bit of a family in such a group is the rank of its value, smallest first, and the
    /// lowest awake rank is migrator; with `first`, bits go by order of arrival.
    pick how = pick::first;
    unsigned size = 0;
    std::function<std::int64_t(const cpu_info&)> value_of{};

    friend bool operator==(const family_key& a, const family_key& b) {
        return a.by == b.by && a.how == b.how && a.size == b.size &&
               static_cast<bool>(a.value_of) == static_cast<bool>(b.value_of);
    }
};

/// How places in a group are given out.
enum class fill : std::uint8_t {
    arrival,  ///< Linux's way: whoever comes first; a group is filled before the next is begun
    even,     ///< planned for the whole machine: even, with SMT siblings and cache sharers together
};

/// What CPUs share groups with what others, where they meet, and who serves the sleepers: all
/// that kernels have tried for machines of unequal CPUs, as numbers. A plain value.
///
/// Source: the presets are the variants of DESIGN "Families and preference"; see docs/families.md.
struct family_policy {
    std::string name;
    std::vector<family_key> keys{family_key{}};  ///< innermost first; may be empty
    /// False: families that differ in the outermost key never meet; each has a tree of its own.
    bool joined = true;
    fill filling = fill::arrival;

    // Gates: where one is shut, the machine gets `linux_default` instead.
    /// Every family must have that many online CPUs.
    std::size_t at_least = 0;
    /// No CPU may be full-dynticks: these rely on one CPU that never stops its tick, and that
    /// one is in one tree only.
    bool never_with_full_dynticks = false;
};

/// The policies that have names.
namespace families {

inline family_key by_family() { return {}; }
inline family_key by_node() { return {.by = family_key::kind::node}; }
inline family_key by_capacity(pick how = pick::lowest) {
    return {.by = family_key::kind::capacity, .how = how};
}
/// Throws `input_error` when the step is not in 1..1024.
inline family_key by_capacity_step(unsigned step, pick how = pick::lowest) {
    if (step < 1 || step > max_capacity)
        throw input_error(std::to_string(step), "a step of capacities from 1 to " + std::to_string(max_capacity));
    return {.by = family_key::kind::capacity_step, .how = how, .size = step};
}
/// Throws `input_error` when the tolerance is above 100.
inline family_key by_capacity_percent(unsigned percent, pick how = pick::lowest) {
    if (percent > 100)
        throw input_error(std::to_string(percent), "a tolerance from 0 to 100 percent");
    return {.by = family_key::kind::capacity_percent, .how = how, .size = percent};
}
/// CPUs are told apart by what `value_of(cpu)` returns for them. With `pick::lowest` small
/// values are served by. It must return the same for the same CPU each time.
inline family_key by(std::function<std::int64_t(const cpu_info&)> value_of, pick how = pick::first) {
    return {.by = family_key::kind::user, .how = how, .value_of = std::move(value_of)};
}

/// One tree, NUMA nodes kept apart below: Linux since 6.9.
inline family_policy linux_default() { return {.name = "linux-default"}; }

/// As `linux_default`, with places given out evenly and by locality, whatever the order of arrival.
inline family_policy balanced() { return {.name = "balanced", .filling = fill::even}; }

/// A tree for each capacity, never joined: Linux 7.2's development, taken back before its release.
inline family_policy split() {
    return {.name = "split",
            .keys = {by_node(), by_capacity(pick::first)},
            .joined = false,
            .never_with_full_dynticks = true};
}

/// `split`, but only where every capacity has at least that many CPUs online.
inline family_policy gated_split(std::size_t at_least = 4) {
    family_policy p = split();
    p.name = "gated-split";
    p.at_least = at_least;
    return p;
}

/// One tree; capacities share groups and meet at the top, where the lowest awake one serves all:
/// proposed for Linux in 2026. On NUMA machines the CPUs of one capacity are kept apart by node
/// below.
inline family_policy prefer_low() { return {.name = "prefer-low", .keys = {by_node(), by_capacity()}}; }

/// As `prefer_low`, but the lowest awake capacity serves its own node only; nodes meet at the top.
inline family_policy prefer_low_per_node() {
    return {.name = "prefer-low-per-node", .keys = {by_capacity(), by_node()}};
}

/// As `prefer_low`, with capacities rounded up to multiples of `step`, so that cores that
/// differ little are one class.
inline family_policy buckets(unsigned step = 256) {
    return {.name = "buckets", .keys = {by_node(), by_capacity_step(step)}};
}

/// As `prefer_low`, with capacities in one class that are at most `percent` above its smallest.
inline family_policy tolerance(unsigned percent = 10) {
    return {.name = "tolerance", .keys = {by_node(), by_capacity_percent(percent)}};
}

/// All of these with their default parameters.
inline std::vector<family_policy> presets() {
    return {linux_default(), balanced(), split(), gated_split(), prefer_low(), prefer_low_per_node(), buckets(),
            tolerance()};
}

/// The policy of a name: one of `presets()`, where a parameter may follow behind a colon
/// (`gated-split:2`, `buckets:128`, `tolerance:5`). Throws `input_error` for any other text.
inline family_policy named(std::string_view text) {
    const std::string_view name = text.substr(0, text.find(':'));
    const auto with = [&](auto preset, unsigned least, unsigned most) {
        if (name.size() == text.size()) return preset();
        unsigned value = 0;
        const char* const end = text.data() + text.size();
        const auto [at, error] = std::from_chars(text.data() + name.size() + 1, end, value);
        if (at != end || error != std::errc{} || value < least || value > most)
            throw input_error(std::string(text), std::string(name) + ": and a number from " + std::to_string(least) +
                                                     " to " + std::to_string(most));
        family_policy p = preset(value);
        p.name = text;
        return p;
    };
    if (name == "gated-split") return with([](auto... n) { return gated_split(n...); }, 1, max_cpu_id);
    if (name == "buckets") return with([](auto... n) { return buckets(n...); }, 1, max_capacity);
    if (name == "tolerance") return with([](auto... n) { return tolerance(n...); }, 0, 100);
    std::string known;
    for (family_policy& p : presets()) {
        if (p.name == text) return std::move(p);
        known += (known.empty() ? "" : ", ") + p.name;
    }
    throw input_error(std::string(text), "one of " + known);
}

}  // namespace families

}  // namespace tmigr

#endif
