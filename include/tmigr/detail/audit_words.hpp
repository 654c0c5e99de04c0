// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_AUDIT_WORDS_HPP
#define TMIGR_DETAIL_AUDIT_WORDS_HPP

#include <tmigr/io/audit_tree.hpp>
#include <tmigr/trace.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tmigr::detail {

/// The last lines of a group's word, and what word they could leave when two CPUs that
/// changed it at once printed in the opposite order. Fixed size.
class audit_words {
public:
    static constexpr std::size_t kept = 6;

    void add(const event::group_word& word, bool woke, cpu_id on) {
        if (count_ == kept) {
            for (std::size_t i = 1; i < kept; ++i) lines_[i - 1] = lines_[i];
            --count_;
        }
        lines_[count_++] = {word.active, word.migrator, word.childmask, woke, word.lvl == 0, on};
    }
    /// Whether some order of the last lines, however many, in which each follows from the one before and
    /// each CPU's stand in their order, ends with the child's bit as asked.
    bool may_end(std::uint64_t child, bool set) const {
        // A line's partner may be older than what is kept.
        for (std::size_t left_out = 0; left_out < count_; ++left_out)
            if (search((1u << left_out) - 1, no_line, child, set)) return true;
        return false;
    }

private:
    static constexpr std::size_t no_line = kept;
    struct line {
        std::uint64_t active, migrator, child;
        bool woke, of_cpu;
        cpu_id on;
    };
    bool search(unsigned placed, std::size_t last, std::uint64_t child, bool set) const {
        if (static_cast<std::size_t>(std::popcount(placed)) == count_)
            return last != no_line && ((lines_[last].active & child) != 0) == set;
        for (std::size_t i = 0; i < count_; ++i) {
            if ((placed >> i & 1) != 0 || must_wait(placed, i)) continue;
            if (last != no_line && !follows(lines_[last], lines_[i])) continue;
            if (search(placed | 1u << i, i, child, set)) return true;
        }
        return false;
    }
    bool must_wait(unsigned placed, std::size_t i) const {
        for (std::size_t j = 0; j < i; ++j)
            if ((placed >> j & 1) == 0 && lines_[j].on == lines_[i].on) return true;
        return false;
    }
    static bool follows(const line& before, const line& l) {
        if (l.woke) {
            if (l.active != (before.active | l.child)) return false;
            return before.active == 0 ? l.migrator == l.child
                                      : l.migrator == before.migrator || l.migrator == l.child;
        }
        if (!l.of_cpu && (l.active & l.child) != 0)  // the child was awake again
            return l.active == before.active && l.migrator == before.migrator;
        if (l.active != (before.active & ~l.child)) return false;
        return l.active == 0 || (before.migrator == l.child ? (l.migrator & l.active) != 0
                                                            : l.migrator == before.migrator);
    }
    std::array<line, kept> lines_{};
    std::size_t count_ = 0;
};

}  // namespace tmigr::detail

#endif
