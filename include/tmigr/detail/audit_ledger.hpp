// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_AUDIT_LEDGER_HPP
#define TMIGR_DETAIL_AUDIT_LEDGER_HPP

#include <tmigr/io/audit_counts.hpp>
#include <tmigr/io/audit_finding.hpp>
#include <tmigr/io/audit_tree.hpp>
#include <tmigr/io/ftrace.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

namespace tmigr::detail {

/// What an audit has found and counted, the tree at the line that it is at, and the lines around each finding
/// where stories are kept. Memory is bounded: by the findings kept, and for all stories together.
class audit_ledger {
protected:
    explicit audit_ledger(audit_options options) : options_(options) {}

    static constexpr std::size_t none = static_cast<std::size_t>(-1);

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

    void remember(const ftrace_record& record) {
        if (!options_.stories) return;
        ring_.push_back(record);
        if (ring_.size() <= ring_lines) return;
        lagging_.take(ring_.front());
        ring_.pop_front();
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
    void forget_lines() {
        ring_.clear();
        if (options_.stories) lagging_ = tree_;
    }

    audit_options options_;
    audit_counts counts_;
    audit_tree tree_;
    audit_place now_{};
    std::vector<audit_finding> findings_;

private:
    static constexpr std::size_t ring_lines = 512;
    static constexpr std::size_t most_story_bytes = std::size_t{1}
                                                    << 28;  // all together; findings behind have none

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
        std::size_t bytes = story.before.cpus().size() * sizeof(audit_cpu) +
                            story.before.groups().size() * sizeof(audit_group);
        for (const ftrace_record& line : story.lines) bytes += size_of(line);
        if (story_bytes_ + bytes > most_story_bytes) return;
        story_bytes_ += bytes;
        f.story = std::move(story);
    }
    static std::size_t size_of(const ftrace_record& line) {
        const auto* const other = std::get_if<event::other>(&line.event);
        return sizeof line + line.task.size() +
               (other != nullptr ? other->name.size() + other->text.size() : 0);
    }

    std::size_t story_bytes_ = 0;
    std::deque<ftrace_record> ring_;
    audit_tree lagging_;
};

}  // namespace tmigr::detail

#endif
