// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_CONTENDERS_HPP
#define TMIGR_BENCH_CONTENDERS_HPP

#include "configs.hpp"
#include "peers/counting_tree.hpp"
#include "peers/enqueue_scan.hpp"
#include "peers/event_queues.hpp"
#include "peers/flat_bitmap.hpp"
#include "peers/flat_expiries.hpp"
#include "peers/global_heap.hpp"
#include "peers/hierarchy_peer.hpp"
#include "peers/linux_events.hpp"
#include "peers/locked_tree.hpp"
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
template <class Atomics>
using locked_states = peers::locked_tree<Atomics, 8, false>;

template <class Atomics>
using locked8 = peers::locked_tree<Atomics, 8, true, peers::spin_lock<Atomics>>;
template <class Atomics>
using locked8_mutex = peers::locked_tree<Atomics, 8, true, peers::mutex_lock<Atomics>>;
template <class Atomics>
using locked16 = peers::locked_tree<Atomics, 16, true, peers::spin_lock<Atomics>>;
template <class Atomics>
using locked64 = peers::locked_tree<Atomics, 64, true, peers::spin_lock<Atomics>>;
template <class Atomics>
using events_tree = peers::linux_events<Atomics, peers::tree_queues>;
template <class Atomics>
using events_array = peers::linux_events<Atomics, peers::array_queues>;
template <class Atomics>
using heap = peers::global_heap<Atomics>;
template <class Atomics>
using scan = peers::enqueue_scan<Atomics>;

/// Those who only know who is awake, and those who know when timers are due as well.
using state_peers = types<contender<bitmap>, contender<peers::counted_bitmap>, contender<two_levels>,
                          contender<peers::packed_word>, contender<snzi2>, contender<snzi8>, contender<counts8>, contender<locked_states>>;
using timer_peers = types<contender<events_tree>, contender<events_array>, contender<locked8>, contender<locked8_mutex>,
                          contender<locked16>, contender<locked64>, contender<peers::flat_expiries>, contender<heap>>;

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
