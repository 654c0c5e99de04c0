// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_FAMILY_VALUES_HPP
#define TMIGR_DETAIL_FAMILY_VALUES_HPP

#include <tmigr/family.hpp>
#include <tmigr/topology.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tmigr::detail {

/// What the keys of a policy say of each CPU, and which values there are on a machine.
class family_values {
public:
    family_values() = default;
    family_values(const topology& machine, std::vector<family_key> keys) : keys_(std::move(keys)), known_(keys_.size()) {
        const std::vector<unsigned> capacities = machine.possible_capacities();
        for (std::size_t k = 0; k < keys_.size(); ++k) {
            buckets_.push_back(buckets_of(capacities, keys_[k]));
            std::vector<std::int64_t>& known = known_[k];
            for (const cpu_info& cpu : machine.cpus()) known.push_back(value(k, cpu));
            if (by_capacity(keys_[k]))
                for (const unsigned capacity : capacities) known.push_back(of_capacity(k, capacity));
            std::sort(known.begin(), known.end());
            known.erase(std::unique(known.begin(), known.end()), known.end());
        }
    }

    std::size_t keys() const noexcept { return keys_.size(); }
    /// Innermost first.
    std::vector<std::int64_t> of(const cpu_info& cpu) const {
        std::vector<std::int64_t> values;
        for (std::size_t k = 0; k < keys_.size(); ++k) values.push_back(value(k, cpu));
        return values;
    }
    std::size_t distinct(std::size_t key) const noexcept { return known_[key].size(); }
    /// Position among the values known when this was made, smallest first.
    std::optional<std::size_t> rank(std::size_t key, std::int64_t value) const {
        const auto at = std::lower_bound(known_[key].begin(), known_[key].end(), value);
        if (at == known_[key].end() || *at != value) return std::nullopt;
        return static_cast<std::size_t>(at - known_[key].begin());
    }
    /// The values that have ranks, for messages.
    std::string ranks(std::size_t key) const {
        std::string text;
        for (const std::int64_t value : known_[key]) text += (text.empty() ? "" : " ") + std::to_string(value);
        return text;
    }

private:
    using kind = family_key::kind;

    static bool by_capacity(const family_key& key) {
        return key.by == kind::capacity || key.by == kind::capacity_step || key.by == kind::capacity_percent;
    }

    // The smallest capacity of each bucket.
    static std::vector<unsigned> buckets_of(const std::vector<unsigned>& capacities, const family_key& key) {
        std::vector<unsigned> first;
        if (key.by != kind::capacity_percent) return first;
        for (const unsigned capacity : capacities)
            if (first.empty() || !within(capacity, first.back(), key.size)) first.push_back(capacity);
        return first;
    }
    static bool within(unsigned capacity, unsigned smallest, unsigned percent) {
        return capacity * 100 <= smallest * (100 + percent);
    }

    std::int64_t of_capacity(std::size_t k, unsigned capacity) const {
        const family_key& key = keys_[k];
        switch (key.by) {
            case kind::capacity_step:
                return std::int64_t{(capacity + key.size - 1) / key.size} * key.size;
            case kind::capacity_percent: {
                const std::vector<unsigned>& first = buckets_[k];
                const auto above = std::upper_bound(first.begin(), first.end(), capacity);
                if (above == first.begin() || !within(capacity, *(above - 1), key.size)) return capacity;
                return *(above - 1);
            }
            default: return capacity;
        }
    }

    std::int64_t value(std::size_t k, const cpu_info& cpu) const {
        const family_key& key = keys_[k];
        switch (key.by) {
            case kind::family: return cpu.family;
            case kind::node: return cpu.node;
            case kind::user: return key.value_of ? key.value_of(cpu) : 0;
            default: return of_capacity(k, cpu.capacity);
        }
    }

    std::vector<family_key> keys_;
    std::vector<std::vector<unsigned>> buckets_;
    std::vector<std::vector<std::int64_t>> known_;
};

}  // namespace tmigr::detail

#endif
