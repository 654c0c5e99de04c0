// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_SHADOW_TREE_HPP
#define TMIGR_DETAIL_SHADOW_TREE_HPP

#include <tmigr/detail/shadow_config.hpp>
#include <tmigr/detail/step_result.hpp>
#include <tmigr/detail/trace_steps.hpp>
#include <tmigr/detail/under_way.hpp>
#include <tmigr/hierarchy.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace tmigr::detail {

/// The library's tree, driven by the steps of a trace, and what is known of its CPUs. All but
/// `add` and `begin_in_the_middle` can be taken back.
class shadow_tree {
public:
    using hierarchy = basic_hierarchy<shadow_config>;
    using group_type = group<shadow_config>;
    using state = shadow_config::state;
    using mask = state::mask_type;

    shadow_tree(std::size_t cpus, std::size_t families, hierarchy_options options,
                std::span<const trace_step> steps)
        : steps_(steps), under_way_(steps), tree_(cpus, families, options, word_tracer{&words_}) {}

    std::size_t mark() const noexcept { return log_.mark(); }
    void back_to(std::size_t mark) noexcept { log_.back_to(mark); }
    /// Nothing before `mark` will be taken back.
    void keep_from(std::size_t mark) {
        constexpr std::size_t much = 100'000;
        if (log_.size() > much) log_.keep_from(mark);
    }

    bool knows(cpu_id id) const { return cpus_.contains(id); }

    step_result apply(std::size_t index) {
        using kind = trace_step::kind;
        const trace_step& step = steps_[index];
        step_result result;
        if (step.what != kind::add && step.what != kind::gap && (!knows(step.cpu) || !knows(step.on))) {
            result.note(aspect::connected, 1, 0);
            return result;
        }
        const logged until_end(log_);
        words_.count = 0;
        switch (step.what) {
            case kind::add: add(step, result); break;
            case kind::wake: wake(step, result); break;
            case kind::sleep: sleep(step, result); break;
            case kind::leave: leave(step, result); break;
            case kind::rearm: rearm(step, result); break;
            case kind::keep: keep(step, result); break;
            case kind::claim: claim_cpu(step, result); break;
            case kind::serve: serve(index, result); break;
            case kind::look: look(step); break;
            case kind::gap: begin_in_the_middle(index); break;
            case kind::stray: break;
        }
        for (auto& [id, cpu] : cpus_)
            if (cpu.looking.get() != 0) collect(id, cpu);
        return result;
    }

    /// Takes over what was printed, where no explanation is left.
    void resync(const trace_step& step) {
        for (const event::group_word& word : step.words) {
            const auto found = groups_.find(word.group);
            if (found != groups_.end()) put_word(*found->second, word);
        }
    }
    /// The kernel published the CPU's expiry too late, and has nobody armed for it.
    void lose(cpu_id id) {
        const logged until_end(log_);
        cpu_state& c = cpus_.at(id);
        c.lost.set(c.told.get());
    }
    bool is_root(group_id named) const {
        const auto found = groups_.find(named);
        return found != groups_.end() && found->second->parent() == nullptr;
    }
    /// Whether the words of the library are those printed.
    bool has_word(const event::group_word& word) const {
        const auto found = groups_.find(word.group);
        if (found == groups_.end()) return false;
        const state now = found->second->current();
        return now.active() == word.active && now.migrator() == word.migrator;
    }

