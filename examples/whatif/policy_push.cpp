// SPDX-License-Identifier: BSL-1.0
#include "policy.hpp"

#include <tmigr/topology.hpp>

#include <map>
#include <utility>

namespace whatif {

namespace {

/// R7 and R8: Linux before 6.9. A CPU that is idle when it arms a global timer, which is one that
/// only serves an interrupt, looks for one that is not, the nearest first, and the timer goes
/// there. Timers stay where they are when CPUs fall asleep, and everybody runs its own.
class push final : public policy {
public:
    push(const machine& hardware, const board& cpus, bool rearmed) : board_(cpus), rearmed_(rearmed) {
        std::map<std::pair<int, std::uint32_t>, std::size_t> known;
        for (std::size_t c = 0; c < hardware.size(); ++c) {
            const tmigr::cpu_info& cpu = hardware.cpus.cpus()[c];
            std::vector<std::size_t> around;
            const auto join = [&](int kind, std::uint32_t number) {
                const auto [at, fresh] = known.emplace(std::pair{kind, number}, groups_.size());
                if (fresh) groups_.emplace_back();
                groups_[at->second].push_back(c);
                around.push_back(at->second);
            };
            if (cpu.core != tmigr::no_locality) join(0, cpu.core);
            if (cpu.cache != tmigr::no_locality) join(1, cpu.cache);
            if (cpu.node != tmigr::no_node) join(2, static_cast<std::uint32_t>(cpu.node));
            join(3, 0);
            around_.push_back(std::move(around));
        }
        seen_.resize(hardware.size());
    }

    std::size_t place(std::size_t cpu, nanoseconds) override {
        if (board_.idle[cpu] == 0) return cpu;
        ++round_;
        seen_[cpu] = round_;
        for (const std::size_t group : around_[cpu])
            for (const std::size_t other : groups_[group]) {
                if (std::exchange(seen_[other], round_) == round_) continue;
                remote_lines += lines_per_cpu;
                if (board_.online[other] != 0 && board_.idle[other] == 0) return other;
            }
        return cpu;
    }
    bool places_rearmed() const override { return rearmed_; }

private:
    static constexpr std::uint64_t lines_per_cpu = 3;  ///< as was reported of idle_cpu()

    const board& board_;
    bool rearmed_;
    std::vector<std::vector<std::size_t>> groups_;  ///< of CPUs with something in common
    std::vector<std::vector<std::size_t>> around_;  ///< by CPU: the groups that it is in, smallest first
    std::vector<std::uint64_t> seen_;
    std::uint64_t round_ = 0;
};

}  // namespace

std::unique_ptr<policy> make_push_policy(const machine& hardware, const board& cpus, bool rearmed) {
    return std::make_unique<push>(hardware, cpus, rearmed);
}

}  // namespace whatif
