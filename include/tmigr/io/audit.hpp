// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_AUDIT_HPP
#define TMIGR_IO_AUDIT_HPP

#include <tmigr/detail/audit_coverage.hpp>
#include <tmigr/detail/audit_idle.hpp>
#include <tmigr/detail/audit_roots.hpp>
#include <tmigr/detail/audit_text.hpp>
#include <tmigr/detail/audit_timers.hpp>
#include <tmigr/detail/audit_words.hpp>
#include <tmigr/detail/hex.hpp>
#include <tmigr/io/audit_finding.hpp>
#include <tmigr/io/audit_tree.hpp>
#include <tmigr/io/ftrace.hpp>
#include <tmigr/io/replay.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tmigr {

struct audit_options {
    std::size_t details = 1000;  ///< how many findings are kept; all are counted
    bool stories = false;        ///< keep the lines around each finding
    std::size_t story_lines = 160;
};

/// What an audit has counted.
struct audit_counts {
    std::size_t events = 0;     ///< lines of the tree's events
    std::size_t judged = 0;     ///< times that a sleeper's expiry was found covered or not
    std::size_t unjudged = 0;   ///< times that it could not be told
    std::size_t passing = 0;    ///< of these: uncovered, but only until somebody under way was through
    std::size_t dropped = 0;    ///< suspicions that were not followed up, being too many at once
    std::size_t gaps = 0;
    std::size_t served = 0;     ///< sleepers whose timers somebody ran
    std::size_t served_same_group = 0, served_same_node = 0, served_other_node = 0;
    std::size_t served_other_capacity = 0;
    std::size_t looked = 0;              ///< times that a sleeper looked for due timers
    std::size_t looked_for_nothing = 0;  ///< and found none
    std::size_t woken_for_other_node = 0;      ///< and found only some of another node
    std::size_t woken_for_other_capacity = 0;  ///< and found only some of another capacity
    std::array<std::size_t, 4> timers{};       ///< of the wheel, by lateness: 0, 1, 2 to 9, more jiffies
    std::size_t timers_unfollowed = 0;         ///< more at once than are followed
    std::size_t stays = 0;                 ///< in an idle state, from beginning to end, by cpu_idle lines
    std::size_t stays_to_armed = 0;        ///< until what the sleeper had armed for the tree was due
    std::size_t stays_for_nothing = 0;     ///< and then it had nothing to do and idled again
    std::array<std::size_t, audit_kind_count> found{};
    replay_counts words{};  ///< of the words, as `replay` counts them

    std::size_t of(audit_kind kind) const noexcept { return found[static_cast<std::size_t>(kind)]; }
    std::size_t findings() const noexcept {
        std::size_t sum = 0;
        for (const std::size_t n : found) sum += n;
        return sum;
    }
};

/// Looks in a kernel's trace, or the library's own, for expiries that nobody is responsible for, and for
/// words that contradict each other.
///
/// Feed it all lines of one machine in file order, those of other events too (`others::keep`): of timers it
/// takes how late they ran. A trace may start anywhere: what was not told yet is not judged. Where
/// lines are missing (`event::lost`, a line that is not ftrace's, time that goes back, `gap`) all but the
/// tree's shape is forgotten.
///
/// A finding needs a moment that no line still to be printed can explain: every CPU that was in the middle
/// of a walk when it began has ended that, and it is still there. Words that disagree must do so in
/// every order of the last lines of their group.
///
/// Memory is fixed per group and CPU, plus the findings kept. Not thread-safe. Throws `input_error`
/// (without place) for more than `audit_tree::most_groups` groups or `most_cpus` CPUs, else what allocation throws.
class auditor {
public:
    explicit auditor(audit_options options = {}) : options_(options) {}

    void add(const ftrace_record& record) {
        const bool is_event = !std::holds_alternative<event::other>(record.event);
        if (!is_event) return add_other(std::get<event::other>(record.event), record);
        if (std::holds_alternative<event::lost>(record.event)) return gap();
        know_printer(record.cpu);
        move_to(record);
        ++counts_.events;
        remember(record);
        before(record);
        tree_.take(record);
        if (generation_ != tree_.generation()) forget_all();
        replay_.add(record);
        std::visit([&](const auto& e) { check(e); }, record.event);
        settle(record);
    }

    /// Lines are missing here.
    void gap() {
        ++counts_.gaps;
        close_all(audit_end::gap);
        tree_.forget();
        for (auto& w : words_) w = {};
        timers_.forget();
        stays_.forget();
        looks_.clear();
        replay_.gap();
        repeats_.clear();
        ring_.clear();
        if (options_.stories) lagging_ = tree_;
    }
    /// Closes what is open: the trace ends here.
    void finish() {
        close_all(audit_end::trace);
        counts_.timers_unfollowed = timers_.unfollowed();
        end_replay();
    }

