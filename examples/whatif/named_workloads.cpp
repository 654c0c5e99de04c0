// SPDX-License-Identifier: BSL-1.0
#include "named_workloads.hpp"

#include <tmigr/input_error.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace whatif {

namespace {

/// The `n`th of evenly spread points of a period: multiples of the golden ratio.
nanoseconds spread(nanoseconds period, std::uint64_t n) {
    const std::uint64_t fraction = ((n + 1) * 0x9e3779b97f4a7c15u) >> 48;
    return (period >> 16) * fraction + (((period & 0xffff) * fraction) >> 16);
}

std::vector<std::size_t> cpus_of_lowest_capacity(const machine& hardware) {
    const unsigned lowest = hardware.cpus.capacities().front();
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < hardware.size(); ++i)
        if (hardware.cpus.cpus()[i].capacity == lowest) found.push_back(i);
    return found;
}

timer_plan timer(timer_kind kind, std::size_t cpu, nanoseconds first, nanoseconds period, bool random,
                 nanoseconds handler) {
    timer_plan plan;
    plan.kind = kind;
    plan.cpu = cpu;
    plan.first = first;
    plan.period = period;
    plan.random = random;
    plan.handler = handler;
    return plan;
}

task_plan task(std::string name, std::size_t cpu, bool pinned, std::vector<phase> phases,
               nanoseconds start = 0) {
    task_plan plan;
    plan.name = std::move(name);
    plan.cpu = cpu;
    if (pinned) plan.allowed = {cpu};
    plan.phases = std::move(phases);
    plan.start = start;
    return plan;
}

nanoseconds device_mean_of(const idle_background& p, unsigned capacity) {
    for (const auto& [of, mean] : p.device_mean_of_capacity)
        if (of == capacity) return mean;
    return p.device_mean;
}

void add_background(workload& load, const machine& hardware, const idle_background& p) {
    for (std::size_t cpu = 0; cpu < hardware.size(); ++cpu) {
        if (p.global_mean != 0) {
            timer_plan plan =
                timer(timer_kind::global, cpu, spread(p.global_mean, cpu), p.global_mean, true, p.handler);
            if (p.task_work != 0) {
                plan.wakes = load.tasks.size();
                load.tasks.push_back(task("kthread/" + std::to_string(hardware.cpus.cpus()[cpu].id), cpu,
                                          false, {wait_for_wake{}, run{p.task_work}}));
            }
            load.timers.push_back(plan);
        }
        const auto rhythm = [&](timer_kind kind, nanoseconds period, std::uint64_t which) {
            if (period != 0)
                load.timers.push_back(
                    timer(kind, cpu, spread(period, which * 4096 + cpu), period, false, p.handler));
        };
        if (p.global_every != 0 && cpu % p.global_every == 0) rhythm(timer_kind::global, p.global_period, 1);
        rhythm(timer_kind::pinned, p.pinned_period, 2);
        rhythm(timer_kind::deferrable, p.deferrable_period, 3);
        if (p.precise_mean != 0)
            load.timers.push_back(timer(timer_kind::precise, cpu, spread(p.precise_mean, std::uint64_t{4} * 4096 + cpu),
                                        p.precise_mean, true, p.handler));
        const nanoseconds device = device_mean_of(p, hardware.cpus.cpus()[cpu].capacity);
        if (device != 0) load.interrupts.push_back({cpu, device, true, p.handler});
    }
    if (p.device_on_first_mean != 0 && hardware.size() != 0)
        load.interrupts.push_back({0, p.device_on_first_mean, true, p.handler});
}

workload above_idle(const char* name, const machine& hardware, const idle_background& background) {
    if (hardware.size() == 0) throw tmigr::input_error("no CPU", "a machine with at least one CPU");
    workload load;
    load.name = name;
    add_background(load, hardware, background);
    return load;
}

}  // namespace

workload make_idle(const machine& hardware, const idle_background& parameters) {
    return above_idle("idle", hardware, parameters);
}

workload make_little_pin(const machine& hardware, const little_pin_parameters& parameters) {
    workload load = above_idle("little-pin", hardware, parameters.background);
    const std::vector<std::size_t> little = cpus_of_lowest_capacity(hardware);
    for (std::size_t i = 0; i < std::min(parameters.loops, little.size()); ++i)
        load.tasks.push_back(task("nap/" + std::to_string(i), little[i], true,
                                  {run{parameters.work}, sleep_for{parameters.sleep}},
                                  spread(parameters.sleep, i)));
    return load;
}

workload make_tbench(const machine& hardware, const tbench_parameters& parameters) {
    workload load = above_idle("tbench-like", hardware, parameters.background);
    for (std::size_t i = 0; i < parameters.clients; ++i) {
        const std::size_t client = load.tasks.size();
        const std::size_t server = client + 1;
        const std::size_t cpu = i % hardware.size();
        std::vector<phase> phases{run{parameters.client_work}, wake_task{server}, wait_for_wake{}};
        if (parameters.think != 0) phases.emplace_back(sleep_for{parameters.think});
        load.tasks.push_back(
            task("tbench/" + std::to_string(i), cpu, false, std::move(phases), spread(1'000'000, i)));
        load.tasks.push_back(task("tbench_srv/" + std::to_string(i), cpu, false,
                                  {wait_for_wake{}, run{parameters.server_work}, wake_task{client}}));
        timer_plan timeout = timer(timer_kind::global, cpu, parameters.timeout, parameters.timeout, false,
                                   parameters.background.handler);
        timeout.cancelled = parameters.answered;
        timeout.jitter = 0.1;
        load.timers.push_back(timeout);
    }
    return load;
}

