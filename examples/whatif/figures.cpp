// SPDX-License-Identifier: BSL-1.0
#include "figures.hpp"

#include <boost/accumulators/accumulators.hpp>
#include <boost/accumulators/statistics/mean.hpp>
#include <boost/accumulators/statistics/stats.hpp>
#include <boost/accumulators/statistics/variance.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace whatif {

namespace {

double seconds(nanoseconds time) { return static_cast<double>(time) / 1e9; }
double ratio(double of, double by) { return by > 0 ? of / by : 0; }

/// What some CPUs did together.
struct sum {
    nanoseconds busy = 0, offline = 0;
    std::map<std::string, nanoseconds> in_state;
    std::uint64_t idles = 0, wakeups = 0, ticks = 0, timer_interrupts = 0, other_interrupts = 0, too_deep = 0,
                  too_shallow = 0, timers_run = 0, timers_run_for_others = 0;

    void add(const cpu_result& cpu, const idle_table& table) {
        busy += cpu.busy;
        offline += cpu.offline;
        for (std::size_t s = 0; s < cpu.in_state.size() && s < table.states.size(); ++s)
            in_state[table.states[s].name] += cpu.in_state[s];
        idles += cpu.idles;
        wakeups += cpu.wakeups;
        ticks += cpu.ticks;
        timer_interrupts += cpu.timer_interrupts;
        other_interrupts += cpu.other_interrupts;
        too_deep += cpu.too_deep;
        too_shallow += cpu.too_shallow;
        timers_run += cpu.timers_run;
        timers_run_for_others += cpu.timers_run_for_others;
    }
};

/// Collects the figures of one run.
class collector {
public:
    collector(const machine& hardware, const result& of) : hardware_(hardware), of_(of), length_(seconds(of.length)) {}

    void about(scope of, std::uint64_t which) {
        scope_ = of;
        which_ = which;
    }
    void add(std::string name, std::string detail, std::string unit, double value) {
        figures_.push_back({scope_, which_, std::move(name), std::move(detail), std::move(unit), value, 0});
    }
    void rate(std::string name, std::uint64_t count, std::string detail = {}) {
        add(std::move(name), std::move(detail), "1/s", ratio(static_cast<double>(count), length_));
    }
    void count(std::string name, std::string detail, std::uint64_t value) {
        add(std::move(name), std::move(detail), "", static_cast<double>(value));
    }

    /// The figures that every scope has.
    void cpus(const std::vector<std::size_t>& indexes) {
        sum total;
        for (const std::size_t cpu : indexes) total.add(of_.cpus[cpu], hardware_.tables[hardware_.table_of[cpu]]);
        add("residency", "busy", "s", seconds(total.busy));
        for (const std::string& state : state_names(hardware_, indexes))
            add("residency", state, "s", seconds(total.in_state[state]));
        add("residency", "offline", "s", seconds(total.offline));
        rate("wakeups", total.wakeups);
        const auto timers = static_cast<double>(scope_ == scope::all ? of_.run : total.timers_run);
        add("wakeups_per_timer", "", "", ratio(static_cast<double>(total.wakeups), timers));
        rate("idles", total.idles);
        rate("ticks", total.ticks);
        rate("timer_interrupts", total.timer_interrupts);
        rate("other_interrupts", total.other_interrupts);
        rate("too_deep", total.too_deep);
        rate("too_shallow", total.too_shallow);
        rate("timers_run", total.timers_run);
        rate("timers_run_for_others", total.timers_run_for_others);
    }

    std::vector<figure> take() { return std::move(figures_); }

private:
    const machine& hardware_;
    const result& of_;
    double length_;
    scope scope_ = scope::all;
    std::uint64_t which_ = 0;
    std::vector<figure> figures_;
};

bool has_power(const machine& hardware) {
    return std::ranges::any_of(hardware.tables, [](const idle_table& table) {
        return table.busy_milliwatts > 0 ||
               std::ranges::any_of(table.states, [](const idle_state& state) { return state.milliwatts > 0; });
    });
}

void whole_machine(collector& to, const machine& hardware, const result& of) {
    std::vector<std::size_t> everybody(hardware.size());
    std::iota(everybody.begin(), everybody.end(), std::size_t{0});
    to.cpus(everybody);

    std::uint64_t migrations = 0;
    for (const auto& row : of.migrations) migrations = std::accumulate(row.begin(), row.end(), migrations);
    to.rate("migrations", migrations);
    const nanoseconds in_charge =
        std::accumulate(of.migrator_time.begin(), of.migrator_time.end(), nanoseconds{0});
    const nanoseconds nobody = of.length - std::min(of.length, in_charge);
    to.add("migrator", "nobody", "%", 100 * ratio(seconds(nobody), seconds(of.length)));
    const auto microseconds = [](nanoseconds time) { return static_cast<double>(time) / 1e3; };
    to.add("lateness", "p50", "us", microseconds(of.lateness.quantile(0.5)));
    to.add("lateness", "p99", "us", microseconds(of.lateness.quantile(0.99)));
    to.add("lateness", "max", "us", microseconds(of.lateness.max()));
    to.add("lateness", "bound", "us", microseconds(of.lateness_bound));
    to.count("timers", "armed", of.armed);
    to.count("timers", "run", of.run);
    to.count("timers", "cancelled", of.cancelled);
    to.count("timers", "pending", of.pending);
    to.rate("enqueues", of.enqueues);
    to.add("remote_lines_per_enqueue", "", "",
           ratio(static_cast<double>(of.remote_lines), static_cast<double>(of.enqueues)));
    to.rate("kicks", of.kicks);
    to.count("events", "", of.events);
    if (has_power(hardware)) to.add("energy", "", "J", of.joules);
}

}  // namespace

