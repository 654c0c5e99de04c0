// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXPIRY_HPP
#define TMIGR_EXPIRY_HPP

#include <tmigr/state.hpp>

#include <algorithm>
#include <chrono>
#include <climits>
#include <concepts>
#include <cstdint>
#include <iosfwd>

namespace tmigr {

/// A point in time, counted in ticks of the user's choice from a zero of the user's
/// choice; only comparisons matter.
using ticks = std::uint64_t;
/// Later than every time: no timer, nothing to arm.
inline constexpr ticks never = ~ticks{0};

/// Whether something due at `due` is to be run by `now`; what is due never is not, whatever
/// the time.
constexpr bool is_due(ticks due, ticks now) noexcept { return due <= now && due != never; }

/// Ticks since the clock's zero for `point`, rounded down, so that a wake-up can be early
/// by less than a tick and never late. Saturates: times before zero give 0, times that do
/// not fit below `never` give the largest time below it. Tick is the period of a tick.
template <class Tick, class Rep, class Period>
constexpr ticks to_ticks(std::chrono::duration<Rep, Period> since_zero) noexcept {
    using wide = std::chrono::duration<long double, typename Tick::period>;
    if (!(since_zero > since_zero.zero())) return 0;  // not-a-number included
    if constexpr (std::integral<Rep>) {
        // Exact where it fits: n * (Period / Tick::period), in lowest terms.
        using ratio = std::ratio_divide<Period, typename Tick::period>;
        const auto n = static_cast<std::uint64_t>(since_zero.count());
        const auto whole = n / static_cast<std::uint64_t>(ratio::den);
        const auto rest = n % static_cast<std::uint64_t>(ratio::den);
        constexpr auto num = static_cast<std::uint64_t>(ratio::num);
        if (whole >= (never - 1) / num) return never - 1;
        if (rest <= (never - 1) / num) return std::min(whole * num + rest * num / static_cast<std::uint64_t>(ratio::den), never - 1);
        return whole * num;
    } else {
        const long double count = std::chrono::duration_cast<wide>(since_zero).count();
        if (!(count < 18446744073709551614.0L)) return never - 1;
        return static_cast<ticks>(count);
    }
}

/// The earliest expiry that a child offers, and a tag that makes every write distinct, in
/// one word. `never` is all ones in the bits of the expiry.
///
///     bit 0      1                TagBits                  TagBits + TickBits
///     |  other   |  count         |  due                   |
///
/// The due time has the upper bits, so that words compare as due times do: who looks for the
/// soonest of many takes none of them apart.
///
/// `other` tells who wrote: the owner of the child (0) or somebody else (1). The owner
/// stores without a look at what it overwrites; since the two kinds of writers never make
/// the same word, nobody's compare-and-swap takes an owner's new word for the old one.
///
/// Due times beyond `latest` are cut to it: early, never late. TagBits = 0 takes the tag out;
/// such a slot loses timers and exists so that tests can show that.
template <state_word Word, unsigned TickBits,
          unsigned TagBits = std::min<unsigned>(sizeof(Word) * CHAR_BIT - TickBits, 64)>
class basic_slot {
    static constexpr unsigned word_bits = sizeof(Word) * CHAR_BIT;
    static_assert(TickBits >= 1 && TickBits <= 64, "tmigr::basic_slot: due times have 1 to 64 bits");
    static_assert(TagBits != 1 && TickBits + TagBits <= word_bits,
                  "tmigr::basic_slot: the tag needs 2 bits or more, and room in the word");

public:
    using word_type = Word;
    static constexpr unsigned tick_bits = TickBits;
    static constexpr unsigned tag_bits = TagBits;
    static constexpr ticks none = ~ticks{0} >> (64 - TickBits);
    static constexpr std::uint64_t tag_max = TagBits == 0 ? 0 : ~std::uint64_t{0} >> (64 - (TagBits == 0 ? 1 : TagBits));
    /// The latest time that can be told from `never`.
    static constexpr ticks latest = none - 1;

    /// Offers nothing.
    constexpr basic_slot() noexcept : basic_slot(never, 0) {}

    constexpr ticks due() const noexcept { return due_of(word_); }
    /// The whole word: of two, the lesser is due sooner, or at the same time.
    constexpr Word word() const noexcept { return word_; }
    static constexpr ticks due_of(Word word) noexcept {
        const auto field = static_cast<ticks>(word >> TagBits);
        return field == none ? never : field;
    }
    /// Whether it is due by `now`, as `is_due`.
    constexpr bool is_due_by(ticks now) const noexcept { return word_ <= made_of(now < latest ? now : latest, tag_max); }
    constexpr std::uint64_t tag() const noexcept { return static_cast<std::uint64_t>(word_) & tag_max; }

    /// The next word of the child's owner, and the next of anybody else.
    constexpr basic_slot by_owner(ticks due) const noexcept { return {due, (tag() | 1) + 1}; }
    constexpr basic_slot by_other(ticks due) const noexcept { return {due, ((tag() | 1) + 2)}; }

    friend constexpr bool operator==(basic_slot, basic_slot) noexcept = default;

    template <class Char, class CharTraits>
    friend std::basic_ostream<Char, CharTraits>& operator<<(std::basic_ostream<Char, CharTraits>& out, basic_slot s) {
        out << "{due=";
        if (s.due() == never)
            out << "never";
        else
            out << s.due();
        return out << " tag=" << s.tag() << '}';
    }

private:
    static constexpr Word made_of(ticks field, std::uint64_t tag) noexcept {
        return static_cast<Word>(static_cast<Word>(field) << TagBits | static_cast<Word>(tag));
    }
    constexpr basic_slot(ticks due, std::uint64_t tag) noexcept
        : word_(made_of(due == never ? none : std::min(due, latest), tag & tag_max)) {}

    Word word_;
};

/// No expiries: groups hold their word only, walks cost what Linux's two state walks cost,
/// and the operations that deal in expiries do not exist.
struct no_slot {};

/// 48 bits of due time, 16 of tag: at one tick a nanosecond good for three days, at one a
/// microsecond for nine years.
using slot64 = basic_slot<std::uint64_t, 48>;

static_assert(sizeof(slot64) == 8 && slot64().due() == never);

}  // namespace tmigr

#endif
