// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_AUDIT_TREE_HPP
#define TMIGR_IO_AUDIT_TREE_HPP

#include <tmigr/detail/audit_idle.hpp>
#include <tmigr/input_error.hpp>
#include <tmigr/io/ftrace.hpp>
#include <tmigr/topology.hpp>
#include <tmigr/trace.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace tmigr {

/// The place of a group or a CPU in an `audit_tree`.
using audit_index = std::uint32_t;
inline constexpr audit_index no_index = std::numeric_limits<audit_index>::max();

/// A line of a trace.
struct audit_place {
    std::size_t line = 0;
    std::uint64_t time = 0;
    cpu_id on = 0;  ///< the CPU that printed it
};

/// What a CPU is in the middle of, as far as its lines tell.
enum class audit_walk : std::uint8_t { none, waking, sleeping, telling, looking, linking };

/// What a child offers to its parent, as a tmigr_update_events line said last.
struct audit_offer {
    bool known = false;
    bool published_idle = false;  ///< the parent was idle when it was written
    audit_walk during = audit_walk::none;
    std::uint64_t due = event::never;
    cpu_id owner = 0;  ///< the CPU that the line names, or that it is about
    audit_place at{};
};

/// A group, as the lines before tell of it.
struct audit_group {
    group_id id = no_group;
    unsigned lvl = 0;
    family_id numa = no_family;
    bool made = false;          ///< its tmigr_group_set line was seen
    bool parent_known = false;  ///< `parent` is right, `no_index` for a root
    audit_index parent = no_index;
    std::uint64_t mask = 0;        ///< its bit in the parent, 0 while unknown
    bool known = false;            ///< `live` is complete
    std::uint64_t live = 0;        ///< children with somebody awake below, by the lines of the CPUs themselves
    std::uint64_t child_bits = 0;  ///< bits of children that are known
    std::uint64_t active = 0;      ///< as its last line printed
    std::uint64_t migrator = 0;
    audit_offer offer{};     ///< its own, in its parent
    audit_place word_at{};   ///< of its last line
    audit_place word_empty{};  ///< of the last one that printed no child active
    audit_place emptied{};   ///< when nobody was awake below any more
    audit_place filled{};    ///< when somebody was again
    audit_place told{};      ///< of the parent's last line about it
    audit_place linked{};    ///< of the line that gave it a parent
    std::vector<audit_index> groups;
    std::vector<audit_index> cpus;
};

/// A CPU, as its lines tell of it.
struct audit_cpu {
    enum class presence : std::uint8_t { unknown, awake, asleep, away };
    cpu_id id = 0;
    presence is = presence::unknown;
    audit_walk walk = audit_walk::none;
    unsigned walks = 0;  ///< how often `walk` changed
    audit_index leaf = no_index;
    std::uint64_t mask = 0;
    unsigned capacity = max_capacity;
    bool due_known = false;
    std::uint64_t due = event::never;  ///< its next expiry while it sleeps
    bool armed_known = false;
    std::uint64_t armed = event::never;  ///< what it has to wake for
    audit_offer offer{};
    audit_place idle_at{};   ///< of the line with which it went idle
    audit_place armed_at{};  ///< of the line that said what is armed
    audit_place walk_at{};   ///< of the line that began `walk`
    audit_place claimed{};   ///< of the line with which somebody began to run its timers
    std::size_t line = 0;    ///< of its last one
    audit_index serving = no_index;   ///< the CPU whose timers it runs, until its next expiry is told
    audit_index served = no_index;    ///< the same, until it does something else
    bool told = false;                ///< and whether it has told of what comes next
    audit_index last_group = no_index;  ///< of its last line of a word
    std::uint64_t last_armed = event::never;  ///< what was armed before
    bool served_since = false;  ///< somebody, since it began to look
    bool connected = false;
};

/// Whether a CPU is in an idle state of the machine, as cpu_idle lines tell. A CPU that sleeps for the tree goes
/// into such states again and again; one that is in such a state need not sleep for the tree.
struct audit_idle {
    enum class where : std::uint8_t { unknown, out, in };
    where is = where::unknown;
    unsigned state = 0;  ///< which one, while in it
};