    /// Lines are missing before step `gap`: takes what the tree is like then from what the steps
    /// behind tell of it.
    void begin_in_the_middle(std::size_t gap) {
        using kind = trace_step::kind;
        std::map<cpu_id, bool> awake;
        std::map<cpu_id, std::uint64_t> due;
        std::set<cpu_id> moved;
        std::map<const group_type*, state> before;
        for (std::size_t i = gap + 1; i < steps_.size() && steps_[i].what != kind::gap; ++i) {
            const trace_step& step = steps_[i];
            if (step.what == kind::wake || step.what == kind::keep || step.what == kind::rearm ||
                step.what == kind::claim)
                awake.try_emplace(step.cpu, false);
            if (step.what == kind::sleep || step.what == kind::leave) awake.try_emplace(step.cpu, true);
            for (const event::update_events& update : step.updates)
                if (update.child != no_group && update.child_evt_expiry != event::never &&
                    !awake.contains(update.child_evtcpu))
                    due.try_emplace(update.child_evtcpu, update.child_evt_expiry);
            if (step.what == kind::keep && step.nextevt != event::never && !moved.contains(step.cpu))
                due.try_emplace(step.cpu, step.nextevt);
            if (step.what != kind::keep && step.what != kind::claim && step.what != kind::look)
                moved.insert(step.cpu);
            for (const event::group_word& word : step.words)
                if (const auto g = groups_.find(word.group); g != groups_.end())
                    before.try_emplace(g->second,
                                       word_before(word, step.what == kind::wake || step.what == kind::add));
        }
        for (auto& [id, c] : cpus_) {
            const auto known = awake.find(id);
            const auto leaf = before.find(&c.handle.leaf());
            const bool is_awake = known != awake.end()
                                      ? known->second
                                      : leaf != before.end() && leaf->second.is_active(c.handle.childmask());
            if (c.awake.get()) static_cast<void>(c.handle.deactivate(never));
            if (is_awake) {
                c.handle.activate();
                static_cast<void>(c.handle.join());
            }
            c.awake.set(is_awake);
            c.promise_known.set(false);
            c.looking.set(0);
            c.candidates.set(0);
            c.lost.set(event::never);
            const auto next = due.find(id);
            const bool told = !is_awake && next != due.end();
            c.told.set(told ? next->second : event::never);
            c.untold_after.set(is_awake || told ? event::never : 0);
            put_slot(c.handle.leaf(), c.handle.childmask(), to_ticks(c.told.get()));
        }
        for (const auto& [g, word] : before) g->word().put(word);
        for (unsigned level = 0; tree_.root() != nullptr && level < tree_.root()->level(); ++level)
            for (const group_type& g : tree_.groups())
                if (g.level() == level && g.parent() != nullptr)
                    put_slot(*g.parent(), g.groupmask(), g.current().is_active() ? never : first_offer(g));
    }

private:
    static constexpr std::size_t patience = 64;
    static constexpr std::size_t most_candidates = 24;

    struct logged {
        explicit logged(undo_log& log) {
            log.reserve();
            undo_atomics::log = &log;
        }
        logged(const logged&) = delete;
        logged& operator=(const logged&) = delete;
        ~logged() { undo_atomics::log = nullptr; }
    };
    template <class T>
    using var = undo_atomics::var<T>;
    struct cpu_state {
        explicit cpu_state(cpu_handle<shadow_config> h) : handle(h) {}
        cpu_handle<shadow_config> handle;
        var<bool> awake{false};
        var<std::uint64_t> told{event::never};     // the expiry that the tree was told
        var<std::uint64_t> promise{event::never};  // the wake-up that the kernel holds to be armed
        var<bool> promise_known{true};
        var<std::uint64_t> untold_after{
            event::never};                      // its next expiry is later than this, no line tells it
        var<std::uint64_t> lost{event::never};  // an expiry that the kernel has nobody armed for
        // A look whose outcome no line tells yet, and what it can be.
        var<std::size_t> looking{0};  // states left to be taken in
        var<std::size_t> look{0};
        var<std::size_t> look_end{0};
        var<unsigned> top{0};
        var<std::size_t> candidates{0};
        std::array<var<std::uint64_t>, most_candidates> values{};
        std::array<var<outcome>, most_candidates> relations{};
    };

    static ticks to_ticks(std::uint64_t time) noexcept { return time == event::never ? never : time; }
    static std::uint64_t to_time(ticks t) noexcept { return t == never ? event::never : t; }

