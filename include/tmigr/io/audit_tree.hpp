// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_AUDIT_TREE_HPP
#define TMIGR_IO_AUDIT_TREE_HPP

#include <tmigr/detail/audit_idle.hpp>
#include <tmigr/detail/audit_shape.hpp>
#include <tmigr/io/audit_parts.hpp>
#include <tmigr/io/ftrace.hpp>
#include <tmigr/topology.hpp>
#include <tmigr/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace tmigr {

/// The tree that lines of a trace tell of, as it is at one moment: groups, who is awake below,
/// what each child offers, what each sleeper has armed. Built line by line, from any line on:
/// what was not told yet is not known.
///
/// Who is awake follows from each CPU's own lines, which stand in the order of what it did,
/// so that lines of two CPUs in swapped order do not matter. A word's line also tells of children
/// that have had no line of their own yet.
///
/// Plain value; throws `input_error` (without place) above `most_groups` groups or `most_cpus` CPUs, else
/// only what allocation throws. Memory grows with groups and CPUs only.
class audit_tree : public detail::audit_shape {
public:
    audit_idle idle_of(cpu_id id) const { return id < idle_.size() ? idle_[id] : audit_idle{}; }
    /// Takes in what one line tells.
    void take(const ftrace_record& record) {
        at_ = {record.line, record.time, record.cpu};
        std::visit([this](const auto& e) { take_event(e); }, record.event);
        if (const audit_index c = find_cpu(record.cpu); c != no_index) cpus_[c].line = record.line;
    }
    /// Lines are missing here: keeps the shape, forgets all else.
    void forget() {
        forgotten_ = at_.line;
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

    /// Whether what a group's parent says of it was said, or begun, where nothing is missing since: before
    /// that somebody may have changed the group, and be on the way to the parent still.
    bool parent_was_told(audit_index g) const {
        return groups_[g].told.line != 0 || groups_[g].linked.line > forgotten_;
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
        idle_[line->cpu] = {line->state ? audit_idle::where::in : audit_idle::where::out,
                            line->state.value_or(0)};
    }

    // The shape.
    void take_event(const event::group_set& made) {
        const audit_index old = find_group(made.group);
        // The same name again is another boot, or another tree.
        if (old != no_index && groups_[old].made) {
            drop_tree();
            idle_.clear();
        }
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
        // A parent heard of it before it spoke itself, and may have taken its bit as printed.
        const bool first = !g.known;
        if (first) told |= word.active & unheard(gi);
        g.known = true;
        g.active = word.active;
        g.migrator = word.migrator;
        g.word_at = at_;
        if (word.active == 0) g.word_empty = at_;
        if (first || told != g.live) set_live(gi, told);

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
    void take_event(const event::cpu_new_timer& e) { begin(told_of(e.cpu, e.parent), audit_walk::telling); }
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

    /// Where another CPU's line came between the printer's last one and this, either may have been written
    /// first.
    static void replace(audit_offer& old, const audit_offer& fresh, std::size_t printer_line) {
        const bool unclear = old.at.line > printer_line && old.at.on != fresh.at.on &&
                             (!old.known || old.due != fresh.due || old.owner != fresh.owner);
        old = fresh;
        old.known = !unclear;
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
    /// Whether a sleeper whose timers are being run has told of an earlier one itself. It leaves that to
    /// whoever runs them.
    bool told_since_claimed(audit_index c, std::uint64_t due) const {
        const audit_cpu& cpu = cpus_[c];
        return cpu.is == audit_cpu::presence::asleep && cpu.walk == audit_walk::none && cpu.due_known &&
               cpu.due < due;
    }

    std::vector<audit_idle> idle_;
    std::size_t forgotten_ = 0;  ///< the last line before what was forgotten last
};

}  // namespace tmigr

#endif