/// The tree that lines of a trace tell of, as it is at one moment: groups, who is awake below,
/// what each child offers, what each sleeper has armed. Built line by line, from any line on:
/// what was not told yet is not known.
///
/// Who is awake follows from each CPU's own lines, which stand in the order of what it did,
/// so that lines of two CPUs in swapped order do not matter. A word's line also tells of children
/// that have had no line of their own yet.
///
/// Plain value; throws `input_error` (without place) above `most_groups` groups or `most_cpus` CPUs, else only what
/// allocation throws. Memory grows with groups and CPUs only.
class audit_tree {
public:
    static constexpr std::size_t most_groups = 1u << 15;
    static constexpr std::size_t most_cpus = 1u << 16;

    const std::vector<audit_group>& groups() const noexcept { return groups_; }
    const std::vector<audit_cpu>& cpus() const noexcept { return cpus_; }
    /// CPUs that sleep and have a timer; those whose `due` is finite.
    const std::vector<audit_index>& waiting() const noexcept { return waiting_; }

    audit_idle idle_of(cpu_id id) const { return id < idle_.size() ? idle_[id] : audit_idle{}; }

    /// How often all was dropped since a trace began anew: indices of before are void.
    std::size_t generation() const noexcept { return generation_; }

    /// Takes in what one line tells.
    void take(const ftrace_record& record) {
        at_ = {record.line, record.time, record.cpu};
        std::visit([this](const auto& e) { take_event(e); }, record.event);
        if (const audit_index c = find_cpu(record.cpu); c != no_index) cpus_[c].line = record.line;
    }
    /// Lines are missing here: keeps the shape, forgets all else.
    void forget() {
        for (audit_group& g : groups_) {
            g.known = false;
            g.live = 0;
            g.offer = {};
            g.active = g.migrator = 0;
            g.word_at = g.told = g.word_empty = g.emptied = g.filled = {};
        }
        for (audit_cpu& c : cpus_) {
            audit_cpu kept;
            kept.id = c.id;
            kept.leaf = c.leaf;
            kept.mask = c.mask;
            kept.capacity = c.capacity;
            kept.connected = c.connected;
            kept.walks = c.walks + 1;
            c = kept;
        }
        waiting_.clear();
        idle_.clear();
    }

    audit_index find_group(group_id id) const {
        if (last_found_ < groups_.size() && groups_[last_found_].id == id) return last_found_;
        const auto found = group_index_.find(id);
        return found == group_index_.end() ? no_index : (last_found_ = found->second);
    }
    audit_index find_cpu(cpu_id id) const {
        return id < cpu_index_.size() ? cpu_index_[id] : no_index;
    }
    /// Whether somebody below is known to be awake.
    bool is_live(audit_index g) const { return groups_[g].live != 0; }
    /// The earliest that the known offers in a group make; `all` tells whether all are known.
    std::uint64_t earliest(audit_index g, bool& all) const {
        std::uint64_t first = event::never;
        const auto take_in = [&](const audit_offer& o, bool awake) {
            if (awake) return;
            all = all && o.known;
            if (o.known) first = std::min(first, o.due);
        };
        for (const audit_index c : groups_[g].cpus)
            take_in(cpus_[c].offer, (groups_[g].live & cpus_[c].mask) != 0);
        for (const audit_index h : groups_[g].groups) take_in(groups_[h].offer, is_live(h));
        return first;
    }
    /// The child of `g` on the way to a CPU: a group, or `no_index` when `g` is its leaf or not above it.
    audit_index child_towards(audit_index g, audit_index cpu) const {
        audit_index below = no_index;
        for (audit_index at = cpus_[cpu].leaf; at != no_index; at = groups_[at].parent) {
            if (at == g) return below;
            below = at;
        }
        return no_index;
    }
    audit_index root_of(audit_index g) const {
        for (std::size_t steps = 0; groups_[g].parent != no_index && steps < longest_way; ++steps)
            g = groups_[g].parent;
        return g;
    }
    static constexpr std::size_t longest_way = 64;
    [[noreturn]] static void refuse_cpu() {
        throw input_error("another CPU", "at most " + std::to_string(most_cpus) + " CPUs");
    }

private:
    template <class Other>
    void take_event(const Other&) {}
    void take_event(const event::lost&) { forget(); }
    void take_event(const event::other& other) {
        if (other.name != "cpu_idle") return;
        const auto line = detail::parse_cpu_idle(other.text);
        if (!line) return;
        if (line->cpu >= idle_.size()) idle_.resize(line->cpu + std::size_t{1});
        idle_[line->cpu] = {line->state ? audit_idle::where::in : audit_idle::where::out, line->state.value_or(0)};
    }