    void add(const trace_step& step, step_result& result) {
        const auto handle = tree_.add({step.place->cpu, step.place->numa, max_capacity});
        cpus_.try_emplace(step.cpu, handle);
        for (const event::connect_child_parent& link : step.links) parents_[link.group] = link.parent;
        group_id named = step.place->parent;
        bool same = step.place->groupmask == handle.childmask();
        for (const group_type* g = &handle.leaf(); same && g != nullptr; g = g->parent()) {
            same = named != no_group && groups_.try_emplace(named, g).first->second == g;
            const auto up = parents_.find(named);
            named = up == parents_.end() ? no_group : up->second;
        }
        for (const event::connect_child_parent& link : step.links) {
            const auto child = groups_.find(link.group), parent = groups_.find(link.parent);
            same = same && child != groups_.end() && parent != groups_.end() &&
                   child->second->parent() == parent->second && child->second->groupmask() == link.groupmask;
        }
        if (!same)
            throw input_error(std::to_string(step.cpu), "a CPU in the groups that the tree has for it");
        check_words(step, result);
    }

    void wake(const trace_step& step, step_result& result) {
        cpu_state& c = cpus_.at(step.cpu);
        if (step.joins) check_promise(step, c, step.joins_wakeup, result);
        check_promise(step, c, step.old_wakeup, result);
        c.promise.set(event::never);
        c.promise_known.set(true);
        c.untold_after.set(event::never);
        c.told.set(event::never);
        c.lost.set(event::never);
        if (c.awake.get()) return result.note(aspect::awake, 0, 1);
        c.awake.set(true);
        c.handle.activate();
        if (!c.handle.takes_part()) static_cast<void>(c.handle.join());
        check_words(step, result);
    }
    void sleep(const trace_step& step, step_result& result) {
        cpu_state& c = cpus_.at(step.cpu);
        if (!c.awake.get()) return result.note(aspect::awake, 1, 0);
        c.awake.set(false);
        const ticks arm = c.handle.deactivate(to_ticks(step.nextevt));
        check_words(step, result);
        check_armed(step, arm, result);
        check_offers(step, step.nextevt, result);
        if (step.what == trace_step::kind::sleep) check_published(step, c, result);
        promised(c, step.wakeup);
        c.told.set(step.nextevt);
    }
    void leave(const trace_step& step, step_result& result) {
        cpu_state& c = cpus_.at(step.cpu);
        if (!c.awake.get()) return result.note(aspect::awake, 1, 0);
        c.awake.set(false);
        static_cast<void>(c.handle.leave());
        static_cast<void>(c.handle.deactivate(never));
        check_words(step, result);
        if (step.wakeup == event::never)
            result.note(outcome::equal);
        else
            result.note(aspect::leaves, event::never, step.wakeup);
        promised(c, event::never);
        c.told.set(event::never);
    }
    void rearm(const trace_step& step, step_result& result) {
        cpu_state& c = cpus_.at(step.cpu);
        check_promise(step, c, step.old_wakeup, result);
        if (c.awake.get()) return result.note(aspect::awake, 0, 1);
        check_armed(step, c.handle.new_expiry(to_ticks(step.nextevt)), result);
        check_offers(step, step.nextevt, result);
        if (step.what == trace_step::kind::sleep) check_published(step, c, result);
        promised(c, step.wakeup);
        c.told.set(step.nextevt);
        c.untold_after.set(event::never);
    }
    void keep(const trace_step& step, step_result& result) {
        cpu_state& c = cpus_.at(step.cpu);
        if (c.awake.get()) return result.note(aspect::awake, 0, 1);
        const bool served = under_way_.serves(step);
        if (served && step.wakeup == event::never && step.nextevt != c.told.get()) {
            // Whoever runs its timers will tell the tree.
            result.note(outcome::under_way);
            return promised(c, event::never);
        }
        check_promise(step, c, step.wakeup, result);
        promised(c, step.wakeup);
        if (step.nextevt == event::never || step.nextevt == c.told.get()) {
            result.note(outcome::equal);
        } else if (c.untold_after.get() != event::never) {
            result.note(outcome::untold);
            c.told.set(step.nextevt);
            c.untold_after.set(event::never);
            static_cast<void>(c.handle.new_expiry(to_ticks(step.nextevt)));
        } else {
            result.note(aspect::told, c.told.get(), step.nextevt);
        }
    }
    void claim_cpu(const trace_step& step, step_result& result) {
        cpu_state& c = cpus_.at(step.cpu);
        check_promise(step, c, step.old_wakeup, result);
        promised(c, event::never);
        if (c.told.get() == event::never && c.untold_after.get() != event::never)
            return result.note(outcome::untold);
        if (cpus_.at(step.on).handle.must_expire(to_ticks(c.told.get())))
            result.note(outcome::equal);
        else if (under_way_.woke_just_now(in_charge(c), step))
            result.note(outcome::under_way);  // the CPU was in charge when it began to look
        else
            result.note(aspect::in_charge, 1, 0);
        // What is due is taken one by one, the first of a group first.
        const group_type* g = &cpus_.at(step.on).handle.leaf();
        while (g->level() < step.top && g->parent() != nullptr) g = g->parent();
        const std::uint64_t first = to_time(first_offer(*g));
        if (first == c.told.get())
            result.note(outcome::equal);
        else if (without_busy(*g, step.since, step.first, step.cpu, c.told.get()))
            result.note(outcome::under_way);
        else
            result.note(aspect::first, first, c.told.get());
    }
    void serve(std::size_t index, step_result& result) {
        const trace_step& step = steps_[index];
        cpu_state& c = cpus_.at(step.cpu);
        const std::uint64_t due = c.told.get();
        if (c.awake.get()) {  // it woke meanwhile, and sees to itself
            if (!step.updates.empty()) result.note(aspect::awake, 0, 1);
            return;
        }
        if (due == event::never) return result.note(outcome::untold);
        std::uint64_t next = event::never;
        if (!step.updates.empty()) {
            next = step.updates.front().nextevt;
            c.untold_after.set(event::never);
        } else {
            next = untold_next(index);
            c.untold_after.set(next == event::never ? due : event::never);
        }
        bool served = false;
        cpus_.at(in_charge(c)).handle.expire(to_ticks(due), [&](cpu_id sleeper, ticks) {
            if (sleeper != step.cpu) return to_ticks(cpus_.at(sleeper).told.get());
            served = true;
            return to_ticks(next);
        });
        if (!served)
            result.note(aspect::due, 1, 0);
        else if (!step.updates.empty())
            result.note(outcome::equal);
        c.told.set(next);
        c.lost.set(event::never);
        check_offers(step, next, result);
    }
    // A served CPU prints its next expiry itself where the server does not.
    std::uint64_t untold_next(std::size_t index) const {
        using kind = trace_step::kind;
        const cpu_id served = steps_[index].cpu;
        for (std::size_t i = index + 1; i < steps_.size(); ++i) {
            const trace_step& later = steps_[i];
            if (later.cpu != served || later.what == kind::look) continue;
            if (later.what != kind::keep) break;
            if (later.nextevt != event::never) return later.nextevt;
        }
        return event::never;
    }
    void look(const trace_step& step) {
        cpu_state& c = cpus_.at(step.on);
        if (c.awake.get()) return;
        c.looking.set(patience);
        c.look.set(step.last);
        c.look_end.set(step.next);
        c.top.set(step.top);
        c.candidates.set(0);
    }

