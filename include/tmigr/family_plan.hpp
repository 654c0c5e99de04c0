// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_FAMILY_PLAN_HPP
#define TMIGR_FAMILY_PLAN_HPP

#include <tmigr/detail/even_places.hpp>
#include <tmigr/detail/family_values.hpp>
#include <tmigr/family.hpp>
#include <tmigr/shape.hpp>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tmigr {

/// What a policy comes to on one machine: how many levels the families need, where they meet,
/// which rank a capacity has, and the way of a CPU up to the root. Numbers only; a plain value.
///
/// Levels come in stages: on stage 0 groups hold CPUs of one family, on stage s families that
/// differ in the innermost s keys only. A stage takes as many levels as its largest group of
/// members needs, ceil(log2(members) / log2(width)): Linux's rule, stage by stage.
class family_plan {
public:
    /// A group that a CPU may find a place in: all groups of one key are alike.
    struct group_key {
        std::size_t tree = 0;
        unsigned level = 0;
        unsigned stage = 0;
        family_id family = no_family;
        std::size_t index = 0;  ///< which one, where places are fixed
        friend auto operator<=>(const group_key&, const group_key&) = default;
    };
    struct stop {
        group_key key;
        std::optional<unsigned> place;  ///< fixed by rank or plan; else the next free one
    };
    /// What the plan knows of a CPU; from `route_of`.
    struct route {
        std::size_t tree = 0;
        std::vector<family_id> families;  ///< per stage
        std::vector<std::size_t> ranks;   ///< per key; where the stage is ranked
        cpu_id cpu = 0;
    };

    /// Linux's plan for so many possible CPUs and families, told apart by `cpu_info::family`.
    family_plan(std::size_t possible_cpus, std::size_t possible_families, unsigned width,
                pick cross_family_pick = pick::first)
        : policy_(families::linux_default()), width_(checked(width)) {
        policy_.keys.front().how = cross_family_pick;
        plan_for_linux(possible_cpus, possible_families);
    }

    /// Throws `input_error` when the width is not in 2..64, or where a policy has a gate that no
    /// machine could pass.
    family_plan(const topology& machine, const family_policy& policy, unsigned width)
        : policy_(policy), width_(checked(width)) {
        if (gate_shut(machine)) {
            gated_ = true;
            policy_ = families::linux_default();
        }
        by_itself_ = policy_.joined && policy_.keys.size() == 1 && policy_.keys[0].how == pick::first &&
                     (policy_.keys[0].by == family_key::kind::family || policy_.keys[0].by == family_key::kind::node);
        values_ = detail::family_values(machine, policy_.keys);
        if (by_linux()) {
            const std::size_t families = std::max(machine.possible_nodes(), values_.distinct(0));
            plan_for_linux(machine.possible_cpus(), families);
        } else {
            plan_by_policy(machine);
        }
    }

    /// The policy applied: `linux_default` where a gate was shut.
    const family_policy& policy() const noexcept { return policy_; }
    bool gate_was_shut() const noexcept { return gated_; }
    /// Whether CPUs get the places that Linux gives them, whatever the policy is called.
    bool by_linux() const noexcept { return by_itself_ && policy_.filling == fill::arrival; }
    unsigned width() const noexcept { return width_; }
    bool joined() const noexcept { return policy_.joined || policy_.keys.empty(); }

    /// The rank of a CPU by the outermost key that groups go by; none where they do not. Throws as
    /// `route_of`.
    std::optional<std::size_t> rank(const cpu_info& cpu) const {
        const std::vector<std::int64_t> v = values_.of(cpu);
        for (unsigned k = static_cast<unsigned>(stages_.size()) - 1; k-- > 0;)
            if (stages_[k + 1].ranked) return rank_of(v, k, cpu);
        return std::nullopt;
    }

    /// Levels set aside; a tree of `fill::arrival` gets more where that is too few.
    level_estimate estimate() const noexcept {
        const unsigned mixing = stages_.size() > 1 ? stages_[1].base : stages_[0].levels;
        return {mixing, stages_.back().base + stages_.back().levels - mixing};
    }