    const audit_tree& tree() const noexcept { return tree_; }
    const audit_counts& counts() const noexcept { return counts_; }
    /// In the order in which they were confirmed.
    const std::vector<audit_finding>& findings() const noexcept { return findings_; }

private:
    using coverage = detail::audit_coverage;
    static constexpr std::uint64_t second = 1'000'000'000;
    static constexpr std::uint64_t hand_over = second / 10;  // what a CPU that leaves may take to wake another
    static constexpr std::uint64_t look_takes = second / 100;
    static constexpr std::uint64_t longest_jiffy = second / 100;
    static constexpr std::size_t word_lines = 32;
    static constexpr unsigned most_rounds = 4;
    static constexpr std::size_t most_suspects = 4096;
    static constexpr std::size_t most_busy = 1024;
    static constexpr std::size_t ring_lines = 512;
    static constexpr std::size_t most_story_bytes = std::size_t{1} << 28;  // all together; findings behind have none
    static constexpr replay_options replayed{pick::first, false, 64};
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct busy_cpu {
        audit_index cpu;
        unsigned walks;
    };
    /// Something that looks wrong, until those who were under way then have told all they did.
    struct suspect {
        audit_kind kind;
        audit_index of;  // a CPU, or a group whose parent disagrees
        std::uint64_t due;
        audit_place begin;
        std::vector<busy_cpu> busy;
        std::size_t finding = none;
        bool kept = false;
        bool may_be_handed_over = false;
        audit_index top = no_index;  // as in the coverage, with the next
        bool late_above = false;
        unsigned rounds = 0;
    };
    struct repeat {
        std::uint64_t time = event::never;
        unsigned times = 0;
        audit_place begin{};
        bool told = false;
    };
    struct repeats {
        repeat arm, serve;
    };
    /// For whom a sleeper that looks has run timers.
    struct look {
        bool served = false, own_node = false, own_capacity = false;
    };

    /// Takes over what `replay` has counted. Its groups are those of one tree.
    void end_replay() {
        replay_.finish();
        const replay_counts& c = replay_.counts();
        replay_counts& all = counts_.words;
        all.lines += c.lines, all.learnt += c.learnt, all.checked += c.checked, all.agreed += c.agreed;
        all.reordered += c.reordered, all.different += c.different, all.early_links += c.early_links;
        all.gaps += c.gaps;
        for (const replay_difference& d : replay_.differences()) {
            if (is_bad_word(d.line)) continue;
            audit_finding f = made(audit_kind::wrong_word);
            f.begin = f.end = {d.line, 0, 0};
            f.group = d.group;
            f.detail = "expected " + d.expected + ", printed " + d.printed;
            f.cause = "a word is not what those before it make of it";
            found(std::move(f));
        }
        replay_ = replay<>{replayed};
    }

    /// Some memory is kept for each CPU that prints, whether or not it is in the tree.
    void know_printer(cpu_id cpu) {
        if (cpu < printers_.size() && printers_[cpu]) return;
        if (known_printers_ >= audit_tree::most_cpus) audit_tree::refuse_cpu();
        if (cpu >= printers_.size()) printers_.resize(cpu + std::size_t{1});
        printers_[cpu] = true;
        ++known_printers_;
    }

    audit_finding made(audit_kind kind) const {
        audit_finding f;
        f.kind = kind;
        f.begin = f.end = now_;
        f.cpu = now_.on;
        return f;
    }
    std::size_t found(audit_finding&& f) {
        ++counts_.found[static_cast<std::size_t>(f.kind)];
        if (findings_.size() >= options_.details) return none;
        if (options_.stories && f.begin.line != 0 && f.kind != audit_kind::wrong_word) start_story(f);
        findings_.push_back(std::move(f));
        return findings_.size() - 1;
    }

    void move_to(const ftrace_record& record) {
        if (record.time + second < now_.time) gap();
        // Nothing came to explain it until now.
        now_.time = std::max(now_.time, record.time);
        for (suspect& s : suspects_) confirm(s);
        now_ = {record.line, record.time, record.cpu};
    }

