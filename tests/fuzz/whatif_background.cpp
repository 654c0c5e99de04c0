// SPDX-License-Identifier: BSL-1.0
// Any text is either a background whose rates the simulator can bear, or an input_error that names its file.
#include "background.hpp"

#include <tmigr/input_error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

bool bearable(whatif::nanoseconds mean) { return mean == 0 || (mean >= 10'000 && mean <= 1'000'000'000'000); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream in{std::string{data, data + size}};
    try {
        const whatif::idle_background b = whatif::read_background(in, "input.json");
        for (const whatif::nanoseconds mean : {b.global_mean, b.global_period, b.pinned_period, b.deferrable_period,
                                               b.precise_mean, b.device_mean, b.device_on_first_mean})
            require(bearable(mean));
        for (const auto& [capacity, mean] : b.device_mean_of_capacity) require(capacity >= 1 && bearable(mean));
        require(b.handler <= 1'000'000'000 && b.task_work <= 1'000'000'000);
    } catch (const tmigr::input_error& error) {
        require(error.file() == "input.json" && !error.expected().empty());
    }
    return 0;
}