    /// Where `cpu` belongs. Throws `input_error` when its rank is not known, or, in a tree that
    /// was planned evenly, the CPU was not there when it was planned.
    /// A family that is new gets a number; `forget` takes that back.
    route route_of(const cpu_info& cpu) {
        fresh_.clear();
        route r;
        r.cpu = cpu.id;
        const std::vector<std::int64_t> v = values_.of(cpu);
        for (unsigned s = 0; s < stages_.size(); ++s) r.families.push_back(family_of(v, s, cpu));
        r.tree = joined() ? 0 : static_cast<std::size_t>(r.families.back());
        for (unsigned k = 0; k + 1 < stages_.size(); ++k) r.ranks.push_back(rank_of(v, k, cpu));
        if (policy_.filling == fill::even) even_.check(cpu.id);
        return r;
    }
    void forget() noexcept {
        for (const auto& [s, suffix] : fresh_) numbers_[s].erase(suffix);
        fresh_.clear();
    }

    /// The group on `level` on the way of a CPU to the root, and the place of what is below.
    stop at(const route& r, unsigned level) const {
        const unsigned s = stage_of(level);
        const stage& st = stages_[s];
        stop here{{r.tree, level, s, r.families[s], 0}, std::nullopt};
        if (st.ranked) {
            std::size_t rank = r.ranks[s - 1];
            for (unsigned i = st.base; i < level; ++i) rank /= width_;
            here.key.index = rank / width_;
            here.place = static_cast<unsigned>(rank % width_);
        } else if (policy_.filling == fill::even) {
            const detail::even_places::spot spot = even_.at(s, r.cpu, r.families, level - st.base);
            here.key.index = spot.index;
            here.place = spot.place;
        }
        return here;
    }
    pick how(unsigned level) const noexcept { return stages_[stage_of(level)].how; }
    /// Whether families mix on this level.
    bool mixes(unsigned level) const noexcept { return stage_of(level) > 0; }
    /// The number that groups of a stage show: that of the family; none where families mix.
    family_id shown(const route& r, unsigned level) const noexcept {
        return stage_of(level) == 0 ? r.families[0] : no_family;
    }

private:
    struct stage {
        unsigned base = 0;
        unsigned levels = 0;
        pick how = pick::first;
        bool in_order = false;  ///< only values that have a rank are let in
        bool ranked = false;    ///< and places go by it
    };

    static unsigned checked(unsigned width) {
        if (width < 2 || width > 64) throw input_error(std::to_string(width), "a group width from 2 to 64");
        return width;
    }

    bool gate_shut(const topology& machine) const {
        if (policy_.never_with_full_dynticks && !machine.full_dynticks().empty()) return true;
        if (policy_.at_least == 0) return false;
        // Classes are what the outermost key tells apart: nodes do not make them smaller.
        const detail::family_values values(machine, policy_.keys);
        std::map<std::int64_t, std::size_t> members;
        for (const cpu_info& cpu : machine.cpus()) ++members[policy_.keys.empty() ? 0 : values.of(cpu).back()];
        return std::any_of(members.begin(), members.end(),
                           [this](const auto& m) { return m.second < policy_.at_least; });
    }

    void plan_for_linux(std::size_t possible_cpus, std::size_t possible_families) {
        by_itself_ = true;
        const level_estimate e = estimate_levels(possible_cpus, possible_families, width_);
        stages_ = {{.base = 0, .levels = e.family_levels},
                   {.base = e.family_levels, .levels = e.cross_levels, .how = policy_.keys.front().how}};
        numbers_.resize(2);
        if (values_.keys() == 0) values_ = detail::family_values({}, policy_.keys);
    }

