// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_GROUP_HPP
#define TMIGR_GROUP_HPP

#include <tmigr/config.hpp>
#include <tmigr/topology.hpp>
#include <tmigr/trace.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tmigr {

template <hierarchy_config Config>
class cpu_seat;

template <hierarchy_config Config>
class group;

/// What a group with expiries holds for each child: the expiry that it offers.
template <hierarchy_config Config, bool = has_expiries<Config>>
class alignas(Config::cache_line) slot_table {
public:
    using mask_type = typename Config::state::mask_type;
    using slot_type = typename Config::slot;
    using slot_cell = typename Config::atomics::template atomic<slot_type>;
    static constexpr unsigned children = Config::state::children;

    // (S1) stands for all of them.
    static_assert(requires { Config::orders::slot_scan; },
                  "tmigr::slot_table: a configuration with a slot derives from tmigr::expiry_config, which has "
                  "the memory orders for it");
    static_assert(Config::atomics::template is_always_lock_free<slot_type>,
                  "tmigr::group: this backend would hide a lock in a slot of that size. Take a smaller "
                  "slot, or tmigr::boost_atomics with -mcx16 on x86-64");

    slot_cell& slot(unsigned place) noexcept { return slots_[place]; }
    slot_cell& slot_of(mask_type bit) noexcept { return slots_[Config::state::place(bit)]; }
    const std::array<slot_cell, children>& slots() const noexcept { return slots_; }
    /// The expiry that the child behind `bit` offers; may be stale when it is returned.
    ticks offered(mask_type bit) const noexcept {
        // (Q2) relaxed load of the slot: the answer carries no promise about other memory.
        return slots_[Config::state::place(bit)].load(Config::orders::slot_query).due();
    }

private:
    template <std::size_t... I>
    explicit slot_table(std::index_sequence<I...>) noexcept
        : slots_{{((void)I, slot_cell(slot_type{}))...}} {}

    std::array<slot_cell, children> slots_;

public:
    slot_table() noexcept : slot_table(std::make_index_sequence<children>()) {}
};

template <hierarchy_config Config>
class slot_table<Config, false> {};

/// The ways down from a group: a group's children are groups, or CPUs at level 0. Written
/// once each, while the tree grows.
template <hierarchy_config Config>
class alignas(Config::cache_line) ways_down {
public:
    using mask_type = typename Config::state::mask_type;

    /// The child in a place; null where nobody took it yet.
    group<Config>* group_at(unsigned place) const noexcept { return static_cast<group<Config>*>(at(place)); }
    cpu_seat<Config>* cpu_at(unsigned place) const noexcept { return static_cast<cpu_seat<Config>*>(at(place)); }
    void set(mask_type bit, group<Config>* child) noexcept { put(bit, child); }
    void set(mask_type bit, cpu_seat<Config>* child) noexcept { put(bit, child); }

private:
    using cell = typename Config::atomics::template atomic<void*>;

    void* at(unsigned place) const noexcept {
        // (P2) acquire load of a way down; pairs with (G6).
        //      sees: the child as it was made.
        //      killed by: down_load_relaxed
        return cells_[place].load(Config::orders::down_load);
    }
    void put(mask_type bit, void* child) noexcept {
        // (G6) release store of a way down; pairs with (P2).
        //      killed by: down_store_relaxed
        cells_[Config::state::place(bit)].store(child, Config::orders::down_store);
    }
    template <std::size_t... I>
    explicit ways_down(std::index_sequence<I...>) noexcept
        : cells_{{((void)I, cell(static_cast<void*>(nullptr)))...}} {}

    std::array<cell, Config::state::children> cells_;

public:
    ways_down() noexcept : ways_down(std::make_index_sequence<Config::state::children>()) {}
};

/// How a group chooses its migrator: as it was made.
template <hierarchy_config Config, bool = Config::preference_can_stop>
class preference {
public:
    explicit preference(pick how) noexcept : how_(how) {}
    pick how() const noexcept { return how_; }

private:
    pick how_;
};

/// The same where that can change.
template <hierarchy_config Config>
class preference<Config, true> {
public:
    explicit preference(pick how) noexcept : how_(how) {}
    pick how() const noexcept {
        // (F1) relaxed load of the preference; pairs with (F2). It says nothing of other memory,
        //      and a walker may do as it was before.
        return how_.load(Config::orders::prefer_load);
    }
    void stop() noexcept {
        // (F2) relaxed store of the preference; pairs with (F1).
        how_.store(pick::first, Config::orders::prefer_store);
    }

private:
    typename Config::atomics::template atomic<pick> how_;
};

