// SPDX-License-Identifier: BSL-1.0
#include "background.hpp"

#include "json.hpp"

#include <tmigr/detail/text.hpp>
#include <tmigr/topology.hpp>

#include <algorithm>

namespace whatif {

namespace {

constexpr double longest_us = 1e9;
constexpr nanoseconds shortest = 10'000;
constexpr double most_work_us = 1e6;
constexpr std::int64_t most_cpus_apart = 1 << 16;

nanoseconds mean_from(const json_value& from, std::string_view what) {
    const nanoseconds mean = from.microseconds(longest_us, what);
    if (mean != 0 && mean < shortest) from.fail("0 (none), or at least 10 us");
    return mean;
}

void read_devices(const json_value& from, idle_background& to) {
    if (!from.is(json_value::kind::array)) {
        to.device_mean = mean_from(from, "device_mean_us");
        return;
    }
    for (const json_value& each : from.array("device_mean_us")) {
        each.object("interrupts of devices on CPUs of one capacity");
        each.only({"capacity", "mean_us"});
        const json_value& capacity = each.at("capacity", "interrupts of devices");
        const auto of = static_cast<unsigned>(capacity.integer(1, tmigr::max_capacity, "capacity"));
        auto& all = to.device_mean_of_capacity;
        if (std::ranges::find(all, of, &std::pair<unsigned, nanoseconds>::first) != all.end())
            capacity.fail("each capacity once");
        all.emplace_back(of, mean_from(each.at("mean_us", "interrupts of devices"), "mean_us"));
    }
}

}  // namespace

idle_background read_background(std::istream& in, const std::string& file) {
    const json_document document{in, file};
    const json_value& root = document.root();
    root.object("a file of what an idle system does");
    root.only({"source", "global_mean_us", "global_period_us", "global_every", "pinned_period_us", "deferrable_period_us",
               "precise_mean_us", "device_mean_us", "device_on_first_mean_us", "handler_us", "task_work_us"});
    if (const json_value* const source = root.find("source")) source->string("source");
    idle_background read;
    const auto mean = [&](const char* name, nanoseconds& to) {
        if (const json_value* const given = root.find(name)) to = mean_from(*given, name);
    };
    const auto work = [&](const char* name, nanoseconds& to) {
        if (const json_value* const given = root.find(name)) to = given->microseconds(most_work_us, name);
    };
    mean("global_mean_us", read.global_mean);
    mean("global_period_us", read.global_period);
    if (const json_value* const every = root.find("global_every"))
        read.global_every = static_cast<std::size_t>(every->integer(0, most_cpus_apart, "global_every"));
    mean("pinned_period_us", read.pinned_period);
    mean("deferrable_period_us", read.deferrable_period);
    mean("precise_mean_us", read.precise_mean);
    if (const json_value* const devices = root.find("device_mean_us")) read_devices(*devices, read);
    mean("device_on_first_mean_us", read.device_on_first_mean);
    work("handler_us", read.handler);
    work("task_work_us", read.task_work);
    return read;
}

idle_background read_background(const std::filesystem::path& file) {
    std::ifstream in = tmigr::detail::open_input(file);
    return read_background(in, file.string());
}

}  // namespace whatif
