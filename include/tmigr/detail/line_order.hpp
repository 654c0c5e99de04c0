// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_LINE_ORDER_HPP
#define TMIGR_DETAIL_LINE_ORDER_HPP

#include <tmigr/state.hpp>
#include <tmigr/trace.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace tmigr::detail {

enum class line_verdict : std::uint8_t { agreed, reordered, learnt, different };

/// A line of a group's word on its way through `line_order`.
struct word_line {
    std::size_t number = 0;           ///< in the file
    cpu_id cpu = 0;                   ///< that printed it
    std::uint64_t time = 0;           ///< of the line
    std::uint64_t since = 0;          ///< of the line of the same CPU before: the change is not older
    bool woke = false;                ///< an active line, not an inactive one
    bool of_cpu = false;              ///< the child is a CPU: it takes its steps one after the other
    bool follows_link = false;        ///< its group was connected to a parent a few lines before
    bool has_cause = true;            ///< the CPU came from a child, or up from a new link
    bool stopped = false;             ///< the CPU did not go on to the parent
    group_id parent_then = no_group;  ///< of the group, as far as was known then
    event::group_word word{};
};

/// Puts the lines of one group in an order in which each follows from the one before.
///
/// Lines are held back until enough others have come behind them: 8 while file order does,
/// up to 16 when it does not and another order is searched. Memory and time per line
/// are bounded: a search gives up after a fixed number of steps, and the lines that it
/// could not place are then taken as they stand.
template <class State>
class line_order {
public:
    using mask = typename State::mask_type;
    static constexpr std::size_t window = 16;

    /// Begins with a known word, or one to be learnt.
    void start(std::optional<State> word, pick how) {
        lines_.clear();
        how_ = how;
        known_ = last_ = word;
        in_file_order_ = true;
        newest_ = 0;
    }
    /// The word is not known any more; no line may be held back.
    void forget() {
        known_ = last_ = std::nullopt;
        newest_ = 0;
    }

    /// Takes in a line; `settle(line, verdict, before)` gets those whose place is
    /// clear now, with the word before them where it is known.
    template <class Settle>
    void add(const word_line& line, Settle&& settle) {
        lines_.push_back(line);
        if (in_file_order_) {
            if (const auto next = follow(last_, lines_.back())) {
                last_ = next;
                if (lines_.size() > history) take_front(settle);
                return;
            }
            in_file_order_ = false;
        }
        if (lines_.size() >= window) decide(false, settle);
    }
    /// Decides on all lines held back.
    template <class Settle>
    void flush(Settle&& settle) {
        while (!lines_.empty()) {
            if (in_file_order_)
                take_front(settle);
            else
                decide(true, settle);
        }
    }
    /// What the word before makes of the line; a line that stands for no child changes nothing.
    std::optional<State> expected(const std::optional<State>& before, const word_line& line) const noexcept {
        const bool fits = line.word.childmask <= State::all && std::has_single_bit(line.word.childmask);
        return before && fits ? std::optional{made_of(*before, line)} : before;
    }
    /// Notes on a line still held back that its CPU did not go on to the parent.
    void mark_stopped(std::size_t number) {
        const auto found = std::ranges::find(lines_, number, &word_line::number);
        if (found != lines_.end()) found->stopped = true;
    }

private:
    static constexpr std::size_t history = window / 2;
    static constexpr std::size_t most_differences = 3;
    static constexpr std::size_t most_steps = 2000;  // of one search

    struct step {
        std::size_t index = 0;
        bool agrees = true;
        std::optional<State> after{};
    };

    /// Whether the line could be printed at all, whatever the word was before.
    static bool is_sound(const word_line& line) noexcept {
        const event::group_word& w = line.word;
        if ((w.active | w.migrator | w.childmask) > State::all || !std::has_single_bit(w.childmask))
            return false;
        if (line.woke ? (w.active & w.childmask) == 0 : (w.active & w.childmask) != 0 && line.of_cpu)
            return false;
        if (w.active == 0) return w.migrator == State::none;
        return std::has_single_bit(w.migrator) && (w.migrator & w.active) != 0;
    }
    static bool is_touched(const word_line& line) noexcept {
        return !line.woke && !line.of_cpu && (line.word.active & line.word.childmask) != 0;
    }
    State made_of(State before, const word_line& line) const noexcept {
        const auto child = static_cast<mask>(line.word.childmask);
        if (line.woke) return before.activated(child, how_);
        return is_touched(line) ? before.touched() : before.deactivated(child);
    }
    static State as_printed(const word_line& line) noexcept {
        return {static_cast<mask>(line.word.active), static_cast<mask>(line.word.migrator), 0};
    }
    /// The word after the line, or nothing when the line is not what the word before makes of it.
    std::optional<State> follow(const std::optional<State>& before, const word_line& line) const noexcept {
        if (!is_sound(line)) return std::nullopt;
        if (!before) return as_printed(line);
        // Several CPUs can act for a group, and overtake each other; a CPU changes its own bit each time.
        if (line.of_cpu && before->is_active(static_cast<mask>(line.word.childmask)) == line.woke)
            return std::nullopt;
        const State after = made_of(*before, line);
        if (after.active() == line.word.active && after.migrator() == line.word.migrator) return after;
        return std::nullopt;
    }
    template <class Settle>
    void settle_line(const step& s, Settle& settle) {
        const word_line& line = lines_[s.index];
        const auto verdict = !s.agrees               ? line_verdict::different
                             : !known_               ? line_verdict::learnt
                             : line.number < newest_ ? line_verdict::reordered
                                                     : line_verdict::agreed;
        settle(line, verdict, known_);
        newest_ = std::max(newest_, line.number);
        known_ = s.after;
    }
    template <class Settle>
    void take_front(Settle& settle) {
        settle_line({0, true, follow(known_, lines_.front())}, settle);
        lines_.erase(lines_.begin());
    }