    cpu_id in_charge(const cpu_state& c) const {
        for (const group_type* g = &c.handle.leaf(); g != nullptr; g = g->parent()) {
            if (!g->current().has_migrator()) continue;
            std::size_t at = static_cast<std::size_t>(g->id() - 1);
            for (;;) {
                const group_type& here = tree_.groups()[at];
                const std::size_t child = tree_.child_at(at, here.current().migrator());
                if (child == tree_shape::none) return c.handle.id();
                if (here.level() == 0) return tree_.shape().cpus[child].info.id;
                at = child;
            }
        }
        return c.handle.id();
    }

    void check_words(const trace_step& step, step_result& result) const {
        bool same = words_.count == step.words.size();
        for (std::size_t i = 0; same && i < words_.count; ++i) {
            const event::group_word &ours = words_.held[i], &theirs = step.words[i];
            const auto group = groups_.find(theirs.group);
            same = group != groups_.end() && group->second->id() == ours.group && ours.lvl == theirs.lvl &&
                   ours.numa == theirs.numa && ours.active == theirs.active &&
                   ours.migrator == theirs.migrator && ours.childmask == theirs.childmask;
        }
        // The trace may end in the middle of a walk.
        const bool cut = !same && words_.count > step.words.size() && step.ends_trace;
        if (same)
            result.note(outcome::equal, words_.count);
        else if (cut)
            result.note(outcome::learnt, step.words.size());
        else
            result.note(aspect::words, words_.count, step.words.size());
    }

