// SPDX-License-Identifier: BSL-1.0
#include "rt_app.hpp"

#include "idle_states.hpp"
#include "json.hpp"

#include <tmigr/detail/ftrace_line.hpp>
#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace whatif {

namespace {

constexpr std::int64_t longest_us = 86'400'000'000;  // a day
constexpr std::int64_t most_instances = 4096;
constexpr std::size_t most_tasks = 65536;
constexpr std::size_t most_phases = 100'000;  // of a task
constexpr std::size_t most_phases_of_all = 4'000'000;
constexpr std::int64_t most_loops = std::numeric_limits<std::int32_t>::max();

constexpr std::array<std::string_view, 6> without_effect{"priority",  "util_min",      "util_max",
                                                         "taskgroup", "nodes_membind", "policy"};
constexpr std::array<std::string_view, 12> unsupported{"lock",  "unlock", "wait",    "signal",
                                                       "broad", "sync",   "barrier", "fork",
                                                       "yield", "mem",    "iorun",   "sig_and_wait"};

/// `run3` is an event `run`: what is left without digits at the end.
std::string_view event_of(std::string_view name) {
    while (!name.empty() && tmigr::detail::is_digit(name.back())) name.remove_suffix(1);
    return name;
}

nanoseconds microseconds(const json_value& value, std::string_view what) {
    return static_cast<nanoseconds>(value.integer(0, longest_us, fmt::format("{} in microseconds", what))) *
           1000;
}

/// A task as the file has it, before instances are made of it.
struct thread {
    std::string name;
    const json_value* from = nullptr;
    std::size_t first = 0;  ///< index of its first instance
    std::size_t instances = 1;
    std::vector<std::size_t> allowed;
};

class reader {
public:
    reader(const json_document& document, const machine& hardware)
        : document_(document), hardware_(hardware) {}

    workload read() && {
        const json_value& root = document_.root();
        root.object("a file of rt-app");
        root.only({"tasks", "global", "resources"});
        if (const json_value* const resources = root.find("resources"); resources != nullptr)
            if (!resources->object("resources").empty())
                resources->fail_name(resources->object("").front().first,
                                     "no resources: locks and condition variables are not supported");
        if (const json_value* const global = root.find("global")) read_global(*global);
        const json_value& tasks = root.at("tasks", "a file of rt-app");
        for (const auto& [name, value] : tasks.object("tasks")) note(name, value);
        for (const thread& each : threads_) make(each);
        if (load_.tasks.empty()) tasks.fail("at least one task");
        return std::move(load_);
    }

private:
    void read_global(const json_value& global) {
        global.object("global");
        global.only({"duration", "calibration", "default_policy", "pi_enabled", "lock_pages", "logdir",
                     "log_basename", "log_size", "ftrace", "gnuplot", "io_device", "mem_buffer_size",
                     "cumulative_slack"});
        if (const json_value* const policy = global.find("default_policy")) check_policy(*policy);
        if (const json_value* const duration = global.find("duration")) {
            const std::int64_t seconds = duration->integer(-1, 86400, "duration in seconds");
            if (seconds == 0) duration->fail("duration in seconds: above 0, or -1 for no end");
            if (seconds > 0) load_.length = static_cast<nanoseconds>(seconds) * 1'000'000'000;
        }
    }

    static void check_policy(const json_value& policy) {
        const std::string& name = policy.string("a scheduling policy");
        if (name == "SCHED_DEADLINE")
            policy.fail("a policy other than SCHED_DEADLINE, which is not supported");
        for (const std::string_view known :
             {"SCHED_OTHER", "SCHED_IDLE", "SCHED_BATCH", "SCHED_RR", "SCHED_FIFO"})
            if (name == known) return;
        policy.fail("SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_RR or SCHED_FIFO");
    }