    void plan_by_policy(const topology& machine) {
        const std::size_t keys = policy_.keys.size();
        const std::size_t count = keys + (joined() ? 1 : 0);
        numbers_.resize(count);
        // In order of the outermost key first, so that numbers do not depend on arrival.
        std::vector<std::vector<std::int64_t>> all;
        for (const cpu_info& cpu : machine.cpus()) all.push_back(values_.of(cpu));
        std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
            return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
        });
        for (unsigned s = 0; s < count; ++s)
            for (const auto& v : all) number(s, suffix_of(v, s));
        fresh_.clear();

        const std::size_t unannounced = machine.possible_cpus() - machine.size();
        for (unsigned s = 0; s < count; ++s) {
            stage st;
            st.base = s == 0 ? 0 : stages_.back().base + stages_.back().levels;
            if (s > 0) {
                st.in_order = policy_.keys[s - 1].how == pick::lowest;
                // Nothing to prefer where all are alike.
                st.ranked = st.in_order && values_.distinct(s - 1) > 1;
                st.how = st.ranked ? pick::lowest : pick::first;
            }
            const std::size_t members =
                st.ranked ? values_.distinct(s - 1) : largest(all, s) + (s == 0 ? unannounced : 0);
            st.levels = estimate_levels(members, 1, width_).family_levels;
            stages_.push_back(st);
            if (policy_.filling == fill::even && !st.ranked) {
                const auto families_of = [this](const cpu_info& cpu) {
                    std::vector<family_id> ids;
                    for (unsigned t = 0; t < numbers_.size(); ++t) ids.push_back(family_of(values_.of(cpu), t, cpu));
                    return ids;
                };
                stages_.back().levels = even_.plan(machine, s, width_, families_of);
            }
        }
    }

    // The most members that a group of families of stage s has: CPUs on stage 0, families above.
    std::size_t largest(const std::vector<std::vector<std::int64_t>>& all, unsigned s) const {
        std::map<std::vector<std::int64_t>, std::vector<std::vector<std::int64_t>>> members;
        for (const auto& v : all) members[suffix_of(v, s)].push_back(s == 0 ? v : suffix_of(v, s - 1));
        std::size_t most = 0;
        for (auto& [family, list] : members) {
            if (s > 0) {
                std::sort(list.begin(), list.end());
                list.erase(std::unique(list.begin(), list.end()), list.end());
            }
            most = std::max(most, list.size());
        }
        return most;
    }

    static std::vector<std::int64_t> suffix_of(const std::vector<std::int64_t>& v, unsigned s) {
        return {v.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(s, v.size())), v.end()};
    }

    family_id number(unsigned s, const std::vector<std::int64_t>& suffix) {
        if (const auto known = numbers_[s].find(suffix); known != numbers_[s].end()) return known->second;
        fresh_.emplace_back(s, suffix);  // first: to forget one that was not made does no harm
        return numbers_[s].try_emplace(suffix, static_cast<family_id>(numbers_[s].size())).first->second;
    }

    // Where all meet, nobody is told apart.
    family_id family_of(const std::vector<std::int64_t>& v, unsigned s, const cpu_info& cpu) {
        if (joined() && s + 1 == stages_count()) return no_family;
        if (by_itself_) return policy_.keys[0].by == family_key::kind::node ? cpu.node : cpu.family;
        return number(s, suffix_of(v, s));
    }
    std::size_t stages_count() const noexcept { return numbers_.size(); }

    std::size_t rank_of(const std::vector<std::int64_t>& v, unsigned k, const cpu_info& cpu) const {
        if (!stages_[k + 1].in_order) return 0;
        if (const auto rank = values_.rank(k, v[k])) return *rank;
        const family_key::kind by = policy_.keys[k].by;
        const bool announced = by != family_key::kind::user && by != family_key::kind::node && by != family_key::kind::family;
        throw input_error("CPU " + std::to_string(cpu.id) + (announced ? " of capacity " + std::to_string(cpu.capacity)
                                                                       : " of value " + std::to_string(v[k])),
                          "a CPU whose place in the order is kept (" + values_.ranks(k) + "): " +
                              (announced ? "announce it with topology::set_possible_capacities, or " : "") +
                              "make the tree anew with hierarchy::reshape");
    }

    unsigned stage_of(unsigned level) const noexcept {
        unsigned s = static_cast<unsigned>(stages_.size()) - 1;
        while (s > 0 && stages_[s].base > level) --s;
        return s;
    }

    family_policy policy_;
    unsigned width_;
    bool gated_ = false;
    bool by_itself_ = false;  ///< one family key: its value is the family's number
    detail::family_values values_;
    std::vector<stage> stages_;
    std::vector<std::map<std::vector<std::int64_t>, family_id>> numbers_;  ///< per stage
    std::vector<std::pair<unsigned, std::vector<std::int64_t>>> fresh_;
    detail::even_places even_;
};

}  // namespace tmigr

#endif
