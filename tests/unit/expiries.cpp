// SPDX-License-Identifier: BSL-1.0

// Random programs of sleeping, waking, timers, leaving, joining and growth on random trees,
// against brute force: a machine that keeps every timer in a plain list and knows who is
// awake. After every step every timer of a sleeper must be covered, and at every time step
// all that is due has run.

#include "catch.hpp"
#include "support/random_machine.hpp"

#include <tmigr/atomics/plain.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/invariants.hpp>

#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace tmigr;

namespace {

template <class State>
struct config : expiry_config<plain_atomics> {
    using state = State;
};

template <class Config>
class machine {
public:
    machine(const topology& cpus, hierarchy_options options, std::mt19937_64& random)
        : tree_(cpus.possible_cpus(), std::max(cpus.possible_nodes(), cpus.family_count()), options),
          waiting_(cpus.cpus().begin(), cpus.cpus().end()), random_(random) {
        for (std::size_t n = 1 + random() % cpus.size(); n > 0; --n) arrive();
    }

    /// One random step; returns what is wrong afterwards, or "".
    std::string step() {
        const std::size_t c = busy();
        switch (random_() % 18) {
            case 0: case 1: case 2: awake_[c] ? sleep(c) : wake(c); break;
            case 3: case 4: if (awake_[c]) sleep(c); break;
            case 5: if (!awake_[c]) wake(c); break;
            case 6: case 7: case 8: arm(c); break;
            case 9: spurious_expire(c); break;
            case 10: cancel(c); break;
            case 11: if (std::string wrong = check_peek(c); !wrong.empty()) return wrong; break;
            case 12: if (!waiting_.empty() && random_() % 8 == 0) arrive(); break;
            case 13: takes_part_[c] ? leave(c) : join(c); break;
            case 14: if (!takes_part_[c]) join(c); break;
            case 15: return pass_time(random_() % 50 == 0 ? 1000 : 1 + random_() % 30);
            default: return pass_time(1 + random_() % 3);
        }
        return uncovered();
    }

private:
    using mask_type = typename Config::state::mask_type;
    using timers = std::multiset<ticks>;

    std::size_t busy() { return random_() % 3 == 0 ? random_() % awake_.size() : random_() % std::min<std::size_t>(awake_.size(), 5); }
    ticks next_of(std::size_t c) const { return timers_[c].empty() ? never : *timers_[c].begin(); }
    auto handle(std::size_t c) { return tree_.cpu(id_[c]); }

    void arrive() {
        tree_.add(waiting_.back());
        id_.push_back(waiting_.back().id);
        waiting_.pop_back();
        awake_.push_back(false);
        timers_.emplace_back();
        armed_.push_back(never);
        takes_part_.push_back(true);
    }
    void leave(std::size_t c) {
        const departure left = handle(c).leave();
        takes_part_[c] = false;
        if (!awake_[c]) armed_[c] = left.arm;
        wrong_departure_ = wrong_departure_ || left.arm > (awake_[c] ? never : next_of(c));
        ticks first = never;
        bool anybody = false, anybody_awake = false;
        for (std::size_t s = 0; s < awake_.size(); ++s) {
            anybody = anybody || takes_part_[s];
            anybody_awake = anybody_awake || (takes_part_[s] && awake_[s]);
            if (takes_part_[s]) first = std::min(first, next_of(s));
        }
        wrong_departure_ = wrong_departure_ || (anybody_awake ? left.due != never : left.due > first);
        wrong_departure_ = wrong_departure_ || left.by.has_value() != (left.due != never && anybody);
        if (!left.by) return;
        const std::size_t successor = index_of(*left.by);
        wrong_departure_ = wrong_departure_ || !takes_part_[successor];
        wake(successor);
        if (random_() % 2 == 0) sleep(successor);
    }
    void join(std::size_t c) {
        const ticks arm = handle(c).join();
        takes_part_[c] = true;
        if (!awake_[c]) armed_[c] = arm;
    }
    void sleep(std::size_t c) {
        armed_[c] = handle(c).deactivate(next_of(c));
        awake_[c] = false;
    }
    void wake(std::size_t c) {
        handle(c).activate();
        awake_[c] = true;
        armed_[c] = never;
        run_timers(c, now_);
    }
    void arm(std::size_t c) {
        timers_[c].insert(now_ + 1 + random_() % 12);
        if (!awake_[c]) armed_[c] = handle(c).new_expiry(next_of(c));
    }
    void cancel(std::size_t c) {
        if (timers_[c].empty()) return;
        timers_[c].erase(std::prev(timers_[c].end()));
        if (!awake_[c] && random_() % 2 == 0) armed_[c] = handle(c).new_expiry(next_of(c));
    }
    ticks run_timers(std::size_t c, ticks now) {
        while (next_of(c) <= now) {
            timers_[c].erase(timers_[c].begin());
            if (random_() % 3 == 0) timers_[c].insert(now + 1 + random_() % 12);
        }
        return next_of(c);
    }
    std::size_t index_of(cpu_id id) const {
        for (std::size_t c = 0; c < id_.size(); ++c)
            if (id_[c] == id) return c;
        return id_.size();
    }
    void expire(std::size_t c) {
        std::set<cpu_id> once;
        const ticks arm = handle(c).expire(now_, [&](cpu_id sleeper, ticks now) {
            twice_ = twice_ || !once.insert(sleeper).second;
            const std::size_t s = index_of(sleeper);
            served_awake_ = served_awake_ || awake_[s] || !takes_part_[s];
            return run_timers(s, now);
        });
        if (!awake_[c]) armed_[c] = arm;
    }
    void spurious_expire(std::size_t c) { expire(c); }

