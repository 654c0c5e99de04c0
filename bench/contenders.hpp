// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_CONTENDERS_HPP
#define TMIGR_BENCH_CONTENDERS_HPP

#include "configs.hpp"
#include "peers/counting_tree.hpp"
#include "peers/flat_bitmap.hpp"
#include "peers/hierarchy_peer.hpp"
#include "peers/packed_word.hpp"
#include "peers/peer.hpp"
#include "peers/snzi.hpp"
#include "peers/two_level_bitmap.hpp"
#include "program.hpp"

#include <string>
#include <type_traits>

namespace tmigr::bench {

/// Something to be measured, on whatever backend the question needs.
template <template <class> class P>
struct contender {
    template <class Atomics>
    using on = P<Atomics>;
};

template <class Atomics>
using library_states = peers::hierarchy_peer<linux_config<Atomics>>;
template <class Atomics>
using library_timers = peers::hierarchy_peer<expiry_config<Atomics>>;

template <class Atomics>
using bitmap = peers::flat_bitmap<Atomics, false>;
template <class Atomics>
using two_levels = peers::two_level_bitmap<Atomics, 8>;
template <class Atomics>
using snzi2 = peers::snzi<Atomics, 2>;
template <class Atomics>
using snzi8 = peers::snzi<Atomics, 8>;
template <class Atomics>
using counts8 = peers::counting_tree<Atomics, 8>;

/// Those who only know who is awake, and those who know when timers are due as well.
using state_peers = types<contender<bitmap>, contender<peers::counted_bitmap>, contender<two_levels>,
                          contender<peers::packed_word>, contender<snzi2>, contender<snzi8>, contender<counts8>>;
using timer_peers = types<>;

using state_contenders = decltype(joined(types<contender<library_states>>{}, state_peers{}));
using timer_contenders = decltype(joined(types<contender<library_timers>>{}, timer_peers{}));

/// Sleep with or without an expiry, whatever the peer keeps.
template <class P>
void sleep(P& peer, std::size_t cpu, [[maybe_unused]] ticks due) {
    if constexpr (peers::timer_peer<P>)
        static_cast<void>(peer.deactivate(cpu, due));
    else
        peer.deactivate(cpu);
}

template <class P>
inline constexpr bool is_library = false;
template <class Config>
inline constexpr bool is_library<peers::hierarchy_peer<Config>> = true;

/// A contender's name as a part of a benchmark's: without what would cut it in pieces.
template <class P>
std::string who() {
    if constexpr (is_library<P>) return "tmigr";
    std::string name;
    for (const char c : std::string(P::name()))
        if (c == ' ' || c == '/' || c == ':')
            name += '_';
        else if (c != ',' && c != '(' && c != ')')
            name += c;
    return name;
}

}  // namespace tmigr::bench

#endif
