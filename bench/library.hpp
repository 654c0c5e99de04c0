// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_LIBRARY_HPP
#define TMIGR_BENCH_LIBRARY_HPP

#include "configs.hpp"
#include "peers/peer.hpp"

#include <tmigr/expiry_walk.hpp>
#include <tmigr/hierarchy.hpp>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace tmigr::bench {

/// The library behind the interface of the peers, so that a benchmark is written once.
/// The handles are looked up in advance, as a user would.
template <hierarchy_config Config>
class library {
public:
    using handle = cpu_handle<Config>;

    static const char* name() noexcept { return "tmigr"; }

    explicit library(std::size_t cpus) : library(machine_of(cpus)) {}
    explicit library(const topology& machine, hierarchy_options options = {}) : tree_(machine, options) {
        handles_.reserve(machine.size());
        for (const cpu_info& info : machine.cpus()) handles_.push_back(tree_.cpu(info.id));
    }

    std::size_t cpus() const noexcept { return handles_.size(); }
    void activate(std::size_t cpu) noexcept { handles_[cpu].activate(); }
    void deactivate(std::size_t cpu) noexcept
        requires(!has_expiries<Config>)
    {
        handles_[cpu].deactivate();
    }
    ticks deactivate(std::size_t cpu, ticks due) noexcept
        requires has_expiries<Config>
    {
        return handles_[cpu].deactivate(due);
    }
    ticks new_expiry(std::size_t cpu, ticks due) noexcept
        requires has_expiries<Config>
    {
        return handles_[cpu].new_expiry(due);
    }
    bool must_expire(std::size_t cpu, ticks now) const noexcept
        requires has_expiries<Config>
    {
        return handles_[cpu].must_expire(now);
    }
    template <class Run>
    ticks expire(std::size_t cpu, ticks now, Run&& run)
        requires has_expiries<Config>
    {
        return handles_[cpu].expire(now, [&run](cpu_id sleeper, ticks at) { return run(std::size_t{sleeper}, at); });
    }

    bool any_active() const noexcept { return tree_.any_active(); }
    std::optional<std::size_t> migrator() const noexcept {
        const auto found = tree_.migrator();
        return found ? std::optional<std::size_t>(*found) : std::nullopt;
    }
    /// Of an idle tree, what has to be armed; of one that is not, what its root knows.
    ticks earliest() const noexcept
        requires has_expiries<Config>
    {
        return tmigr::earliest(*tree_.root());
    }

    basic_hierarchy<Config>& tree() noexcept { return tree_; }
    const handle& cpu(std::size_t cpu) const noexcept { return handles_[cpu]; }

private:
    basic_hierarchy<Config> tree_;
    std::vector<handle> handles_;
};

static_assert(peers::state_peer<library<linux_config<plain_atomics>>>);
static_assert(peers::timer_peer<library<expiry_config<plain_atomics>>>);
static_assert(peers::has_migrator<library<linux_config<plain_atomics>>>);

/// Sleep with or without an expiry, whatever the peer keeps.
template <class P>
void sleep(P& peer, std::size_t cpu, [[maybe_unused]] ticks due) {
    if constexpr (peers::timer_peer<P>)
        static_cast<void>(peer.deactivate(cpu, due));
    else
        peer.deactivate(cpu);
}

}  // namespace tmigr::bench

#endif