    // The shape.
    void take_event(const event::group_set& made) {
        const audit_index old = find_group(made.group);
        // The same name again is another boot, or another tree.
        if (old != no_index && groups_[old].made) drop_tree();
        audit_group& g = groups_[group_of(made.group)];
        g.lvl = made.lvl;
        g.numa = made.numa;
        g.made = g.known = g.parent_known = true;
        begin(cpu_of(at_.on), audit_walk::linking);
    }
    void take_event(const event::connect_child_parent& link) {
        const audit_index child = group_of(link.group), parent = group_of(link.parent);
        groups_[parent].lvl = link.lvl;
        groups_[parent].numa = link.numa;
        set_parent(child, parent);
        groups_[child].linked = at_;
        learn_mask(child, link.groupmask);
        begin(cpu_of(at_.on), audit_walk::linking);
    }
    void take_event(const event::connect_cpu_parent& link) {
        const audit_index c = cpu_of(link.cpu);
        set_leaf(c, group_of(link.parent));
        cpus_[c].mask = link.groupmask;
        cpus_[c].capacity = link.capacity;
        cpus_[c].connected = true;
        audit_group& leaf = groups_[cpus_[c].leaf];
        leaf.child_bits |= link.groupmask;
        if (cpus_[c].is == audit_cpu::presence::unknown) cpus_[c].is = audit_cpu::presence::away;
        cpus_[c].armed_known = cpus_[c].due_known = true;
        cpus_[c].offer.known = true;
        begin(cpu_of(at_.on), audit_walk::linking);
    }

    // Words.
    void take_event(const event::group_set_cpu_active& word) { take_word(word, true); }
    void take_event(const event::group_set_cpu_inactive& word) { take_word(word, false); }
    void take_word(const event::group_word& word, bool woke) {
        const audit_index printer = cpu_of(at_.on);
        const audit_index gi = group_of(word.group);
        learn_group(gi, word);
        if (word.lvl == 0) {
            set_leaf(printer, gi);
            cpus_[printer].mask = word.childmask;
            groups_[gi].child_bits |= word.childmask;
        } else if (const audit_index below = cpus_[printer].last_group;
                   below != no_index && groups_[below].parent == gi) {
            learn_mask(below, word.childmask);
        }
        if (word.lvl > 0)
            for (const audit_index h : groups_[gi].groups)
                if (groups_[h].mask == word.childmask) groups_[h].told = at_;
        audit_group& g = groups_[gi];
        // Bits of children that never spoke are as printed; those of others by their own lines.
        std::uint64_t told = (word.active & ~g.child_bits) | (g.live & g.child_bits);
        if (word.lvl == 0) told = woke ? told | word.childmask : told & ~word.childmask;
        if (!g.known) told |= word.active & unheard(gi);
        g.known = true;
        g.active = word.active;
        g.migrator = word.migrator;
        g.word_at = at_;
        if (word.active == 0) g.word_empty = at_;
        if (told != g.live) set_live(gi, told);

        audit_cpu& p = cpus_[printer];
        if (woke) {
            if (word.lvl == 0) set_presence(printer, audit_cpu::presence::awake);
            const bool goes_on = word.active == word.childmask && word.migrator == word.childmask;
            if (p.walk == audit_walk::linking || p.walk == audit_walk::waking)
                if (!goes_on || word.parent == no_group) end(printer);
        } else if (word.lvl == 0 && p.walk != audit_walk::sleeping) {
            begin(printer, audit_walk::sleeping);
        }
        cpus_[printer].last_group = gi;
    }
    /// Bits of children known by name that have not told whether they are awake.
    std::uint64_t unheard(audit_index gi) const {
        std::uint64_t bits = 0;
        for (const audit_index c : groups_[gi].cpus)
            if (cpus_[c].is == audit_cpu::presence::unknown) bits |= cpus_[c].mask;
        for (const audit_index h : groups_[gi].groups)
            if (!groups_[h].known) bits |= groups_[h].mask;
        return bits;
    }

