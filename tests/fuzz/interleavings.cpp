// SPDX-License-Identifier: BSL-1.0
// Any bytes are a program of several CPUs, with an order of their accesses to the tree: whatever
// they do, the tree is right in the end, and no timer is lost or late (docs/fuzzing.md).
#include "support/interleaving_player.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

namespace {

template <class Config>
void play(std::span<const std::uint8_t> bytes) {
    if (tmigr::test::play_interleaving<Config>(bytes).empty()) return;
    std::fputs(tmigr::test::tell_interleaving<Config>(bytes).c_str(), stderr);
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The sixth bit of the machine's byte: a tree without expiries.
    if (size > 1 && (data[1] & 0x40) != 0)
        play<tmigr::test::stepping_words>({data, size});
    else
        play<tmigr::test::stepping_expiries>({data, size});
    return 0;
}