workload make_schbench(const machine& hardware, const schbench_parameters& parameters) {
    workload load = above_idle("schbench-like", hardware, parameters.background);
    const std::size_t workers =
        parameters.workers != 0 ? parameters.workers : std::max<std::size_t>(1, hardware.size() / 2);
    for (std::size_t m = 0; m < parameters.messengers; ++m) {
        const std::size_t first = load.tasks.size() + 1;
        std::vector<phase> phases;
        for (std::size_t w = 0; w < workers; ++w) {
            phases.emplace_back(run{parameters.message});
            phases.emplace_back(wake_task{first + w});
        }
        phases.emplace_back(sleep_until_period{parameters.period});
        load.tasks.push_back(task("message/" + std::to_string(m), m % hardware.size(), false,
                                  std::move(phases), spread(parameters.period, m)));
        for (std::size_t w = 0; w < workers; ++w)
            load.tasks.push_back(task("worker/" + std::to_string(m) + '.' + std::to_string(w),
                                      (m * workers + w) % hardware.size(), false,
                                      {wait_for_wake{}, run{parameters.work}}));
    }
    return load;
}

workload make_ilb_2009(const machine& hardware, const ilb_parameters& parameters) {
    const std::size_t needed =
        std::max({parameters.first_job + parameters.jobs, parameters.driver + 1, parameters.balancer + 1});
    if (hardware.size() < needed)
        throw tmigr::input_error(std::to_string(hardware.size()) + " CPUs",
                                 "a machine with at least " + std::to_string(needed) + " CPUs for ilb-2009");
    workload load = above_idle("ilb-2009", hardware, parameters.background);
    for (std::size_t i = 0; i < parameters.jobs; ++i)
        load.tasks.push_back(task("make/" + std::to_string(i), parameters.first_job + i, true,
                                  {run{parameters.job_run}, sleep_for{parameters.job_wait}},
                                  spread(parameters.job_run, i)));
    constexpr nanoseconds turn = 100'000'000;
    const auto awake = static_cast<nanoseconds>(std::clamp(parameters.balancer_busy, 0.0, 0.999) * turn);
    load.tasks.push_back(task("balancer", parameters.balancer, true, {run{awake}, sleep_for{turn - awake}}));
    load.timers.push_back(timer(timer_kind::global, parameters.driver, parameters.timer_period,
                                parameters.timer_period, false, parameters.handler));
    return load;
}

workload make_heavy_on_little(const machine& hardware, const heavy_parameters& parameters) {
    workload load = above_idle("heavy-on-little", hardware, parameters.background);
    const std::vector<std::size_t> little = cpus_of_lowest_capacity(hardware);
    const std::size_t tasks = parameters.tasks != 0 ? parameters.tasks : little.size();
    for (std::size_t i = 0; i < tasks; ++i) {
        task_plan plan =
            task("heavy/" + std::to_string(i), little[i % little.size()], false,
                 {run{parameters.work}, sleep_for{parameters.sleep}}, spread(parameters.work, i));
        plan.heavy = true;
        load.tasks.push_back(std::move(plan));
    }
    return load;
}

workload make_enqueue_99(const machine& hardware, const enqueue_parameters& parameters) {
    workload load = above_idle("enqueue-99", hardware, parameters.background);
    const auto busy_before = [&](std::size_t cpus) {
        return static_cast<std::size_t>(parameters.busy_share * static_cast<double>(cpus));
    };
    for (std::size_t cpu = 0; cpu < hardware.size(); ++cpu) {
        for (std::size_t i = 0; i < parameters.per_cpu; ++i) {
            timer_plan plan =
                timer(timer_kind::global, cpu, spread(parameters.timeout, cpu * parameters.per_cpu + i),
                      parameters.timeout, false, parameters.handler);
            plan.cancelled = parameters.cancelled;
            plan.jitter = 0.2;
            load.timers.push_back(plan);
        }
        if (busy_before(cpu + 1) != busy_before(cpu))
            load.tasks.push_back(task("serve/" + std::to_string(cpu), cpu, true,
                                      {run{9'000'000}, sleep_for{1'000'000}}, spread(10'000'000, cpu)));
    }
    return load;
}

namespace {

template <class Parameters>
Parameters above(const idle_background& background) {
    Parameters parameters;
    parameters.background = background;
    return parameters;
}

struct named {
    std::string_view name;
    workload (*make)(const machine&, const idle_background&);
};
using back = const idle_background&;
constexpr std::array all_named{
    named{"idle", [](const machine& m, back b) { return make_idle(m, b); }},
    named{"little-pin", [](const machine& m, back b) { return make_little_pin(m, above<little_pin_parameters>(b)); }},
    named{"tbench-like", [](const machine& m, back b) { return make_tbench(m, above<tbench_parameters>(b)); }},
    named{"schbench-like", [](const machine& m, back b) { return make_schbench(m, above<schbench_parameters>(b)); }},
    named{"ilb-2009", [](const machine& m, back b) { return make_ilb_2009(m, above<ilb_parameters>(b)); }},
    named{"heavy-on-little", [](const machine& m, back b) { return make_heavy_on_little(m, above<heavy_parameters>(b)); }},
    named{"enqueue-99", [](const machine& m, back b) { return make_enqueue_99(m, above<enqueue_parameters>(b)); }},
};

}  // namespace

std::vector<std::string_view> workload_names() {
    std::vector<std::string_view> names;
    names.reserve(all_named.size());
    for (const named& each : all_named) names.push_back(each.name);
    return names;
}

workload make_workload(std::string_view name, const machine& hardware, const idle_background& background) {
    for (const named& each : all_named)
        if (each.name == name) return each.make(hardware, background);
    std::string names;
    for (const named& each : all_named) names += (names.empty() ? "" : ", ") + std::string{each.name};
    throw tmigr::input_error(std::string{name}, "a workload: " + names);
}

}  // namespace whatif
