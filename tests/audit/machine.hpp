// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_AUDIT_MACHINE_HPP
#define TMIGR_TESTS_AUDIT_MACHINE_HPP

#include "support.hpp"

#include <support/stepping.hpp>

#include <tmigr/expiry.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/text_tracer.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tmigr::test {

/// What a machine does otherwise than the library: in what it prints, or in what it does with the result.
enum class misdeed {
    none,
    last_forgets,         ///< K02: who leaves all idle with no timer of its own arms nothing
    keeps_owner,          ///< K03: of two equal expiries, the one that was run first stays the group's owner
    stops_after_serving,  ///< K06: a sleeper's timers are run, and nothing is told
    forgets_promise,      ///< K08: a sleeper that looks and finds nothing due arms nothing
    chases_ghost,         ///< K11: a sleeper that looks and is not in charge keeps what it had armed
    nobody_takes_over,    ///< K25: the last one awake leaves, and nobody is told
};

/// A text tracer that leaves out or bends some lines, as a faulty kernel would print them.
class bent_tracer {
public:
    static constexpr bool enabled = true;
    bent_tracer() = default;
    bent_tracer(std::ostream& out, misdeed what) : to_(out), state_(std::make_shared<state>()) { state_->what = what; }

    void set_time(std::uint64_t ns) noexcept { to_.set_time(ns); }
    template <class Event>
    void trace(const Event& e, cpu_id on) noexcept {
        if (!state_) return;
        Event bent = e;
        if (passes(bent, on)) to_.trace(bent, on);
    }
    /// What the CPU's next tmigr_cpu_new_timer_idle line says it arms.
    void promise(cpu_id cpu, std::uint64_t wakeup) { state_->promises[cpu] = wakeup; }

private:
    struct state {
        misdeed what = misdeed::none;
        std::map<cpu_id, std::uint64_t> promises;
        std::set<cpu_id> serving;
        std::map<group_id, std::pair<std::uint64_t, cpu_id>> owners;
    };
    template <class Event>
    bool passes(Event&, cpu_id on) noexcept {
        if constexpr (!std::is_same_v<Event, event::handle_remote_cpu>) state_->serving.erase(on);
        return true;
    }
    bool passes(event::cpu_idle& e, cpu_id on) noexcept {
        state_->serving.erase(on);
        if (state_->what == misdeed::last_forgets && e.nextevt == event::never) e.wakeup = event::never;
        return true;
    }
    bool passes(event::cpu_new_timer_idle& e, cpu_id on) noexcept {
        state_->serving.erase(on);
        if (const auto bent = state_->promises.extract(on)) e.wakeup = bent.mapped();
        return true;
    }
    bool passes(event::handle_remote_cpu&, cpu_id on) noexcept {
        state_->serving.insert(on);
        return true;
    }
    bool passes(event::update_events& e, cpu_id on) noexcept {
        if (state_->what == misdeed::stops_after_serving && state_->serving.contains(on)) return false;
        if (state_->what == misdeed::keeps_owner && e.child != no_group) {
            auto& [due, owner] = state_->owners[e.child];
            if (due == e.nextevt)
                e.child_evtcpu = owner;
            else
                due = e.nextevt, owner = e.child_evtcpu;
        }
        return true;
    }

    text_tracer to_;
    std::shared_ptr<state> state_;
};

template <class Config>
struct bent : Config {
    using tracer = bent_tracer;
};

/// CPUs that wake, sleep, arm, look and run each other's timers at random, every access to memory in an
/// order of its own, and what they print.
template <class Config>
class random_machine_of {
public:
    using tree_type = basic_hierarchy<bent<Config>>;
    struct shape {
        cpu_id cpus = 12;
        unsigned width = 4;
        node_id nodes = 1;
        cpu_id late = 0;      ///< so many of the CPUs arrive while the others run
        bool leaves = false;  ///< CPUs leave and join
        unsigned within = 4000;  ///< turns within which the late ones arrive
        linux_form form = linux_form::newest;
    };

    random_machine_of(shape s, std::uint64_t seed, misdeed what = misdeed::none)
        : shape_(s), random_(seed), what_(what), tree_(s.cpus, static_cast<std::size_t>(s.nodes), {s.width, s.form}, bent_tracer{out_, what}) {
        timers_.resize(s.cpus);
        for (cpu_id c = 0; c < s.cpus - s.late; ++c) arrive(c);
    }

