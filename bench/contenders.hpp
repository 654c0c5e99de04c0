// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_CONTENDERS_HPP
#define TMIGR_BENCH_CONTENDERS_HPP

#include "configs.hpp"
#include "library.hpp"
#include "peers/peer.hpp"
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
using library_states = library<linux_config<Atomics>>;
template <class Atomics>
using library_timers = library<expiry_config<Atomics>>;

using the_library = types<contender<library_states>>;
using the_library_with_timers = types<contender<library_timers>>;

/// Those who only know who is awake, and those who know when timers are due as well.
using state_peers = types<>;
using timer_peers = types<>;

template <class... A, class... B>
types<A..., B...> joined(types<A...>, types<B...>);
using state_contenders = decltype(joined(the_library{}, state_peers{}));
using timer_contenders = decltype(joined(the_library_with_timers{}, timer_peers{}));

/// A contender's name as a part of a benchmark's: without what would cut it in pieces.
template <class P>
std::string who() {
    std::string name = P::name();
    for (char& c : name)
        if (c == ' ' || c == '/' || c == ':' || c == ',') c = '_';
    return name;
}

}  // namespace tmigr::bench

#endif
