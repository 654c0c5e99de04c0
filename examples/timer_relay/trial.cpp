// SPDX-License-Identifier: BSL-1.0
#include "trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace relay {

namespace {

/// Hands out the work, then lets everybody leave. Returns whether all timers ran while their
/// owners still took part, or by themselves; one that the tree lost would not.
bool feed(const workload& work, worker::crew& crew, const tick_clock& clock, ledger& notes, tally& sender) {
    const auto post = [&](const request& r) {
        crew[r.to].post(sender, [&r](mail& to) { to.requests.push_back(&r); });
    };
    const auto let_go = [&](std::size_t first, std::size_t last) {
        for (; first < last; ++first) crew[first].post(sender, [](mail& to) { to.leave = true; });
    };
    const auto wait_for = [&](std::size_t timers) {
        constexpr ticks patience = 30'000'000;  // machines are slow, or busy with other things
        return notes.wait_for(timers, clock.now() + workload::longest_time_out + patience);
    };
    for (const request& r : work.requests) {
        std::this_thread::sleep_until(clock.at(r.at));
        post(r);
    }
    std::this_thread::sleep_until(clock.at(work.end));
    let_go(0, crew.size() / 2);
    bool all_ran = wait_for(work.timers_of_requests);
    for (const request& r : work.last) post(r);
    all_ran = all_ran && wait_for(work.timers);
    let_go(crew.size() / 2, crew.size());
    return all_ran;
}

void check(const workload& work, const ledger& notes, bool all_ran, outcome& result) {
    std::size_t not_armed = 0, not_run = 0, run_again = 0, early = 0;
    for (const ledger::entry& e : notes.entries()) {
        not_armed += e.armed != 1;
        not_run += e.runs == 0;
        run_again += e.runs > 1;
        early += e.runs > 0 && e.ran_at < e.due;
    }
    const auto complain = [&result](std::size_t count, const char* what) {
        if (count > 0) result.wrong.push_back(fmt::format("{} {}", count, what));
    };
    complain(work.size() - std::min(result.counted.requests_done, work.size()), "requests were lost");
    complain(not_armed, "timers were not armed once");
    complain(not_run, "timers were never run");
    complain(run_again, "timers were run more than once");
    complain(early, "timers were run before they were due");
    if (!all_ran) result.wrong.push_back("not all timers had run when the last workers left");
}

}  // namespace

outcome try_out(const workload& work, cpu_id workers, unsigned width, bool with_tree) {
    tmigr::topology machine;
    for (cpu_id id = 0; id < workers; ++id) machine.add(id, 0);
    tmigr::expiry_hierarchy tree(machine, {.width = width});
    const tick_clock clock;
    ledger notes(clock, work.timers);
    worker::crew crew;
    for (cpu_id id = 0; id < workers; ++id) {
        crew.emplace_back(tree.cpu(id), crew, clock, notes);
        // Who does not take part gets its own expiries back: that is all it takes.
        if (!with_tree) static_cast<void>(tree.cpu(id).leave());
    }

    std::vector<std::thread> threads;
    for (worker& w : crew) threads.emplace_back([&w] { w.run(); });
    outcome result;
    const bool all_ran = feed(work, crew, clock, notes, result.counted);
    for (std::thread& t : threads) t.join();

    for (const worker& w : crew) result.counted += w.counted();
    for (const ledger::entry& e : notes.entries()) {
        if (e.runs == 0) continue;
        ++(e.ran_on == e.owner ? result.run_at_home : result.run_elsewhere);
        result.lateness.push_back(e.ran_at - std::min(e.due, e.ran_at));
    }
    std::ranges::sort(result.lateness);
    check(work, notes, all_ran, result);
    return result;
}

}  // namespace relay
