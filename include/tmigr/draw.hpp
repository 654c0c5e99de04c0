// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DRAW_HPP
#define TMIGR_DRAW_HPP

#include <tmigr/cpu_seat.hpp>
#include <tmigr/detail/hex.hpp>
#include <tmigr/group.hpp>
#include <tmigr/shape.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tmigr {

namespace detail {

/// What a family is called: its number is that of a node unless families were assigned.
inline const char* family_word(const tree_shape& shape) {
    for (const shape_cpu& cpu : shape.cpus)
        if (cpu.info.family != cpu.info.node) return "family ";
    return "node ";
}

/// The children of every group of a hierarchy, by index, in the order of their masks.
struct drawn_children {
    std::vector<std::vector<std::size_t>> groups;
    std::vector<std::vector<std::size_t>> cpus;
    const char* family_word;

    explicit drawn_children(const tree_shape& shape)
        : groups(shape.groups.size()), cpus(shape.groups.size()), family_word(detail::family_word(shape)) {
        const auto by_mask = [](auto& list, const auto& mask_of, std::size_t added) {
            std::size_t at = list.size();
            list.push_back(added);
            for (; at > 0 && mask_of(list[at - 1]) > mask_of(list[at]); --at) std::swap(list[at - 1], list[at]);
        };
        for (std::size_t g = 0; g < shape.groups.size(); ++g)
            if (shape.groups[g].parent != tree_shape::none)
                by_mask(groups[shape.groups[g].parent], [&](std::size_t i) { return shape.groups[i].groupmask; }, g);
        for (std::size_t c = 0; c < shape.cpus.size(); ++c)
            by_mask(cpus[shape.cpus[c].group], [&](std::size_t i) { return shape.cpus[i].childmask; }, c);
    }
};

template <class Group>
std::string describe(const Group& g, typename Group::state word, const char* family_word) {
    std::ostringstream text;
    text << "group " << g.id() << "  level " << g.level();
    if (g.family() >= 0) text << "  " << family_word << g.family();
    if (g.parent() != nullptr) text << "  mask " << "0x" << hex(g.groupmask());
    text << "  active " << "0x" << hex(word.active()) << "  migrator "
         << (word.has_migrator() ? "0x" + hex(word.migrator()) : std::string("none"));
    if (g.how() == pick::lowest) text << "  prefers low";
    return text.str();
}

template <class Hierarchy>
void draw_group(std::ostream& out, const Hierarchy& tree, const drawn_children& children, std::size_t index,
                const std::string& indent) {
    const auto& g = tree.groups()[index];
    const auto word = g.current();
    out << describe(g, word, children.family_word);
    if (g.level() == 0) {
        out << "  cpus";
        for (std::size_t c : children.cpus[index]) {
            const auto mask = static_cast<typename Hierarchy::mask_type>(tree.shape().cpus[c].childmask);
            out << ' ' << (word.migrator() == mask && word.has_migrator() ? ">" : word.is_active(mask) ? "*" : "")
                << tree.shape().cpus[c].info.id;
        }
    }
    out << '\n';
    const auto& below = children.groups[index];
    for (std::size_t i = 0; i < below.size(); ++i) {
        const bool last = i + 1 == below.size();
        out << indent << (last ? "`- " : "|- ");
        draw_group(out, tree, children, below[i], indent + (last ? "   " : "|  "));
    }
}

}  // namespace detail

/// Writes the tree as text, one line a group, children below their parent in the order
/// of their masks. On the lines of level 0 the CPUs follow, in the order of their masks
/// 0x1, 0x2, 0x4 ..., with `>` before the group's migrator and `*` before others that are
/// awake. Groups that prefer low say so. Separate trees come one after the other. Reads each word
/// once; with walks in flight the picture may be of no one moment.
template <class Hierarchy>
void draw_text(std::ostream& out, const Hierarchy& tree) {
    if (tree.root() == nullptr) {
        out << "(no CPU)\n";
        return;
    }
    const detail::drawn_children children(tree.shape());
    for (const std::size_t root : tree.shape().roots)
        if (root != tree_shape::none) detail::draw_group(out, tree, children, root, "");
}

/// Writes the tree for Graphviz's `dot`: groups as boxes, CPUs as ellipses, what is awake
/// filled, edges labelled with masks, those to the groups' migrators bold. Reads each word
/// once; with walks in flight the picture may be of no one moment.
template <class Hierarchy>
void draw_dot(std::ostream& out, const Hierarchy& tree) {
    const tree_shape& shape = tree.shape();
    const char* family = detail::family_word(shape);
    std::vector<typename Hierarchy::state> words;
    for (const auto& g : tree.groups()) words.push_back(g.current());
    const auto edge = [&](std::size_t parent, std::uint64_t mask) {
        const bool chosen = words[parent].has_migrator() && words[parent].migrator() == mask;
        out << " [label=\"" << "0x" << detail::hex(mask) << '"' << (chosen ? ", penwidth=2.5" : "") << "];\n";
    };
    const auto filled = [](bool awake) { return awake ? ", style=filled, fillcolor=\"#cfe8cf\"" : ""; };

    out << "digraph tmigr {\n  rankdir=TB;\n  node [fontname=\"Helvetica\", fontsize=10];\n"
           "  edge [fontname=\"Helvetica\", fontsize=9, arrowhead=none];\n";
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto& g = tree.groups()[i];
        out << "  g" << g.id() << " [shape=box, label=\"group " << g.id() << "\\nlevel " << g.level();
        if (g.family() >= 0) out << ", " << family << g.family();
        out << "\\nactive " << "0x" << detail::hex(words[i].active()) << "\\nmigrator "
            << (words[i].has_migrator() ? "0x" + detail::hex(words[i].migrator()) : std::string("none"))
            << (g.how() == pick::lowest ? "\\nprefers low" : "") << '"'
            << filled(words[i].is_active()) << "];\n";
        if (shape.groups[i].parent == tree_shape::none) continue;
        out << "  g" << shape.groups[i].parent + 1 << " -> g" << g.id();
        edge(shape.groups[i].parent, g.groupmask());
    }
    for (const shape_cpu& cpu : shape.cpus) {
        out << "  c" << cpu.info.id << " [label=\"CPU " << cpu.info.id << '"'
            << filled((words[cpu.group].active() & cpu.childmask) != 0) << "];\n  g" << cpu.group + 1 << " -> c"
            << cpu.info.id;
        edge(cpu.group, cpu.childmask);
    }
    out << "}\n";
}