    // Lines of other events.
    void add_other(const event::other& other, const ftrace_record& record) {
        if (other.name.empty()) {
            if (record.task.empty()) gap();
            return;
        }
        move_to(record);
        if (other.name == "cpu_idle") {
            idle(other.text);
            tree_.take(record);
        } else if (other.name == "timer_start") {
            timers_.start(other.text);
        } else if (other.name == "timer_cancel") {
            timers_.cancel(other.text, record.cpu);
        } else if (other.name == "timer_expire_entry") {
            stays_.work(record.cpu);
            if (const auto ran = timers_.expire(other.text, record.cpu)) count_timer(*ran);
        } else if (other.name == "hrtimer_expire_entry") {
            if (!is_tick(other.text)) stays_.work(record.cpu);
            if (const auto now = detail::audit_number(other.text, "now")) learn_clock(*now);
        } else {
            return;
        }
        remember(record);
    }
    /// The tick's own timer is no work: it only looks whether there is some.
    static bool is_tick(std::string_view text) {
        const auto function = detail::audit_field(text, "function");
        return function && (*function == "tick_nohz_handler" || *function == "tick_sched_timer");
    }
    void idle(std::string_view text) {
        const auto line = detail::parse_cpu_idle(text);
        if (!line) return;
        if (!line->state) return stays_.leave(line->cpu, at_least(now_.time));
        const audit_index c = tree_.find_cpu(line->cpu);
        const bool arms = c != no_index && tree_.cpus()[c].is == audit_cpu::presence::asleep && tree_.cpus()[c].armed_known;
        const auto stay = stays_.enter(line->cpu, arms ? tree_.cpus()[c].armed : event::never);
        if (!stay) return;
        ++counts_.stays;
        counts_.stays_to_armed += stay->at_armed ? 1 : 0;
        counts_.stays_for_nothing += stay->for_nothing ? 1 : 0;
    }
    void count_timer(const detail::audit_timers::expiry& ran) {
        if (ran.deferrable) return;
        ++counts_.timers[ran.late == 0 ? 0 : ran.late == 1 ? 1 : ran.late < 10 ? 2 : 3];
        const auto jiffy = jiffy_.nanoseconds();
        if (ran.pinned || !jiffy) return;
        for (std::size_t i : measured_) {
            audit_finding& f = findings_[i];
            if (f.cpu == ran.base && !f.late) f.late = ran.late * *jiffy;
        }
    }
    /// `at` is a moment not after now, on the clock of expiries.
    void learn_clock(std::uint64_t at) {
        const auto ahead = static_cast<std::int64_t>(now_.time - std::min(at, event::never));
        if (!ahead_ || ahead < *ahead_) ahead_ = ahead;
    }
    /// The clock of expiries shows at least this at `time`.
    std::optional<std::uint64_t> at_least(std::uint64_t time) const {
        if (!ahead_) return std::nullopt;
        const std::int64_t t = static_cast<std::int64_t>(time) - *ahead_;
        return t > 0 ? static_cast<std::uint64_t>(t) : 0;
    }

    /// What must be looked at before the line changes the tree.
    void before(const ftrace_record& record) {
        const audit_index p = tree_.find_cpu(record.cpu);
        if (p == no_index) return;
        const audit_cpu& printer = tree_.cpus()[p];
        const bool updates = std::holds_alternative<event::update_events>(record.event);
        const bool looks_on = std::holds_alternative<event::handle_remote_cpu>(record.event) ||
                              std::holds_alternative<event::handle_remote>(record.event);
        if (printer.served != no_index && !printer.told && !updates) check_told(p);
        if (const auto* claim = std::get_if<event::handle_remote_cpu>(&record.event)) {
            count_serve(*claim, printer);
            stays_.work(record.cpu);
        }
        if (std::holds_alternative<event::cpu_active>(record.event)) stays_.work(record.cpu);
        if (printer.walk == audit_walk::looking && printer.is == audit_cpu::presence::asleep && !updates && !looks_on) {
            ++counts_.looked;
            if (!printer.served_since) ++counts_.looked_for_nothing;
            count_look(p);
        }
    }
    void count_serve(const event::handle_remote_cpu& claim, const audit_cpu& by) {
        ++counts_.served;
        const audit_index c = tree_.find_cpu(claim.cpu);
        if (c == no_index) return;
        const audit_cpu& sleeper = tree_.cpus()[c];
        if (sleeper.offer.known && sleeper.due_known && sleeper.due == sleeper.offer.due && sleeper.due != event::never &&
            sleeper.walk == audit_walk::none)
            learn_clock(sleeper.due);
        if (sleeper.leaf == no_index || by.leaf == no_index) return;
        const bool other_node = tree_.groups()[sleeper.leaf].numa != tree_.groups()[by.leaf].numa;
        const bool other_capacity = sleeper.capacity != by.capacity;
        if (sleeper.leaf == by.leaf)
            ++counts_.served_same_group;
        else if (!other_node)
            ++counts_.served_same_node;
        else
            ++counts_.served_other_node;
        if (other_capacity) ++counts_.served_other_capacity;
        if (by.is != audit_cpu::presence::asleep) return;
        look& l = look_of(tree_.find_cpu(by.id));
        l.served = true;
        l.own_node = l.own_node || !other_node;
        l.own_capacity = l.own_capacity || !other_capacity;
    }
    look& look_of(audit_index c) {
        if (c >= looks_.size()) looks_.resize(c + std::size_t{1});
        return looks_[c];
    }
    /// A sleeper has looked for due timers.
    void count_look(audit_index c) {
        const look done = std::exchange(look_of(c), {});
        if (!done.served) return;
        if (!done.own_node) ++counts_.woken_for_other_node;
        if (!done.own_capacity) ++counts_.woken_for_other_capacity;
    }