std::string_view name_of(scope of) noexcept {
    switch (of) {
        case scope::all: return "all";
        case scope::capacity_class: return "class";
        case scope::cpu: break;
    }
    return "cpu";
}

const figure* summary::find(scope of, std::uint64_t which, std::string_view name, std::string_view detail) const {
    for (const figure& one : figures)
        if (one.of == of && one.which == which && one.name == name && one.detail == detail) return &one;
    return nullptr;
}

std::vector<capacity_class> classes_of(const machine& hardware) {
    std::map<unsigned, std::vector<std::size_t>> members;
    for (std::size_t cpu = 0; cpu < hardware.size(); ++cpu)
        members[hardware.cpus.cpus()[cpu].capacity].push_back(cpu);
    std::vector<capacity_class> classes;
    classes.reserve(members.size());
    for (auto& [capacity, cpus] : members) classes.push_back({capacity, std::move(cpus)});
    return classes;
}

std::vector<std::string> state_names(const machine& hardware, const std::vector<std::size_t>& cpus) {
    std::vector<std::string> names;
    for (const std::size_t cpu : cpus)
        for (const idle_state& state : hardware.tables[hardware.table_of[cpu]].states)
            if (std::ranges::find(names, state.name) == names.end()) names.push_back(state.name);
    return names;
}

std::vector<std::string> state_names(const machine& hardware) {
    std::vector<std::size_t> everybody(hardware.size());
    std::iota(everybody.begin(), everybody.end(), std::size_t{0});
    return state_names(hardware, everybody);
}

std::vector<figure> figures_of(const machine& hardware, const result& of) {
    collector to{hardware, of};
    whole_machine(to, hardware, of);
    const std::vector<capacity_class> classes = classes_of(hardware);
    for (std::size_t c = 0; c < classes.size(); ++c) {
        to.about(scope::capacity_class, classes[c].capacity);
        to.cpus(classes[c].cpus);
        const nanoseconds in_charge = c < of.migrator_time.size() ? of.migrator_time[c] : 0;
        to.add("migrator", "", "%", 100 * ratio(seconds(in_charge), seconds(of.length)));
        for (std::size_t by = 0; by < classes.size(); ++by) {
            const bool told = c < of.migrations.size() && by < of.migrations[c].size();
            to.rate("migrations", told ? of.migrations[c][by] : 0, std::to_string(classes[by].capacity));
        }
    }
    for (std::size_t cpu = 0; cpu < hardware.size(); ++cpu) {
        to.about(scope::cpu, hardware.cpus.cpus()[cpu].id);
        to.cpus({cpu});
    }
    return to.take();
}

summary summarize(const machine& hardware, const std::vector<result>& runs) {
    namespace acc = boost::accumulators;
    using statistics = acc::accumulator_set<double, acc::stats<acc::tag::mean, acc::tag::variance>>;
    std::vector<statistics> of_figure;
    summary all{runs.front().policy, {}};
    for (const result& run : runs) {
        std::vector<figure> figures = figures_of(hardware, run);
        of_figure.resize(figures.size());
        for (std::size_t i = 0; i < figures.size(); ++i) of_figure[i](figures[i].mean);
        if (all.figures.empty()) all.figures = std::move(figures);
    }
    if (runs.size() < 2) return all;
    const auto n = static_cast<double>(runs.size());
    for (std::size_t i = 0; i < of_figure.size(); ++i) {
        all.figures[i].mean = acc::mean(of_figure[i]);
        all.figures[i].spread = std::sqrt(std::max(0.0, acc::variance(of_figure[i])) * n / (n - 1));
    }
    return all;
}

}  // namespace whatif
