// SPDX-License-Identifier: BSL-1.0
#include "policy.hpp"

#include <tmigr/atomics/plain.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/text_tracer.hpp>

#include <algorithm>
#include <unordered_map>

namespace whatif {

namespace {

struct quiet : tmigr::expiry_config<tmigr::plain_atomics> {};
struct traced : quiet {
    using tracer = tmigr::text_tracer;
};

/// R1 to R5: the library's trees.
template <class Config>
class tree_policy final : public policy {
public:
    tree_policy(const machine& hardware, const tmigr::family_policy& families, timer_server& server,
                typename Config::tracer tracer)
        : tree_(hardware.cpus, families, {}, std::move(tracer)), server_(server) {
        for (const tmigr::cpu_info& info : hardware.cpus.cpus()) {
            index_.emplace(info.id, cpus_.size());
            cpus_.push_back(tree_.cpu(info.id));
            cpus_.back().activate();
        }
    }

    nanoseconds forecast(std::size_t cpu, nanoseconds own) const override { return cpus_[cpu].peek(own); }
    nanoseconds sleep(std::size_t cpu, nanoseconds own, nanoseconds now) override {
        at(now);
        return cpus_[cpu].deactivate(own);
    }
    nanoseconds changed(std::size_t cpu, nanoseconds own, nanoseconds now) override {
        at(now);
        // The word and the slots of every group on the way, up to one that is awake.
        for (const auto* g = &cpus_[cpu].leaf(); g != nullptr; g = g->current().is_active() ? nullptr : g->parent())
            remote_lines += 2;
        return cpus_[cpu].new_expiry(own);
    }
    void wake(std::size_t cpu, nanoseconds now) override {
        at(now);
        cpus_[cpu].activate();
    }
    nanoseconds expire(std::size_t cpu, nanoseconds, nanoseconds now) override { return look(cpu, now); }
    void tick(std::size_t cpu, nanoseconds now) override {
        if (cpus_[cpu].must_expire(now)) look(cpu, now);
    }

    std::size_t leave(std::size_t cpu, nanoseconds now) override {
        at(now);
        const tmigr::departure left = cpus_[cpu].leave();
        return left.due != tmigr::never && left.by ? index_.at(*left.by) : nobody;
    }
    nanoseconds join(std::size_t cpu, nanoseconds, nanoseconds now) override {
        at(now);
        return cpus_[cpu].join();
    }

    bool may_miss_ticks() const override {
        return std::ranges::any_of(tree_.plan().policy().keys,
                                   [](const tmigr::family_key& key) { return key.how == tmigr::pick::lowest; });
    }
    std::size_t in_charge() const override {
        const auto who = tree_.migrator();
        return who ? index_.at(*who) : nobody;
    }

private:
    nanoseconds look(std::size_t cpu, nanoseconds now) {
        at(now);
        return cpus_[cpu].expire(now, [&](tmigr::cpu_id sleeper, tmigr::ticks time) {
            return server_.run_global_timers(index_.at(sleeper), cpu, time);
        });
    }
    void at(nanoseconds now) {
        if constexpr (Config::tracer::enabled) tree_.tracer().set_time(now);
    }

    tmigr::basic_hierarchy<Config> tree_;
    timer_server& server_;
    std::vector<tmigr::cpu_handle<Config>> cpus_;
    std::unordered_map<tmigr::cpu_id, std::size_t> index_;
};

}  // namespace

std::unique_ptr<policy> make_tree_policy(std::string_view name, const machine& hardware, timer_server& server,
                                         std::ostream* trace) {
    const tmigr::family_policy families = tmigr::families::named(name);
    if (trace == nullptr) return std::make_unique<tree_policy<quiet>>(hardware, families, server, tmigr::no_tracer());
    const bool by_node = name == "linux-default" || name == "balanced";
    return std::make_unique<tree_policy<traced>>(
        hardware, families, server,
        tmigr::text_tracer(*trace, tmigr::linux_form::newest, by_node ? tmigr::family_field::numa : tmigr::family_field::family));
}

}  // namespace whatif
