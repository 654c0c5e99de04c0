// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_STATE_HPP
#define TMIGR_STATE_HPP

#include <algorithm>
#include <bit>
#include <climits>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <type_traits>

namespace tmigr {

/// How a group chooses its migrator.
enum class pick : std::uint8_t {
    first,   ///< the first child to wake keeps the role; the lowest active bit inherits it
    lowest,  ///< the lowest active bit has the role, and takes it over as soon as it wakes
};

/// An unsigned integer that can hold a group's word, `unsigned __int128` included
/// (of which the standard's own concepts know nothing in strict mode).
template <class Word>
concept state_word = std::is_trivially_copyable_v<Word> && !std::same_as<Word, bool> &&
                     requires(Word w) {
                         { static_cast<Word>((w | static_cast<Word>(1)) & ~w) } -> std::same_as<Word>;
                         { static_cast<Word>((w << 1) + (w >> 1)) } -> std::same_as<Word>;
                         requires static_cast<Word>(0) < static_cast<Word>(-1);
                     };

/// The state of one group in one word: which children are awake, which of them
/// looks after the sleepers, and how often the word has changed.
///
///     bit 0            Children         2*Children      2*Children + SeqBits
///     |  active        |  migrator      |  seq          |  unused, zero
///
/// With the defaults this is Linux's layout: 8 | 8 | 16 bits.
///
/// Invariants of every word that a group ever holds (numbers as in
/// `invariants.hpp`, which checks them):
///   1  migrator-is-active  migrator is `none` exactly when active is empty, and
///                          one of the active bits otherwise
///   2  one-migrator        migrator is `none` or a single bit
/// and of every step between two words: seq advances by one, modulo 2^SeqBits.
/// It advances even where nothing else changes: that is what makes the
/// compare-and-swap of a walk fail that had read the word before (docs/algorithm.md,
/// "Why seq").
///
/// A value without identity: all functions are pure, `constexpr` and `noexcept`.
/// SeqBits = 0 takes the sequence number out. Such a word loses updates; it exists
/// so that tests can show that.
///
/// Source: Linux 6.9, kernel/time/timer_migration.h (layout and meaning).
template <state_word Word, unsigned Children,
          unsigned SeqBits = std::min<unsigned>(sizeof(Word) * CHAR_BIT - std::size_t{2} * Children, 64)>
class basic_state {
    static constexpr unsigned word_bits = sizeof(Word) * CHAR_BIT;
    static_assert(Children >= 2,
                  "tmigr::basic_state: a group needs at least 2 children; with 1 the migrator's bit "
                  "could not be told from `none`");
    static_assert(Children <= 64, "tmigr::basic_state: masks are at most 64 bits wide");
    static_assert(2 * Children <= word_bits,
                  "tmigr::basic_state: the word has no room for two masks of that many children; take "
                  "fewer children or a wider word");
    static_assert(SeqBits <= 64 && 2 * Children + SeqBits <= word_bits,
                  "tmigr::basic_state: the word has no room for that many bits of seq, or seq is wider "
                  "than 64 bits; take fewer bits, fewer children or a wider word");

public:
    using word_type = Word;
    /// A set of children, or the one bit that stands for a child.
    using mask_type = std::conditional_t<
        Children <= 8, std::uint8_t,
        std::conditional_t<Children <= 16, std::uint16_t,
                           std::conditional_t<Children <= 32, std::uint32_t, std::uint64_t>>>;

    static constexpr unsigned children = Children;
    static constexpr unsigned seq_bits = SeqBits;
    /// All children, and at the same time the migrator of a group where nobody is awake.
    static constexpr mask_type all = static_cast<mask_type>(~mask_type{0}) >>
                                     (sizeof(mask_type) * CHAR_BIT - Children);
    static constexpr mask_type none = all;

    /// Nobody awake, no migrator, seq 0.
    constexpr basic_state() noexcept : basic_state(0, none, 0) {}

    /// Any combination, legal or not, for readers and tests; masks are cut to width.
    constexpr basic_state(mask_type active, mask_type migrator, std::uint64_t seq) noexcept
        : word_(static_cast<Word>(static_cast<Word>(active & all) |
                                  static_cast<Word>(static_cast<Word>(migrator & all) << Children))) {
        if constexpr (SeqBits > 0)
            word_ = static_cast<Word>(word_ | (static_cast<Word>(seq & seq_max) << (2 * Children)));
    }

