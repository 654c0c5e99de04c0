// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_INTERLEAVING_MACHINE_HPP
#define TMIGR_TESTS_INTERLEAVING_MACHINE_HPP

#include "support/interleaving_program.hpp"
#include "support/scene.hpp"
#include "support/stepping.hpp"

#include <array>
#include <string>

namespace tmigr::test {

/// A `scene` whose CPUs may be in the middle of their operations at once. What a CPU knows of
/// itself (`awake`, `armed`) is its own; timers change between accesses only, as under a lock.
template <class Config>
class interleaving_machine : public scene<Config> {
    using base = scene<Config>;

public:
    using base::scene;

    std::string trouble;  ///< what went wrong in the middle

    void act(const operation& o) {
        using enum operation::kind;
        if (o.clock) ++this->now;
        const cpu_id c = o.cpu;
        if (o.what == arrive) come(static_cast<node_id>(o.other));
        if (c >= this->cpu.size()) return;
        const ticks due = o.wait == 0 ? never : this->now + o.wait - 1;
        if (o.what == wake) this->wake(c);
        if (o.what == sleep) this->sleep(c, base::expiries ? due : never);
        if (o.what == leave || o.what == rejoin) {
            this->leave(c);
            if (left_at_[c] == 0) left_at_[c] = ++moments_;
        }
        if (o.what == join || o.what == rejoin) {
            left_at_[c] = 0;
            this->join(c);
        }
        if (o.what == kick) {
            if (o.other < this->cpu.size()) static_cast<void>(this->cpu[o.other].kick());
        }
        if (o.what == answer) static_cast<void>(this->cpu[c].answer_kick());
        if (o.what == query) ask();
        if constexpr (base::expiries) {
            if (o.what == timer) this->arm(c, due);
            if (o.what == interrupt) this->interrupt(c);
            if (o.what == tick) this->tick(c);
            if (o.what == forecast) this->forecast(c);
        }
    }

    /// Older forms have no room for some: then nobody comes any more.
    void come(node_id node) {
        if (full_) return;
        try {
            this->arrive(node);
        } catch (const input_error&) {
            full_ = true;
        }
    }
    void interrupt(cpu_id c) requires(base::expiries) {
        if (!this->cpu[c].takes_part()) return base::interrupt(c);
        if (this->awake[c]) this->run_timers(c);
        const std::size_t began = ++moments_;
        const ticks arm = this->cpu[c].expire(this->now, [this, began](cpu_id sleeper, ticks) {
            if (left_at_[sleeper] != 0 && left_at_[sleeper] < began)
                trouble = "timers are run of one who left before";
            if (std::exchange(inside_[sleeper], true)) trouble = "two run the timers of one sleeper at once";
            stepper::point({"run", access::kind::plain, nullptr});
            this->run_timers(sleeper);
            const ticks next = this->next(sleeper);
            stepper::point({"run", access::kind::plain, nullptr});
            inside_[sleeper] = false;
            return next;
        });
        this->armed[c] = this->awake[c] ? never : arm;
    }
    void tick(cpu_id c) requires(base::expiries) {
        this->run_timers(c);
        if (this->cpu[c].must_expire(this->now)) interrupt(c);
    }
    void forecast(cpu_id c) requires(base::expiries) {
        const ticks due = this->next(c), told = this->cpu[c].peek(due);
        if (told != never && told > due) trouble = "a forecast is late";
    }
    void ask() {
        static_cast<void>(this->tree.any_active());
        if (const auto by = this->tree.migrator(); by && *by >= this->cpu.size())
            trouble = "nobody is in charge";
    }

    /// For times when nobody is in the middle of something: what is wrong, or "".
    std::string wrong_at_rest() {
        if (!trouble.empty()) return trouble;
        // Nobody to take over: then all were leaving, and each armed for itself.
        for (departure& gone : this->left)
            if (!gone.by) gone.due = never;
        if (const std::string handed = this->take_over(); !handed.empty()) return handed;
        const std::string broken = this->broken_invariant();
        return broken.empty() ? late_forecast() : broken;
    }

    /// Whether the only one awake is told too late what it would have to arm.
    std::string late_forecast() const {
        if constexpr (base::expiries) {
            std::size_t awake_members = 0, last = 0;
            ticks first = never;
            for (std::size_t c = 0; c < this->cpu.size(); ++c) {
                if (!this->cpu[c].takes_part()) continue;
                first = std::min(first, this->next(c));
                if (this->awake[c]) ++awake_members, last = c;
            }
            if (awake_members == 1 && this->cpu[last].peek(this->next(last)) > first)
                return "a forecast is late";
        }
        return "";
    }
    /// As the scene does it, but that who is awake trusts its quick look.
    std::string play_out() {
        if constexpr (base::expiries) {
            for (int step = 0; step < 100; ++step) {
                ticks then = never;
                bool timers_left = false;
                for (std::size_t c = 0; c < this->cpu.size(); ++c) {
                    const ticks alarm = this->armed[c];
                    then = std::min(then, this->awake[c]   ? this->now + 1
                                          : alarm == never ? never
                                                           : std::max(alarm, this->now));
                    timers_left = timers_left || this->next(c) != never;
                }
                if (!timers_left) return "";
                if (then == never) return "all sleep, and a timer is left";
                this->now = then;
                for (cpu_id c = 0; c < this->cpu.size(); ++c) {
                    if (this->awake[c]) {
                        tick(c);
                    } else if (this->armed[c] <= this->now) {
                        interrupt(c);
                        if (this->armed[c] <= this->now) return "armed for the past after an interrupt";
                    }
                }
                for (std::size_t c = 0; c < this->cpu.size(); ++c)
                    if (this->next(c) <= this->now) return "a timer is late";
            }
            return "time does not pass";
        }
        return "";
    }

    /// What a cell is, for stories.
    std::string name_of(const void* cell) const {
        if (cell == nullptr) return "";
        std::size_t n = 0;
        for (const auto& g : this->tree.groups()) {
            const std::string group = "group " + std::to_string(n++);
            if (cell == &g.word()) return group + ".word";
            if constexpr (base::expiries)
                for (unsigned place = 0; place < Config::state::children; ++place)
                    if (cell == &g.table().slots()[place]) return group + ".slot" + std::to_string(place);
            const auto at = reinterpret_cast<std::uintptr_t>(cell),
                       from = reinterpret_cast<std::uintptr_t>(&g);
            if (at >= from && at < from + sizeof(g)) return group;
        }
        return "a CPU's";
    }

private:
    bool full_ = false;
    std::array<bool, interleaving_program::possible_cpus> inside_{};
    std::array<std::size_t, interleaving_program::possible_cpus> left_at_{};  ///< 0: takes part
    std::size_t moments_ = 0;
};

}  // namespace tmigr::test

#endif
