// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_STEP_ORDER_HPP
#define TMIGR_DETAIL_STEP_ORDER_HPP

#include <tmigr/detail/shadow_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace tmigr::detail {

/// Searches an order of a few steps in which the library's tree agrees with all of them.
///
/// No step goes before one that was printed whole before the CPU of the first had
/// printed what it printed last: its change is younger than that. Nor do steps of one CPU
/// change places. Gives up after a fixed number of attempts.
class step_order {
public:
    step_order(shadow_tree& tree, std::span<const trace_step> steps, std::span<const std::size_t> nominal)
        : tree_(tree), steps_(steps), nominal_(nominal) {}

    /// One step, printed late, comes earlier: `late` before any of those up to `from`. Applies
    /// the steps and returns true, or leaves the tree as it was.
    bool move_one(std::size_t from, std::size_t late) {
        for (std::size_t to = from; to <= late; ++to) {
            bool allowed = true;
            for (std::size_t i = to; i < late; ++i) allowed &= !before(i, late);
            if (!allowed || to == late) continue;
            std::vector<std::size_t> moved(nominal_.begin(), nominal_.end());
            const auto at = [&](std::size_t i) { return moved.begin() + static_cast<std::ptrdiff_t>(i); };
            std::rotate(at(to), at(late), at(late + 1));
            if (agrees(moved)) return true;
        }
        return false;
    }

    /// What may be put down to walks that were half through while another one took place.
    enum class leeway : std::uint8_t { none, late_publishing, words_too };

    /// Any order in which steps that stand more than `slack` lines apart keep their places.
    bool any_order(std::size_t slack, leeway half_way) {
        slack_ = slack;
        half_way_ = half_way;
        attempts_ = most_attempts;
        order_.clear();
        results_.clear();
        used_.assign(nominal_.size(), false);
        return extend();
    }

    const std::vector<std::size_t>& order() const noexcept { return order_; }
    const std::vector<step_result>& results() const noexcept { return results_; }

    /// How many steps come behind one that the file has behind them.
    std::size_t overtaken() const {
        std::size_t count = 0, newest = 0;
        for (const std::size_t index : order_) {
            count += index < newest ? 1 : 0;
            newest = std::max(newest, index);
        }
        return count;
    }

private:
    static constexpr std::size_t most_attempts = 2000;

    const trace_step& step(std::size_t place) const { return steps_[nominal_[place]]; }
    bool before(std::size_t a, std::size_t b) const {
        return step(a).on == step(b).on || step(a).last < step(b).since;
    }
    bool ready(std::size_t i) const {
        for (std::size_t other = 0; other < nominal_.size(); ++other) {
            if (used_[other] || other == i) continue;
            if (other < i && before(other, i)) return false;
            if (step(other).last < step(i).since || step(other).last + slack_ < step(i).first) return false;
        }
        return true;
    }
    bool agrees(const std::vector<std::size_t>& order) {
        order_.clear();
        results_.clear();
        const std::size_t mark = tree_.mark();
        for (const std::size_t index : order) {
            const step_result result = tree_.apply(index);
            if (result.differing != 0) {
                tree_.back_to(mark);
                return false;
            }
            order_.push_back(index);
            results_.push_back(result);
        }
        return true;
    }
    bool extend() {
        if (order_.size() == nominal_.size()) return ends_as_printed();
        for (std::size_t i = 0; i < nominal_.size() && attempts_ > 0; ++i) {
            if (used_[i] || !ready(i)) continue;
            --attempts_;
            const std::size_t mark = tree_.mark();
            step_result result = tree_.apply(nominal_[i]);
            if (half_way_ != leeway::none) explain(i, result);
            if (result.differing == 0) {
                if (result.lost) tree_.lose(steps_[*result.lost].cpu);
                used_[i] = true;
                order_.push_back(nominal_[i]);
                results_.push_back(result);
                if (extend()) return true;
                used_[i] = false;
                order_.pop_back();
                results_.pop_back();
            }
            tree_.back_to(mark);
        }
        return false;
    }

