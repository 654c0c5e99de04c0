// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_SUPPORT_CAPTURES_HPP
#define TMIGR_TESTS_SUPPORT_CAPTURES_HPP

#include <tmigr/io/ftrace.hpp>
#include <tmigr/io/replay.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tmigr::test {

/// A trace of a running kernel (tests/data/README.md), and what is in it.
struct capture {
    const char* name;
    const char* kernel;  ///< the form of its lines: 6.12, or 7.3 with capacity=
    std::size_t cpus;    ///< in its .topology file
    std::size_t nodes;
    std::size_t lines;      ///< tmigr_group_set_cpu_active and _inactive
    std::size_t learnt;     ///< of these: the first of each group of a window that starts in the middle
    std::size_t reordered;  ///< of these: overtaken by one that happened later
    std::size_t strays;     ///< of these: active= does not follow from the line before of that group

    bool starts_at_boot() const { return learnt == 0; }
    bool has_hierarchy() const { return std::string_view{name}.starts_with("workload-"); }
    std::filesystem::path path(const char* extension) const {
        return std::filesystem::path{TMIGR_TEST_CAPTURES} / (std::string{name} + extension);
    }
};

// clang-format off
inline constexpr capture captures[] = {
    {"kernel-6.12-12cpu-1node-hotplug", "6.12", 12, 1, 4765, 0, 7, 18},
    {"kernel-6.12-13cpu-2node-unequal", "6.12", 13, 2, 3462, 0, 1, 3},
    {"kernel-6.12-16cpu-2node-isolated", "6.12", 16, 2, 2455, 0, 4, 12},
    {"kernel-6.12-16cpu-2node", "6.12", 16, 2, 3360, 0, 1, 3},
    {"kernel-6.12-24cpu-2node", "6.12", 24, 2, 4065, 0, 6, 15},
    {"kernel-6.12-64cpu-4node", "6.12", 64, 4, 5567, 0, 3, 9},
    {"kernel-6.12-8cpu-1node", "6.12", 8, 1, 1811, 0, 1, 2},
    {"kernel-6.12-arm64-12cpu-1node-3capacity", "6.12", 12, 1, 3175, 0, 8, 22},
    {"kernel-7.3-12cpu-1node-hotplug", "7.3", 12, 1, 5569, 0, 5, 15},
    {"kernel-7.3-13cpu-2node-unequal", "7.3", 13, 2, 3840, 0, 1, 2},
    {"kernel-7.3-16cpu-2node-isolated", "7.3", 16, 2, 3120, 0, 7, 19},
    {"kernel-7.3-16cpu-2node-isolcpus-domain", "7.3", 16, 2, 3876, 0, 1, 4},
    {"kernel-7.3-16cpu-2node", "7.3", 16, 2, 3985, 0, 0, 0},
    {"kernel-7.3-20cpu-2node-late-online", "7.3", 20, 2, 5728, 0, 5, 16},
    {"kernel-7.3-24cpu-2node", "7.3", 24, 2, 4768, 0, 5, 10},
    {"kernel-7.3-64cpu-4node", "7.3", 64, 4, 5655, 0, 4, 12},
    {"kernel-7.3-8cpu-1node", "7.3", 8, 1, 2198, 0, 2, 5},
    {"kernel-7.3-arm64-12cpu-1node-3capacity", "7.3", 12, 1, 3691, 0, 9, 26},
    {"kernel-7.3-arm64-12cpu-1node-interleaved-late", "7.3", 12, 1, 3313, 0, 2, 6},
    {"kernel-6.12-16cpu-late-timer", "6.12", 16, 1, 152, 3, 1, 2},
    {"kernel-7.3-16cpu-late-timer", "7.3", 16, 1, 404, 9, 1, 5},
    {"workload-7.3-16cpu-2node-mixed", "7.3", 16, 2, 1186, 3, 0, 0},
    {"workload-7.3-8cpu-hotplug", "7.3", 8, 1, 869, 1, 0, 0},
    {"workload-7.3-8cpu-idle", "7.3", 8, 1, 398, 1, 0, 0},
    {"workload-7.3-8cpu-pin4ms", "7.3", 8, 1, 1628, 1, 7, 21},
    {"workload-7.3-arm64-12cpu-3capacity-idle", "7.3", 12, 1, 757, 3, 0, 0},
    {"workload-7.3-arm64-12cpu-3capacity-mixed", "7.3", 12, 1, 1431, 3, 5, 14},
};
// clang-format on

/// All lines of a capture, other events and marks between windows too; for a capture that
/// starts in the middle, those of its .hierarchy file and a gap come first.
inline std::vector<ftrace_record> records_of(const capture& c) {
    std::vector<ftrace_record> records;
    if (c.has_hierarchy()) {
        std::ifstream in{c.path(".hierarchy")};
        ftrace_reader reader{in, c.path(".hierarchy").string()};
        while (auto record = reader.next()) records.push_back(std::move(*record));
        records.emplace_back().event = event::lost{};
    }
    std::ifstream in{c.path(".trace")};
    ftrace_reader reader{in, c.path(".trace").string(), ftrace_reader::others::keep};
    while (auto record = reader.next()) records.push_back(std::move(*record));
    return records;
}

/// Replays them; a line of the event do_stress ends a window, behind which lines are missing.
template <class Replay>
void feed(Replay& replay, const std::vector<ftrace_record>& records) {
    for (const ftrace_record& record : records) {
        replay.add(record);
        const auto* const other = std::get_if<event::other>(&record.event);
        if (other != nullptr && other->name == "do_stress") replay.gap();
    }
    replay.finish();
}

}  // namespace tmigr::test

#endif