    // CPUs.
    void take_event(const event::cpu_active& e) {
        const audit_index c = told_of(e.cpu, e.parent);
        audit_cpu& cpu = cpus_[c];
        cpu.last_armed = cpu.armed_known ? cpu.armed : e.wakeup;
        cpu.armed_known = cpu.due_known = true;
        cpu.armed = cpu.due = event::never;
        cpu.armed_at = at_;
        set_presence(c, audit_cpu::presence::awake);
        begin(c, audit_walk::waking);
    }
    void take_event(const event::cpu_available& e) { begin(told_of(e.cpu, e.parent), audit_walk::waking); }
    void take_event(const event::cpu_idle& e) {
        const audit_index c = told_of(e.cpu, e.parent);
        cpus_[c].idle_at = at_;
        set_armed(c, e.wakeup);
        set_due_behind_walk(c, e.nextevt);
        set_presence(c, audit_cpu::presence::asleep);
        end(c);
    }
    void take_event(const event::cpu_unavailable& e) {
        const audit_index c = told_of(e.cpu, e.parent);
        cpus_[c].idle_at = at_;
        set_armed(c, event::never);
        cpus_[c].last_armed = e.wakeup;
        cpus_[c].offer.due = event::never;
        set_presence(c, audit_cpu::presence::away);
        end(c);
    }
    void take_event(const event::cpu_new_timer& e) {
        begin(told_of(e.cpu, e.parent), audit_walk::telling);
    }
    void take_event(const event::cpu_new_timer_idle& e) {
        const audit_index c = told_of(e.cpu, e.parent);
        const bool is_news = cpus_[c].walk == audit_walk::telling;
        if (cpus_[c].is == audit_cpu::presence::unknown) set_presence(c, audit_cpu::presence::asleep);
        set_armed(c, e.wakeup);
        // What is not told is none, or was told before, or is another's to tell.
        if (is_news || e.nextevt == event::never) set_due_behind_walk(c, e.nextevt);
        end(c);
    }
    void take_event(const event::update_events& e) {
        const audit_index printer = cpu_of(at_.on);
        const audit_index gi = group_of(e.group);
        groups_[gi].lvl = e.group_lvl;
        audit_cpu& p = cpus_[printer];
        audit_offer offer{true, e.group_active == 0, p.walk, e.nextevt, e.child_evtcpu, at_};
        p.told = true;
        if (e.child != no_group) {
            const audit_index child = group_of(e.child);
            set_parent(child, gi);
            replace(groups_[child].offer, offer, p.line);
            p.serving = no_index;
            return;
        }
        const bool for_another = p.serving != no_index && cpus_[p.serving].leaf == gi;
        const audit_index c = for_another ? p.serving : printer;
        p.serving = no_index;
        if (cpus_[c].leaf == no_index) set_leaf(c, gi);
        if (cpus_[c].leaf != gi) return;
        offer.owner = cpus_[c].id;
        replace(cpus_[c].offer, offer, p.line);
        if (for_another) {
            if (!cpus_[c].offer.known)
                forget_due(c);
            else if (cpus_[c].is != audit_cpu::presence::awake && !told_since_claimed(c, e.nextevt))
                set_due(c, e.nextevt);
        } else if (p.is == audit_cpu::presence::awake && p.walk != audit_walk::sleeping) {
            // The library publishes first.
            begin(printer, audit_walk::sleeping);
        }
    }
    void take_event(const event::handle_remote& e) {
        const audit_index c = cpu_of(at_.on);
        groups_[group_of(e.group)].lvl = e.lvl;
        cpus_[c].serving = cpus_[c].served = no_index;
        if (cpus_[c].walk != audit_walk::looking || e.lvl == 0) {
            begin(c, audit_walk::looking);
            cpus_[c].served_since = false;
        }
        if (cpus_[c].is == audit_cpu::presence::asleep && cpus_[c].armed_known) {
            cpus_[c].last_armed = cpus_[c].armed;
            cpus_[c].armed_known = false;
        }
    }
    void take_event(const event::handle_remote_cpu& e) {
        const audit_index printer = cpu_of(at_.on);
        const audit_index c = told_of(e.cpu, e.parent);
        if (cpus_[printer].walk != audit_walk::looking) begin(printer, audit_walk::looking);
        cpus_[printer].serving = cpus_[printer].served = c;
        cpus_[printer].told = false;
        cpus_[printer].served_since = true;
        forget_due(c);
        cpus_[c].claimed = at_;
        // Taken out of the queues, and what comes in its place stands in no line below an idle root.
        cpus_[c].offer.known = false;
        audit_index g = cpus_[c].leaf;
        for (std::size_t steps = 0; g != no_index && steps < longest_way; ++steps) {
            if (is_live(g)) break;
            groups_[g].offer.known = false;
            g = groups_[g].parent;
        }
    }

