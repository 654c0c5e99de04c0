// SPDX-License-Identifier: BSL-1.0
#include "workload.hpp"

#include <algorithm>
#include <random>

namespace relay {

workload make_workload(cpu_id workers, ticks end, std::uint64_t seed) {
    workload made;
    made.end = end;
    std::mt19937_64 random(seed);
    const auto between = [&random](ticks least, ticks most) {
        return std::uniform_int_distribution<ticks>(least, most)(random);
    };
    const auto gap = [&random](double mean) {
        return 1 + static_cast<ticks>(std::exponential_distribution<>(1 / mean)(random));
    };
    const auto add = [&](std::vector<request>& where, ticks at, cpu_id to, ticks busy, ticks time_outs) {
        request& r = where.emplace_back(request{at, to, busy, {}});
        for (; time_outs > 0; --time_outs)
            r.time_outs.push_back({made.timers++, between(2'000, workload::longest_time_out)});
    };

    constexpr ticks phase = 250'000;
    for (ticks start = 0; start < end; start += phase) {
        const auto busiest = static_cast<cpu_id>(between(0, workers - 1));
        for (ticks at = start + gap(1'200); at < std::min(start + phase, end); at += gap(1'200))
            add(made.requests, at, busiest, between(200, 1'500), between(0, 1));
    }
    // Together they have no more to do when there are more of them.
    const double quiet = std::max(40'000.0, 5'000.0 * workers);
    for (cpu_id to = 0; to < workers; ++to)
        for (ticks at = gap(quiet); at < end; at += gap(quiet)) {
            const bool only_time_outs = between(0, 3) == 0;
            for (ticks burst = between(1, 4); burst > 0; --burst)
                add(made.requests, at, to, only_time_outs ? 0 : between(50, 800),
                    between(only_time_outs ? 1 : 0, 2));
        }
    std::ranges::stable_sort(made.requests, {}, &request::at);
    made.timers_of_requests = made.timers;
    for (cpu_id to = workers / 2; to < workers; ++to) add(made.last, end, to, 0, between(1, 3));
    return made;
}

}  // namespace relay
