// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_INTERLEAVING_PROGRAM_HPP
#define TMIGR_TESTS_INTERLEAVING_PROGRAM_HPP

#include <tmigr/expiry.hpp>
#include <tmigr/hierarchy.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tmigr::test {

/// Something that a CPU does, or somebody for it.
struct operation {
    enum class kind : std::uint8_t {
        wake,
        sleep,
        timer,      ///< gets a timer, and tells it if it sleeps
        interrupt,  ///< by a timer or not: expires
        tick,       ///< expires if a quick look says so
        leave,
        join,
        rejoin,  ///< leaves and joins
        forecast,
        kick,
        answer,
        query,
        arrive
    };
    kind what = kind::query;
    cpu_id cpu = 0;
    unsigned wait = 0;        ///< of the timer: 0 none, else due after wait - 1 ticks
    bool clock = false;       ///< a tick passes before
    std::uint32_t other = 0;  ///< whom it is about: the CPU kicked, the node of an arrival

    std::string text() const {
        static constexpr std::array names{"wakes",   "sleeps",  "gets a timer",     "interrupt", "tick",
                                          "leaves",  "joins",   "leaves and joins", "forecast",  "kicks",
                                          "answers", "queries", "arrives"};
        std::string said = "CPU " + std::to_string(cpu) + ' ' + names[static_cast<std::size_t>(what)];
        if ((what == kind::sleep || what == kind::timer) && wait != 0)
            said += " (in " + std::to_string(wait - 1) + ')';
        if (what == kind::kick) said += " CPU " + std::to_string(other);
        if (what == kind::arrive) said += " on node " + std::to_string(other);
        return (clock ? "a tick passes, " : "") + said;
    }
};

/// What bytes stand for: a small machine, what its CPUs do, and in what order the accesses of
/// all of them are made. Every sequence of bytes is a program, and keeps the contracts of
/// `cpu_handle`. docs/fuzzing.md has the format.
class interleaving_program {
public:
    static constexpr std::size_t possible_cpus = 16;

    /// One after another on one thread of its own.
    using queue = std::vector<operation>;
    /// What happens at once; when all of it is over the tree is looked at.
    struct phase {
        ticks later = 0;  ///< ticks that pass before
        std::vector<queue> queues;
    };

    cpu_id cpus = 0;
    std::size_t nodes = 1;
    hierarchy_options options;
    queue before;  ///< one after another, with no schedule
    std::vector<phase> phases;
    std::span<const std::uint8_t> schedule;  ///< what is left of the bytes

    explicit interleaving_program(std::span<const std::uint8_t> bytes) : rest_(bytes) {
        cpus = 1 + byte() % 6;
        const unsigned machine = byte();
        options.width = std::array{2u, 2u, 3u, 4u}[machine & 3];
        options.form = std::array{linux_form::newest, linux_form::newest, linux_form::v6_13,
                                  linux_form::v6_9}[machine >> 2 & 3];
        nodes = 1 + (machine >> 4 & 1);
        if ((machine >> 5 & 1) != 0) options.cross_family_pick = pick::lowest;
        for (cpu_id c = 0; c < cpus; ++c) prepare(c, byte());
        for (std::size_t more = 1 + byte() % 3; more > 0; --more) add_phase();
        schedule = rest_;
    }

    std::string text() const {
        std::string said = std::to_string(cpus) + " CPUs, width " + std::to_string(options.width) +
                           ", form " + std::to_string(static_cast<int>(options.form)) + ", " +
                           std::to_string(nodes) + " nodes\nbefore:";
        for (const operation& o : before) said += ' ' + o.text() + ';';
        for (const phase& p : phases) {
            said += "\nat once, after " + std::to_string(p.later) + " ticks:";
            for (std::size_t q = 0; q < p.queues.size(); ++q) {
                if (p.queues[q].empty()) continue;
                said += "\n  " + std::to_string(q) + ':';
                for (const operation& o : p.queues[q]) said += ' ' + o.text() + ';';
            }
        }
        return said + '\n';
    }

private:
    using kind = operation::kind;
    struct state {
        bool awake = false, member = true;
    };