    /// A CPU that sleeps publishes its expiry, and that of each group that it empties, unless
    /// the group is awake again.
    void check_published(const trace_step& step, const cpu_state& c, step_result& result) const {
        const bool own = step.nextevt != event::never || c.handle.leaf().parent() == nullptr;
        const bool awake_again =
            step.words.size() > 1 && (step.words.back().active & step.words.back().childmask) != 0;
        const std::size_t expected = step.words.size() - 1 + (own ? 1 : 0) - (awake_again ? 1 : 0);
        if (step.updates.size() == expected)
            result.note(outcome::equal);
        else if (step.updates.size() + 1 == expected && wakes_between(step))
            result.note(outcome::under_way);
        else
            result.note(aspect::offer, expected, step.updates.size());
    }
    // Somebody below one of the groups of the walk.
    bool wakes_between(const trace_step& step) const {
        busy_children busy;
        return std::ranges::any_of(step.words, [&](const event::group_word& word) {
            const auto g = groups_.find(word.group);
            return g != groups_.end() && busy_below(*g->second, step.first, step.last, step.on, busy) > 0;
        });
    }

    /// What the lines of updates say that children offer.
    void check_offers(const trace_step& step, std::uint64_t told, step_result& result) {
        for (const event::update_events& update : step.updates) {
            if (update.child == no_group) {
                if (update.nextevt == told)
                    result.note(outcome::equal);
                else
                    result.note(aspect::offer, told, update.nextevt);
                continue;
            }
            const auto child = groups_.find(update.child), parent = groups_.find(update.group);
            if (child == groups_.end() || parent == groups_.end() ||
                child->second->parent() != parent->second) {
                result.note(aspect::offer, 0, 1);
                continue;
            }
            // What the library has told above.
            const std::uint64_t offer = to_time(parent->second->table().offered(child->second->groupmask()));
            if (offer == update.nextevt)
                result.note(outcome::equal);
            else if (without_busy(*child->second, step.first, step.last, step.on, update.nextevt))
                result.note(outcome::under_way);
            else if (is_lost(update.nextevt, offer))
                result.note(outcome::lost_sight);
            else if (is_untold(step, update.nextevt, offer))
                result.note(outcome::untold);
            else
                result.note(aspect::offer, offer, update.nextevt);
        }
    }

    void check_armed(const trace_step& step, ticks arm, step_result& result) {
        const std::uint64_t printed = step.wakeup, ours = to_time(arm);
        // What the kernel arms is what it finds first when it publishes at an idle root.
        const bool at_idle_root = !step.updates.empty() && step.updates.back().group_active == 0 &&
                                  is_root(step.updates.back().group);
        const std::uint64_t found = at_idle_root ? step.updates.back().next_expiry : event::never;
        if (found == printed)
            result.note(outcome::equal);
        else
            result.note(aspect::found, found, printed);
        if (printed == ours) return result.note(outcome::equal);
        const group_type& root = *tree_.root();
        if (!root.current().is_active()) {
            if (without_busy(root, step.first, step.last, step.on, printed))
                return result.note(outcome::under_way);
            if (is_untold(step, printed, ours)) return result.note(outcome::untold);
            if (is_lost(printed, ours)) return result.note(outcome::lost_sight);
        }
        result.note(aspect::wakeup, ours, printed);
    }

