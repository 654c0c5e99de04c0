// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_PEER_HPP
#define TMIGR_BENCH_PEERS_PEER_HPP

#include <tmigr/expiry.hpp>

#include <concepts>
#include <cstddef>
#include <optional>

namespace tmigr::peers {

/// What others would use, or used, to know who is awake and when sleepers' timers are due, behind
/// one interface, so that benchmarks and tests are written once. CPUs are numbered from 0 and all
/// asleep at first, without expiry. As with the library, each CPU is acted for by one thread at a
/// time; different CPUs by different threads at once.
///
/// Every peer is a template on an atomics backend (tmigr/atomics/backend.hpp): the same code is
/// timed, counted and followed line by line.
template <class P>
concept peer = std::constructible_from<P, std::size_t> &&  // for that many CPUs
               requires(P p, const P& c, std::size_t cpu) {
                   { P::name() } -> std::convertible_to<const char*>;
                   { c.cpus() } -> std::same_as<std::size_t>;
                   p.activate(cpu);
                   { c.any_active() } -> std::same_as<bool>;
               };

/// One that keeps no expiries.
template <class P>
concept state_peer = peer<P> && requires(P p, std::size_t cpu) { p.deactivate(cpu); };

/// One that does. What `deactivate`, `new_expiry` and, of a CPU that sleeps, `expire` return
/// has to be armed by that CPU; `never` when somebody awake looks after it. `expire` runs what
/// is due by `now` and this CPU's to run: `run(sleeper, now)` runs the due timers of a CPU that
/// sleeps and returns its next expiry. That has to be later than `now`, and `run` must neither
/// throw nor use the peer. `must_expire` is for CPUs that are awake. `earliest` is, when all
/// sleep and nothing is under way, not later than the earliest expiry; else anything.
template <class P>
concept timer_peer = peer<P> && requires(P p, const P& c, std::size_t cpu, ticks due) {
    { p.deactivate(cpu, due) } -> std::same_as<ticks>;
    { p.new_expiry(cpu, due) } -> std::same_as<ticks>;
    { c.must_expire(cpu, due) } -> std::same_as<bool>;
    { p.expire(cpu, due, [](std::size_t, ticks) { return never; }) } -> std::same_as<ticks>;
    { c.earliest() } -> std::same_as<ticks>;
};

/// One that names the CPU in charge of the sleepers.
template <class P>
concept has_migrator = peer<P> && requires(const P& c) {
    { c.migrator() } -> std::same_as<std::optional<std::size_t>>;
};

/// One that picks, when a timer is armed, the CPU to queue it on.
template <class P>
concept has_target = peer<P> && requires(const P& c, std::size_t cpu) {
    { c.target(cpu) } -> std::same_as<std::size_t>;
};

}  // namespace tmigr::peers

#endif