    static constexpr basic_state from_word(Word word) noexcept {
        basic_state s;
        s.word_ = word;
        return s;
    }
    constexpr Word word() const noexcept { return word_; }

    constexpr mask_type active() const noexcept { return static_cast<mask_type>(word_ & all); }
    constexpr mask_type migrator() const noexcept {
        return static_cast<mask_type>((word_ >> Children) & all);
    }
    constexpr std::uint64_t seq() const noexcept {
        if constexpr (SeqBits > 0)
            return static_cast<std::uint64_t>(word_ >> (2 * Children)) & seq_max;
        else
            return 0;
    }

    constexpr bool is_active() const noexcept { return active() != 0; }
    constexpr bool is_active(mask_type child) const noexcept { return (active() & child) != 0; }
    constexpr bool has_migrator() const noexcept { return migrator() != none; }

    /// `child` woke up. It becomes migrator when there is none, or when the group
    /// prefers the lowest and `child` is lower than the present one.
    constexpr basic_state activated(mask_type child, pick how = pick::first) const noexcept {
        const bool takes_over = !has_migrator() || (how == pick::lowest && child < migrator());
        return {static_cast<mask_type>(active() | child), takes_over ? child : migrator(), seq() + 1};
    }

    /// `child` fell asleep. When it was migrator the lowest active bit inherits the
    /// role, or nobody when all sleep.
    constexpr basic_state deactivated(mask_type child) const noexcept {
        const auto left = static_cast<mask_type>(active() & ~child);
        if (migrator() != child) return {left, migrator(), seq() + 1};
        return {left, left == 0 ? none : lowest(left), seq() + 1};
    }

    /// Nothing changed but seq: the trace that a walk leaves which found a child
    /// awake again.
    constexpr basic_state touched() const noexcept { return {active(), migrator(), seq() + 1}; }

    /// The lowest bit of a non-empty mask.
    static constexpr mask_type lowest(mask_type mask) noexcept {
        return static_cast<mask_type>(mask & (~mask + 1u));
    }

    /// The number of the child behind a mask of one bit.
    static constexpr unsigned place(mask_type bit) noexcept {
        // The highest bit besides, for compilers, which cannot know that there is one.
        constexpr auto highest = static_cast<mask_type>(mask_type{1} << (Children - 1));
        return static_cast<unsigned>(std::countr_zero(static_cast<mask_type>(bit | highest)));
    }

    friend constexpr bool operator==(basic_state, basic_state) noexcept = default;

    /// For humans: `{active=3 migrator=1 seq=2}`, masks in hexadecimal, seq in decimal.
    template <class Char, class CharTraits>
    friend std::basic_ostream<Char, CharTraits>& operator<<(std::basic_ostream<Char, CharTraits>& out,
                                                            basic_state s) {
        const auto flags = out.flags();
        out.setf(out.hex, out.basefield);
        out << "{active=" << std::uint64_t{s.active()} << " migrator=";
        if (s.has_migrator())
            out << std::uint64_t{s.migrator()};
        else
            out << "none";
        out.setf(out.dec, out.basefield);
        out << " seq=" << s.seq() << '}';
        out.flags(flags);
        return out;
    }

private:
    static constexpr std::uint64_t seq_max =
        SeqBits == 0 ? 0 : ~std::uint64_t{0} >> (64 - (SeqBits == 0 ? 1 : SeqBits));

    Word word_;
};

/// Linux's word: 8 children, 16 bits of seq.
using state32 = basic_state<std::uint32_t, 8>;
/// 8 children and 48 bits of seq: out of reach for any stalled walk.
using state64 = basic_state<std::uint64_t, 8>;
/// 16 children, 32 bits of seq.
using state64x16 = basic_state<std::uint64_t, 16>;
/// 24 children, 16 bits of seq.
using state64x24 = basic_state<std::uint64_t, 24>;

static_assert(sizeof(state32) == 4 && state32::seq_bits == 16 && state32::none == 0xff);
static_assert(state32(0x81, 0x01, 0xabcd).word() == 0xabcd0181u, "Linux's layout");

}  // namespace tmigr

#endif
