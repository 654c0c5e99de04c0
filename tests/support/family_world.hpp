// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_FAMILY_WORLD_HPP
#define TMIGR_TESTS_FAMILY_WORLD_HPP

#include "support/families.hpp"

#include <tmigr/atomics/plain.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/invariants.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tmigr::test {

struct stoppable_config : expiry_config<plain_atomics> {
    static constexpr bool preference_can_stop = true;
};

/// A machine with families and a kernel's manners, one step at a time: it keeps every CPU's
/// timers, and knows what is true. Functions return what is wrong, or "".
class family_world {
public:
    using config = stoppable_config;
    using tree_type = basic_hierarchy<config>;

    struct cpu {
        tree_type::handle in_tree;
        cpu_info info;
        std::multiset<ticks> timers{};
        ticks armed = never;
        bool awake = false;
        ticks next() const { return timers.empty() ? never : *timers.begin(); }
    };

    /// CPUs of `all` that are not in `present` are to come later.
    family_world(const topology& present, topology all, family_policy policy, unsigned width)
        : machine(std::move(all)), planned_for(present), asked(std::move(policy)), tree(present, asked, {.width = width}) {
        for (const cpu_info& info : present.cpus()) take_in(info);
    }

    topology machine;
    topology planned_for;
    family_policy asked;
    tree_type tree;
    std::vector<cpu> cpus;  ///< in the order of `tree.shape().cpus`
    ticks now = 1;
    bool preference_stopped = false;
    std::string complaint;  ///< of what happened in the middle of a step
    std::size_t timers_run = 0, run_for_others = 0, hand_overs = 0, trees_left = 0, reshapes = 0, refused = 0, grown = 0;

    std::size_t tree_of(std::size_t c) const { return tree.shape().groups[tree.shape().cpus[c].group].tree; }
    std::size_t index(cpu_id id) const {
        for (std::size_t c = 0; c < cpus.size(); ++c)
            if (cpus[c].info.id == id) return c;
        return cpus.size();
    }

    void wake(std::size_t c) {
        cpus[c].awake = true;
        cpus[c].in_tree.activate();
        cpus[c].armed = never;
        run_timers(c);
    }
    void sleep(std::size_t c) {
        cpus[c].awake = false;
        cpus[c].armed = cpus[c].in_tree.deactivate(cpus[c].next());
    }
    void arm(std::size_t c, ticks due) {
        cpus[c].timers.insert(due);
        if (!cpus[c].awake) cpus[c].armed = cpus[c].in_tree.new_expiry(cpus[c].next());
    }
    void cancel(std::size_t c) {
        if (cpus[c].timers.empty()) return;
        cpus[c].timers.erase(cpus[c].timers.begin());
        if (!cpus[c].awake) cpus[c].armed = cpus[c].in_tree.new_expiry(cpus[c].next());
    }
    /// An interrupt, or the tick of a CPU that is awake.
    void interrupt(std::size_t c) {
        if (!cpus[c].in_tree.takes_part()) {
            run_timers(c);
            cpus[c].armed = cpus[c].awake ? never : cpus[c].in_tree.new_expiry(cpus[c].next());
            return;
        }
        if (cpus[c].awake) run_timers(c);
        if (cpus[c].awake && !cpus[c].in_tree.must_expire(now)) return;
        const ticks arm = cpus[c].in_tree.expire(now, [&](cpu_id id, ticks) {
            const std::size_t sleeper = index(id);
            if (tree_of(sleeper) != tree_of(c)) complaint = "a timer crossed from one tree to another";
            const auto& policy = tree.plan().policy();
            if (!policy.joined && values_of(planned_for, policy, cpus[sleeper].info).back() !=
                                      values_of(planned_for, policy, cpus[c].info).back())
                complaint = "a timer was run by a CPU of another class";
            if (cpus[sleeper].awake) complaint = "timers of a CPU that is awake were run for it";
            if (!cpus[sleeper].in_tree.takes_part()) complaint = "timers of a CPU apart were run for it";
            run_for_others += sleeper != c;
            run_timers(sleeper);
            return cpus[sleeper].next();
        });
        if (!cpus[c].awake) cpus[c].armed = arm;
    }
    /// `by_waking`: a successor that is named wakes and sleeps again; else it looks while it sleeps.
    void leave(std::size_t c, bool by_waking) {
        const departure left = cpus[c].in_tree.leave();
        cpus[c].armed = left.arm;
        bool others = false;
        for (std::size_t o = 0; o < cpus.size(); ++o)
            others = others || (tree_of(o) == tree_of(c) && cpus[o].in_tree.takes_part());
        trees_left += !others;
        if (left.due == never) {
            if (left.by) complaint = "a successor for nothing";
            return;
        }
        if (!others && left.by) complaint = "a successor from another tree";
        if (others && !left.by) complaint = "no successor, though there are others";
        if (!left.by) return;
        const std::size_t by = index(*left.by);
        if (tree_of(by) != tree_of(c)) complaint = "a successor from another tree";
        if (!cpus[by].in_tree.takes_part()) complaint = "a successor that does not take part";
        ++hand_overs;
        take_over(by, by_waking);
    }
    void join(std::size_t c) { cpus[c].armed = cpus[c].in_tree.join(); }