    /// Timers of a sleeper were run, and whoever did it turns to something else.
    void check_told(audit_index p) {
        const audit_cpu& printer = tree_.cpus()[p];
        const audit_cpu& sleeper = tree_.cpus()[printer.served];
        const audit_place claimed = printer.walk_at;
        if (sleeper.leaf == no_index || sleeper.is != audit_cpu::presence::asleep || printer.served == p) return;
        if (sleeper.walk_at.line > claimed.line || sleeper.walk != audit_walk::none) return;
        // Somebody else told it.
        if (sleeper.offer.at.line > claimed.line && sleeper.offer.at.on != now_.on) return;
        const audit_group& group = tree_.groups()[sleeper.leaf];
        if (!group.known || !group.parent_known) return;
        // Below an idle root nothing is printed.
        if (group.parent == no_index &&
            (group.live == 0 || group.emptied.line > claimed.line || group.filled.line > claimed.line))
            return;
        audit_finding f = made(audit_kind::unpublished);
        f.fault = "K06";
        f.cause = "timers of a sleeper were run, and what its group waits for next was not told";
        f.begin = claimed;
        f.cpu = sleeper.id;
        f.group = group.id;
        f.evidence.push_back({claimed, "a CPU looks for due timers"});
        f.evidence.push_back({now_, "and turns to something else without a tmigr_update_events line of the group"});
        found(std::move(f));
    }
    // Checks of single lines.
    template <class Other>
    void check(const Other&) {}
    void check(const event::group_set_cpu_active& word) { check_word(word, true); }
    void check(const event::group_set_cpu_inactive& word) { check_word(word, false); }
    void check_word(const event::group_word& word, bool woke) {
        const audit_index g = tree_.find_group(word.group);
        if (g >= words_.size()) words_.resize(g + std::size_t{1});
        words_[g].add(word, woke, now_.on);
        const bool one = std::has_single_bit(word.migrator);
        const bool fine = word.active == 0 ? !one && word.migrator != 0
                                           : one && (word.migrator & word.active) != 0;
        if (!fine || word.childmask == 0) {
            audit_finding f = made(audit_kind::bad_migrator);
            f.group = word.group;
            if (word.childmask == 0 || word.migrator == 0) {
                f.fault = "K18";
                f.cause = "a walk went up a link before the group's bit in its parent was there";
            } else {
                f.cause = "the migrator is not one of those awake";
            }
            f.detail = "active=" + detail::hex(word.active) + " migrator=" + detail::hex(word.migrator) +
                       " childmask=" + detail::hex(word.childmask);
            f.evidence.push_back({now_, "the word"});
            bad_words_.push_back(now_.line);
            if (bad_words_.size() > 256) bad_words_.erase(bad_words_.begin());
            found(std::move(f));
        }
        suspect_word(g);
        for (const audit_index h : tree_.groups()[g].groups) suspect_word(h);
        for (audit_index at = tree_.groups()[g].parent, steps = 0; at != no_index && steps < 64; ++steps) {
            suspect_word(at);
            at = tree_.groups()[at].parent;
        }
    }
    bool is_bad_word(std::size_t line) const { return std::ranges::find(bad_words_, line) != bad_words_.end(); }

