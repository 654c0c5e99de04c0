// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_NAMED_WORKLOADS_HPP
#define TMIGR_EXAMPLES_WHATIF_NAMED_WORKLOADS_HPP

#include "machine.hpp"
#include "workload.hpp"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace whatif {

/// What an idle system still does. Means are of what happens at random; phases of what happens in a
/// rhythm are spread evenly, by the number of the CPU and of the timer, and so do not change from
/// run to run. Times of work are for a CPU of capacity 1024.
///
/// The rates of timers are those of the recording of an idle 7.3 kernel on 12 emulated arm64 CPUs with three
/// capacities (15 s; per CPU and second 0.92 global, 0.43 pinned, 0.23 deferrable timers armed, 0.43
/// precise ones run, ticks left out). There they are spread unevenly, most on the two or three CPUs on
/// which kernel threads last ran; here evenly. Devices and all times of work are assumed.
/// `background.hpp` reads others.
struct idle_background {
    nanoseconds global_mean = 1'300'000'000;    ///< per CPU: between time-outs of kernel threads and others
    nanoseconds global_period = 1'500'000'000;  ///< per `global_every` CPUs: work that re-arms itself
    std::size_t global_every = 4;
    nanoseconds pinned_period = 2'350'000'000;       ///< per CPU
    nanoseconds deferrable_period = 4'400'000'000;   ///< per CPU
    nanoseconds precise_mean = 2'350'000'000;        ///< per CPU
    nanoseconds device_mean = 0;                     ///< per CPU: interrupts; 0: none
    /// The same for CPUs of some capacities, in place of `device_mean`.
    std::vector<std::pair<unsigned, nanoseconds>> device_mean_of_capacity;
    nanoseconds device_on_first_mean = 250'000'000;  ///< interrupts that all go to the first CPU; 0: none
    nanoseconds handler = 5'000;                     ///< work of each of these
    nanoseconds task_work = 20'000;  ///< of the kernel thread that a global time-out wakes; 0: wakes none
};

/// The background alone.
workload make_idle(const machine& hardware, const idle_background& parameters = {});

/// `idle`, and four loops that sleep 4 ms, pinned to the first four CPUs of the lowest capacity
/// (each its own; fewer loops where there are fewer). `work` is what a loop does between sleeps.
struct little_pin_parameters {
    idle_background background;
    std::size_t loops = 4;
    nanoseconds sleep = 4'000'000;
    nanoseconds work = 20'000;
};
workload make_little_pin(const machine& hardware, const little_pin_parameters& parameters = {});

/// As tbench with some clients: pairs of a client and a server that hand a request to and fro; a
/// short run for each, a time-out armed with each request and nearly always cancelled.
struct tbench_parameters {
    idle_background background;
    std::size_t clients = 4;
    nanoseconds client_work = 15'000;
    nanoseconds server_work = 20'000;
    nanoseconds think = 150'000;        ///< pause of a client between requests; 0: none
    nanoseconds timeout = 200'000'000;  ///< of the time-out that goes with the requests of a client
    double answered = 0.99;             ///< share of the time-outs that are cancelled
};
workload make_tbench(const machine& hardware, const tbench_parameters& parameters = {});

/// As schbench: message threads wake workers at once, which think (run) and wait for the next message.
struct schbench_parameters {
    idle_background background;
    std::size_t messengers = 2;
    std::size_t workers = 0;          ///< of each messenger; 0: half as many as there are CPUs, at least one
    nanoseconds period = 30'000'000;  ///< of a messenger
    nanoseconds work = 25'000'000;    ///< of a worker, each time
    nanoseconds message = 5'000;      ///< work for each message
};
workload make_schbench(const machine& hardware, const schbench_parameters& parameters = {});

/// The experiment of 2009: build jobs pinned to four CPUs, a driver that queues timers all the time
/// on an otherwise idle CPU, and a CPU that is kept awake: the idle load balancer. Made for
/// 16 equal CPUs at 250 Hz; throws `tmigr::input_error` for a machine with fewer.
struct ilb_parameters {
    idle_background background;
    std::size_t first_job = 4;
    std::size_t jobs = 4;
    std::size_t driver = 10;  ///< index of the CPU on which the timers are queued
    std::size_t balancer = 15;
    nanoseconds job_run = 90'000'000;  ///< a job runs, and waits a little for its disk: about 5 % asleep
    nanoseconds job_wait = 4'500'000;
    nanoseconds timer_period = 1'000'000;  ///< re-armed from its handler, for the next tick each time
    nanoseconds handler = 3'000;
    double balancer_busy = 0.95;  ///< share of time for which the balancer is awake
};
workload make_ilb_2009(const machine& hardware, const ilb_parameters& parameters = {});

/// Tasks that want a big CPU and begin on little ones, one to each, while most big CPUs idle: for
/// hmp-kick. Each runs long, sleeps shortly, and is on its little CPU again.
struct heavy_parameters {
    idle_background background;
    std::size_t tasks = 0;  ///< 0: one for each CPU of the lowest capacity
    nanoseconds work = 40'000'000;
    nanoseconds sleep = 20'000'000;
};
workload make_heavy_on_little(const machine& hardware, const heavy_parameters& parameters = {});

/// Network-like time-outs: armed all the time on every CPU, of which 99 in 100 are cancelled long
/// before they would fire.
struct enqueue_parameters {
    idle_background background;
    std::size_t per_cpu = 4;  ///< timers that are armed at a time
    nanoseconds timeout = 200'000'000;
    double cancelled = 0.99;
    nanoseconds handler = 3'000;
    double busy_share = 0.25;  ///< of the CPUs that run a task most of the time
};
workload make_enqueue_99(const machine& hardware, const enqueue_parameters& parameters = {});

/// The names, in the order of the functions above.
std::vector<std::string_view> workload_names();

/// The workload of that name with its own parameters, above that background. The same machine gives the
/// same workload. Throws `tmigr::input_error` for a name that there is none of, and as the functions above.
workload make_workload(std::string_view name, const machine& hardware, const idle_background& background = {});

}  // namespace whatif

#endif
