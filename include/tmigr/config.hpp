// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_CONFIG_HPP
#define TMIGR_CONFIG_HPP

#include <tmigr/atomics/backend.hpp>
#include <tmigr/expiry.hpp>
#include <tmigr/state.hpp>
#include <tmigr/trace.hpp>

#include <cassert>
#include <concepts>
#include <cstddef>

namespace tmigr {

/// The memory orders of the walks, one name per ordered access, so that a model test can
/// weaken exactly one of them: derive and shadow. The labels are explained where the
/// accesses stand.
template <atomics_backend B>
struct walk_orders {
    static constexpr auto activate_load = B::relaxed;         // (A1)
    static constexpr auto activate_swap = B::acq_rel;         // (A2)
    static constexpr auto activate_retry = B::relaxed;        // (A2), on failure
    static constexpr auto deactivate_load = B::acquire;       // (D1)
    static constexpr auto deactivate_child_load = B::relaxed; // (D2)
    static constexpr auto deactivate_swap = B::acq_rel;       // (D3)
    static constexpr auto deactivate_retry = B::acquire;      // (D3), on failure
    static constexpr auto query_load = B::relaxed;            // (Q1)
    static constexpr auto parent_load = B::acquire;           // (P1)
    static constexpr auto down_load = B::acquire;             // (P2)
    static constexpr auto roster_load = B::acquire;           // (P3)
    static constexpr auto parent_store = B::release;          // (G1)
    static constexpr auto grow_swap = B::release;             // (G2)
    static constexpr auto grow_retry = B::relaxed;            // (G2), on failure
    static constexpr auto carry_load = B::acquire;            // (G3)
    static constexpr auto carry_child_load = B::relaxed;      // (G4)
    static constexpr auto carry_swap = B::acq_rel;            // (G5)
    static constexpr auto carry_retry = B::acquire;           // (G5), on failure
    static constexpr auto down_store = B::release;            // (G6)
    static constexpr auto roster_store = B::release;          // (G7)
    static constexpr auto available_store = B::relaxed;       // (V1)
    static constexpr auto available_load = B::relaxed;        // (V2)
    static constexpr auto kick_swap = B::release;             // (K1)
    static constexpr auto kick_retry = B::relaxed;            // (K1), on failure
    static constexpr auto kicked_swap = B::acquire;           // (K2)
    static constexpr auto kicked_retry = B::relaxed;          // (K2), on failure
    static constexpr auto kick_load = B::relaxed;             // (K3)
    static constexpr auto kicked_load = B::relaxed;           // (K4)
    static constexpr auto prefer_load = B::relaxed;           // (F1)
    static constexpr auto prefer_store = B::relaxed;          // (F2)
};

/// The same with expiries: (D3) and (G1) get stronger, the accesses to slots and claims are
/// new. Explained in `group.hpp`, `expiry_walk.hpp`, `expire.hpp` and `cpu_handle.hpp`.
template <atomics_backend B>
struct expiry_orders : walk_orders<B> {
    static constexpr auto deactivate_swap = B::seq_cst;    // (D3)
    static constexpr auto sleep_slot_store = B::release;   // (O1)
    static constexpr auto wake_slot_store = B::relaxed;    // (O2)
    static constexpr auto own_slot_load = B::relaxed;      // (O3)
    static constexpr auto slot_query = B::relaxed;         // (Q2)
    static constexpr auto peek_load = B::acquire;          // (Q3)
    static constexpr auto slot_scan = B::seq_cst;          // (S1)
    static constexpr auto refresh_load = B::seq_cst;       // (S2)
    static constexpr auto refresh_state = B::seq_cst;      // (S3)
    static constexpr auto refresh_swap = B::seq_cst;       // (S4)
    static constexpr auto refresh_retry = B::relaxed;      // (S4), on failure
    static constexpr auto new_slot_store = B::seq_cst;     // (N1)
    static constexpr auto new_state_load = B::seq_cst;     // (N2)
    static constexpr auto new_parent_load = B::seq_cst;    // (N3)
    static constexpr auto parent_store = B::seq_cst;       // (G1)
    static constexpr auto expire_state_load = B::relaxed;  // (X1)
    static constexpr auto claim_swap = B::acquire;         // (X2)
    static constexpr auto claim_retry = B::relaxed;        // (X2), on failure
    static constexpr auto claim_release = B::release;      // (X3)
    static constexpr auto expire_slot_swap = B::relaxed;   // (X4)
    static constexpr auto expire_slot_retry = B::relaxed;  // (X4), on failure
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
        typename C::slot;
        C::orders::activate_swap;
        { C::steps::refresh_attempts } -> std::convertible_to<int>;
        { C::misuse::check(true, "") } noexcept;
        { C::cache_line } -> std::convertible_to<std::size_t>;
        { C::preference_can_stop } -> std::convertible_to<bool>;
    };

/// Whether the groups of a hierarchy hold their sleepers' expiries.
template <class C>
inline constexpr bool has_expiries = !std::same_as<typename C::slot, no_slot>;

/// What the algorithm does, step by step. Whoever leaves one out gets a tree that loses
/// timers or tells lies; that it can be left out is for the tests that show this.
struct algorithm_steps {
    /// Attempts of a refresh. Two are needed, and enough.
    static constexpr int refresh_attempts = 2;
    /// A refresh writes the slot even where the value stays the same.
    static constexpr bool write_unchanged_slot = true;
    /// Expiries are published before the active bit is cleared.
    static constexpr bool publish_first = true;
    /// A group's bit is cleared only if a look at the group, after that at its parent, finds
    /// it idle.
    static constexpr bool clear_only_idle = true;
    /// A sleeper's walk goes on from a group that was idle before.
    static constexpr bool leave_idle_groups = true;
    /// A group knows its bit in the parent before anybody finds the way there.
    static constexpr bool mask_before_link = true;
    /// The old root is swapped after it was linked, not only looked at.
    static constexpr bool swap_after_link = true;
    /// The old root is made active in the new one only while it is.
    static constexpr bool carry_only_active = true;
    /// A sleeper that looks for due timers arms for every group on its way, not for the root only.
    static constexpr bool remember_lower_groups = true;
    /// Who runs a sleeper's timers has claimed the sleeper.
    static constexpr bool claim_sleepers = true;
    /// Who ran a sleeper's timers leaves the slot alone if the sleeper wrote there meanwhile.
    static constexpr bool owner_wins = true;
    /// A CPU that leaves is no successor any more from before its walk.
    static constexpr bool unavailable_first = true;
    /// Who takes the role over does so in the swap that makes it active.
    static constexpr bool take_over_at_once = true;
    /// The first to wake in a group that prefers the lowest tells the group above.
    static constexpr bool first_wake_goes_on = true;
    /// The new root learns of what the old one's sleepers wait for.
    static constexpr bool refresh_after_link = true;
};

/// Linux's choices: 8 children, a 32-bit word, no tracing. Without expiries: the tree of who
/// is awake and who is in charge, at the price of Linux's two state walks.
template <atomics_backend Atomics>
struct linux_config {
    using atomics = Atomics;
    using state = state32;
    using slot = no_slot;
    using tracer = no_tracer;
    using orders = walk_orders<Atomics>;
    using misuse = assert_on_misuse;
    /// Bytes that two CPUs cannot write without disturbing each other. 128 keeps pairs of
    /// lines apart that some processors fetch together.
    static constexpr std::size_t cache_line = 64;
    /// Whether groups that prefer the lowest child can be told to stop that while the tree is
    /// in use (`group::stop_preferring`). Costs a relaxed load per level of a waking CPU.
    static constexpr bool preference_can_stop = false;
    using steps = algorithm_steps;
};

/// The same with expiries: the groups hold the sleepers' due times in slots of 64 bits.
template <atomics_backend Atomics>
struct expiry_config : linux_config<Atomics> {
    using slot = slot64;
    using orders = expiry_orders<Atomics>;
};

}  // namespace tmigr

#endif
