// SPDX-License-Identifier: BSL-1.0
#include "policy.hpp"

#include <algorithm>

namespace whatif {

namespace {

/// R9, 2009: while anybody is busy one idle CPU, the first to fall idle, keeps its tick, to balance
/// load for the others that sleep. Global timers of idle CPUs go there, when they are armed and
/// when the CPU falls idle. When it gets a task, the next to fall idle is nominated; when all are
/// idle it sleeps too, with all the timers that it has got.
class idle_balancer final : public policy {
public:
    /// `always`: who is the balancer, come what may, or `nobody`. `moves`: false to leave timers
    /// where they are.
    idle_balancer(const board& cpus, timer_server& server, std::size_t always, bool moves)
        : board_(cpus), server_(server), always_(always), moves_(moves) {}

    std::size_t place(std::size_t cpu, nanoseconds) override {
        if (!moves_ || board_.idle[cpu] == 0) return cpu;
        const std::size_t to = balancer();
        return to != nobody ? to : cpu;
    }
    void falls_idle(std::size_t cpu, nanoseconds now) override { give_away(cpu, 0, now); }
    nanoseconds sleep(std::size_t cpu, nanoseconds own, nanoseconds now) override { return give_away(cpu, own, now); }
    nanoseconds changed(std::size_t cpu, nanoseconds own, nanoseconds now) override { return give_away(cpu, own, now); }

    bool keeps_tick(std::size_t cpu, nanoseconds) override {
        const bool all_idle = std::ranges::all_of(board_.idle, [](auto idle) { return idle != 0; });
        if (always_ != nobody) return cpu == always_ && !all_idle;
        if (all_idle) {
            if (nominated_ == cpu) nominated_ = nobody;
            return false;
        }
        if (balancer() == nobody) nominated_ = cpu;
        return nominated_ == cpu;
    }
    std::size_t in_charge() const override { return balancer(); }

private:
    nanoseconds give_away(std::size_t cpu, nanoseconds own, nanoseconds now) {
        const std::size_t to = moves_ ? balancer() : nobody;
        if (to == nobody || to == cpu || own == forever || board_.online[cpu] == 0) return own;
        server_.move_global_timers(cpu, to, now);
        return forever;
    }
    std::size_t balancer() const {
        if (always_ != nobody) return board_.online[always_] != 0 ? always_ : nobody;
        const bool still = nominated_ != nobody && board_.online[nominated_] != 0 && board_.idle[nominated_] != 0;
        return still ? nominated_ : nobody;
    }

    const board& board_;
    timer_server& server_;
    std::size_t always_;
    bool moves_;
    std::size_t nominated_ = nobody;
};

}  // namespace

std::unique_ptr<policy> make_ilb_policy(const board& cpus, timer_server& server, std::size_t always, bool moves) {
    return std::make_unique<idle_balancer>(cpus, server, always, moves);
}

}  // namespace whatif
