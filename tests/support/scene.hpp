// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_SCENE_HPP
#define TMIGR_TESTS_SCENE_HPP

#include <tmigr/hierarchy.hpp>
#include <tmigr/invariants.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tmigr::test {

/// A small machine with a kernel's manners: it keeps every CPU's timers, wakes, sleeps, takes
/// interrupts and hands over, and knows what is true. CPUs 0, 1, ... of one node arrive in
/// order. With width 2, two CPUs are one group, four are root R over A = {0, 1} and B = {2, 3},
/// and five to eight make three levels.
template <class Config>
class scene {
public:
    using tree_type = basic_hierarchy<Config>;
    static constexpr bool expiries = has_expiries<Config>;

    explicit scene(cpu_id cpus, hierarchy_options options = {.width = 2}, std::size_t possible = 16,
                   std::size_t possible_nodes = 1)
        : tree(possible, possible_nodes, options) {
        // CPUs arrive in the middle of what others do.
        cpu.reserve(possible), timers.reserve(possible), armed.reserve(possible), awake.reserve(possible);
        while (cpu.size() < cpus) arrive();
    }

    tree_type tree;
    std::vector<typename tree_type::handle> cpu;
    std::vector<std::multiset<ticks>> timers;
    std::vector<ticks> armed;
    std::vector<char> awake;
    std::vector<departure> left;
    ticks now = 1;
    std::size_t interrupts = 0;
    struct run_of {
        cpu_id sleeper;
        ticks due, at;
    };
    std::vector<run_of> ran;
    std::function<void(cpu_id)> during_run;  ///< called before a sleeper's timers are run by somebody

    void arrive(node_id node = 0) {
        const auto handle = tree.add({.id = static_cast<cpu_id>(cpu.size()), .node = node});
        cpu.push_back(handle);
        timers.emplace_back();
        armed.push_back(never);
        awake.push_back(false);
    }
    void wake(cpu_id c) {
        awake[c] = true;
        cpu[c].activate();
        armed[c] = never;
        run_timers(c);
    }
    void sleep(cpu_id c) {
        if constexpr (expiries)
            armed[c] = cpu[c].deactivate(next(c));
        else
            cpu[c].deactivate();
        awake[c] = false;
    }
    void sleep(cpu_id c, ticks due) {
        add(c, due);
        sleep(c);
    }
    /// The CPU gets a timer, and if it is idle tells the tree.
    void arm(cpu_id c, ticks due) {
        add(c, due);
        if (!awake[c]) armed[c] = cpu[c].new_expiry(next(c));
    }
    /// An interrupt, by a timer or not, or the tick of a CPU that is awake.
    void interrupt(cpu_id c) requires expiries {
        ++interrupts;
        if (!cpu[c].takes_part()) {
            run_timers(c);
            armed[c] = awake[c] ? never : cpu[c].new_expiry(next(c));
            return;
        }
        if (awake[c]) run_timers(c);
        const ticks arm = cpu[c].expire(now, [this](cpu_id sleeper, ticks) {
            if (during_run) during_run(sleeper);
            run_timers(sleeper);
            return next(sleeper);
        });
        armed[c] = awake[c] ? never : arm;
    }
    void leave(cpu_id c) {
        left.push_back(cpu[c].leave());
        armed[c] = left.back().arm;
    }
    void join(cpu_id c) { armed[c] = cpu[c].join(); }
    /// Those who were told to take over wake, run what is due, and sleep again.
    std::string take_over() {
        for (std::size_t i = 0; i < left.size(); ++i) {
            if (left[i].due == never) continue;
            if (!left[i].by) return "nobody to take over";
            if (!cpu[*left[i].by].takes_part() || awake[*left[i].by]) continue;
            wake(*left[i].by);
            if constexpr (expiries) interrupt(*left[i].by);
            sleep(*left[i].by);
        }
        left.clear();
        return "";
    }

