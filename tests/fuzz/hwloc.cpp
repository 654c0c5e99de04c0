// SPDX-License-Identifier: BSL-1.0
// Any text is either a machine of hwloc's or an input_error. libhwloc itself is
// not instrumented; this shows that nothing gets past our checks that breaks it.
#include <tmigr/io/hwloc.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    try {
        const tmigr::topology machine = tmigr::read_hwloc_string(text, "input.xml");
        require(!machine.empty());
        for (std::size_t i = 1; i < machine.size(); ++i)
            require(machine.cpus()[i - 1].id < machine.cpus()[i].id);
    } catch (const tmigr::input_error& error) {
        require(error.file() == "input.xml" && !error.expected().empty());
    }
    return 0;
}