    unsigned byte() {
        if (rest_.empty()) return 0;
        const unsigned b = rest_.front();
        rest_ = rest_.subspan(1);
        return b;
    }

    void prepare(cpu_id c, unsigned b) {
        states_.emplace_back();
        const unsigned wait = b & 7;
        switch (b >> 3 & 3) {
            case 0:
                if (wait != 0) take(before, {kind::timer, c, wait});
                break;
            case 1: take(before, {kind::wake, c}); break;
            case 2:
                take(before, {kind::wake, c});
                take(before, {kind::sleep, c, wait});
                break;
            case 3:
                if ((b >> 5 & 1) != 0) take(before, {kind::wake, c});
                if ((b >> 6 & 1) != 0) take(before, {kind::leave, c});
                break;
        }
    }
    void add_phase() {
        const unsigned b = byte();
        phase& p = phases.emplace_back();
        p.later = b >> 4 & 3;
        // CPU c is in queue c. The last queue is the one who grows the tree, and acts for the newest.
        const auto here = static_cast<cpu_id>(states_.size());
        p.queues.resize(here + 1);
        for (unsigned n = 1 + (b & 7); n > 0; --n) {
            const unsigned what = byte(), how = byte();
            const auto who = static_cast<cpu_id>((what & 15) % (here + 1));
            const auto newest = static_cast<cpu_id>(states_.size());
            queue& q = p.queues[who];
            if (who < here) {
                take(q, pick_for(who, what >> 4, how));
            } else if (newest > here && ((what >> 4) % 4 != 0 || newest == 10)) {
                take(q, pick_for(newest - 1, what >> 4, how));
            } else if (newest < 10) {
                take(q, {kind::arrive, newest, 0, false, static_cast<std::uint32_t>((how >> 3) % nodes)});
            }
        }
    }
    operation pick_for(cpu_id c, unsigned which, unsigned how) const {
        using enum operation::kind;
        static constexpr std::array<kind, 16> awake{sleep,    sleep,     sleep,     sleep, sleep, sleep,
                                                    tick,     interrupt, interrupt, leave, leave, rejoin,
                                                    forecast, kick,      answer,    query};
        static constexpr std::array<kind, 16> idle{wake,  wake,      wake,      wake,  timer, timer,
                                                   timer, timer,     interrupt, leave, leave, rejoin,
                                                   kick,  interrupt, interrupt, query};
        static constexpr std::array<kind, 16> awake_apart{join,  join,  join,  join,  join,      join,
                                                          sleep, sleep, sleep, sleep, interrupt, interrupt,
                                                          leave, tick,  query, answer};
        static constexpr std::array<kind, 16> idle_apart{join,  join,      join,  join, join,  join,
                                                         wake,  wake,      wake,  wake, timer, timer,
                                                         timer, interrupt, query, kick};
        const state& s = states_[c];
        const auto& all = s.member ? (s.awake ? awake : idle) : (s.awake ? awake_apart : idle_apart);
        return {all[which], c, how & 7, how >> 6 == 3,
                static_cast<std::uint32_t>((how >> 3) % states_.size())};
    }
    void take(queue& q, operation o) {
        if (o.what == kind::arrive) states_.emplace_back();
        state& s = states_[o.cpu];
        if (o.what == kind::wake) s.awake = true;
        if (o.what == kind::sleep) s.awake = false;
        if (o.what == kind::leave) s.member = false;
        if (o.what == kind::join || o.what == kind::rejoin) s.member = true;
        // One that arrives at the same time cannot be kicked: nobody else has its handle yet.
        if (o.what == kind::kick) o.other %= cpus;
        q.push_back(o);
    }

    std::span<const std::uint8_t> rest_;
    std::vector<state> states_;
};

}  // namespace tmigr::test

#endif
