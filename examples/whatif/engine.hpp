// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_ENGINE_HPP
#define TMIGR_EXAMPLES_WHATIF_ENGINE_HPP

#include "agenda.hpp"
#include "governor.hpp"
#include "outside.hpp"
#include "policy.hpp"
#include "random.hpp"
#include "simulate.hpp"
#include "timers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace whatif {

/// One run. Two kinds of steps: something happens from outside (outside.hpp), or a CPU goes on:
/// its handlers are done, its task has come to the end of a phase, its tick or a precise timer
/// comes, or it is out of its idle state. What is due together goes by the order outside, then
/// lowest CPU. Within a step time stands still; what handlers cost is time until the CPU's next.
///
/// Rules, from Linux 6.9 and newer where nothing else is said:
///  - An awake CPU ticks, all on the same grid, and at its ticks runs what is due of its own
///    wheel timers, then of others as the policy says.
///  - An idle CPU asks its governor, keeps its tick when told so or when a wheel timer is due at
///    the next one, and remains awake for the policy then.
///  - An interrupt without a task to run leaves a CPU with its tick stopped asleep for the policy.
///  - A timer's handler runs at once when the timer is; the task it wakes is woken on its own CPU.
class engine final : timer_server {
public:
    engine(const machine& hardware, const workload& load, const simulation& how);
    result play();

private:
    enum class mode : std::uint8_t { idle, serving, busy, offline };
    static constexpr std::uint32_t none = 0xffffffff;

    struct cpu {
        explicit cpu(const idle_table& t) : table(&t), guess(t) {}
        const idle_table* table;
        governor guess;
        std::array<timer_queue, 4> queues;  ///< by timer_kind
        mode now_in = mode::serving;
        bool tick_stopped = false;
        bool take_over = false;    ///< somebody left, and this CPU is to look after the rest
        bool isolated = false;
        bool kicked = false;       ///< to take a heavy task
        nanoseconds since = 0;     ///< accounted for until then
        nanoseconds next_tick = 0;
        nanoseconds busy_until = 0;
        nanoseconds arm = forever;         ///< what the policy wants it to wake for
        nanoseconds told = forever;        ///< what the policy knows of its global timers
        nanoseconds woken = forever;       ///< when something other than its timers interrupted it, while idle
        nanoseconds in_at = 0;             ///< when it is in its idle state
        std::size_t state = 0;
        nanoseconds cost = 0;      ///< of what it did in this step
        std::uint32_t current = none;
        std::deque<std::uint32_t> waiting;
        nanoseconds serving_since = 0;
        const idle_state& sleeps_in() const { return table->states[state]; }
        /// When its timer hardware interrupts it.
        nanoseconds timer_due() const {
            const nanoseconds precise = queue(timer_kind::precise).next();
            const nanoseconds wheel = tick_stopped ? std::min(queue(timer_kind::pinned).next(), arm) : next_tick;
            return std::min(precise, wheel);
        }
        /// When it begins to get out of its idle state.
        nanoseconds leaves_at() const { return std::max(std::min(timer_due(), woken), in_at); }
        const timer_queue& queue(timer_kind k) const { return queues[static_cast<std::size_t>(k)]; }
        timer_queue& queue(timer_kind k) { return queues[static_cast<std::size_t>(k)]; }
    };

    enum class task_is : std::uint8_t { new_born, asleep, waiting, running, done };
    struct task {
        task_is is = task_is::new_born;
        std::uint32_t cpu = 0;
        std::uint32_t home = none;  ///< a heavy task's little CPU, while it is on a big one
        std::size_t phase = 0;
        std::uint64_t round = 0;
        nanoseconds left = 0;  ///< of the work under way, in time of its CPU
        nanoseconds began = 0;
        bool woken_early = false;
    };
    struct periodic {
        random_source random;
        std::uint64_t cancels = 0;  ///< in 2^32ths
        nanoseconds jitter = 0;
    };

    // engine.cpp: the run as a whole
    void check() const;
    void begin();
    void step(std::size_t c);
    void outside_step();
    void end();
    void settle(std::size_t c);
    void reschedule(std::size_t c);
    void account(std::size_t c);
    void later(nanoseconds at, outside_event::what of, std::size_t index, std::uint64_t number = 0);