    /// Whether the changes of two steps can have happened among each other.
    bool mixed(const trace_step& a, const trace_step& b) const {
        const auto begin = [this](const trace_step& s) {
            return std::max(s.since, s.first > slack_ ? s.first - slack_ : 0);
        };
        return a.on != b.on && begin(a) <= b.last && begin(b) <= a.last;
    }
    /// What is left when a walk was only half through while another one took place.
    void explain(std::size_t place, step_result& result) const {
        using kind = trace_step::kind;
        const trace_step& s = step(place);
        const auto any_other = [&](auto&& holds) {
            for (std::size_t i = 0; i < nominal_.size(); ++i)
                if (i != place && mixed(step(i), s) && holds(step(i))) return true;
            return false;
        };
        const auto moves = [](const trace_step& t) {
            return t.what == kind::wake || t.what == kind::sleep || t.what == kind::leave;
        };
        const auto shares_group = [&](const trace_step& t) {
            return moves(t) && std::ranges::any_of(t.words, [&](const event::group_word& word) {
                       return std::ranges::find(s.words, word.group, &event::group_word::group) !=
                              s.words.end();
                   });
        };
        if (half_way_ == leeway::words_too && result.differs_in(aspect::words) && any_other(shares_group))
            result.explain(aspect::words, outcome::overlapped, s.words.size());
        if (s.what != kind::sleep) return;
        if (result.differing == 2) {
            // The same expiry is missing in what the CPU tells and in what it arms.
            const auto &a = result.differences[0], &b = result.differences[1];
            if (a.expected != b.expected || a.what == b.what) return;
        } else if (result.differing != 1) {
            return;
        }
        const step_difference d = result.differences[0];
        if (d.what != aspect::wakeup && d.what != aspect::offer) return;
        if (d.what == aspect::wakeup && d.expected == event::never && !s.updates.empty()) {
            // Its own line of publishing says that the root was idle by then, and what was first.
            const event::update_events& own = s.updates.back();
            const bool root_was_idle =
                own.group_active == 0 && own.next_expiry == d.printed && tree_.is_root(own.group);
            const bool somebody_left = any_other([&](const trace_step& t) {
                return std::ranges::any_of(t.words, [&](const event::group_word& word) {
                    return word.group == own.group && word.active == 0;
                });
            });
            if (root_was_idle && somebody_left) result.explain(aspect::wakeup, outcome::armed_twice, 1);
        } else if (d.printed > d.expected) {
            for (std::size_t i = 0; i < nominal_.size(); ++i) {
                const trace_step& t = step(i);
                if (!mixed(t, s) || t.what != kind::sleep || t.nextevt != d.expected || t.updates.empty())
                    continue;
                const event::update_events& own = t.updates.front();
                const std::size_t seen = s.update_lines.empty() ? s.first : s.update_lines.back();
                if (own.child != no_group || own.group_active != 0 || t.update_lines.front() < seen) continue;
                const bool arms = t.wakeup == d.expected;
                if (!arms) result.lost = nominal_[i];
                const outcome how = arms ? outcome::published_late : outcome::lost_sight;
                result.explain(aspect::offer, how, 1);
                return result.explain(aspect::wakeup, how, 1);
            }
        }
    }

    /// Where walks differ on the way, all words must be right in the end: those printed last,
    /// or last but one where the two lines can have changed places.
    bool ends_as_printed() const {
        if (half_way_ != leeway::words_too) return true;
        struct printed {
            std::size_t line = 0;
            const event::group_word* word = nullptr;
        };
        std::map<group_id, std::pair<printed, printed>> newest;
        for (const std::size_t index : nominal_)
            for (std::size_t i = 0; i < steps_[index].words.size(); ++i) {
                auto& [last, but_one] = newest[steps_[index].words[i].group];
                const printed now{steps_[index].word_lines[i], &steps_[index].words[i]};
                if (last.word == nullptr || last.line < now.line)
                    but_one = std::exchange(last, now);
                else if (but_one.word == nullptr || but_one.line < now.line)
                    but_one = now;
            }
        return std::ranges::all_of(newest, [&](const auto& n) {
            const auto& [last, but_one] = n.second;
            return tree_.has_word(*last.word) ||
                   (but_one.word != nullptr && but_one.line + slack_ >= last.line &&
                    tree_.has_word(*but_one.word));
        });
    }

    shadow_tree& tree_;
    std::span<const trace_step> steps_;
    std::span<const std::size_t> nominal_;
    std::size_t slack_ = 0;
    leeway half_way_ = leeway::none;
    std::size_t attempts_ = 0;
    std::vector<std::size_t> order_;
    std::vector<step_result> results_;
    std::vector<bool> used_;
};

}  // namespace tmigr::detail

#endif
