// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_RT_APP_HPP
#define TMIGR_EXAMPLES_WHATIF_RT_APP_HPP

#include "machine.hpp"
#include "workload.hpp"

#include <filesystem>
#include <iosfwd>
#include <string>

namespace whatif {

/// Reads a workload in the JSON format of rt-app (its doc/tutorial.txt describes it): comments and
/// commas behind last elements are allowed, each key stands once in its object (`run0`, `run1`).
///
/// Taken: `tasks` with `instance`, `loop`, `delay`, `cpus`, `phases` (each with `loop`) and the
/// events `run`, `runtime`, `sleep`, `timer` (with a `ref` and `period`; each task has its own), `suspend`
/// and `resume`; `global` with `duration`. Times are microseconds there.
///  - `run` is work for a CPU of capacity 1024. `runtime` is time on whatever CPU: only for tasks
///    whose CPUs all have one capacity.
///  - `timer` wakes the task at multiples of its period since the task began; all timers of a task must have
///    one period, in mode absolute or (the default) relative: the model has no drift to tell them apart.
///  - `suspend` waits until some task does `resume` with this task's name, which must have one instance.
///  - A phase that loops for ever (-1) must be the only one, a task's number of phases written out at most
///    100,000.
/// Without effect here: `policy` (SCHED_DEADLINE is refused), `priority`, `util_min`, `util_max`,
/// `taskgroup`, `nodes_membind`, and what `global` says of calibration, memory and logs. Everything else is
/// refused: locks, condition variables, barriers, forks, I/O and memory events, CPUs of a phase.
///
/// Throws `tmigr::input_error` with file and line.
workload read_rt_app(std::istream& in, const std::string& file, const machine& hardware);
workload read_rt_app(const std::filesystem::path& file, const machine& hardware);

}  // namespace whatif

#endif