    // engine_plug.cpp: CPUs come and go
    void plug(const plug_event& what);
    void take_offline(std::size_t c);
    void bring_online(std::size_t c);
    void leave(std::size_t c);
    std::size_t there(std::size_t c) const;

    // engine_idle.cpp: in and out of idle states
    void enter_idle(std::size_t c);
    void leave_idle(std::size_t c);
    void serve(std::size_t c);
    void awake(std::size_t c);
    void interrupt(std::size_t c, nanoseconds work);
    void disturb(std::size_t c);
    void retell(std::size_t c);
    void note_migrator();
    nanoseconds next_interrupt(std::size_t c) const;

    // engine_timers.cpp
    void add_timer(timer_index t, std::size_t queue, nanoseconds due);
    void arm_global(timer_index t, std::size_t armer, nanoseconds due);
    void arm_plan(timer_index t, std::size_t armer, bool own_handler);
    void cancel(timer_index t);
    void run_timer(timer_index t, std::size_t on);
    void run_due(timer_queue& of, std::size_t on);
    void run_wheel(std::size_t c);
    void place_rearmed(std::size_t c);
    void tick(std::size_t c);
    nanoseconds run_global_timers(std::size_t owner, std::size_t on, nanoseconds now) override;
    void move_global_timers(std::size_t from, std::size_t to, nanoseconds now) override;
    void arm_recorded();
    void cancel_plan(timer_index t);
    std::size_t plan_count() const { return load_.timers.size(); }
    timer_index timer_of_task(std::size_t t) const { return static_cast<timer_index>(plan_count() + t); }

    // engine_tasks.cpp: the scheduler
    void wake(std::uint32_t t, std::size_t from);
    void signal(std::uint32_t t, std::size_t from);
    void wake_on(std::uint32_t t, std::size_t target, std::size_t from);
    std::size_t choose_cpu(std::uint32_t t) const;
    void dispatch(std::size_t c);
    void advance(std::size_t c);
    void block(std::size_t c);
    void preempt(std::size_t c);
    bool may_run(std::uint32_t t, std::size_t c) const;
    bool is_work(std::uint32_t t) const { return t >= load_.tasks.size(); }
    std::string_view name_of(std::uint32_t t) const { return is_work(t) ? "work" : std::string_view(load_.tasks[t].name); }
    void burden(std::size_t c, nanoseconds length, std::size_t from);
    void kick_big(std::size_t c);
    void pull_heavy(std::size_t c);
    bool is_idle(const cpu& me) const { return me.current == none && me.waiting.empty() && me.now_in != mode::offline; }
    void show(std::size_t c);
    nanoseconds scaled(nanoseconds work, std::size_t c) const noexcept { return work * 1024 / capacity_[c]; }

    const machine& hw_;
    const workload& load_;
    const simulation& how_;
    nanoseconds length_;
    nanoseconds tick_;
    nanoseconds now_ = 0;
    std::vector<unsigned> capacity_;
    std::vector<std::size_t> class_;
    std::vector<cpu> cpus_;
    std::vector<task> tasks_;              ///< of the workload, then one for work of each CPU
    std::vector<nanoseconds> burden_;      ///< by CPU: work for that task
    std::vector<timer> timers_;            ///< of plans, of tasks, of what is armed of the recording
    std::vector<timer_index> free_timers_;
    std::vector<periodic> plans_;
    std::vector<random_source> interrupts_;
    std::vector<nanoseconds> next_interrupt_;    ///< by CPU, of its devices; for the perfect guess
    std::vector<std::vector<std::uint8_t>> allowed_;  ///< by task; empty: everywhere
    struct rearm {
        timer_index timer;
        nanoseconds due;
    };
    std::vector<rearm> rearmed_;
    outside_queue outside_;
    std::size_t next_recorded_ = 0, next_busy_ = 0, next_plug_ = 0;
    std::uint64_t order_ = 0;
    std::size_t online_ = 0;
    board board_;
    policy_choice policy_;
    agenda agenda_;
    result res_;
    std::uint64_t steps_ = 0;
    nanoseconds longest_service_ = 0;
    std::size_t migrator_ = nobody;
    nanoseconds migrator_since_ = 0;
};

}  // namespace whatif

#endif
