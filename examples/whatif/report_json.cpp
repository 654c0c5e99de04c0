// SPDX-License-Identifier: BSL-1.0
#include "report_json.hpp"

namespace whatif {

json machine_json(const machine& hardware) {
    json tables = json::array();
    for (const idle_table& table : hardware.tables) {
        json states = json::array();
        for (const idle_state& state : table.states)
            states.push_back({{"name", state.name},
                              {"entry_ns", state.entry},
                              {"exit_ns", state.exit},
                              {"residency_ns", state.residency},
                              {"milliwatts", state.milliwatts}});
        tables.push_back({{"states", std::move(states)}, {"busy_milliwatts", table.busy_milliwatts}});
    }
    json cpus = json::array();
    for (std::size_t i = 0; i < hardware.size(); ++i) {
        const tmigr::cpu_info& cpu = hardware.cpus.cpus()[i];
        cpus.push_back(
            {{"id", cpu.id}, {"node", cpu.node}, {"capacity", cpu.capacity}, {"idle_table", hardware.table_of[i]}});
    }
    return {{"name", hardware.name},
            {"hz", hardware.hertz},
            {"idle_tables", std::move(tables)},
            {"cpus", std::move(cpus)}};
}

json figures_json(const summary& of, const summary* base, bool cpus) {
    json figures = json::array();
    for (std::size_t i = 0; i < of.figures.size(); ++i) {
        const figure& one = of.figures[i];
        if (one.of == scope::cpu && !cpus) continue;
        json entry{{"scope", name_of(one.of)}};
        if (one.of != scope::all) entry["which"] = one.which;
        entry["figure"] = one.name;
        if (!one.detail.empty()) entry["detail"] = one.detail;
        if (!one.unit.empty()) entry["unit"] = one.unit;
        entry["mean"] = rounded(one.mean);
        entry["spread"] = rounded(one.spread);
        if (base) entry["difference"] = rounded(one.mean - base->figures[i].mean);
        figures.push_back(std::move(entry));
    }
    return figures;
}

std::string json_of(const report& all) {
    json policies = json::array();
    for (const summary& of : all.policies)
        policies.push_back({{"policy", of.policy}, {"figures", figures_json(of, all.base(), true)}});
    json whole{{"format", "tmigr-whatif 1"},
               {"machine", machine_json(all.hardware)},
               {"workload", all.workload},
               {"seconds", static_cast<double>(all.length) / 1e9},
               {"governor", all.governor},
               {"seed", all.seed},
               {"runs", all.runs}};
    whole["baseline"] = all.base() ? json(all.baseline) : json(nullptr);
    whole["policies"] = std::move(policies);
    // Names of CPUs' states or of tasks may hold anything.
    return whole.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace whatif