    /// Where another CPU's line came between the printer's last one and this, either may have been written first.
    static void replace(audit_offer& old, const audit_offer& fresh, std::size_t printer_line) {
        const bool unclear = old.at.line > printer_line && old.at.on != fresh.at.on &&
                             (!old.known || old.due != fresh.due || old.owner != fresh.owner);
        old = fresh;
        old.known = !unclear;
    }
    audit_index group_of(group_id id) {
        if (const audit_index known = find_group(id); known != no_index) return known;
        if (groups_.size() >= most_groups)
            throw input_error("another group", "at most " + std::to_string(most_groups) + " groups");
        const auto index = static_cast<audit_index>(groups_.size());
        groups_.emplace_back().id = id;
        group_index_.emplace(id, index);
        return last_found_ = index;
    }
    audit_index cpu_of(cpu_id id) {
        if (id >= cpu_index_.size()) cpu_index_.resize(id + std::size_t{1}, no_index);
        if (cpu_index_[id] == no_index) {
            if (cpus_.size() >= most_cpus) refuse_cpu();
            cpu_index_[id] = static_cast<audit_index>(cpus_.size());
            cpus_.emplace_back().id = id;
        }
        return cpu_index_[id];
    }
    audit_index told_of(cpu_id id, group_id leaf) {
        const audit_index c = cpu_of(id);
        if (leaf != no_group) set_leaf(c, group_of(leaf));
        return c;
    }
    void set_leaf(audit_index c, audit_index leaf) {
        if (cpus_[c].leaf == leaf) return;
        if (cpus_[c].leaf != no_index) std::erase(groups_[cpus_[c].leaf].cpus, c);
        cpus_[c].leaf = leaf;
        cpus_[c].mask = 0;
        cpus_[c].offer = {};
        groups_[leaf].cpus.push_back(c);
    }
    void set_parent(audit_index child, audit_index parent) {
        audit_group& g = groups_[child];
        if (g.parent == parent && g.parent_known) return;
        if (parent != no_index && (parent == child || is_above(child, parent))) return;
        if (g.parent != no_index) std::erase(groups_[g.parent].groups, child);
        g.parent = parent;
        g.parent_known = true;
        g.mask = 0;
        g.offer = {};
        if (parent != no_index) groups_[parent].groups.push_back(child);
    }
    bool is_above(audit_index above, audit_index g) const {
        for (std::size_t steps = 0; g != no_index && steps < longest_way; ++steps, g = groups_[g].parent)
            if (g == above) return true;
        return g != no_index;
    }
    void learn_mask(audit_index child, std::uint64_t mask) {
        audit_group& g = groups_[child];
        if (g.mask == mask || g.parent == no_index) return;
        g.mask = mask;
        audit_group& parent = groups_[g.parent];
        parent.child_bits |= mask;
        if (g.known && ((parent.live & mask) != 0) != (g.live != 0))
            set_live(g.parent, g.live != 0 ? parent.live | mask : parent.live & ~mask);
    }
    void learn_group(audit_index gi, const event::group_word& word) {
        audit_group& g = groups_[gi];
        if (g.id == no_group) return;
        g.lvl = word.lvl;
        g.numa = word.numa;
        if (word.parent != no_group)
            set_parent(gi, group_of(word.parent));
        else if (!g.parent_known)
            g.parent_known = true;
    }
    void set_live(audit_index gi, std::uint64_t live) {
        for (std::size_t steps = 0; steps < longest_way; ++steps) {
            audit_group& g = groups_[gi];
            const bool was = g.live != 0;
            g.live = live;
            if (was == (live != 0)) return;
            (was ? g.emptied : g.filled) = at_;
            if (g.parent == no_index || g.mask == 0) return;
            const std::uint64_t above = groups_[g.parent].live;
            live = live != 0 ? above | g.mask : above & ~g.mask;
            gi = g.parent;
        }
    }

