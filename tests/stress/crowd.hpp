// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_CROWD_HPP
#define TMIGR_TESTS_CROWD_HPP

#include <tmigr/hierarchy.hpp>
#include <tmigr/invariants.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

namespace tmigr::test {

struct crowd_options {
    cpu_id cpus = 4;
    unsigned width = 8, threads = 2;
    std::uint64_t seed = 1;
    std::size_t rounds = 1000;
    bool pin = false;                ///< thread t to the tth core, and round again
    std::uint64_t sleep_one_in = 0;  ///< steps; 0: nobody sleeps
};

/// The global timers of one CPU, as a program would keep them: a list and a lock.
struct timer_list {
    std::mutex lock;
    std::vector<ticks> due;

    ticks next() const { return due.empty() ? never : *std::min_element(due.begin(), due.end()); }
    ticks run(ticks now) {
        const std::lock_guard held(lock);
        std::erase_if(due, [now](ticks t) { return t <= now; });
        return next();
    }
    ticks arm(ticks t) {
        const std::lock_guard held(lock);
        due.push_back(t);
        return next();
    }
};

/// One CPU as its owner and the others see it. Plain members are the owner's alone, and
/// everybody's when all threads rest.
template <class Handle>
struct machine_cpu {
    timer_list timers;
    std::optional<Handle> handle;  // not looked up again and again: that would take a lock
    std::atomic<bool> signalled{false};
    bool awake = false, takes_part = true;
    ticks armed = never;
};

/// Threads drive CPUs of their own through random steps, arrival of new ones included, and
/// rest after each round; then all must hold together.
template <class Config>
class crowd {
public:
    static constexpr std::size_t steps = 200;  ///< of each thread in a round

    explicit crowd(const crowd_options& options)
        : options_(options),
          tree_(options.cpus, 1, {.width = options.width}),
          cpus_(options.cpus),
          rest_(static_cast<std::ptrdiff_t>(options.threads), resting{this}) {
        for (cpu_id c = 0; c < (options.cpus + 1) / 2; ++c) arrive(c);
    }

    void run() {
        std::vector<std::thread> crew;
        for (unsigned t = 0; t < options_.threads; ++t) crew.emplace_back([this, t] { work(t); });
        for (std::thread& t : crew) t.join();
    }

    /// After `run`: the first invariant that was found broken, with the round, or "".
    const std::string& wrong() const noexcept { return wrong_; }
    /// How many times all rested and everything was checked.
    std::size_t checks() const noexcept { return round_; }
    std::size_t operations() const noexcept { return operations_; }
    std::string text() const {
        return "seed " + std::to_string(options_.seed) + ", " + std::to_string(options_.cpus) + " CPUs, width " +
               std::to_string(options_.width) + ", " + std::to_string(options_.threads) + " threads";
    }

private:
    using mask_type = typename Config::state::mask_type;
    using cpu_type = machine_cpu<cpu_handle<Config>>;
    struct resting {
        crowd* all;
        void operator()() noexcept { all->at_rest(); }
    };

    void work(unsigned me) {
        if (options_.pin) pin(me);
        std::mt19937_64 random(options_.seed + me);
        for (std::size_t r = 0; r < options_.rounds; ++r) {
            for (std::size_t i = 0; i < steps; ++i) {
                const auto count = (cpus_.size() - me + options_.threads - 1) / options_.threads;
                step(static_cast<cpu_id>(me + random() % count * options_.threads), r * 1000 + i, random);
                if (options_.sleep_one_in != 0 && random() % options_.sleep_one_in == 0)
                    std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
            }
            operations_ += steps;
            // Every other round all fall asleep together: then nobody awake makes up for a mistake.
            if (r % 2 == 0) {
                ready_.fetch_add(1);
                while (ready_.load() < (r / 2 + 1) * options_.threads) Config::atomics::pause();
                for (std::size_t c = me; c < cpus_.size(); c += options_.threads)
                    if (cpus_[c].awake) sleep(static_cast<cpu_id>(c), cpus_[c].timers.arm(r * 1000 + steps + random() % 8));
            }
            rest_.arrive_and_wait();
        }
    }

    static void pin(unsigned thread) {
        cpu_set_t cores;
        CPU_ZERO(&cores);
        CPU_SET(thread % std::max(1u, std::thread::hardware_concurrency()), &cores);
        pthread_setaffinity_np(pthread_self(), sizeof cores, &cores);
    }