    void check_promise(const trace_step& step, cpu_state& c, std::uint64_t printed, step_result& result) {
        if (!c.promise_known.get()) return result.note(outcome::learnt);
        const std::size_t count = c.candidates.get();
        if (count == 0 && printed == c.promise.get()) return result.note(outcome::equal);
        for (std::size_t i = 0; i < count; ++i)
            if (c.values[i].get() == printed) return result.note(c.relations[i].get());
        if (count != 0 && is_untold(step, printed, c.values[0].get())) return result.note(outcome::untold);
        result.note(step.what == trace_step::kind::keep ? aspect::kept : aspect::until_now,
                    count != 0 ? c.values[0].get() : c.promise.get(), printed);
    }
    static void promised(cpu_state& c, std::uint64_t wakeup) {
        c.promise.set(wakeup);
        c.promise_known.set(true);
        c.looking.set(0);
        c.candidates.set(0);
    }

    /// What a look can have found in the tree as it is now: the kernel keeps the first expiry
    /// of the last group that it was in charge of; the library what it would have to arm.
    void collect(cpu_id id, cpu_state& c) {
        c.looking.set(c.looking.get() - 1);
        const group_type *g = &c.handle.leaf(), *below = nullptr;
        mask mine = c.handle.childmask();
        for (; g->level() < c.top.get() && g->parent() != nullptr; g = g->parent()) {
            below = g;
            mine = g->groupmask();
        }
        const state word = g->current();
        const bool in_charge = !word.has_migrator() || word.migrator() == mine;
        if (!in_charge) g = below;
        const ticks ours = tree_.any_active() ? never : earliest(*tree_.root());
        const ticks theirs = g != nullptr ? first_offer(*g) : never;
        candidate(c, theirs,
                  theirs != ours            ? outcome::lower_group
                  : c.candidates.get() == 0 ? outcome::equal
                                            : outcome::looked_later);
        if (g == nullptr) return;
        std::array<std::pair<const group_type*, mask>, 4> busy;
        const std::size_t many = busy_below(*g, c.look.get(), c.look_end.get(), id, busy);
        for (unsigned chosen = 1; chosen < (1u << many); ++chosen)
            candidate(c, earliest_without(*g, busy, chosen), outcome::under_way);
    }
    static void candidate(cpu_state& c, ticks value, outcome how) {
        const std::size_t count = c.candidates.get();
        for (std::size_t i = 0; i < count; ++i)
            if (c.values[i].get() == to_time(value)) return;
        if (count == most_candidates) return;
        c.values[count].set(to_time(value));
        c.relations[count].set(how);
        c.candidates.set(count + 1);
    }

    using busy_children = std::array<std::pair<const group_type*, mask>, 4>;