    /// Lets all live so long, and returns the trace.
    std::string run(std::size_t rounds) {
        stepper steps;
        std::vector<std::size_t> running;
        for (cpu_id c = 0; c < shape_.cpus - shape_.late; ++c) {
            steps.add([this, c, rounds] { live(c, rounds); });
            running.push_back(running.size());
        }
        for (cpu_id c = shape_.cpus - shape_.late; c < shape_.cpus; ++c) {
            steps.add([this, c, rounds] {
                for (auto waits = random_() % shape_.within; waits > 0; --waits) yield();
                arrive(c);
                live(c, rounds / 2);
            });
            running.push_back(running.size());
        }
        while (!running.empty()) {
            const std::size_t i = random_() % running.size();
            // Bursts of one CPU, as between interrupts.
            for (auto burst = 1 + random_() % 6; burst > 0 && !steps.done(running[i]); --burst) steps.step(running[i]);
            if (steps.done(running[i])) {
                running[i] = running.back();
                running.pop_back();
            }
            set_time(now_ + random_() % 40'000);
        }
        return out_.str();
    }
    tree_type& tree() { return tree_; }
    /// How often a CPU left that had something to hand over.
    std::size_t left() const { return left_; }

private:
    static constexpr ticks jiffy = 4'000'000;

    void arrive(cpu_id c) {
        // One after the other; the library would block here.
        while (growing_) yield();
        growing_ = true;
        handles_[c] = tree_.add({.id = c, .node = static_cast<node_id>(c % static_cast<cpu_id>(shape_.nodes))});
        growing_ = false;
    }
    void set_time(ticks now) {
        now_ = now;
        tree_.tracer().set_time(now);
    }
    void yield() { static_cast<void>(turn_.get()); }
    ticks next(cpu_id c) const { return timers_[c].empty() ? never : *timers_[c].begin(); }
    ticks run_due(cpu_id c) {
        while (next(c) <= now_ && next(c) != never) timers_[c].erase(timers_[c].begin());
        return next(c);
    }
    void maybe_arm(cpu_id c) {
        if (random_() % 3 == 0) timers_[c].insert((now_ / jiffy + 1 + random_() % 4) * jiffy);
    }
    void live(cpu_id c, std::size_t rounds) {
        const auto cpu = *handles_[c];
        for (; rounds > 0; --rounds) {
            cpu.activate();
            run_due(c);
            for (auto looks = random_() % 3; looks > 0; --looks) {
                yield();
                look(cpu);
            }
            maybe_arm(c);
            if (shape_.leaves && random_() % 8 == 0) stay_away(c, cpu);
            sleep(c, cpu);
        }
    }
    template <class Handle>
    void sleep(cpu_id c, const Handle& cpu) {
        ticks armed = cpu.deactivate(next(c));
        kicked_[c] = false;
        for (auto waits = random_() % 300; waits > 0 && !kicked_[c]; --waits) {
            yield();
            const bool rings = armed <= now_;
            if (!rings && random_() % 100 != 0) continue;
            bool looked = rings || random_() % 2 == 0, ran = false;
            if (looked)
                ran = look(cpu);
            else
                maybe_arm(c);
            run_due(c);
            std::optional<ticks> bent;
            if (what_ == misdeed::forgets_promise && looked && !ran) bent = never;
            if (what_ == misdeed::chases_ghost && rings && !ran) bent = armed;
            if (bent) tree_.tracer().promise(c, event::time(*bent));
            armed = cpu.new_expiry(next(c));
            if (bent) armed = *bent;
        }
    }
    template <class Handle>
    void stay_away(cpu_id c, const Handle& cpu) {
        const departure left = cpu.leave();
        timers_[c].clear();
        if (left.due != never) {
            ++left_;
            if (what_ != misdeed::nobody_takes_over && left.by) kicked_[*left.by] = true;
        }
        for (auto waits = random_() % 2000; waits > 0; --waits) yield();
        static_cast<void>(cpu.join());
    }
    template <class Handle>
    bool look(const Handle& cpu) {
        bool ran = false;
        static_cast<void>(cpu.expire(now_, [&](cpu_id sleeper, ticks) {
            ran = true;
            return run_due(sleeper);
        }));
        return ran;
    }

    shape shape_;
    std::mt19937_64 random_;
    misdeed what_;
    std::ostringstream out_;
    tree_type tree_;
    std::map<cpu_id, std::optional<typename tree_type::handle>> handles_;
    std::vector<std::multiset<ticks>> timers_;
    stepping_atomics::var<int> turn_{0};
    bool growing_ = false;
    std::map<cpu_id, bool> kicked_;
    ticks now_ = 1'000'000'000;
    std::size_t left_ = 0;
};

}  // namespace tmigr::test

#endif
