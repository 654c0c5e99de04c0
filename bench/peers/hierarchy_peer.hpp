// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_HIERARCHY_PEER_HPP
#define TMIGR_BENCH_PEERS_HIERARCHY_PEER_HPP

#include "peer.hpp"

#include <tmigr/hierarchy.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace tmigr::peers {

/// The library itself as a peer: CPUs 0 to n-1 of one node unless a machine is given, whose
/// CPUs have to have these numbers. Handles are looked up once.
///
/// Guarantees: `any_active` and `migrator` are exact at rest, and with a configuration with
/// expiries no timer is late. Lock-free.
template <hierarchy_config Config>
class hierarchy_peer {
public:
    static const char* name() { return has_expiries<Config> ? "tmigr with expiries" : "tmigr"; }

    explicit hierarchy_peer(std::size_t cpus, hierarchy_options options = {})
        : hierarchy_peer(dense(cpus), options) {}
    explicit hierarchy_peer(const topology& machine, hierarchy_options options = {}) : tree_(machine, options) {
        handles_.reserve(machine.cpus().size());
        for (std::size_t cpu = 0; cpu < machine.cpus().size(); ++cpu)
            handles_.push_back(tree_.cpu(static_cast<cpu_id>(cpu)));
        root_ = tree_.root();
    }

    std::size_t cpus() const noexcept { return handles_.size(); }
    void activate(std::size_t cpu) { handles_[cpu].activate(); }
    void deactivate(std::size_t cpu)
        requires(!has_expiries<Config>)
    {
        handles_[cpu].deactivate();
    }
    ticks deactivate(std::size_t cpu, ticks due)
        requires has_expiries<Config>
    {
        return handles_[cpu].deactivate(due);
    }
    ticks new_expiry(std::size_t cpu, ticks due)
        requires has_expiries<Config>
    {
        return handles_[cpu].new_expiry(due);
    }
    bool must_expire(std::size_t cpu, ticks now) const
        requires has_expiries<Config>
    {
        return handles_[cpu].must_expire(now);
    }
    template <class Run>
        requires has_expiries<Config>
    ticks expire(std::size_t cpu, ticks now, Run&& run) {
        return handles_[cpu].expire(now, [&run](cpu_id sleeper, ticks t) { return run(std::size_t{sleeper}, t); });
    }
    ticks earliest() const
        requires has_expiries<Config>
    {
        return tmigr::earliest(*root_);
    }
    bool any_active() const { return tree_.any_active(); }
    std::optional<std::size_t> migrator() const {
        const auto id = tree_.migrator();
        return id ? std::optional<std::size_t>(*id) : std::nullopt;
    }

    basic_hierarchy<Config>& tree() noexcept { return tree_; }

private:
    static topology dense(std::size_t cpus) {
        topology machine;
        for (std::size_t cpu = 0; cpu < cpus; ++cpu) machine.add(static_cast<cpu_id>(cpu), 0);
        return machine;
    }

    basic_hierarchy<Config> tree_;
    std::vector<cpu_handle<Config>> handles_;
    const typename basic_hierarchy<Config>::group_type* root_ = nullptr;
};

}  // namespace tmigr::peers

#endif