    /// A CPU of `machine` that is not there yet. Where the plan has no place for it, the tree is
    /// made anew.
    void grow(const cpu_info& info) {
        try {
            cpus.push_back({tree.add(info), info});
            ++grown;
        } catch (const input_error&) {
            ++refused;
            reshape(asked, {info});
        }
    }
    void reshape(const family_policy& policy, const std::vector<cpu_info>& fresh = {}) {
        topology whole;
        for (const cpu& c : cpus) whole.add(c.info.id, c.info.node, c.info.capacity);
        for (const cpu_info& info : fresh) whole.add(info.id, info.node, info.capacity);
        const auto duties = tree.reshape(whole, policy);
        planned_for = whole;
        asked = policy;
        ++reshapes;
        for (const cpu_info& info : fresh) take_in(info);
        std::set<std::size_t> seen;
        for (const auto& duty : duties) {
            const std::size_t by = index(duty.by);
            if (!seen.insert(tree_of(by)).second) complaint = "two duties in one tree";
            if (cpus[by].awake || !cpus[by].in_tree.takes_part()) complaint = "a duty for a CPU that cannot take it";
            take_over(by, duty.due % 2 == 0);
        }
    }
    /// Time passes, by at most `span` and not beyond what anybody armed.
    void pass(ticks span) {
        now += span;
        for (const cpu& c : cpus)
            if (!c.awake && c.armed != never) now = std::min(now, c.armed);
        for (std::size_t c = 0; c < cpus.size(); ++c)
            if (cpus[c].awake || cpus[c].armed <= now) {
                interrupt(c);
                if (!cpus[c].awake && cpus[c].armed <= now) complaint = "armed for the past after an interrupt";
            }
        for (const cpu& c : cpus)
            if (c.next() <= now) complaint = "a timer is late";
    }

    std::string wrong() const {
        if (!complaint.empty()) return complaint;
        if (const auto bad = check_at_rest(tree.groups(), [this](const auto& leaf) {
                unsigned mask = 0;
                for (const cpu& c : cpus)
                    if (c.awake && c.in_tree.takes_part() && &c.in_tree.leaf() == &leaf) mask |= c.in_tree.childmask();
                return mask;
            }))
            return name(bad->what);
        std::map<std::size_t, ticks> armed;
        for (std::size_t c = 0; c < cpus.size(); ++c)
            if (!cpus[c].awake && cpus[c].in_tree.takes_part()) {
                auto& first = armed.try_emplace(tree_of(c), never).first->second;
                first = std::min(first, cpus[c].armed);
            }
        const auto next_of = [this](std::size_t c) {
            return cpus[c].in_tree.takes_part() && !cpus[c].awake ? cpus[c].next() : never;
        };
        if (const auto bad = check_expiries(tree, next_of, [&](std::size_t t) { return armed.at(t); }))
            return name(bad->what);
        for (const cpu& c : cpus)
            if (!c.in_tree.takes_part() && !c.awake && c.armed > c.next()) return "on its own, and armed too late";
        return preference_stopped ? "" : not_the_lowest();
    }

    /// Everything runs in the end, and each CPU of the tree can be found.
    std::string play_out() {
        for (int step = 0; step < 1000; ++step) {
            bool left = false;
            for (const cpu& c : cpus) left = left || !c.timers.empty();
            if (!left) return wrong();
            ticks then = never;
            for (const cpu& c : cpus) then = std::min(then, c.awake ? now + 1 : c.armed);
            if (then == never) return "all sleep, and a timer is left";
            pass(then > now ? then - now : 0);
            if (const std::string bad = wrong(); !bad.empty()) return bad;
        }
        return "time does not pass";
    }

private:
    void take_in(const cpu_info& info) { cpus.push_back({tree.cpu(info.id), info}); }
    void take_over(std::size_t by, bool by_waking) {
        if (by_waking) {
            wake(by);
            interrupt(by);
            sleep(by);
        } else {
            interrupt(by);
        }
    }
    void run_timers(std::size_t c) {
        while (cpus[c].next() <= now && cpus[c].next() != never) {
            cpus[c].timers.erase(cpus[c].timers.begin());
            ++timers_run;
        }
    }
    // In charge of what is below the highest group of ranks is the lowest that is awake there.
    std::string not_the_lowest() const {
        const family_policy& policy = tree.plan().policy();
        std::size_t key = 0;
        while (key < policy.keys.size() && policy.keys[key].how != pick::lowest) ++key;
        if (key == policy.keys.size()) return "";
        std::map<std::size_t, std::int64_t> lowest;
        for (std::size_t c = 0; c < cpus.size(); ++c) {
            if (!cpus[c].awake || !cpus[c].in_tree.takes_part()) continue;
            const std::int64_t value = values_of(planned_for, policy, cpus[c].info)[key];
            for (std::size_t g = tree.shape().cpus[c].group; g != tree_shape::none; g = tree.shape().groups[g].parent) {
                const auto [at, fresh] = lowest.try_emplace(g, value);
                if (!fresh) at->second = std::min(at->second, value);
            }
        }
        for (const auto& [g, value] : lowest) {
            if (tree.groups()[g].how() != pick::lowest) continue;
            const auto who = find_migrator(tree.groups()[g]);
            if (!who) return "nobody in charge, though somebody is awake";
            if (values_of(planned_for, policy, cpus[index(*who)].info)[key] != value) return "not the lowest awake is in charge";
        }
        return "";
    }
};

}  // namespace tmigr::test

#endif
