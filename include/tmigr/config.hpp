// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_CONFIG_HPP
#define TMIGR_CONFIG_HPP

#include <tmigr/atomics/backend.hpp>
#include <tmigr/state.hpp>
#include <tmigr/trace.hpp>

#include <cassert>
#include <concepts>
#include <cstddef>

namespace tmigr {

/// The memory orders of the walks, one name per ordered access, so that a model test can
/// weaken exactly one of them: derive and shadow. The labels are explained where the
/// accesses stand, in `walk.hpp`.
template <atomics_backend B>
struct walk_orders {
    static constexpr auto activate_load = B::relaxed;         // (A1)
    static constexpr auto activate_swap = B::release;         // (A2)
    static constexpr auto activate_retry = B::relaxed;        // (A2), on failure
    static constexpr auto deactivate_load = B::acquire;       // (D1)
    static constexpr auto deactivate_child_load = B::relaxed; // (D2)
    static constexpr auto deactivate_swap = B::acquire;       // (D3)
    static constexpr auto deactivate_retry = B::acquire;      // (D3), on failure
    static constexpr auto query_load = B::relaxed;            // (Q1)
};

/// What happens on misuse, such as waking a CPU that is awake: `assert`, so nothing where
/// NDEBUG is set. A replacement has the same function; it may log, count or abort, but not
/// throw, since the operations that call it do not.
struct assert_on_misuse {
    static void check(bool used_rightly, [[maybe_unused]] const char* rule) noexcept {
        assert(used_rightly && rule != nullptr);
        static_cast<void>(used_rightly);
    }
};

/// The compile-time knobs of a hierarchy. Derive from `linux_config` and shadow what you
/// want different.
template <class C>
concept hierarchy_config =
    atomics_backend<typename C::atomics> && tracer<typename C::tracer> &&
    requires(typename C::state word, typename C::state::mask_type mask) {
        { word.activated(mask, pick::first) } noexcept -> std::same_as<typename C::state>;
        { word.deactivated(mask) } noexcept -> std::same_as<typename C::state>;
        { word.touched() } noexcept -> std::same_as<typename C::state>;
        C::orders::activate_swap;
        { C::misuse::check(true, "") } noexcept;
        { C::cache_line } -> std::convertible_to<std::size_t>;
    };

/// Linux's choices: 8 children, a 32-bit word, no tracing.
template <atomics_backend Atomics>
struct linux_config {
    using atomics = Atomics;
    using state = state32;
    using tracer = no_tracer;
    using orders = walk_orders<Atomics>;
    using misuse = assert_on_misuse;
    /// Bytes that two CPUs cannot write without disturbing each other. 128 keeps pairs of
    /// lines apart that some processors fetch together.
    static constexpr std::size_t cache_line = 64;
};

}  // namespace tmigr

#endif