    /// Names, instances and CPUs first: events refer to tasks that come later.
    void note(const std::string& name, const json_value& from) {
        from.object("a task");
        if (name.empty() || name.size() > 64)
            document_.root().at("tasks", "").fail_name(name, "a task's name of 1 to 64 bytes");
        thread each;
        each.name = name;
        each.from = &from;
        each.first = tasks_;
        if (const json_value* const instance = from.find("instance"))
            each.instances = static_cast<std::size_t>(instance->integer(0, most_instances, "instance"));
        if (loops_of(from, -1) == 0) each.instances = 0;
        tasks_ += each.instances;
        if (tasks_ > most_tasks) from.fail(fmt::format("at most {} tasks", most_tasks));
        if (const json_value* const cpus = from.find("cpus")) {
            for (const json_value& cpu : cpus->array("cpus")) {
                const auto id = static_cast<std::uint64_t>(cpu.integer(0, tmigr::max_cpu_id, "a CPU"));
                try {
                    const std::size_t index = cpu_index(id, hardware_);
                    if (std::ranges::find(each.allowed, index) != each.allowed.end())
                        cpu.fail("each CPU once");
                    each.allowed.push_back(index);
                } catch (const tmigr::input_error& error) {
                    if (!error.file().empty()) throw;
                    cpu.fail(error.expected());
                }
            }
            if (each.allowed.empty()) cpus->fail("at least one CPU");
            std::ranges::sort(each.allowed);
        }
        threads_.push_back(std::move(each));
    }

    void make(const thread& each) {
        if (each.instances == 0) return;
        task_plan plan;
        plan.allowed = each.allowed;
        const json_value& from = *each.from;
        if (const json_value* const delay = from.find("delay")) plan.start = microseconds(*delay, "delay");
        const std::int64_t loops = loops_of(from, -1);
        plan.rounds = loops < 0 ? 0 : static_cast<std::uint64_t>(loops);
        period_ = 0;
        if (const json_value* const phases = from.find("phases")) {
            for (const auto& [name, value] : from.object("a task"))
                if (!is_property(name) && name != "phases")
                    from.fail_name(name, "events inside of phases, in a task with phases");
            const auto& all = phases->object("phases");
            for (const auto& [name, value] : all) {
                value.object("a phase");
                if (value.find("cpus") != nullptr)
                    value.fail_name("cpus", "no CPUs of a phase: only a task as a whole can be pinned");
                std::int64_t times = loops_of(value, 1);
                if (times < 0) {
                    if (all.size() != 1)
                        value.at("loop", "")
                            .fail("a phase that ends: only one without others may go on for ever");
                    plan.rounds = 0;
                    times = 1;
                }
                const std::size_t begin = plan.phases.size();
                add_events(each, value, plan, false);
                repeat(value, plan, begin, times);
            }
        } else {
            add_events(each, from, plan, true);
        }
        if (plan.phases.empty()) from.fail("a task with at least one event");
        if (plan.rounds != 1 && !takes_time(plan))
            from.fail("a task that runs, sleeps or waits for its timer in every round");
        put(each, plan);
    }

    void put(const thread& each, task_plan& plan) {
        phases_ += plan.phases.size() * each.instances;
        if (phases_ > most_phases_of_all)
            each.from->fail(fmt::format("at most {} events in all tasks, loops of phases written out",
                                        most_phases_of_all));
        for (std::size_t i = 0; i < each.instances; ++i) {
            task_plan instance = plan;
            // rt-app's own names: the name, the number of the thread.
            instance.name = fmt::format("{}-{}", each.name, each.first + i);
            instance.cpu = plan.allowed.empty() ? (each.first + i) % hardware_.size()
                                                : plan.allowed[i % plan.allowed.size()];
            load_.tasks.push_back(std::move(instance));
        }
    }

    static bool takes_time(const task_plan& plan) {
        return std::ranges::any_of(plan.phases, [](const phase& p) {
            if (const auto* const r = std::get_if<run>(&p)) return r->work != 0;
            if (const auto* const s = std::get_if<sleep_for>(&p)) return s->length != 0;
            // Two tasks that do nothing but wake each other would never let time pass.
            return std::holds_alternative<sleep_until_period>(p);
        });
    }

    static std::int64_t loops_of(const json_value& from, std::int64_t otherwise) {
        const json_value* const loop = from.find("loop");
        return loop == nullptr ? otherwise : loop->integer(-1, most_loops, "loop");
    }

    void repeat(const json_value& from, task_plan& plan, std::size_t begin, std::int64_t times) {
        const std::size_t events = plan.phases.size() - begin;
        if (times == 0) plan.phases.resize(begin, run{0});
        if (events != 0 &&
            static_cast<std::size_t>(times) > (most_phases - std::min(begin, most_phases)) / events)
            from.at("loop", "")
                .fail(fmt::format("phases with at most {} events in all, loops written out", most_phases));
        plan.phases.reserve(begin + events * static_cast<std::size_t>(times));
        for (std::int64_t i = 1; i < times; ++i)
            for (std::size_t e = 0; e < events; ++e) plan.phases.push_back(phase{plan.phases[begin + e]});
    }