    void check(const event::connect_child_parent& link) {
        grew_at_ = now_;
        suspect_word(tree_.find_group(link.group));
        const audit_index child = tree_.find_group(link.group);
        const audit_group& g = tree_.groups()[child];
        if (!g.made || g.numa < 0 || link.numa < 0 || g.numa == link.numa) return;
        audit_finding f = made(audit_kind::mixed_nodes);
        f.fault = "K38";
        f.cause = "a group of one node was connected to a parent of another";
        f.group = link.group;
        f.parent = link.parent;
        f.detail = "node " + std::to_string(g.numa) + " below node " + std::to_string(link.numa);
        f.evidence.push_back({now_, "the connection"});
        found(std::move(f));
    }
    void check(const event::connect_cpu_parent&) {
        if (roots_at_.line == 0) roots_at_ = now_;
        grew_at_ = now_;
    }
    void check(const event::group_set&) { grew_at_ = now_; }
    /// Whether the last growth is through: who made it does something else.
    bool has_grown() const {
        if (roots_at_.line == 0) return false;
        const audit_index grower = tree_.find_cpu(grew_at_.on);
        return now_.line > grew_at_.line + 64 ||
               (grower != no_index && tree_.cpus()[grower].walk != audit_walk::linking);
    }
    /// A CPU connected some lines ago: whoever grew the tree for it is through by now.
    void check_roots() {
        const audit_place at = std::exchange(roots_at_, {});
        audit_index first = no_index;
        for (audit_index g = 0; g < tree_.groups().size(); ++g) {
            const audit_group& group = tree_.groups()[g];
            if (!group.made || group.parent != no_index || (group.groups.empty() && group.cpus.empty())) continue;
            if (first == no_index) {
                first = g;
                continue;
            }
            const audit_group& other = tree_.groups()[first];
            if (two_roots_told_ == group.id || detail::are_own_trees(tree_, first, g)) continue;
            two_roots_told_ = group.id;
            audit_finding f = made(audit_kind::two_roots);
            f.fault = "K22";
            f.cause = "the tree grew, and the old root was not connected to the new one";
            f.begin = at;
            f.end = now_;
            f.group = other.id;
            f.parent = group.id;
            f.evidence.push_back({at, "a CPU connects, the tree grew for it"});
            f.evidence.push_back({now_, "and still neither of the two groups has a parent"});
            found(std::move(f));
        }
    }
    void check(const event::update_events& e) {
        jiffy_.add(e.nextevt);
        const audit_index printer = tree_.find_cpu(now_.on);
        if (e.child == no_group || e.nextevt == event::never) return check_repeated_serve(e, printer);
        const audit_index g = tree_.find_group(e.child);
        if (right_owner(g) != nullptr && find_suspect(audit_kind::stale_owner, g) == nullptr)
            suspect_more({audit_kind::stale_owner, g, e.nextevt, now_, busy_now(), none, true, false, no_index, false, 0});
    }
    /// The child that has the expiry which a group offers in the name of a CPU that has none such; null where
    /// the name is right, or may be.
    const audit_offer* right_owner(audit_index g) const {
        const audit_group& group = tree_.groups()[g];
        const audit_index owner = tree_.find_cpu(group.offer.owner);
        if (owner == no_index || !group.offer.known || group.offer.due == event::never || group.live != 0) return nullptr;
        const audit_index way = tree_.child_towards(g, owner);
        const bool in_leaf = tree_.cpus()[owner].leaf == g;
        if (!in_leaf && way == no_index) return nullptr;
        const audit_offer& named = in_leaf ? tree_.cpus()[owner].offer : tree_.groups()[way].offer;
        if (!named.known || named.due == group.offer.due) return nullptr;
        for (const audit_index c : group.cpus)
            if (c != owner && has_offer(tree_.cpus()[c].offer, group.offer.due)) return &tree_.cpus()[c].offer;
        for (const audit_index h : group.groups)
            if (h != way && has_offer(tree_.groups()[h].offer, group.offer.due)) return &tree_.groups()[h].offer;
        return nullptr;
    }
    static bool has_offer(const audit_offer& o, std::uint64_t due) { return o.known && o.due == due; }
    void confirm_owner(suspect& s) {
        const audit_group& group = tree_.groups()[s.of];
        const audit_offer* const right = right_owner(s.of);
        if (right == nullptr || group.parent == no_index) return;
        if (wait_for(s, {audit_walk::waking, audit_walk::sleeping, audit_walk::telling, audit_walk::looking})) return;
        audit_finding f = made(audit_kind::stale_owner);
        f.fault = "K03";
        f.cause = "two had the same expiry; the one whose timers were run stayed its owner";
        f.begin = s.begin;
        f.group = group.id;
        f.parent = tree_.groups()[group.parent].id;
        f.cpu = right->owner;
        f.due = s.due;
        f.detail = "child_evtcpu=" + std::to_string(group.offer.owner) + ", but the expiry is of CPU " +
                   std::to_string(right->owner);
        f.evidence.push_back({right->at, "the expiry is put into the group"});
        f.evidence.push_back({group.offer.at, "the group's expiry names a CPU that has none such"});
        s.finding = found(std::move(f));
    }
    repeats& repeats_of(audit_index c) {
        if (c >= repeats_.size()) repeats_.resize(c + std::size_t{1});
        return repeats_[c];
    }
    bool repeated(repeat& r, std::uint64_t time, unsigned limit) {
        if (r.time != time) r = {time, 0, now_, false};
        if (++r.times < limit || r.told) return false;
        r.told = true;
        return true;
    }
    /// The CPU served still has the expiry for which it was.
    void check_repeated_serve(const event::update_events& e, audit_index printer) {
        const audit_index c = tree_.cpus()[printer].served;
        if (c == no_index || e.child != no_group) return;
        const auto now = at_least(now_.time);
        repeat& r = repeats_of(c).serve;
        if (!now || e.nextevt == event::never || e.nextevt >= *now) {
            r = {};
        } else if (repeated(r, e.nextevt, 8)) {
            audit_finding f = made(audit_kind::reserving);
            f.fault = "K01";
            f.cause = "an expiry that is due is run, stays due, and is run again";
            f.begin = r.begin;
            f.cpu = tree_.cpus()[c].id;
            f.due = e.nextevt;
            f.evidence.push_back({r.begin, "first time"});
            f.evidence.push_back({now_, "eighth time"});
            found(std::move(f));
        }
    }
    void check(const event::cpu_idle& e) { jiffy_.add(e.nextevt); }
    void check(const event::cpu_active& e) {
        if (const audit_index c = tree_.find_cpu(e.cpu); c != no_index) repeats_of(c) = {};
    }
    void check(const event::cpu_new_timer_idle& e) {
        jiffy_.add(e.nextevt);
        const audit_index c = tree_.find_cpu(e.cpu);
        const auto now = at_least(now_.time);
        repeat& r = repeats_of(c).arm;
        const std::uint64_t slack = 2 * jiffy_.nanoseconds().value_or(longest_jiffy);
        if (!now || e.wakeup == event::never || e.wakeup + slack >= *now || tree_.cpus()[c].served_since) {
            r = {};
        } else if (repeated(r, e.wakeup, 3)) {
            audit_finding f = made(audit_kind::rearming);
            f.fault = "K11";
            f.cause = "somebody else looked after the timer, and the sleeper that had armed for it keeps arming";
            f.begin = r.begin;
            f.due = e.wakeup;
            f.evidence.push_back({r.begin, "it arms for a time that has passed"});
            f.evidence.push_back({now_, "and does so the third time"});
            found(std::move(f));
        }
    }

