// SPDX-License-Identifier: BSL-1.0
#include "policy.hpp"
#include "simulate.hpp"

#include <tmigr/detail/text.hpp>
#include <tmigr/family.hpp>
#include <tmigr/input_error.hpp>

#include <string>

namespace whatif {

namespace {

std::size_t balancer_named(std::string_view text, const machine& hardware) {
    const auto id = tmigr::detail::parse_number<tmigr::cpu_id>(text, 0, tmigr::max_cpu_id);
    for (std::size_t c = 0; id && c < hardware.size(); ++c)
        if (hardware.cpus.cpus()[c].id == *id) return c;
    throw tmigr::input_error("ilb:" + std::string(text), "ilb, ilb:off, or ilb: and the number of a CPU of this machine");
}

}  // namespace

std::vector<std::string> policies() {
    std::vector<std::string> names{"off"};
    for (const tmigr::family_policy& p : tmigr::families::presets()) names.push_back(p.name);
    for (const char* older : {"push", "push-rearm", "ilb", "hmp-kick", "hmp-kick-old"}) names.emplace_back(older);
    return names;
}

policy_choice make_policy(std::string_view name, const machine& hardware, const board& cpus, timer_server& server,
                          std::ostream* trace) {
    // Off costs nothing: no CPU is looked at, as if the call were not there.
    if (name == "off" || name == "push:off") return {std::make_unique<policy>(), kicks::none};
    if (name == "push") return {make_push_policy(hardware, cpus, false), kicks::none};
    if (name == "push-rearm") return {make_push_policy(hardware, cpus, true), kicks::none};
    if (name == "hmp-kick") return {make_push_policy(hardware, cpus, false), kicks::newest};
    if (name == "hmp-kick-old") return {make_push_policy(hardware, cpus, false), kicks::oldest};
    if (name == "ilb") return {make_ilb_policy(cpus, server, nobody, true), kicks::none};
    if (name == "ilb:off") return {make_ilb_policy(cpus, server, nobody, false), kicks::none};
    if (name.starts_with("ilb:"))
        return {make_ilb_policy(cpus, server, balancer_named(name.substr(4), hardware), true), kicks::none};
    try {
        return {make_tree_policy(name, hardware, server, trace), kicks::none};
    } catch (const tmigr::input_error& bad) {
        if (bad.value() != name) throw;
        throw tmigr::input_error(std::string(name),
                                 bad.expected() + ", off, push, push:off, push-rearm, ilb, ilb:off, ilb:CPU, hmp-kick, "
                                                  "hmp-kick-old");
    }
}

}  // namespace whatif