    static bool is_property(std::string_view name) {
        return name == "loop" || name == "instance" || name == "delay" || name == "cpus" ||
               std::ranges::find(without_effect, name) != without_effect.end();
    }

    void add_events(const thread& each, const json_value& from, task_plan& plan, bool of_task) {
        for (const auto& [name, value] : from.object("a phase")) {
            if (name == "policy") check_policy(value);
            if (is_property(name) && (of_task || (name != "instance" && name != "delay"))) continue;
            if (plan.phases.size() == most_phases)
                value.fail(fmt::format("at most {} events in a task", most_phases));
            const std::string_view event = event_of(name);
            if (event == "run") {
                plan.phases.emplace_back(run{microseconds(value, "run")});
            } else if (event == "runtime") {
                const nanoseconds time = microseconds(value, "runtime");
                plan.phases.emplace_back(run{work_of(each, from, name, time)});
            } else if (event == "sleep") {
                plan.phases.emplace_back(sleep_for{microseconds(value, "sleep")});
            } else if (event == "timer") {
                add_timer(value, plan);
            } else if (event == "suspend") {
                value.string("suspend");
                plan.phases.emplace_back(wait_for_wake{});
            } else if (event == "resume") {
                plan.phases.emplace_back(wake_task{task_named(value)});
            } else if (std::ranges::find(unsupported, event) != unsupported.end()) {
                from.fail_name(
                    name,
                    "run, runtime, sleep, timer, suspend or resume; this event of rt-app is not supported");
            } else if (name.starts_with("dl-") || name == "period" || name == "deadline") {
                from.fail_name(name, "no SCHED_DEADLINE, which is not supported");
            } else {
                from.fail_name(
                    name, of_task ? "a property or an event of a task" : "a property or an event of a phase");
            }
        }
    }

    void add_timer(const json_value& value, task_plan& plan) {
        value.object("timer");
        value.only({"ref", "period", "mode"});
        value.at("ref", "timer").string("ref");
        const json_value& period = value.at("period", "timer");
        const nanoseconds time = microseconds(period, "period");
        if (time == 0) period.fail("period: above 0");
        if (const json_value* const mode = value.find("mode"); mode != nullptr)
            if (const std::string& name = mode->string("mode"); name != "relative" && name != "absolute")
                mode->fail("relative or absolute");
        if (period_ != 0 && period_ != time)
            period.fail(fmt::format("one period for all timers of a task, {} us as before",
                                    static_cast<double>(period_) / 1000));
        period_ = time;
        plan.phases.emplace_back(sleep_until_period{time});
    }

    nanoseconds work_of(const thread& each, const json_value& from, std::string_view name,
                        nanoseconds time) const {
        const auto cpus = hardware_.cpus.cpus();
        const unsigned capacity = each.allowed.empty() ? cpus[0].capacity : cpus[each.allowed[0]].capacity;
        const auto differs = [&](std::size_t i) { return cpus[i].capacity != capacity; };
        bool one = std::ranges::none_of(each.allowed, differs);
        if (each.allowed.empty())
            for (std::size_t i = 0; i < hardware_.size(); ++i) one = one && !differs(i);
        if (!one) from.fail_name(name, "runtime only in a task whose cpus have one capacity; else run");
        // Not nothing, however little it is: a round must take time.
        return time == 0 ? 0 : std::max<nanoseconds>(1, time * capacity / tmigr::max_capacity);
    }

    std::size_t task_named(const json_value& value) const {
        const std::string& name = value.string("resume");
        const auto found = std::ranges::find(threads_, name, &thread::name);
        if (found == threads_.end()) value.fail("the name of a task");
        if (found->instances != 1) value.fail("the name of a task with one instance that runs");
        return found->first;
    }

    const json_document& document_;
    const machine& hardware_;
    workload load_;
    std::vector<thread> threads_;
    std::size_t tasks_ = 0;
    std::size_t phases_ = 0;
    nanoseconds period_ = 0;
};

}  // namespace

workload read_rt_app(std::istream& in, const std::string& file, const machine& hardware) {
    if (hardware.size() == 0) throw tmigr::input_error("no CPU", "a machine with at least one CPU");
    const json_document document{in, file};
    workload load = reader{document, hardware}.read();
    load.name = "rt-app:" + file.substr(file.find_last_of('/') + 1);
    return load;
}

workload read_rt_app(const std::filesystem::path& file, const machine& hardware) {
    std::ifstream in = tmigr::detail::open_input(file);
    return read_rt_app(in, file.string(), hardware);
}

}  // namespace whatif