    // Suspicions.
    std::vector<busy_cpu> busy_now() const {
        std::vector<busy_cpu> busy;
        for (audit_index c = 0; c < tree_.cpus().size(); ++c)
            if (tree_.cpus()[c].walk != audit_walk::none && busy.size() < most_busy)
                busy.push_back({c, tree_.cpus()[c].walks});
        return busy;
    }
    /// Who is in one of these walks now may have been seen already by those who were through before.
    bool wait_for(suspect& s, std::initializer_list<audit_walk> walks) const {
        // On a busy machine somebody always is.
        if (s.rounds++ >= most_rounds) return false;
        for (audit_index c = 0; c < tree_.cpus().size(); ++c)
            if (s.busy.size() < most_busy && std::ranges::find(walks, tree_.cpus()[c].walk) != walks.end())
                if (const busy_cpu b{c, tree_.cpus()[c].walks}; still_busy(b)) s.busy.push_back(b);
        return !s.busy.empty();
    }
    bool still_busy(const busy_cpu& b) const {
        const audit_cpu& cpu = tree_.cpus()[b.cpu];
        if (cpu.walks != b.walks || cpu.walk == audit_walk::none) return false;
        // Whoever is awake prints nothing when it has looked, and who connects others may be through with it.
        const std::uint64_t takes = cpu.walk == audit_walk::linking ? hand_over
                                    : cpu.walk == audit_walk::looking && cpu.is != audit_cpu::presence::asleep
                                        ? look_takes
                                        : event::never;
        return now_.time - cpu.walk_at.time <= takes;
    }
    static audit_kind about(audit_kind kind) {
        return kind == audit_kind::idle_untold ? audit_kind::awake_untold : kind;
    }
    suspect* find_suspect(audit_kind kind, audit_index of) {
        for (suspect& s : suspects_)
            if (s.of == of && about(s.kind) == about(kind)) return &s;
        return nullptr;
    }
    void suspect_more(suspect&& s) {
        if (suspects_.size() < most_suspects && s.busy.size() < most_busy)
            suspects_.push_back(std::move(s));
        else
            ++counts_.dropped;
    }

    /// Whether a group's parent says of it what is true.
    void suspect_word(audit_index g) {
        if (g == no_index) return;
        const audit_group& group = tree_.groups()[g];
        if (group.parent == no_index || group.mask == 0 || !group.known) return;
        const audit_group& parent = tree_.groups()[group.parent];
        suspect* known = find_suspect(audit_kind::awake_untold, g);
        const bool says = (parent.active & group.mask) != 0, is = group.live != 0;
        if (says == is || parent.word_at.line == 0) {
            if (known != nullptr) known->kept = false;
            return;
        }
        const audit_kind kind = is ? audit_kind::awake_untold : audit_kind::idle_untold;
        if (known != nullptr && known->kind == kind) return;
        if (known != nullptr) {
            end_finding(*known, audit_end::put_right);
            *known = {kind, g, 0, now_, busy_now(), none, true, false, no_index, false, 0};
        } else {
            suspect_more({kind, g, 0, now_, busy_now(), none, true, false, no_index, false, 0});
        }
    }