    void add(cpu_id c, ticks due) {
        if (due != never) timers[c].insert(due);
    }
    ticks next(std::size_t c) const { return timers[c].empty() ? never : *timers[c].begin(); }
    void run_timers(cpu_id c) {
        while (next(c) <= now && next(c) != never) {
            ran.push_back({c, next(c), now});
            timers[c].erase(timers[c].begin());
        }
    }
    ticks first_armed() const {
        ticks first = never;
        for (std::size_t c = 0; c < cpu.size(); ++c)
            if (cpu[c].takes_part()) first = std::min(first, armed[c]);
        return first;
    }
    bool has_run(cpu_id c, ticks due) const {
        return std::any_of(ran.begin(), ran.end(),
                           [&](const run_of& r) { return r.sleeper == c && r.due == due; });
    }

    /// The shared invariants at rest: what is broken, or "".
    std::string broken_invariant() const {
        const auto in_tree = [this](std::size_t c) { return cpu[c].takes_part(); };
        if (const auto bad = check_at_rest(tree.groups(), [&](const auto& leaf) {
                unsigned mask = 0;
                for (std::size_t c = 0; c < cpu.size(); ++c)
                    if (awake[c] && in_tree(c) && &cpu[c].leaf() == &leaf) mask |= cpu[c].childmask();
                return mask;
            }))
            return name(bad->what);
        if constexpr (expiries) {
            const auto next_of = [&](std::size_t c) { return in_tree(c) && !awake[c] ? next(c) : never; };
            if (const auto bad = check_expiries(tree, next_of, first_armed())) return name(bad->what);
            for (std::size_t c = 0; c < cpu.size(); ++c)
                if (!in_tree(c) && !awake[c] && armed[c] > next(c)) return "on its own, and armed too late";
        }
        return "";
    }

    /// Lets time pass until all timers have run, each sleeper woken when it armed and each CPU
    /// that is awake once a tick: what goes wrong, or "".
    std::string play_out() {
        for (int step = 0; step < 200; ++step) {
            ticks then = never;
            bool timers_left = false;
            for (std::size_t c = 0; c < cpu.size(); ++c) {
                then = std::min(then, awake[c]            ? now + 1
                                      : armed[c] == never ? never
                                                          : std::max(armed[c], now));
                timers_left = timers_left || next(c) != never;
            }
            if (!timers_left) return "";
            if (then == never) return "all sleep, and a timer is left";
            now = then;
            for (cpu_id c = 0; c < cpu.size(); ++c) {
                if (!awake[c] && armed[c] > now) continue;
                interrupt(c);
                if (!awake[c] && armed[c] <= now) return "armed for the past after an interrupt";
            }
            for (std::size_t c = 0; c < cpu.size(); ++c)
                if (next(c) <= now) return "a timer is late";
        }
        return "time does not pass";
    }

    /// Both.
    std::string wrong() {
        if (const std::string handed = take_over(); !handed.empty()) return handed;
        const std::string broken = broken_invariant();
        if constexpr (!expiries)
            return broken;
        else
            return broken.empty() ? play_out() : broken;
    }
};

/// A fresh scene for each schedule: `make` for `race` and the like.
template <class Config, class Prepare>
std::function<std::unique_ptr<scene<Config>>()> scenes(cpu_id cpus, Prepare prepare,
                                                       hierarchy_options options = {.width = 2},
                                                       std::size_t possible = 16,
                                                       std::size_t possible_nodes = 1) {
    return [=] {
        auto made = std::make_unique<scene<Config>>(cpus, options, possible, possible_nodes);
        prepare(*made);
        return made;
    };
}

/// Calls `f` with every assignment of one of `values` to each of `cpus` CPUs.
template <class F>
void for_all_assignments(std::size_t cpus, const std::vector<ticks>& values, F f) {
    std::vector<std::size_t> chosen(cpus, 0);
    for (;;) {
        std::vector<ticks> due;
        for (std::size_t i : chosen) due.push_back(values[i]);
        f(due);
        std::size_t c = 0;
        while (c < cpus && ++chosen[c] == values.size()) chosen[c++] = 0;
        if (c == cpus) return;
    }
}

/// Calls `f` with every order of the CPUs.
template <class F>
void for_all_orders(std::vector<cpu_id> cpus, F f) {
    std::sort(cpus.begin(), cpus.end());
    do f(cpus);
    while (std::next_permutation(cpus.begin(), cpus.end()));
}

}  // namespace tmigr::test

#endif