/// What `draw_words` shows besides who is awake and in charge.
struct words_shown {
    bool seq = true;     ///< seq, where the word has one
    bool slots = true;   ///< with expiries: what each child offers
    bool tags = false;   ///< and the tags of the slots
    bool masks = false;  ///< the groups' bits in their parents
};

/// A line of `draw_words`: the group that it is of, and its text.
struct drawn_words {
    group_id group;
    std::string text;
};

namespace detail {

/// A line before it is aligned.
struct words_row {
    group_id group;
    std::string name;
    std::vector<std::string> children;
    std::string rest;
};

template <class Name>
struct words_drawer {
    const Name& name;
    words_shown shown;
    std::vector<words_row> rows;

    template <class Config>
    void draw(const group<Config>& g, const std::string& branch, const std::string& indent) {
        using state = typename Config::state;
        using mask_type = typename state::mask_type;
        const state word = g.current();
        words_row row{g.id(), branch + name(g.id()), {}, ""};
        bool known = !word.has_migrator();
        std::vector<const group<Config>*> below;
        for (unsigned place = 0; place < state::children; ++place) {
            auto mask = static_cast<mask_type>(mask_type{1} << place);
            std::string what;
            if (g.level() == 0) {
                const auto* const seat = g.down().cpu_at(place);
                if (seat == nullptr) continue;
                what = std::to_string(seat->id());
            } else {
                const auto* const child = g.down().group_at(place);
                if (child == nullptr || child->parent() != &g) continue;
                below.push_back(child);
                mask = child->groupmask();
                what = name(child->id());
            }
            const bool chosen = word.has_migrator() && word.migrator() == mask && mask != 0;
            known = known || chosen;
            what.insert(0, chosen ? ">" : word.is_active(mask) ? "*" : " ");
            if constexpr (has_expiries<Config>) {
                if (shown.slots) {
                    // (Q2): what is drawn may be out of date.
                    const auto slot = g.table().slots()[place].load(Config::orders::slot_query);
                    what += ':' + (slot.due() == never ? std::string("-") : std::to_string(slot.due()));
                    if (shown.tags) what += '/' + std::to_string(slot.tag());
                }
            }
            row.children.push_back(std::move(what));
        }

        if (shown.seq && state::seq_bits > 0) row.rest += "  seq " + std::to_string(word.seq());
        if (shown.masks && g.groupmask() != 0) row.rest += "  mask 0x" + hex(g.groupmask());
        if (!known) row.rest += "  migrator 0x" + hex(word.migrator());
        rows.push_back(std::move(row));
        for (std::size_t i = 0; i < below.size(); ++i) {
            const bool last = i + 1 == below.size();
            draw(*below[i], indent + (last ? "`- " : "|- "), indent + (last ? "   " : "|  "));
        }
    }
};

}  // namespace detail

/// Draws a tree as what is in its words, one line a group, children below their parent: the
/// group's name, then each child, `>` before the migrator and `*` before others that are
/// awake, `:` and the expiry that the child offers behind it (`-` for never), then seq. For
/// logs and for tests that follow a tree from step to step:
///
///     R     >A:-  *B:-  seq 3
///     |- A   0:5  >1:-  seq 4
///     `- B  >2:-        seq 1
///
/// `groups` is a range of a tree's groups, such as `hierarchy::groups()`, and `name(id)` gives
/// what each is called, as text. What is below what follows from the links alone: a group
/// without a parent, linked not yet or never, stands to the left, and so several trees may
/// come behind each other, in the order of `groups`. A migrator that is no child at all is
/// shown as a mask at the end of the line. Reads each word and slot once; with walks in flight
/// the picture may be of no one moment.
template <class Groups, class Name>
std::vector<drawn_words> draw_words(const Groups& groups, const Name& name, words_shown shown = {}) {
    detail::words_drawer<Name> drawer{name, shown, {}};
    for (const auto& g : groups)
        if (g.parent() == nullptr) drawer.draw(g, "", "");

    std::size_t name_width = 0;
    std::vector<std::size_t> widths;
    for (const detail::words_row& row : drawer.rows) {
        name_width = std::max(name_width, row.name.size());
        if (widths.size() < row.children.size()) widths.resize(row.children.size());
        for (std::size_t i = 0; i < row.children.size(); ++i) widths[i] = std::max(widths[i], row.children[i].size());
    }
    std::vector<drawn_words> lines;
    for (const detail::words_row& row : drawer.rows) {
        std::string text = row.name + std::string(name_width - row.name.size(), ' ');
        for (std::size_t i = 0; i < widths.size(); ++i) {
            const std::string cell = i < row.children.size() ? row.children[i] : std::string();
            text += "  " + cell + std::string(widths[i] - cell.size(), ' ');
        }
        text += row.rest;
        text.erase(text.find_last_not_of(' ') + 1);
        lines.push_back({row.group, std::move(text)});
    }
    return lines;
}

}  // namespace tmigr

#endif