    void settle(const ftrace_record& record) {
        if (has_grown()) check_roots();
        const bool ends_walk = std::holds_alternative<event::cpu_idle>(record.event) ||
                               std::holds_alternative<event::cpu_new_timer_idle>(record.event) ||
                               std::holds_alternative<event::cpu_unavailable>(record.event) ||
                               std::holds_alternative<event::cpu_active>(record.event);
        if (suspects_.empty() && !ends_walk) return;
        if (ends_walk || !suspects_.empty()) judge_expiries();
        for (suspect& s : suspects_) {
            if (s.kept) confirm(s);
            if (s.kept) continue;
            counts_.passing += s.finding == none && s.kind == audit_kind::uncovered ? 1 : 0;
            end_finding(s, reason_of_end(s, record));
        }
        std::erase_if(suspects_, [](const suspect& s) { return !s.kept; });
        if (options_.stories) tell_stories(record);
    }
    void judge_expiries() {
        for (suspect& s : suspects_)
            if (s.kind == audit_kind::uncovered || s.kind == audit_kind::stale_owner)
                s.kept = s.kind == audit_kind::stale_owner && right_owner(s.of) != nullptr;
        detail::audit_armed_memo armed;
        for (const audit_index c : tree_.waiting()) {
            const coverage seen = detail::coverage_of(tree_, c, armed);
            if (seen.is == coverage::verdict::unknown)
                ++counts_.unjudged;
            else
                ++counts_.judged;
            if (seen.is == coverage::verdict::covered) continue;
            suspect* s = find_suspect(audit_kind::uncovered, c);
            const std::uint64_t due = tree_.cpus()[c].due;
            if (seen.is == coverage::verdict::unknown) {
                // What was seen uncovered stays so until somebody is seen to be responsible.
                if (s != nullptr && s->due == due && s->finding != none) s->kept = true;
                continue;
            }
            if (s != nullptr && s->due == due && (s->finding != none || same_reason(*s, seen))) {
                s->kept = true;
                continue;
            }
            suspect fresh{audit_kind::uncovered, c, due, now_, busy_now(), none, true, false, seen.top, seen.late_above, 0};
            if (s == nullptr)
                suspect_more(std::move(fresh));
            else if (s->finding == none)
                *s = std::move(fresh);
        }
    }
    static bool same_reason(const suspect& s, const coverage& seen) {
        return s.top == seen.top && s.late_above == seen.late_above;
    }
    coverage coverage_of(audit_index c) const {
        detail::audit_armed_memo armed;
        return detail::coverage_of(tree_, c, armed);
    }
    bool left_last(const coverage& found) const {
        const audit_index leaver = tree_.find_cpu(tree_.groups()[found.top].word_empty.on);
        return !found.late_above && leaver != no_index &&
               tree_.cpus()[leaver].is == audit_cpu::presence::away;
    }

    void confirm(suspect& s) {
        if (s.finding != none) return;
        std::erase_if(s.busy, [this](const busy_cpu& b) { return !still_busy(b); });
        if (!s.busy.empty()) return;
        if (s.kind == audit_kind::uncovered) s.may_be_handed_over = left_last(coverage_of(s.of));
        if (s.may_be_handed_over && now_.time < s.begin.time + hand_over) return;
        if (s.kind == audit_kind::uncovered)
            confirm_uncovered(s);
        else if (s.kind == audit_kind::stale_owner)
            confirm_owner(s);
        else
            confirm_word(s);
    }
    void confirm_uncovered(suspect& s) {
        const coverage why = coverage_of(s.of);
        if (why.is != coverage::verdict::uncovered) return;
        if (wait_for(s, {audit_walk::waking, audit_walk::telling, audit_walk::sleeping, audit_walk::looking}))
            return;
        audit_finding f = made(audit_kind::uncovered);
        f.begin = s.begin;
        f.cpu = tree_.cpus()[s.of].id;
        f.due = s.due;
        detail::explain_uncovered(tree_, s.of, why, f);
        s.finding = found(std::move(f));
        if (s.finding != none) measured_.push_back(s.finding);
    }
    void confirm_word(suspect& s) {
        const audit_group& g = tree_.groups()[s.of];
        const bool is = s.kind == audit_kind::awake_untold;
        // A thread can be held up between a step and its line.
        if (now_.line < s.begin.line + word_lines && now_.time < s.begin.time + hand_over) return;
        if (wait_for(s, {audit_walk::waking, audit_walk::sleeping, audit_walk::linking})) return;
        if (g.parent < words_.size() && words_[g.parent].may_end(g.mask, is)) return;
        audit_finding f = made(s.kind);
        f.begin = s.begin;
        f.cpu = s.begin.on;
        f.group = g.id;
        f.parent = tree_.groups()[g.parent].id;
        const audit_place parent_said = tree_.groups()[g.parent].word_at;
        // Only who made the link told the parent of the group since, or nobody did.
        const bool grew = g.linked.line != 0 &&
                          (is ? g.told.line < g.linked.line : detail::told_by_grower(g));
        if (grew) {
            f.fault = is ? "K21" : "K17";
            f.cause = is ? "the tree grew over an old root that woke, and the new root was not told"
                         : "the tree grew, and the old root was told active after it had fallen asleep";
            f.evidence.push_back({g.linked, "the group gets a parent"});
        } else {
            f.fault = "K04";
            f.cause = "news of a child overtook each other on the way up, and the older one won";
        }
        f.evidence.push_back({g.word_at, "the group's word"});
        f.evidence.push_back({parent_said, is ? "its parent's: the group is idle there" : "its parent's: the group is active there"});
        s.finding = found(std::move(f));
    }