    void step(cpu_id c, ticks now, std::mt19937_64& random) {
        cpu_type& me = cpus_[c];
        if (!me.handle) {
            if (random() % 64 == 0) arrive(c);
            return;
        }
        const auto cpu = *me.handle;
        if (me.signalled.exchange(false)) {
            if (!me.awake) return wake(c);
            // Else the next kick would need no signal, and find the CPU asleep.
            cpu.answer_kick();
        }
        if (random() % 16 == 0) return me.takes_part ? leave(c) : join(c);
        if (me.awake) {
            me.timers.run(now);
            if (cpu.must_expire(now)) expire(c, now);
            if (random() % 2 == 0) return;
            sleep(c, random() % 2 == 0 ? me.timers.arm(now + 1 + random() % 8) : me.timers.run(now));
        } else if (random() % 3 == 0) {
            me.armed = cpu.new_expiry(me.timers.arm(now + 1 + random() % 8));
        } else if (random() % 3 == 0) {
            if (me.takes_part) expire(c, now);
            else me.armed = cpu.new_expiry(me.timers.run(now));
        } else {
            wake(c);
        }
    }

    void arrive(cpu_id c) {
        cpus_[c].handle = tree_.add({.id = c});
    }
    void wake(cpu_id c) {
        cpus_[c].handle->activate();
        cpus_[c].awake = true;
        cpus_[c].armed = never;
    }
    void sleep(cpu_id c, ticks due) {
        cpus_[c].armed = cpus_[c].handle->deactivate(due);
        cpus_[c].awake = false;
    }
    void expire(cpu_id c, ticks now) {
        const ticks arm = cpus_[c].handle->expire(now, [this](cpu_id sleeper, ticks t) { return cpus_[sleeper].timers.run(t); });
        if (!cpus_[c].awake) cpus_[c].armed = arm;
    }
    void leave(cpu_id c) {
        const departure left = cpus_[c].handle->leave();
        cpus_[c].takes_part = false;
        if (!cpus_[c].awake) cpus_[c].armed = left.arm;
        // Who need not be signalled has a signal under way.
        if (left.by && tree_.cpu(*left.by).kick()) cpus_[*left.by].signalled = true;
    }
    void join(cpu_id c) {
        const ticks arm = cpus_[c].handle->join();
        cpus_[c].takes_part = true;
        if (!cpus_[c].awake) cpus_[c].armed = arm;
    }

    void at_rest() noexcept {
        for (cpu_id c = 0; c < cpus_.size(); ++c)
            if (cpus_[c].signalled.exchange(false)) {
                if (cpus_[c].awake) {
                    cpus_[c].handle->answer_kick();
                } else {
                    wake(c);
                    sleep(c, cpus_[c].timers.next());
                }
            }
        const auto cpu = [this](std::size_t i) -> cpu_type& { return cpus_[tree_.shape().cpus[i].info.id]; };
        ticks first_armed = never;
        for (std::size_t i = 0; i < tree_.shape().cpus.size(); ++i) {
            if (cpu(i).awake) continue;
            if (cpu(i).takes_part) first_armed = std::min(first_armed, cpu(i).armed);
            else if (cpu(i).armed > cpu(i).timers.next()) complain("an own expiry that is not armed");
        }
        const auto next_of = [&](std::size_t i) { return cpu(i).awake || !cpu(i).takes_part ? never : cpu(i).timers.next(); };
        if (const auto bad = check_expiries(tree_, next_of, first_armed)) complain(name(bad->what));
        const auto awake_mask = [&](const auto& leaf) {
            mask_type mask = 0;
            for (std::size_t i = 0; i < tree_.shape().cpus.size(); ++i)
                if (cpu(i).awake && cpu(i).takes_part && tree_.shape().cpus[i].group + 1 == leaf.id())
                    mask = static_cast<mask_type>(mask | tree_.shape().cpus[i].childmask);
            return mask;
        };
        if (const auto bad = check_at_rest(tree_.groups(), awake_mask)) complain(name(bad->what));
        ++round_;
    }
    void complain(const char* what) {
        if (wrong_.empty()) wrong_ = std::string(what) + " in round " + std::to_string(round_);
    }

    crowd_options options_;
    basic_hierarchy<Config> tree_;
    std::vector<cpu_type> cpus_;
    std::barrier<resting> rest_;
    std::atomic<std::size_t> operations_{0};
    std::atomic<std::size_t> ready_{0};
    std::string wrong_;
    std::size_t round_ = 0;
};

}  // namespace tmigr::test

#endif
