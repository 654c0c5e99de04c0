// SPDX-License-Identifier: BSL-1.0
#include "json.hpp"

#include "explain.hpp"
#include "picture.hpp"
#include "words.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <map>

namespace audit_tool {

namespace {

using nlohmann::ordered_json;
using tmigr::audit_finding;

ordered_json place(const tmigr::audit_place& at) {
    return {{"line", at.line}, {"time_ns", at.time}, {"cpu", at.on}};
}
template <class Number>
ordered_json or_null(const std::optional<Number>& n) {
    return n ? ordered_json(*n) : ordered_json(nullptr);
}

ordered_json finding(const audit_finding& f, std::size_t number) {
    ordered_json j;
    j["number"] = number;
    j["kind"] = name_of(f.kind);
    j["fault"] = f.fault;
    j["cause"] = f.cause;
    j["headline"] = headline(f);
    j["cpu"] = f.cpu;
    j["group"] = f.group == tmigr::no_group ? ordered_json(nullptr) : ordered_json(group_name(f.group));
    j["parent"] = f.parent == tmigr::no_group ? ordered_json(nullptr) : ordered_json(group_name(f.parent));
    j["due_ns"] = f.due == tmigr::event::never ? ordered_json(nullptr) : ordered_json(f.due);
    j["begin"] = place(f.begin);
    j["end"] = place(f.end);
    j["ended_by"] = name_of(f.ended_by);
    j["lasted_ns"] = f.lasted();
    j["late_ns"] = or_null(f.late);
    j["late_at_least_ns"] = or_null(f.late_at_least);
    j["silent_cpus"] = f.silent;
    j["detail"] = f.detail;
    j["evidence"] = ordered_json::array();
    for (const tmigr::audit_evidence& e : f.evidence) {
        ordered_json line = place(e.at);
        line["what"] = e.what;
        j["evidence"].push_back(std::move(line));
    }
    return j;
}

ordered_json or_null(bool known, std::uint64_t time) {
    return known && time != tmigr::event::never ? ordered_json(time) : ordered_json(nullptr);
}

/// What is known of each group and CPU; null is none, or not known.
ordered_json state_of(const tmigr::audit_tree& tree) {
    ordered_json j;
    j["groups"] = ordered_json::array();
    for (const tmigr::audit_group& g : tree.groups()) {
        ordered_json queued = ordered_json::array();
        const auto queue = [&](const tmigr::audit_offer& o) {
            if (o.known && o.due != tmigr::event::never)
                queued.push_back({{"due_ns", o.due}, {"cpu", o.owner}});
        };
        for (const tmigr::audit_index c : g.cpus)
            if ((g.live & tree.cpus()[c].mask) == 0) queue(tree.cpus()[c].offer);
        for (const tmigr::audit_index h : g.groups)
            if (!tree.is_live(h)) queue(tree.groups()[h].offer);
        j["groups"].push_back(
            {{"group", group_name(g.id)},
             {"level", g.lvl},
             {"parent", g.parent == tmigr::no_index ? ordered_json(nullptr)
                                                    : ordered_json(group_name(tree.groups()[g.parent].id))},
             {"known", g.known},
             {"active", fmt::format("{:x}", g.live)},
             {"migrator", fmt::format("{:x}", g.migrator)},
             {"queued", std::move(queued)}});
    }
    j["cpus"] = ordered_json::array();
    for (const tmigr::audit_cpu& c : tree.cpus()) {
        constexpr const char* names[] = {"unknown", "awake", "asleep", "away"};
        const tmigr::audit_idle idle = tree.idle_of(c.id);
        ordered_json state(nullptr);
        if (idle.is == tmigr::audit_idle::where::in) state = idle.state;
        if (idle.is == tmigr::audit_idle::where::out) state = "none";
        j["cpus"].push_back({{"cpu", c.id},
                             {"is", names[static_cast<std::size_t>(c.is)]},
                             {"idle_state", std::move(state)},
                             {"due_ns", or_null(c.due_known, c.due)},
                             {"armed_ns", or_null(c.armed_known, c.armed)}});
    }
    return j;
}

ordered_json everything(const audited& done) {
    const tmigr::audit_counts& c = done.audit.counts();
    ordered_json j;
    j["trace"] = done.name;
    j["lines"] = {{"all", done.lines.lines},
                  {"tree", c.events},
                  {"other_events", done.lines.other},
                  {"not_ftrace", done.lines.unrecognised},
                  {"gaps", c.gaps}};
    j["tree"] = {{"cpus", done.audit.tree().cpus().size()}, {"groups", done.audit.tree().groups().size()}};
    j["words"] = {{"lines", c.words.lines},
                  {"agreed", c.words.agreed},
                  {"learnt", c.words.learnt},
                  {"reordered", c.words.reordered},
                  {"different", c.words.different}};
    j["expiries"] = {
        {"judged", c.judged}, {"unjudged", c.unjudged}, {"passing", c.passing}, {"dropped", c.dropped}};
    j["served"] = {{"all", c.served},
                   {"same_group", c.served_same_group},
                   {"same_node", c.served_same_node},
                   {"other_node", c.served_other_node},
                   {"other_capacity", c.served_other_capacity}};
    j["sleepers_looked"] = {{"all", c.looked},
                            {"for_nothing", c.looked_for_nothing},
                            {"for_other_node", c.woken_for_other_node},
                            {"for_other_capacity", c.woken_for_other_capacity}};
    j["stays_in_idle"] = {
        {"whole", c.stays}, {"to_armed", c.stays_to_armed}, {"for_nothing", c.stays_for_nothing}};
    j["timers_by_lateness_jiffies"] = {
        {"0", c.timers[0]}, {"1", c.timers[1]}, {"2-9", c.timers[2]}, {"10-", c.timers[3]}};
    j["timers_not_followed"] = c.timers_unfollowed;
    j["found"] = ordered_json::object();
    for (std::size_t k = 0; k < tmigr::audit_kind_count; ++k)
        if (c.found[k] != 0) j["found"][name_of(static_cast<tmigr::audit_kind>(k))] = c.found[k];
    j["findings"] = ordered_json::array();
    std::size_t number = 0;
    for (const audit_finding& f : done.audit.findings()) j["findings"].push_back(finding(f, ++number));
    j["at_end"] = state_of(done.audit.tree());
    return j;
}

/// Rows of a time line, from the story: for each CPU and group, when it was awake, idle or not known.
ordered_json timeline(const audit_finding& f) {
    struct row {
        std::string name, state;
        std::uint64_t since = 0;
        ordered_json parts = ordered_json::array();
    };
    std::map<std::pair<int, std::uint64_t>, row> rows;
    std::uint64_t now = 0;
    const auto set = [&](int kind, std::uint64_t id, const std::string& name, const char* state) {
        row& r = rows[{kind, id}];
        if (r.state == state) return;
        if (!r.state.empty()) r.parts.push_back({r.since, now, r.state});
        r.name = name;
        r.state = state;
        r.since = now;
    };
    ordered_json lines = ordered_json::array();
    play(f, [&](const frame& at) {
        now = at.record.time;
        using presence = tmigr::audit_cpu::presence;
        for (const tmigr::audit_cpu& c : at.tree.cpus()) {
            const char* state = c.is == presence::awake                           ? "awake"
                                : c.is == presence::away                          ? "away"
                                : c.is == presence::unknown                       ? "unknown"
                                : c.armed_known && c.armed != tmigr::event::never ? "armed"
                                                                                  : "idle";
            if (c.walk != tmigr::audit_walk::none && c.is == presence::awake) state = "walking";
            set(1, c.id, "CPU " + std::to_string(c.id), state);
        }
        for (const tmigr::audit_group& g : at.tree.groups())
            set(0, std::uint64_t{255 - g.lvl} << 48 | (g.id & 0xffffffffffff), "group " + group_name(g.id),
                !g.known      ? "unknown"
                : g.live != 0 ? "awake"
                              : "idle");
        if (at.concerns || !at.note.empty())
            lines.push_back({{"line", at.record.line},
                             {"t", at.record.time},
                             {"cpu", at.record.cpu},
                             {"text", line_text(at.record)},
                             {"note", at.note},
                             {"tree", picture(at.tree, f.group)}});
    });
    ordered_json out;
    out["rows"] = ordered_json::array();
    for (auto& [key, r] : rows) {
        r.parts.push_back({r.since, now, r.state});
        out["rows"].push_back({{"name", r.name}, {"parts", std::move(r.parts)}});
    }
    out["lines"] = std::move(lines);
    out["cut"] = f.story && f.story->cut;
    return out;
}

/// Names of tasks and files may hold any bytes.
std::string dump(const ordered_json& j, int indent) {
    return j.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

std::string as_json(const audited& done) { return dump(everything(done), 2) + '\n'; }

std::string as_page_data(const audited& done) {
    ordered_json j = everything(done);
    std::size_t i = 0;
    for (const audit_finding& f : done.audit.findings()) j["findings"][i++]["story"] = timeline(f);
    j["summary"] = summary(done);
    std::string text = dump(j, -1), safe;
    safe.reserve(text.size());
    // `<` would end the script element that it stands in.
    for (const char c : text) c == '<' ? safe += "\\u003c" : safe += c;
    return safe;
}

}  // namespace audit_tool
