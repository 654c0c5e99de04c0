// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_FRAMES_HPP
#define TMIGR_TESTS_FRAMES_HPP

#include "support/scene.hpp"
#include "support/stepping.hpp"

#include <tmigr/draw.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace tmigr::test {

/// Stops the program when something that a story tells is not so any more.
#define TOLD(...) ::tmigr::test::told((__VA_ARGS__), #__VA_ARGS__, __LINE__)

inline std::string& story_now() {
    static std::string where = "before the first story";
    return where;
}
inline void told(bool so, const char* what, int line) {
    if (so) return;
    std::fflush(stdout);
    std::fprintf(stderr, "tests/docs/frames.cpp:%s %s: not so any more: %s\n",
                 line != 0 ? (std::to_string(line) + ":").c_str() : "", story_now().c_str(), what);
    std::_Exit(1);
}

/// What stands behind a line of a frame: that the line changed since the last frame, or that
/// somebody looked at it, who must not have changed it.
struct mark {
    std::string line;
    std::string text;
    bool changed;
};
inline mark changed(std::string line, std::string text) { return {std::move(line), std::move(text), true}; }
inline mark looked(std::string line, std::string text) { return {std::move(line), std::move(text), false}; }

/// R over A and B, in the order in which the groups are made.
inline std::string small_name(group_id id) { return id == 1 ? "A" : id == 2 ? "B" : "R"; }

/// A story in frames: the tree as the library draws it, and what changed since the last frame
/// marked. That exactly these lines changed is checked, also in frames that are not shown.
class story {
public:
    story(std::string name, words_shown shown = {}) : name_(std::move(name)), shown_(shown) {
        story_now() = "story " + name_;
    }
    const std::string& name() const noexcept { return name_; }

    /// Frames from here on are played and counted, but not shown; or shown again.
    void show(bool yes) { visible_ = yes; }
    /// The number of the next frame.
    void count_from(std::size_t n) { count_ = n - 1, started_ = true; }
    /// So many frames side by side, without numbers.
    void columns(std::size_t n) { columns_ = n; }

    /// The next frame; `behind` is what stands below the tree, such as what a walk holds.
    template <class Scene>
    void frame(const Scene& s, const std::string& caption, const std::vector<mark>& marks = {},
               const std::vector<std::string>& behind = {}) {
        ++count_;
        story_now() = "story " + name_ + ", frame " + std::to_string(count_);
        std::vector<named_line> lines;
        for (auto& line : draw_words(s.tree.groups(), small_name, shown_))
            lines.push_back({small_name(line.group), std::move(line.text)});
        if constexpr (Scene::expiries)
            if (shown_.slots) lines.push_back({"armed", armed(s)});

        std::size_t width = 0;
        for (const named_line& line : lines) width = std::max(width, line.text.size());
        std::vector<std::string> drawn;
        for (const named_line& line : lines) {
            const named_line* const before = of(last_, line.name);
            const bool differs = started_ && (before == nullptr || squeezed(before->text) != squeezed(line.text));
            const auto found =
                std::find_if(marks.begin(), marks.end(), [&](const mark& m) { return m.line == line.name; });
            if (differs != (found != marks.end() && found->changed)) {
                std::string what = line.text + (differs ? "   <-- changed, and not marked" : "   <-- did not change");
                for (const named_line& old : last_) what += "\nbefore: " + old.text;
                told(false, what.c_str(), 0);
            }
            std::string text = line.text;
            if (found != marks.end()) text += std::string(width - text.size(), ' ') + "  <-- " + found->text;
            drawn.push_back(std::move(text));
        }
        for (const mark& m : marks) told(of(lines, m.line) != nullptr, ("a line " + m.line).c_str(), 0);
        if (!behind.empty()) drawn.emplace_back();
        drawn.insert(drawn.end(), behind.begin(), behind.end());
        last_ = std::move(lines);
        started_ = true;
        if (visible_) put(caption, std::move(drawn));
    }
    /// A frame without a tree.
    void plain_frame(const std::string& caption, const std::vector<std::string>& lines) {
        ++count_;
        story_now() = "story " + name_ + ", frame " + std::to_string(count_);
        if (visible_) put(caption, lines);
    }

