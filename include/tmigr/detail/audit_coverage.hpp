// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_AUDIT_COVERAGE_HPP
#define TMIGR_DETAIL_AUDIT_COVERAGE_HPP

#include <tmigr/io/audit_finding.hpp>
#include <tmigr/io/audit_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace tmigr::detail {

/// Whether the next expiry of a sleeper is seen to: invariants 4 (covered) and 5 (no-late) of
/// invariants.hpp for one CPU, as far as a trace tells.
struct audit_coverage {
    enum class verdict : std::uint8_t { covered, unknown, uncovered };
    verdict is = verdict::unknown;
    audit_index top = no_index;  ///< the highest group in whose queue the expiry is
    bool late_above = false;     ///< the parent of `top` holds a later offer of it
    bool late_in_leaf = false;   ///< the leaf holds a later offer of the CPU itself
    std::size_t silent = 0;      ///< CPUs below `top` that had no line yet
};

/// The earliest that sleepers below a group have armed.
struct audit_armed {
    std::uint64_t first = event::never;
    bool all = true;
    std::size_t silent = 0;

    void add(const audit_tree& tree, audit_index g, std::size_t depth = 0) {
        if (depth >= audit_tree::longest_way) return;
        for (const audit_index c : tree.groups()[g].cpus) {
            const audit_cpu& cpu = tree.cpus()[c];
            if (cpu.is == audit_cpu::presence::unknown)
                ++silent;
            else if (cpu.is == audit_cpu::presence::asleep && cpu.armed_known)
                first = std::min(first, cpu.armed);
            else if (cpu.is == audit_cpu::presence::asleep)
                all = false;
        }
        for (const audit_index h : tree.groups()[g].groups) add(tree, h, depth + 1);
    }
};

/// The same for the group that was asked for last, while the tree stays as it is.
struct audit_armed_memo {
    audit_index of = no_index;
    audit_armed armed;

    const audit_armed& below(const audit_tree& tree, audit_index g) {
        if (g == of) return armed;
        of = g;
        armed = {};
        armed.add(tree, g);
        return armed;
    }
};

inline audit_coverage coverage_of(const audit_tree& tree, audit_index c, audit_armed_memo& memo) {
    using verdict = audit_coverage::verdict;
    const audit_cpu& cpu = tree.cpus()[c];
    audit_coverage found;
    if (cpu.leaf == no_index) return found;
    if (cpu.offer.known && cpu.offer.due > cpu.due) {
        // What the CPU looks at in its own group is its own; nobody else would find the expiry.
        found.top = cpu.leaf;
        found.late_in_leaf = true;
        if (!cpu.armed_known) return found;
        found.is = cpu.armed <= cpu.due ? verdict::covered : verdict::uncovered;
        return found;
    }
    audit_index g = cpu.leaf;
    for (std::size_t steps = 0;; ++steps) {
        const audit_group& group = tree.groups()[g];
        found.top = g;
        if (!group.known || steps >= audit_tree::longest_way) return found;
        if (group.live != 0) {
            found.is = verdict::covered;
            return found;
        }
        if (!group.parent_known) return found;
        if (group.parent == no_index) break;
        if (!group.offer.known) return found;
        if (group.offer.due > cpu.due) {
            found.late_above = true;
            break;
        }
        g = group.parent;
    }
    // Who armed before the trace began is not known; whoever woke since has told.
    if (tree.groups()[g].emptied.line == 0) return found;
    const audit_armed& armed = memo.below(tree, g);
    found.silent = armed.silent;
    found.is = armed.first <= cpu.due ? verdict::covered : !armed.all ? verdict::unknown : verdict::uncovered;
    return found;
}

/// What somebody on the way to sleep put into an idle root after another one had left it as the last.
inline const audit_offer* published_behind(const audit_tree& tree, audit_index c, audit_index root) {
    const audit_group& top = tree.groups()[root];
    const auto behind = [&top](const audit_offer& o) {
        return o.known && o.published_idle && o.during == audit_walk::sleeping &&
               o.at.line > top.word_empty.line && o.at.on != top.word_empty.on;
    };
    const audit_index below = tree.child_towards(root, c);
    const audit_offer& into_top = below == no_index ? tree.cpus()[c].offer : tree.groups()[below].offer;
    return behind(into_top) ? &into_top : nullptr;
}

/// Whether the last to tell a group's parent of it was who connected them.
inline bool told_by_grower(const audit_group& g) {
    return g.linked.line != 0 && g.told.line > g.linked.line && g.told.on == g.linked.on;
}
/// A child that is active in the last word of a root, though nobody below is awake.
inline const audit_group* trusted_wrongly(const audit_tree& tree, audit_index root) {
    for (const audit_index h : tree.groups()[root].groups)
        if ((tree.groups()[root].active & tree.groups()[h].mask) != 0 && !tree.is_live(h))
            return &tree.groups()[h];
    return nullptr;
}

