// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_EVEN_PLACES_HPP
#define TMIGR_DETAIL_EVEN_PLACES_HPP

#include <tmigr/detail/even_partition.hpp>
#include <tmigr/input_error.hpp>
#include <tmigr/topology.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tmigr::detail {

/// The places of a machine's CPUs, planned for all of them at once, stage by stage: on stage 0
/// those of CPUs in the groups of their family, above those of families in the groups where
/// they meet. Depends on which CPUs there are, not on their order.
class even_places {
public:
    struct spot {
        std::size_t index = 0;  ///< of the group, within its family and level
        unsigned place = 0;
    };

    /// Plans a stage and returns the levels that it takes. `families_of(cpu)` is the family on
    /// every stage.
    template <class FamiliesOf>
    unsigned plan(const topology& machine, unsigned stage, unsigned width, FamiliesOf&& families_of) {
        if (stages_.size() <= stage) stages_.resize(stage + 1);
        std::map<family_id, std::vector<member>> families;
        for (const cpu_info& cpu : machine.cpus()) {
            const std::vector<family_id> ids = families_of(cpu);
            cpus_.insert(cpu.id);
            member m{stage == 0 ? cpu.id : static_cast<std::int64_t>(ids[stage - 1]), no_locality, no_locality};
            if (stage == 0) std::tie(m.cache, m.core) = std::tuple(cpu.cache, cpu.core);
            families[ids[stage]].push_back(m);
        }
        unsigned levels = 0;
        for (auto& [family, members] : families) {
            std::sort(members.begin(), members.end());
            members.erase(std::unique(members.begin(), members.end()), members.end());
            levels = std::max(levels, spread(stages_[stage], members, width));
        }
        return levels;
    }

    /// Throws `input_error` for a CPU that was not there when the places were planned.
    void check(cpu_id cpu) const {
        if (!cpus_.contains(cpu))
            throw input_error("CPU " + std::to_string(cpu),
                              "a CPU of the machine that the even places were planned for");
    }

    /// Where a CPU, or its family, is on the stage's level `level`, counted from the stage's first.
    spot at(unsigned stage, cpu_id cpu, const std::vector<family_id>& families, unsigned level) const {
        if (stage >= stages_.size()) return {};
        const auto found =
            stages_[stage].find(stage == 0 ? cpu : static_cast<std::int64_t>(families[stage - 1]));
        // A family with fewer levels than others of its stage has a group of one child above.
        if (found == stages_[stage].end() || level >= found->second.size()) return {};
        return found->second[level];
    }

private:
    struct member {
        std::int64_t id;
        std::uint32_t cache, core;
        friend bool operator<(const member& a, const member& b) {
            return std::tie(a.cache, a.core, a.id) < std::tie(b.cache, b.core, b.id);
        }
        friend bool operator==(const member& a, const member& b) { return a.id == b.id; }
    };
    using spots = std::map<std::int64_t, std::vector<spot>>;

    static bond between(const member& a, const member& b) {
        if (a.core != no_locality && a.core == b.core) return bond::core;
        return a.cache != no_locality && a.cache == b.cache ? bond::cache : bond::none;
    }

    // From the bottom up: the runs of one level are the members of the next.
    static unsigned spread(spots& to, std::vector<member> row, unsigned width) {
        std::vector<std::vector<std::int64_t>> below;  // who is in each member of the row
        below.reserve(row.size());
        for (const member& m : row) below.push_back({m.id});
        unsigned levels = 0;
        for (; row.size() > 1; ++levels) {
            std::vector<bond> bonds;
            for (std::size_t i = 0; i + 1 < row.size(); ++i) bonds.push_back(between(row[i], row[i + 1]));
            std::vector<member> next;
            std::vector<std::vector<std::int64_t>> inside;
            std::size_t at = 0;
            for (const std::size_t length : even_partition(bonds, row.size(), width)) {
                member run = row[at];
                inside.emplace_back();
                for (unsigned place = 0; place < length; ++place, ++at) {
                    for (const std::int64_t id : below[at]) {
                        to[id].push_back({next.size(), place});
                        inside.back().push_back(id);
                    }
                    run.core = run.core == row[at].core ? run.core : no_locality;
                    run.cache = run.cache == row[at].cache ? run.cache : no_locality;
                }
                next.push_back(run);
            }
            row = std::move(next);
            below = std::move(inside);
        }
        return levels;
    }

    std::set<cpu_id> cpus_;
    std::vector<spots> stages_;
};

}  // namespace tmigr::detail

#endif
