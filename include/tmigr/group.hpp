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

/// What a group with expiries holds for each child: the expiry that it offers, and the way
/// down to it. Slots are written by many, ways down only while the tree grows.
template <hierarchy_config Config, bool = has_expiries<Config>>
class alignas(Config::cache_line) child_table {
public:
    using mask_type = typename Config::state::mask_type;
    using slot_type = typename Config::slot;
    using slot_cell = typename Config::atomics::template atomic<slot_type>;
    static constexpr unsigned children = Config::state::children;

    static_assert(Config::atomics::template is_always_lock_free<slot_type>,
                  "tmigr::group: this backend would hide a lock in a slot of that size. Take a smaller "
                  "slot, or tmigr::boost_atomics with -mcx16 on x86-64");

    slot_cell& slot(unsigned place) noexcept { return slots_[place]; }
    slot_cell& slot_of(mask_type bit) noexcept { return slots_[Config::state::place(bit)]; }
    const std::array<slot_cell, children>& slots() const noexcept { return slots_; }
    /// The expiry that the child behind `bit` offers; may be stale when it is returned.
    ticks offered(mask_type bit) const noexcept {
        // (Q2) relaxed load of the slot: the answer carries no promise about other memory.
        return slots_[Config::state::place(bit)].load(Config::orders::query_load).due();
    }

    group<Config>* group_at(unsigned place) const noexcept { return down_[place].to_group; }
    cpu_seat<Config>* cpu_at(unsigned place) const noexcept { return down_[place].to_cpu; }
    void set_group_at(mask_type bit, group<Config>* child) noexcept {
        down_[Config::state::place(bit)].to_group = child;
    }
    void set_cpu_at(mask_type bit, cpu_seat<Config>* child) noexcept {
        down_[Config::state::place(bit)].to_cpu = child;
    }

private:
    union way_down {
        group<Config>* to_group = nullptr;
        cpu_seat<Config>* to_cpu;
    };
    template <std::size_t... I>
    explicit child_table(std::index_sequence<I...>) noexcept : slots_{{((void)I, slot_cell(slot_type{}))...}} {}

    std::array<slot_cell, children> slots_;
    alignas(Config::cache_line) std::array<way_down, children> down_{};

public:
    child_table() noexcept : child_table(std::make_index_sequence<children>()) {}
};

template <hierarchy_config Config>
class child_table<Config, false> {};

/// One node of the tree: the word, and the facts that a walk needs beside it.
///
/// Layout: the group starts on a cache line of its own and fills whole lines. The first
/// holds the word and, behind it, only what never changes while CPUs walk (bit in the
/// parent, level, link upwards). A walk thus touches one line per level, and nothing but
/// the word is ever written there. With expiries, the table of children fills the lines
/// behind.
///
/// Everything but the word is set while the tree grows and must not change during walks.
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
        : word_(state{}), level_(static_cast<std::uint8_t>(level)), how_(how), family_(family), id_(id) {
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
    child_table<Config>& table() noexcept { return table_; }
    const child_table<Config>& table() const noexcept { return table_; }

    group* parent() const noexcept { return parent_; }
    /// This group's bit in its parent; a root of the newer forms knows its future bit.
    mask_type groupmask() const noexcept { return groupmask_; }
    /// Distance from the CPUs, 0 at the bottom.
    unsigned level() const noexcept { return level_; }
    pick how() const noexcept { return how_; }
    family_id family() const noexcept { return family_; }
    group_id id() const noexcept { return id_; }

    /// For whoever grows the tree, while nobody walks.
    void set_groupmask(mask_type mask) noexcept { groupmask_ = mask; }
    void set_parent(group* parent) noexcept { parent_ = parent; }

    /// Compile-time proof of the layout above, for every configuration that makes a group.
    static constexpr void layout() noexcept {
        static_assert(sizeof(group) % Config::cache_line == 0 && alignof(group) == Config::cache_line);
        static_assert(offsetof(group, word_) == 0, "the word starts the line");
        static_assert(Config::cache_line < 64 || offsetof(group, parent_) + sizeof(group*) <= Config::cache_line,
                      "what a walk reads shares the word's line");
    }

private:
    word_cell word_;
    mask_type groupmask_ = 0;
    std::uint8_t level_;
    pick how_;
    family_id family_;
    group* parent_ = nullptr;
    group_id id_;
    [[no_unique_address]] child_table<Config> table_;
};

}  // namespace tmigr

#endif