    /// The children of `g` on the way to CPUs that somebody else had under way in that time.
    std::size_t busy_below(const group_type& g, std::size_t from, std::size_t to, cpu_id not_by,
                           busy_children& found) const {
        std::size_t count = 0;
        under_way_.any(to, [&](const time_under_way& time) {
            if (time.to < from || (time.cpu == not_by && !time.serving)) return false;
            const auto c = cpus_.find(time.cpu);
            if (c == cpus_.end()) return false;
            mask bit = c->second.handle.childmask();
            const group_type* at = &c->second.handle.leaf();
            for (; at != nullptr && at != &g; at = at->parent()) bit = at->groupmask();
            const std::pair<const group_type*, mask> child{&g, bit};
            const auto end = found.begin() + static_cast<std::ptrdiff_t>(count);
            if (at == nullptr || std::find(found.begin(), end, child) != end) return false;
            found[count++] = child;
            return count == found.size();
        });
        return count;
    }
    /// Of the children that sleep; the kernel ignores what those that are awake have in its queue.
    static ticks first_offer(const group_type& g) { return earliest_without(g, {}, 0); }
    static ticks earliest_without(const group_type& g, const busy_children& busy, unsigned chosen) {
        mask out = 0;
        if (g.level() > 0)
            for (unsigned place = 0; place < state::children; ++place)
                if (const group_type* child = g.down().group_at(place);
                    child != nullptr && child->current().is_active())
                    out = static_cast<mask>(out | mask{1} << place);
        for (std::size_t i = 0; i < busy.size(); ++i)
            if ((chosen >> i & 1) != 0) out = static_cast<mask>(out | busy[i].second);
        ticks first = never;
        for (unsigned place = 0; place < state::children; ++place)
            if ((out >> place & 1) == 0)
                first = std::min(first, g.table().slots()[place].load(undo_atomics::relaxed).due());
        return first;
    }
    bool without_busy(const group_type& g, std::size_t from, std::size_t to, cpu_id by,
                      std::uint64_t printed) const {
        busy_children busy;
        const std::size_t many = busy_below(g, from, to, by, busy);
        for (unsigned chosen = 1; chosen < (1u << many); ++chosen)
            if (to_time(earliest_without(g, busy, chosen)) == printed) return true;
        return false;
    }
    /// Whether `printed` can be an expiry that no line told; it is told from now on.
    bool is_untold(const trace_step& step, std::uint64_t printed, std::uint64_t ours) {
        if (printed >= ours) return false;
        cpu_state* best = nullptr;
        std::size_t least = 0;
        for (auto& [id, c] : cpus_) {
            const std::uint64_t after = c.untold_after.get();
            if (after == event::never || after >= printed || c.awake.get()) continue;
            const std::size_t rank = id == step.cpu ? 0 : 1 + until_served(id, step);
            if (best == nullptr || rank < least) {
                best = &c;
                least = rank;
            }
        }
        if (best == nullptr) return false;
        best->untold_after.set(event::never);
        best->told.set(printed);
        static_cast<void>(best->handle.new_expiry(to_ticks(printed)));
        for (auto& [id, c] : cpus_)
            if (c.looking.get() != 0) collect(id, c);
        return true;
    }
    // How many steps until the CPU's timers are run; more if it wakes before.
    std::size_t until_served(cpu_id id, const trace_step& from) const {
        using kind = trace_step::kind;
        const auto begin = static_cast<std::size_t>(&from - steps_.data());
        for (std::size_t i = begin + 1; i < steps_.size(); ++i) {
            if (steps_[i].cpu != id || steps_[i].what == kind::look || steps_[i].what == kind::keep) continue;
            return i - begin + (steps_[i].what == kind::claim ? 0 : steps_.size());
        }
        return 2 * steps_.size();
    }
    bool is_lost(std::uint64_t printed, std::uint64_t ours) const {
        return printed > ours &&
               std::ranges::any_of(cpus_, [&](const auto& c) { return c.second.lost.get() == ours; });
    }

    static state word_before(const event::group_word& word, bool woke) {
        const auto child = static_cast<mask>(word.childmask);
        auto active = static_cast<mask>(word.active);
        auto migrator = static_cast<mask>(word.migrator);
        if (woke) {
            active = static_cast<mask>(active & ~child);
            if (migrator == child) migrator = state::none;
        } else {
            active = static_cast<mask>(active | child);
            if (migrator == state::none) migrator = child;
        }
        return {active, migrator, 0};
    }
    static void put_slot(const group_type& g, mask bit, ticks due) {
        g.table().slots()[state::place(bit)].put(shadow_config::slot{}.by_owner(due));
    }
    static void put_word(const group_type& g, const event::group_word& word) {
        const state now = g.current();
        g.word().put(state{static_cast<mask>(word.active), static_cast<mask>(word.migrator), now.seq() + 1});
    }

    std::span<const trace_step> steps_;
    times_under_way under_way_;
    word_tracer::words words_;
    undo_log log_;
    hierarchy tree_;
    std::map<cpu_id, cpu_state> cpus_;
    std::map<group_id, const group_type*> groups_;  // by the kernel's names
    std::map<group_id, group_id> parents_;
};

}  // namespace tmigr::detail

#endif