/// Names what made an expiry uncovered, and the lines that show it.
inline void explain_uncovered(const audit_tree& tree, audit_index c, const audit_coverage& found,
                              audit_finding& f) {
    const audit_cpu& cpu = tree.cpus()[c];
    const audit_group& top = tree.groups()[found.top];
    const auto show = [&f](const audit_place& at, std::string what) {
        if (at.line != 0) f.evidence.push_back({at, std::move(what)});
    };
    f.group = top.id;
    f.silent = found.silent;
    if (found.late_in_leaf) {
        if (cpu.offer.at.on != cpu.id) f.fault = "K07";
        f.cause = cpu.offer.at.on != cpu.id
                      ? "who ran the CPU's timers wrote a later expiry over the CPU's own"
                      : "the CPU's expiry was not put into its group";
        show(cpu.claimed, "somebody begins to run the CPU's timers");
        show(cpu.offer.at, "the group holds a later expiry of the CPU than it has");
    } else if (found.late_above) {
        f.parent = tree.groups()[top.parent].id;
        const audit_index below = tree.child_towards(found.top, c);
        const audit_offer& published = below == no_index ? cpu.offer : tree.groups()[below].offer;
        show(top.word_empty, "the last one awake leaves the group");
        show(top.offer.at, "what it tells the group above: nothing as early as this expiry");
        show(published.at, published.published_idle ? "the expiry is put into the group, which is idle by now"
                                                    : "the expiry is put into the group");
        if (published.at.line > top.offer.at.line && published.published_idle) {
            switch (published.during) {
                case audit_walk::sleeping:
                    f.fault = "K71";
                    f.cause =
                        "an expiry was published after its CPU had left the group, and behind the back of "
                        "the "
                        "last one to leave";
                    break;
                case audit_walk::looking:
                    f.fault = "K06";
                    f.cause = "timers of a sleeper were run, and what comes next was not told above";
                    break;
                default: f.fault = "K05"; f.cause = "a sleeper's new timer was not told above an idle group";
            }
        } else if (top.offer.during == audit_walk::looking) {
            f.fault = "K03";
            f.cause = "after timers of a sleeper were run, its group's expiry was not brought up to date";
        } else {
            f.cause = "the group above holds a later expiry than the group";
        }
    } else {
        const audit_index leaver = tree.find_cpu(top.word_empty.on);
        show(cpu.offer.at, "the expiry is put into the group");
        show(top.word_empty, "the last one awake in the whole tree leaves it");
        const bool last_left = leaver != no_index && tree.cpus()[leaver].is == audit_cpu::presence::away &&
                               tree.cpus()[leaver].idle_at.line >= top.word_empty.line;
        const audit_group* const trusted = trusted_wrongly(tree, found.top);
        if (const audit_offer* late = published_behind(tree, c, found.top)) {
            f.fault = "K71";
            f.cause =
                "an expiry was published after its CPU had left the group, and behind the back of the last "
                "one to "
                "leave";
            show(late->at, "the group's expiry is put into the one above, which is idle by now");
        } else if (trusted != nullptr) {
            f.fault = told_by_grower(*trusted) ? "K17" : "K04";
            f.cause = "everybody trusts a group that is active in the word above, and nobody in it is awake";
            show(trusted->told, "the word above says that the group is active");
            show(trusted->emptied, "but nobody in it is awake");
        } else if (last_left) {
            f.fault = "K25";
            f.cause = "the last one awake took no part any more, and nobody took over";
            show(tree.cpus()[leaver].idle_at, "it takes part no longer");
        } else if (cpu.offer.at.line > top.emptied.line && cpu.offer.during == audit_walk::telling) {
            f.fault = "K05";
            f.cause = "a sleeper got a new timer while all were idle, and did not arm for it";
        } else {
            f.fault = "K02";
            f.cause = "the last one awake went to sleep and did not arm for the others";
            if (leaver != no_index) show(tree.cpus()[leaver].idle_at, "and arms too late, or not at all");
        }
        for (const audit_cpu& other : tree.cpus()) {
            if (other.armed_at.line != f.begin.line || f.begin.line == 0) continue;
            if (other.is != audit_cpu::presence::asleep || other.last_armed > cpu.due || last_left) continue;
            if (other.idle_at.line == f.begin.line) continue;
            f.fault = "K08";
            f.cause = "a sleeper had armed for it, looked for due timers, found none, and forgot";
            show(other.armed_at, "a CPU that had armed for it arms for something later, or for nothing");
        }
    }
    show(cpu.idle_at, "its CPU goes idle and arms for nothing as early");
    std::ranges::stable_sort(f.evidence, {}, [](const audit_evidence& e) { return e.at.line; });
}

}  // namespace tmigr::detail

#endif
