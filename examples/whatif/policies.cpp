// SPDX-License-Identifier: BSL-1.0
#include "policy.hpp"
#include "simulate.hpp"

#include <tmigr/family.hpp>
#include <tmigr/input_error.hpp>

namespace whatif {

std::vector<std::string> policies() {
    std::vector<std::string> names{"off"};
    for (const tmigr::family_policy& p : tmigr::families::presets()) names.push_back(p.name);
    return names;
}

policy_choice make_policy(std::string_view name, const machine& hardware, const board&, timer_server& server,
                          std::ostream* trace) {
    if (name == "off") return {std::make_unique<policy>(), kicks::none};
    return {make_tree_policy(name, hardware, server, trace), kicks::none};
}

}  // namespace whatif