    void begin(audit_index c, audit_walk what) {
        cpus_[c].walk = what;
        ++cpus_[c].walks;
        cpus_[c].walk_at = at_;
        cpus_[c].serving = cpus_[c].served = no_index;
    }
    void end(audit_index c) {
        cpus_[c].walk = audit_walk::none;
        ++cpus_[c].walks;
        cpus_[c].serving = cpus_[c].served = no_index;
    }
    void set_armed(audit_index c, std::uint64_t armed) {
        if (cpus_[c].armed_known) cpus_[c].last_armed = cpus_[c].armed;
        cpus_[c].armed_known = true;
        cpus_[c].armed = armed;
        cpus_[c].armed_at = at_;
    }
    void set_due(audit_index c, std::uint64_t due) {
        cpus_[c].due_known = true;
        cpus_[c].due = due;
        sync_waiting(c);
    }
    /// What a CPU said when it was through: its timers may have been run while it was still on its way.
    void set_due_behind_walk(audit_index c, std::uint64_t due) {
        const audit_cpu& cpu = cpus_[c];
        const bool by_other = cpu.offer.at.on != cpu.id && cpu.offer.at.line > cpu.walk_at.line;
        if (cpu.walk == audit_walk::none || (!by_other && cpu.claimed.line <= cpu.walk_at.line))
            set_due(c, due);
        else if (by_other && cpu.offer.known && cpu.offer.at.line > cpu.claimed.line)
            set_due(c, cpu.offer.due);
        else
            forget_due(c);
    }
    /// Whether a sleeper whose timers are being run has told of an earlier one itself. It leaves that to whoever runs them.
    bool told_since_claimed(audit_index c, std::uint64_t due) const {
        const audit_cpu& cpu = cpus_[c];
        return cpu.is == audit_cpu::presence::asleep && cpu.walk == audit_walk::none && cpu.due_known && cpu.due < due;
    }
    void forget_due(audit_index c) {
        cpus_[c].due_known = false;
        sync_waiting(c);
    }
    void set_presence(audit_index c, audit_cpu::presence is) {
        cpus_[c].is = is;
        sync_waiting(c);
    }
    void sync_waiting(audit_index c) {
        const audit_cpu& cpu = cpus_[c];
        const bool waits =
            cpu.is == audit_cpu::presence::asleep && cpu.due_known && cpu.due != event::never;
        const auto found = std::find(waiting_.begin(), waiting_.end(), c);
        if (waits && found == waiting_.end()) waiting_.push_back(c);
        if (!waits && found != waiting_.end()) {
            *found = waiting_.back();
            waiting_.pop_back();
        }
    }
    void drop_tree() {
        ++generation_;
        groups_.clear();
        group_index_.clear();
        cpus_.clear();
        cpu_index_.clear();
        waiting_.clear();
        idle_.clear();
        last_found_ = no_index;
    }

    audit_place at_{};
    std::size_t generation_ = 0;
    std::vector<audit_group> groups_;
    std::vector<audit_cpu> cpus_;
    std::vector<audit_index> cpu_index_;
    std::vector<audit_index> waiting_;
    std::vector<audit_idle> idle_;
    std::unordered_map<group_id, audit_index> group_index_;
    mutable audit_index last_found_ = no_index;
};

}  // namespace tmigr

#endif