/// One node of the tree: the word, and the facts that a walk needs beside it.
///
/// Layout: the group starts on a cache line of its own and fills whole lines. The first
/// holds the word and, behind it, only what changes at most once, when the tree grows (bit
/// in the parent, level, link upwards). A walk thus touches one line per level, and nothing
/// but the word is written there in the long run. Behind are the slots, with expiries, and
/// the ways down to the children, which no walk needs.
template <hierarchy_config Config>
class alignas(Config::cache_line) group {
public:
    using state = typename Config::state;
    using mask_type = typename state::mask_type;
    using word_cell = typename Config::atomics::template atomic<state>;

    static_assert(Config::cache_line >= alignof(word_cell) && (Config::cache_line & (Config::cache_line - 1)) == 0,
                  "tmigr::group: cache_line must be a power of two that fits the word");
    static_assert(Config::atomics::template is_always_lock_free<state>,
                  "tmigr::group: this backend would hide a lock in a word of that size. Take a smaller "
                  "word, or tmigr::boost_atomics with -mcx16 on x86-64");

    group(group_id id, unsigned level, family_id family, pick how) noexcept
        : word_(state{}), groupmask_(mask_type{0}), level_(static_cast<std::uint8_t>(level)), 
          preference_(how), family_(family), parent_(nullptr), id_(id) {
        layout();
    }
    group(const group&) = delete;
    group& operator=(const group&) = delete;

    word_cell& word() noexcept { return word_; }
    const word_cell& word() const noexcept { return word_; }

    /// The word now. May be stale as soon as it is returned, unless no walk is in flight.
    state current() const noexcept {
        // (Q1) relaxed load of group.word: the answer carries no promise about other memory.
        return word_.load(Config::orders::query_load);
    }

    /// The children's slots; only with expiries.
    slot_table<Config>& table() noexcept { return table_; }
    const slot_table<Config>& table() const noexcept { return table_; }
    ways_down<Config>& down() noexcept { return down_; }
    const ways_down<Config>& down() const noexcept { return down_; }

    /// The group above; null at the root, which may grow a parent at any time. A caller
    /// that acts on the answer asks once.
    group* parent() const noexcept {
        // (P1) acquire load of group.parent; pairs with (G1).
        //      sees: this group's bit in the parent, and the parent as it was made.
        //      killed by: parent_load_relaxed
        return parent_.load(Config::orders::parent_load);
    }
    template <class Order>
    group* parent(Order order) const noexcept {
        return parent_.load(order);
    }
    /// This group's bit in its parent. For whoever found the way to the parent, or grows
    /// the tree: a root of the newer forms knows its future bit.
    mask_type groupmask() const noexcept { return groupmask_.get(); }
    /// Distance from the CPUs, 0 at the bottom.
    unsigned level() const noexcept { return level_; }
    /// How the group chooses its migrator.
    pick how() const noexcept { return preference_.how(); }
    /// From now on the group leaves the role with whoever has it, however low another is that
    /// wakes; who inherits it is still the lowest. Any thread, at any time; one that is on its
    /// way through the group may not know yet. Wait-free.
    void stop_preferring() noexcept
        requires(Config::preference_can_stop)
    {
        preference_.stop();
    }
    family_id family() const noexcept { return family_; }
    group_id id() const noexcept { return id_; }

    /// For whoever grows the tree (growth.hpp); once each.
    void set_groupmask(mask_type mask) noexcept { groupmask_.set(mask); }
    void set_parent(group* parent) noexcept {
        // (G1) release store of group.parent; pairs with (P1), (N3).
        //      carries: this group's bit in the parent, the parent and all above it.
        //      killed by: parent_store_relaxed
        //      With expiries it is seq_cst: against (N1) and (N3) either the one who grows sees
        //      the slot in (S1) or the other sees the parent.
        //      killed by: parent_store_release
        parent_.store(parent, Config::orders::parent_store);
    }

    /// Compile-time proof of the layout above, for every configuration that makes a group.
    static constexpr void layout() noexcept {
        static_assert(sizeof(group) % Config::cache_line == 0 && alignof(group) == Config::cache_line);
        static_assert(offsetof(group, word_) == 0, "the word starts the line");
        // A model checker's cells are larger than what they hold.
        constexpr bool bare_cells = sizeof(word_cell) == sizeof(state) && sizeof(link_cell) == sizeof(void*);
        static_assert(!bare_cells || Config::cache_line < 64 ||
                          offsetof(group, parent_) + sizeof(link_cell) <= Config::cache_line,
                      "what a walk reads shares the word's line");
    }

private:
    using link_cell = typename Config::atomics::template atomic<group*>;

    word_cell word_;
    typename Config::atomics::template var<mask_type> groupmask_;
    std::uint8_t level_;
    preference<Config> preference_;
    family_id family_;
    link_cell parent_;
    group_id id_;
    [[no_unique_address]] slot_table<Config> table_;
    ways_down<Config> down_;
};

}  // namespace tmigr

#endif