    std::string check_peek(std::size_t c) {
        if (!awake_[c]) return "";
        const ticks forecast = handle(c).peek(next_of(c));
        sleep(c);
        const ticks truth = armed_[c];
        return forecast > truth ? "peek is later than the truth" : uncovered();
    }

    // Interrupts of sleepers come at their times, everybody awake looks once a tick.
    std::string pass_time(ticks by) {
        const ticks end = now_ + by;
        while (now_ < end) {
            ticks next = end;
            for (std::size_t c = 0; c < awake_.size(); ++c) next = std::min(next, awake_[c] ? now_ + 1 : std::max(armed_[c], now_ + 1));
            now_ = next;
            for (std::size_t c = 0; c < awake_.size(); ++c) {
                if (awake_[c]) {
                    run_timers(c, now_);
                    if (handle(c).must_expire(now_)) expire(c);
                } else if (armed_[c] <= now_) {
                    expire(c);
                    if (!takes_part_[c]) armed_[c] = handle(c).new_expiry(run_timers(c, now_));
                    if (armed_[c] <= now_) return "armed for the past after an interrupt";
                    if (random_() % 4 == 0) wake(c);
                }
            }
            for (std::size_t c = 0; c < awake_.size(); ++c)
                if (next_of(c) <= now_) return "a timer is late";
            if (std::string wrong = uncovered(); !wrong.empty()) return wrong;
        }
        return "";
    }

    std::string uncovered() {
        if (twice_) return "a sleeper came twice in one expire";
        if (served_awake_) return "somebody was served who is awake, or takes no part";
        if (wrong_departure_) return "a departure that is not true";
        ticks first_armed = never;
        for (std::size_t c = 0; c < awake_.size(); ++c) {
            if (!awake_[c] && takes_part_[c]) first_armed = std::min(first_armed, armed_[c]);
            if (!awake_[c] && !takes_part_[c] && armed_[c] > next_of(c)) return "who takes no part did not arm its own";
        }
        const auto awake_mask = [this](const auto& leaf) {
            mask_type mask = 0;
            for (std::size_t c = 0; c < awake_.size(); ++c)
                if (awake_[c] && takes_part_[c] && tree_.shape().cpus[c].group + 1 == leaf.id())
                    mask = static_cast<mask_type>(mask | tree_.shape().cpus[c].childmask);
            return mask;
        };
        // Quadratic in the groups: now and then where there are many.
        if (tree_.groups().size() < 30 || random_() % 64 == 0)
            if (const auto bad = check_at_rest(tree_.groups(), awake_mask)) return name(bad->what);
        const auto next_of_sleeper = [this](std::size_t c) { return awake_[c] || !takes_part_[c] ? never : next_of(c); };
        if (const auto bad = check_expiries(tree_, next_of_sleeper, first_armed)) return name(bad->what);
        // Whoever is in charge of everything is told of what is due.
        if (const auto migrator = tree_.migrator())
            for (std::size_t c = 0; c < awake_.size(); ++c)
                if (!awake_[c] && takes_part_[c] && next_of(c) != never && only_top_is_awake(c) && !tree_.cpu(*migrator).must_expire(next_of(c)))
                    return "must_expire of the migrator misses an expiry";
        return "";
    }
    // No group between the CPU and the root is active.
    bool only_top_is_awake(std::size_t c) const {
        std::size_t g = tree_.shape().cpus[c].group;
        while (tree_.shape().groups[g].parent != tree_shape::none) {
            if (tree_.groups()[g].current().is_active()) return false;
            g = tree_.shape().groups[g].parent;
        }
        return true;
    }

    basic_hierarchy<Config> tree_;
    std::vector<cpu_info> waiting_;
    std::mt19937_64& random_;
    std::vector<cpu_id> id_;
    std::vector<bool> awake_;
    std::vector<timers> timers_;
    std::vector<ticks> armed_;
    std::vector<bool> takes_part_;
    ticks now_ = 1000;
    bool twice_ = false;
    bool served_awake_ = false;
    bool wrong_departure_ = false;
};

/// Returns how many operations it tried.
template <class State>
std::size_t play(std::mt19937_64& random, std::size_t cpus, unsigned width, std::size_t steps) {
    const std::uint64_t program = random();
    std::mt19937_64 own(program);
    machine<config<State>> m(test::random_machine(own, cpus), {.width = width}, own);
    for (std::size_t i = 0; i < steps; ++i)
        if (const std::string wrong = m.step(); !wrong.empty())
            FAIL(wrong << " after step " << i << " of program " << program << ", " << cpus << " CPUs, width " << width);
    return steps;
}

}  // namespace

TEST_CASE("no timer of a sleeper is lost or late in random programs") {
    const auto seed = test::seed();
    std::mt19937_64 random(seed);
    const char* longer = std::getenv("TMIGR_LONG");
    const std::size_t steps = 2'000 * (longer != nullptr ? std::stoull(longer) : 1);
    std::size_t operations = 0;
    for (const std::size_t cpus : {1u, 2u, 3u, 4u, 5u, 9u, 17u, 40u, 100u})
        for (int again = 0; again < (cpus < 20 ? 4 : 1); ++again) {
            operations += play<state32>(random, cpus, 2, steps);
            operations += play<state32>(random, cpus, 3 + static_cast<unsigned>(random() % 6), steps);
            operations += play<state64x24>(random, cpus, 9 + static_cast<unsigned>(random() % 16), steps);
        }
    for (const unsigned width : {2u, 8u}) operations += play<state32>(random, 512, width, steps / 4);
    INFO("to try more, set TMIGR_LONG to a factor");
    CHECK(operations == 90 * steps + steps / 2);
}
