// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_INTERLEAVING_PLAYER_HPP
#define TMIGR_TESTS_INTERLEAVING_PLAYER_HPP

#include "support/interleaving_machine.hpp"
#include "support/interleaving_program.hpp"
#include "support/stepping.hpp"

#include <tmigr/invariants.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tmigr::test {

/// Plays an `interleaving_program` on the configuration, access by access.
template <class Config>
class interleaving_player {
public:
    /// Far more than the operations of one phase need when nobody goes round in circles.
    static constexpr std::size_t most_accesses = 50'000;

    explicit interleaving_player(std::span<const std::uint8_t> bytes, bool tell = false)
        : program_(bytes), rest_(program_.schedule), tell_(tell) {
        if (tell_) story_ = program_.text();
    }

    /// What went wrong, or "".
    std::string play() {
        stepper::limit_alone(20 * most_accesses);
        const std::string wrong = play_all();
        stepper::limit_alone(no_limit);
        return wrong;
    }
    /// For a player that tells: the program, and the accesses in the order in which they were made.
    const std::string& story() const noexcept { return story_; }
    std::size_t accesses() const noexcept { return accesses_; }

private:
    using machine = interleaving_machine<Config>;
    static constexpr std::size_t to_the_end = ~std::size_t{0}, no_limit = to_the_end;

    struct choice {
        std::size_t who;
        bool refuse;         ///< the first weak swap fails for no reason
        std::size_t length;  ///< accesses in a row
    };

    std::string play_all() {
        machine_ = std::make_unique<machine>(0, program_.options, interleaving_program::possible_cpus,
                                             program_.nodes);
        for (cpu_id c = 0; c < program_.cpus; ++c) machine_->come(static_cast<node_id>(c % program_.nodes));
        for (const operation& o : program_.before) machine_->act(o);
        if (const std::string wrong = machine_->wrong_at_rest(); !wrong.empty())
            return wrong + ", before all";
        for (const auto& phase : program_.phases) {
            machine_->now += phase.later;
            if (const std::string wrong = play(phase); !wrong.empty()) return wrong;
        }
        return machine_->play_out();
    }
    std::string play(const interleaving_program::phase& phase) {
        if (tell_) story_ += "at once:\n";
        auto steps = std::make_unique<stepper>();
        std::vector<std::size_t> alive, queue_of;
        for (std::size_t q = 0; q < phase.queues.size(); ++q) {
            if (phase.queues[q].empty()) continue;
            queue_of.push_back(q);
            alive.push_back(steps->add([this, &queue = phase.queues[q]] {
                for (const operation& o : queue) machine_->act(o);
            }));
        }
        std::string wrong;
        std::size_t made = 0;
        for (;;) {
            std::erase_if(alive, [&](std::size_t i) { return steps->done(i); });
            if (alive.empty()) break;
            choice next = choose(alive);
            for (; next.length > 0 && !steps->done(next.who); --next.length) {
                const access what = steps->next(next.who);
                const bool refuse = next.refuse && what.what == access::kind::weak_swap;
                if (refuse) next.refuse = false;
                steps->step(next.who, refuse);
                if (tell_) tell(queue_of[next.who], what, refuse);
                if (wrong.empty() && what.what == access::kind::weak_swap) wrong = broken_word(what.cell);
                if (++made > most_accesses) {
                    // They cannot be brought to an end.
                    static_cast<void>(steps.release());
                    static_cast<void>(machine_.release());
                    return "somebody goes round in circles";
                }
            }
        }
        accesses_ += made;
        return wrong.empty() ? machine_->wrong_at_rest() : wrong;
    }
    choice choose(const std::vector<std::size_t>& alive) {
        static constexpr std::array<std::size_t, 16> lengths{1, 1, 1, 1,  2,  2,  3,  4,
                                                             5, 6, 8, 12, 16, 24, 40, to_the_end};
        if (rest_.empty()) return {alive.front(), false, to_the_end};
        const unsigned b = rest_.front();
        rest_ = rest_.subspan(1);
        return {alive[(b & 7) % alive.size()], (b & 8) != 0, lengths[b >> 4]};
    }
    std::string broken_word(const void* cell) const {
        for (const auto& g : machine_->tree.groups())
            if (cell == &g.word())
                if (const auto what = broken(g.current(), g.how())) return name(*what);
        return "";
    }
    void tell(std::size_t who, const access& what, bool refused) {
        static constexpr std::array kinds{"load", "store", "swap", "swap", ""};
        story_ += "  " + std::to_string(who) + ": " + std::string(what.label) + ' ' +
                  kinds[static_cast<std::size_t>(what.what)] + (refused ? " fails for no reason " : " ") +
                  machine_->name_of(what.cell) + '\n';
    }

    interleaving_program program_;
    std::span<const std::uint8_t> rest_;
    bool tell_;
    std::unique_ptr<machine> machine_;
    std::string story_;
    std::size_t accesses_ = 0;
};

/// What is wrong with what the bytes stand for, or "".
template <class Config>
std::string play_interleaving(std::span<const std::uint8_t> bytes) {
    return interleaving_player<Config>(bytes).play();
}
/// The same with the whole story.
template <class Config>
std::string tell_interleaving(std::span<const std::uint8_t> bytes) {
    interleaving_player<Config> player(bytes, true);
    const std::string wrong = player.play();
    return player.story() + (wrong.empty() ? "nothing is wrong" : wrong) + '\n';
}

}  // namespace tmigr::test

#endif