    audit_end reason_of_end(const suspect& s, const ftrace_record& record) const {
        if (s.kind != audit_kind::uncovered) return audit_end::put_right;
        const audit_cpu& cpu = tree_.cpus()[s.of];
        if (cpu.is == audit_cpu::presence::awake) return audit_end::woke;
        if (const auto* claim = std::get_if<event::handle_remote_cpu>(&record.event); claim && claim->cpu == cpu.id)
            return audit_end::served;
        return cpu.due_known && cpu.due == s.due ? audit_end::covered : audit_end::withdrawn;
    }
    void end_finding(suspect& s, audit_end why) {
        if (s.finding == none) return;
        audit_finding& f = findings_[s.finding];
        f.end = now_;
        f.ended_by = why;
        if (s.kind != audit_kind::uncovered) return;
        // An expiry and the jiffy in which it is run can be one apart.
        const std::uint64_t then = f.due + jiffy_.nanoseconds().value_or(longest_jiffy);
        if (const auto now = at_least(now_.time)) f.late_at_least = *now > then ? *now - then : 0;
        // Who wakes runs its timers a moment later.
        if (measured_.size() > 64) measured_.erase(measured_.begin(), measured_.begin() + 32);
    }
    void close_all(audit_end why) {
        for (suspect& s : suspects_) {
            if (s.finding == none) confirm(s);
            end_finding(s, why);
        }
        suspects_.clear();
        measured_.clear();
        if (roots_at_.line != 0 && why == audit_end::trace) check_roots();
        roots_at_ = {};
    }
    void forget_all() {
        generation_ = tree_.generation();
        suspects_.clear();
        measured_.clear();
        words_.clear();
        repeats_.clear();
        looks_.clear();
        roots_at_ = {};
        end_replay();
    }

    // Stories.
    void remember(const ftrace_record& record) {
        if (!options_.stories) return;
        ring_.push_back(record);
        if (ring_.size() <= ring_lines) return;
        lagging_.take(ring_.front());
        ring_.pop_front();
    }
    void start_story(audit_finding& f) {
        constexpr std::size_t lead = 24;
        std::size_t first = ring_.size();
        std::size_t oldest = f.begin.line;
        for (const audit_evidence& e : f.evidence) oldest = std::min(oldest, e.at.line);
        while (first > 0 && ring_[first - 1].line >= oldest) --first;
        first -= std::min(first, lead);
        audit_story story;
        story.before = lagging_;
        for (std::size_t i = 0; i < first; ++i) story.before.take(ring_[i]);
        for (std::size_t i = first; i < ring_.size() && story.lines.size() < options_.story_lines; ++i)
            story.lines.push_back(ring_[i]);
        std::size_t bytes = story.before.cpus().size() * sizeof(audit_cpu) + story.before.groups().size() * sizeof(audit_group);
        for (const ftrace_record& line : story.lines) bytes += size_of(line);
        if (story_bytes_ + bytes > most_story_bytes) return;
        story_bytes_ += bytes;
        f.story = std::move(story);
    }
    static std::size_t size_of(const ftrace_record& line) {
        const auto* const other = std::get_if<event::other>(&line.event);
        return sizeof line + line.task.size() + (other != nullptr ? other->name.size() + other->text.size() : 0);
    }
    void tell_stories(const ftrace_record& record) {
        for (const suspect& s : suspects_)
            if (s.finding != none) tell(findings_[s.finding], record);
        for (const std::size_t i : measured_)
            if (findings_[i].ended_by != audit_end::moment && findings_[i].end.line == record.line)
                tell(findings_[i], record, true);
    }
    void tell(audit_finding& f, const ftrace_record& record, bool last = false) {
        if (!f.story || (!f.story->lines.empty() && f.story->lines.back().line >= record.line)) return;
        if (story_bytes_ < most_story_bytes && (f.story->lines.size() < options_.story_lines || last)) {
            f.story->lines.push_back(record);
            story_bytes_ += size_of(record);
        } else {
            f.story->cut = true;
        }
    }
    audit_options options_;
    audit_counts counts_;
    audit_tree tree_;
    std::size_t generation_ = 0;
    replay<> replay_{replayed};
    std::vector<detail::audit_words> words_;
    detail::audit_timers timers_;
    detail::audit_stays stays_;
    std::vector<look> looks_;
    std::vector<bool> printers_;
    std::size_t known_printers_ = 0;
    detail::jiffy_length jiffy_;
    std::optional<std::int64_t> ahead_;
    audit_place now_{};
    audit_place roots_at_{};
    audit_place grew_at_{};
    group_id two_roots_told_ = no_group;
    std::vector<suspect> suspects_;
    std::vector<repeats> repeats_;
    std::vector<std::size_t> bad_words_;
    std::vector<std::size_t> measured_;
    std::vector<audit_finding> findings_;
    std::size_t story_bytes_ = 0;
    std::deque<ftrace_record> ring_;
    audit_tree lagging_;
};

}  // namespace tmigr

#endif