    std::vector<std::string> lines() const {
        story_now() = "story " + name_;
        std::vector<std::string> all;
        if (columns_ == 1) {
            for (const auto& block : blocks_) {
                if (!all.empty()) all.emplace_back();
                all.insert(all.end(), block.begin(), block.end());
            }
        } else {
            for (std::size_t first = 0; first < blocks_.size(); first += columns_) {
                if (!all.empty()) all.emplace_back();
                beside(all, first);
            }
        }
        for (const std::string& line : all)
            if (line.size() > 100) told(false, ("at most 100 columns: " + line).c_str(), 0);
        return all;
    }

private:
    struct named_line {
        std::string name, text;
    };
    static const named_line* of(const std::vector<named_line>& lines, const std::string& name) {
        for (const named_line& line : lines)
            if (line.name == name) return &line;
        return nullptr;
    }
    static std::string squeezed(const std::string& text) {
        std::string all;
        for (char c : text)
            if (c != ' ' || (!all.empty() && all.back() != ' ')) all += c;
        return all;
    }
    template <class Scene>
    static std::string armed(const Scene& s) {
        std::string text;
        for (std::size_t c = 0; c < s.cpu.size(); ++c)
            if (s.armed[c] != never)
                text += (text.empty() ? "" : ", ") + ("CPU " + std::to_string(c) + ": " + std::to_string(s.armed[c]));
        return "armed  " + (text.empty() ? "nobody" : text);
    }
    void put(const std::string& caption, std::vector<std::string> drawn) {
        std::vector<std::string> block;
        if (columns_ == 1) {
            const std::string number = std::to_string(count_) + ". ";
            // Broken like prose, so that the captions need no care.
            constexpr std::size_t most = 96;
            const std::string indent(number.size(), ' ');
            std::string line = number, rest = caption;
            while (rest.size() + indent.size() > most) {
                const std::size_t at = rest.rfind(' ', most - indent.size());
                block.push_back(line + rest.substr(0, at));
                rest = rest.substr(at + 1), line = indent;
            }
            block.push_back(line + rest);
            block.emplace_back();
            for (std::string& l : drawn) block.push_back(l.empty() ? l : indent + l);
        } else {
            block.push_back(caption);
            block.emplace_back();
            block.insert(block.end(), drawn.begin(), drawn.end());
        }
        blocks_.push_back(std::move(block));
    }
    void beside(std::vector<std::string>& all, std::size_t first) const {
        const std::size_t last = std::min(first + columns_, blocks_.size());
        std::size_t height = 0;
        for (std::size_t i = first; i < last; ++i) height = std::max(height, blocks_[i].size());
        for (std::size_t row = 0; row < height; ++row) {
            std::string line;
            for (std::size_t i = first; i < last; ++i) {
                // As wide as everything in this column, above and below.
                std::size_t width = 0;
                for (std::size_t j = i % columns_; j < blocks_.size(); j += columns_)
                    for (const std::string& l : blocks_[j]) width = std::max(width, l.size());
                const std::string cell = row < blocks_[i].size() ? blocks_[i][row] : "";
                line += cell + std::string(width - cell.size() + (i + 1 < last ? 3 : 0), ' ');
            }
            line.erase(line.find_last_not_of(' ') + 1);
            all.push_back(std::move(line));
        }
    }

    std::string name_;
    words_shown shown_;
    bool visible_ = true, started_ = false;
    std::size_t columns_ = 1, count_ = 0;
    std::vector<named_line> last_;
    std::vector<std::vector<std::string>> blocks_;
};

/// A small machine, and programs that run on it step by step.
template <class Config>
struct stage {
    explicit stage(cpu_id cpus, hierarchy_options options = {.width = 2}) : s(cpus, options) {}

    scene<Config> s;
    stepper run;

    /// The library's own group, to look at; and to write where a story leaves the library's ways.
    group<Config>& g(const std::string& name) const {
        const auto& groups = s.tree.groups();
        return const_cast<group<Config>&>(groups[name == "A" ? 0 : name == "B" ? 1 : 2]);
    }
    ticks offered(const std::string& parent, unsigned place) const {
        return g(parent).table().offered(static_cast<typename Config::state::mask_type>(1u << place));
    }
    std::size_t start(std::function<void()> what) { return run.add(std::move(what)); }
    /// Program i stands before that access; or has made it.
    bool before(std::size_t i, std::string_view label, std::size_t nth = 1) { return run.run_to(i, label, nth); }
    bool past(std::size_t i, std::string_view label, std::size_t nth = 1) {
        if (!run.run_to(i, label, nth)) return false;
        run.step(i);
        return true;
    }
    bool end(std::size_t i) { return run.finish(i, 10'000); }
    bool at(std::size_t i, std::string_view label) const { return !run.done(i) && run.next(i).label == label; }
};

}  // namespace tmigr::test

#endif
