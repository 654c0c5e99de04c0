// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_CONFIGS_HPP
#define TMIGR_BENCH_CONFIGS_HPP

#include <tmigr/atomics/boost.hpp>
#include <tmigr/atomics/cost_model.hpp>
#include <tmigr/atomics/counting.hpp>
#include <tmigr/atomics/plain.hpp>
#include <tmigr/atomics/std.hpp>
#include <tmigr/config.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/wide_state.hpp>

#include <climits>
#include <cstddef>

namespace tmigr::bench {

/// The library with another word, slot and padding.
template <class Atomics, class State = state32, std::size_t Line = 64>
struct state_config : linux_config<Atomics> {
    using state = State;
    static constexpr std::size_t cache_line = Line;
};
template <class Atomics, class State = state32, class Slot = slot64, std::size_t Line = 64>
struct timer_config : expiry_config<Atomics> {
    using state = State;
    using slot = Slot;
    static constexpr std::size_t cache_line = Line;
};

/// The slot that goes with a word: as wide where the word is wide.
template <class State>
using slot_for = std::conditional_t<(sizeof(State) > 8), slot128, slot64>;

template <class State>
inline constexpr unsigned word_bits = sizeof(State) * CHAR_BIT;

template <class Atomics>
inline constexpr const char* backend_name = "?";
template <>
inline constexpr const char* backend_name<boost_atomics> = "boost";
template <>
inline constexpr const char* backend_name<std_atomics> = "std";
template <>
inline constexpr const char* backend_name<plain_atomics> = "plain";

/// So many CPUs of one node, in order: with groups of 8, CPUs 0 to 7 share the first leaf.
inline topology machine_of(std::size_t cpus) {
    topology machine;
    for (std::size_t id = 0; id < cpus; ++id) machine.add(static_cast<cpu_id>(id), 0);
    return machine;
}

}  // namespace tmigr::bench

#endif
