// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TMIGR_HPP
#define TMIGR_TMIGR_HPP

// The tree with Linux's defaults, on Boost.Atomic and for one thread, the reader of lists
// of CPUs, drawing and tracing. Further backends, wide words and the readers of traces
// and of hwloc have headers of their own; so has the tree alone, `hierarchy.hpp`.

#include <tmigr/atomics/boost.hpp>
#include <tmigr/atomics/plain.hpp>
#include <tmigr/builder.hpp>
#include <tmigr/draw.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/invariants.hpp>
#include <tmigr/io/cpus.hpp>
#include <tmigr/state.hpp>
#include <tmigr/text_tracer.hpp>
#include <tmigr/topology.hpp>

namespace tmigr {

/// A timer-migration tree as Linux builds it: 8 children, 32-bit words, Boost.Atomic.
using hierarchy = basic_hierarchy<linux_config<boost_atomics>>;

/// The same with the sleepers' expiries: whoever sleeps leaves its timers to somebody awake.
using expiry_hierarchy = basic_hierarchy<expiry_config<boost_atomics>>;

/// The tree without expiries for one thread that drives all CPUs, with no atomic operation in it.
using sequential_hierarchy = basic_hierarchy<linux_config<plain_atomics>>;

}  // namespace tmigr

#endif