    template <class Settle>
    void decide(bool all, Settle& settle) {
        std::vector<step> order = best_order();
        if (!all && order.size() > history) order.resize(history);
        std::uint32_t placed = 0;
        for (const step& s : order) {
            settle_line(s, settle);
            placed |= std::uint32_t{1} << s.index;
        }
        std::vector<word_line> left;
        for (std::size_t i = 0; i < lines_.size(); ++i)
            if ((placed >> i & 1) == 0) left.push_back(lines_[i]);
        lines_ = std::move(left);

        last_ = known_;
        in_file_order_ = true;
        for (const word_line& line : lines_) {
            const auto next = follow(last_, line);
            if (!next) {
                in_file_order_ = false;
                break;
            }
            last_ = next;
        }
    }

    /// The order with the fewest differences; in doubt the one nearest to the file's. Lines at the end may
    /// be out of place for want of one that has not come yet; that does no harm, they are decided on again.
    std::vector<step> best_order() const {
        const std::size_t n = lines_.size();
        for (std::size_t differences = 0; differences <= std::min(most_differences, n); ++differences) {
            search s{*this, most_steps, {}, {}};
            if (s.run(0, known_, differences)) return std::move(s.order);
        }
        std::vector<step> order;
        std::optional<State> word = known_;
        for (std::size_t i = 0; i < n; ++i) {
            const auto next = follow(word, lines_[i]);
            word = next                  ? next
                   : is_sound(lines_[i]) ? std::optional{as_printed(lines_[i])}
                                         : expected(word, lines_[i]);
            order.push_back({i, next.has_value(), word});
        }
        return order;
    }

    struct search {
        const line_order& of;
        std::size_t steps;
        std::vector<step> order;
        std::set<std::tuple<std::uint32_t, std::size_t, bool, mask, mask>> dead;

        bool run(std::uint32_t placed, const std::optional<State>& word, std::size_t differences) {
            const std::size_t oldest = static_cast<std::size_t>(std::countr_one(placed));
            if (oldest >= of.lines_.size()) return true;
            if (steps == 0) return false;
            --steps;
            if (!dead.emplace(placed, differences, word.has_value(), word ? word->active() : mask{0},
                              word ? word->migrator() : mask{0})
                     .second)
                return false;
            for (std::size_t i = oldest; i < of.lines_.size(); ++i) {
                if ((placed >> i & 1) != 0 || must_wait(placed, oldest, i)) continue;
                const word_line& line = of.lines_[i];
                if (const auto after = of.follow(word, line);
                    after && try_step(placed, {i, true, after}, differences))
                    return true;
                if (i != oldest || differences == 0) continue;
                if (try_step(placed, {i, false, of.expected(word, line)}, differences - 1)) return true;
                if (is_sound(line) && try_step(placed, {i, false, as_printed(line)}, differences - 1))
                    return true;
            }
            return false;
        }
        bool try_step(std::uint32_t placed, const step& s, std::size_t differences) {
            order.push_back(s);
            if (run(placed | std::uint32_t{1} << s.index, s.after, differences)) return true;
            order.pop_back();
            return false;
        }
        /// Whether a line that still waits must come first: one of the same CPU, or one printed
        /// before the CPU of line `i` was done with what it printed last.
        bool must_wait(std::uint32_t placed, std::size_t oldest, std::size_t i) const {
            for (std::size_t j = oldest; j < i; ++j) {
                if ((placed >> j & 1) != 0) continue;
                if (of.lines_[j].cpu == of.lines_[i].cpu || of.lines_[j].time < of.lines_[i].since)
                    return true;
            }
            return false;
        }
    };

    pick how_ = pick::first;
    std::optional<State> known_{};  // before the first line held back
    std::optional<State> last_{};   // after the last one, in file order
    bool in_file_order_ = true;
    std::size_t newest_ = 0;
    std::vector<word_line> lines_;
};

}  // namespace tmigr::detail

#endif
