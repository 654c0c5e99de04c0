// SPDX-License-Identifier: BSL-1.0
// Any text is either a list of CPUs, which survives being written and read back,
// or an input_error that names its place.
#include <tmigr/io/cpus.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream in{std::string{data, data + size}};
    try {
        const tmigr::topology machine = tmigr::read_cpus(in, "input.cpus");
        require(!machine.empty());

        std::stringstream written;
        tmigr::write_cpus(written, machine);
        const tmigr::topology again = tmigr::read_cpus(written, "written.cpus");
        require(std::ranges::equal(machine.cpus(), again.cpus()));
        require(machine.possible_cpus() == again.possible_cpus());
        require(machine.possible_nodes() == again.possible_nodes());
    } catch (const tmigr::input_error& error) {
        require(error.file() == "input.cpus" && error.line() != 0 && !error.expected().empty());
    }
    return 0;
}
