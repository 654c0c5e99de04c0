// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_SEARCH_HPP
#define TMIGR_SEARCH_HPP

#include <tmigr/append_list.hpp>
#include <tmigr/config.hpp>
#include <tmigr/cpu_handle.hpp>
#include <tmigr/cpu_seat.hpp>
#include <tmigr/group.hpp>

#include <optional>

namespace tmigr {

// Searches for a CPU by its state, on the words that are there anyway: any thread at any time,
// nobody is disturbed. Wait-free. A CPU that is found was in that state at some moment of the
// call, and may not be when it returns; where none is found there was perhaps one, if CPUs fell
// asleep or woke meanwhile. One that is awake while it leaves or joins may be found as idle in
// that moment, since it does not count as awake then.
//
// Nearest first: the own group, then the others below the same parent, and so on up. Of groups
// equally near, for an idle CPU those where all sleep come first. In a tree at rest such a search
// takes one load of a word and one of a way down per level, plus those ways that lead
// nowhere; only where every group has somebody awake does it look into more of them, each
// group once at most.
//
// Source: ours; the first wholly idle domain is what schedulers look for too.

namespace detail {

/// Which children of a group a search goes into.
template <hierarchy_config Config>
struct ways_taken {
    const group<Config>* except = nullptr;
    /// Only those of the group's own family: in trees of kernels before 6.19 others may be below.
    bool one_family = false;

    bool take(const group<Config>& g, const group<Config>* child) const noexcept {
        return child != nullptr && child != except && (!one_family || child->family() == g.family());
    }
    ways_taken below() const noexcept { return {nullptr, one_family}; }
};

/// Calls `visit(seat)` for the idle available CPUs below `g`, until it returns true.
template <hierarchy_config Config, class Visit>
bool visit_idle(const group<Config>& g, Visit& visit, ways_taken<Config> ways) {
    using state = typename Config::state;
    const auto word = g.current();
    const auto bit = [](unsigned place) {
        return static_cast<typename state::mask_type>(typename state::mask_type{1} << place);
    };
    if (g.level() == 0) {
        for (unsigned place = 0; place < state::children; ++place) {
            if (word.is_active(bit(place))) continue;
            cpu_seat<Config>* const seat = g.down().cpu_at(place);
            if (seat != nullptr && seat->available() && visit(*seat)) return true;
        }
        return false;
    }
    for (const bool awake : {false, true})
        for (unsigned place = 0; place < state::children; ++place) {
            if (word.is_active(bit(place)) != awake) continue;
            const group<Config>* const child = g.down().group_at(place);
            if (ways.take(g, child) && visit_idle(*child, visit, ways.below())) return true;
        }
    return false;
}

/// The same for CPUs that are awake; groups without any are passed by.
template <hierarchy_config Config, class Visit>
bool visit_active(const group<Config>& g, Visit& visit, ways_taken<Config> ways) {
    using state = typename Config::state;
    const auto word = g.current();
    for (auto left = word.active(); left != 0;) {
        const auto bit = state::lowest(left);
        left = static_cast<typename state::mask_type>(left & ~bit);
        const unsigned place = state::place(bit);
        if (g.level() == 0) {
            cpu_seat<Config>* const seat = g.down().cpu_at(place);
            if (seat != nullptr && visit(*seat)) return true;
        } else {
            const group<Config>* const child = g.down().group_at(place);
            if (ways.take(g, child) && visit_active(*child, visit, ways.below())) return true;
        }
    }
    return false;
}

struct accept_any {
    template <class Seat>
    bool operator()(const Seat&) const noexcept {
        return true;
    }
};

/// The group that holds all of a family that are together with `leaf`.
template <hierarchy_config Config>
const group<Config>* top_of_family(const group<Config>& leaf) noexcept {
    const group<Config>* top = &leaf;
    for (const group<Config>* up = top->parent(); up != nullptr && up->family() == leaf.family() && leaf.family() >= 0;
         up = top->parent())
        top = up;
    return top;
}

}  // namespace detail

/// Groups of one family that hang together, by one leaf among them; or a single CPU, where
/// leaves mix families.
template <hierarchy_config Config>
struct family_branch {
    const group<Config>* leaf = nullptr;
    cpu_seat<Config>* seat = nullptr;
    append_link<Config, family_branch> link{};
};

/// The CPUs of one family, for searches. Cheap to copy; good as long as the hierarchy lives and
/// is not made anew.
template <hierarchy_config Config>
class family_handle {
public:
    using branches = append_list<Config, family_branch<Config>>;

    family_handle(family_id id, const branches& where) noexcept : id_(id), branches_(&where) {}

    family_id id() const noexcept { return id_; }

    /// A CPU of the family that sleeps and takes part.
    std::optional<cpu_id> find_idle() const noexcept { return found(false); }
    /// A CPU of the family that is awake.
    std::optional<cpu_id> find_active() const noexcept { return found(true); }
    /// Kicks one CPU of the family that sleeps, takes part and is not being woken already, and
    /// names it: the caller, and nobody else, has to send it a signal (see `cpu_handle::kick`).
    std::optional<cpu_id> wake_idle() const noexcept {
        return found(false, [](cpu_seat<Config>& seat) { return cpu_handle<Config>(seat).kick_if_first(); });
    }

private:
    template <class Accept = detail::accept_any>
    std::optional<cpu_id> found(bool awake, Accept accept = {}) const noexcept {
        std::optional<cpu_id> who;
        auto take = [&](cpu_seat<Config>& seat) {
            if (!accept(seat)) return false;
            who = seat.id();
            return true;
        };
        for (const auto* b = branches_->first(); b != nullptr; b = branches_->next(*b)) {
            if (b->seat != nullptr) {
                const bool fits = cpu_handle<Config>(*b->seat).is_active() == awake && (awake || b->seat->available());
                if (fits && take(*b->seat)) break;
                continue;
            }
            const group<Config>& top = *detail::top_of_family(*b->leaf);
            const detail::ways_taken<Config> ways{nullptr, true};
            if (awake ? detail::visit_active(top, take, ways) : detail::visit_idle(top, take, ways)) break;
        }
        return who;
    }

    family_id id_;
    const branches* branches_;
};

/// The idle CPU, or, with `awake`, the one that is awake, nearest to where `leaf` is: below the
/// same groups as far down as there is one. Not the CPU `self`.
template <hierarchy_config Config>
std::optional<cpu_id> find_near(const group<Config>& leaf, cpu_id self, bool awake) noexcept {
    std::optional<cpu_id> who;
    auto take = [&](const cpu_seat<Config>& seat) {
        if (seat.id() == self) return false;
        who = seat.id();
        return true;
    };
    const group<Config>* below = nullptr;
    for (const group<Config>* g = &leaf; g != nullptr; below = g, g = g->parent()) {
        const detail::ways_taken<Config> ways{below, false};
        if (awake ? detail::visit_active(*g, take, ways) : detail::visit_idle(*g, take, ways)) break;
    }
    return who;
}

}  // namespace tmigr

#endif
