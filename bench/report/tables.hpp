// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_REPORT_TABLES_HPP
#define TMIGR_BENCH_REPORT_TABLES_HPP

#include "results.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace tmigr::report {

/// Rows of cells as a Markdown table; the first row is its head.
inline void write_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows) {
    if (rows.empty()) return;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        out << '|';
        for (std::string cell : rows[r]) {
            for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) cell.replace(at, 1, "\\|");
            out << ' ' << cell << " |";
        }
        out << '\n';
        if (r > 0) continue;
        out << '|';
        for (std::size_t c = 0; c < rows[r].size(); ++c) out << " --- |";
        out << '\n';
    }
    out << '\n';
}

/// The benchmarks of one kind, which have the same labels.
struct family {
    std::string what;
    std::vector<const measurement*> all;

    /// The keys, in the order of the longest name, and of each the values in order of appearance.
    std::vector<std::pair<std::string, std::vector<std::string>>> keys() const {
        std::vector<std::pair<std::string, std::vector<std::string>>> found;
        const auto longest = std::max_element(all.begin(), all.end(), [](const measurement* a, const measurement* b) {
            return a->with.size() < b->with.size();
        });
        for (const auto& [key, value] : (*longest)->with) found.push_back({key, {}});
        for (const measurement* m : all)
            for (const auto& [key, value] : m->with) {
                auto at = std::find_if(found.begin(), found.end(), [&key = key](const auto& k) { return k.first == key; });
                if (at == found.end()) at = found.insert(found.end(), {key, {}});
                if (std::find(at->second.begin(), at->second.end(), value) == at->second.end())
                    at->second.push_back(value);
            }
        return found;
    }
};

inline std::vector<family> families_of(const program& p) {
    std::vector<family> found;
    for (const measurement& m : p.all) {
        auto at = std::find_if(found.begin(), found.end(), [&](const family& f) { return f.what == m.what; });
        if (at == found.end()) at = found.insert(found.end(), {m.what, {}});
        at->all.push_back(&m);
    }
    return found;
}

/// One row for each combination of labels but the last that varies, whose values are columns:
/// nanoseconds of an item.
inline void write_times(std::ostream& out, const family& f) {
    auto keys = f.keys();
    std::string across;
    std::vector<std::string> columns{"ns"};
    for (std::size_t k = keys.size(); k-- > 0;)
        if (keys[k].second.size() > 1 && keys[k].second.size() <= 8 && keys[k].first != "who") {
            across = keys[k].first;
            columns = keys[k].second;
            break;
        }
    std::vector<std::string> head;
    std::vector<std::string> down;
    for (const auto& [key, values] : keys)
        if (key != across) {
            head.push_back(key);
            down.push_back(key);
        }
    bool some_without = false;
    for (const measurement* m : f.all) some_without |= !across.empty() && (*m)[across].empty();
    if (some_without) columns.insert(columns.begin(), "");
    for (const std::string& value : columns)
        head.push_back(across.empty() ? value : value.empty() ? fmt::format("no {}", across) : fmt::format("{} {}", across, value));

    std::vector<std::vector<std::string>> rows{head};
    std::map<std::vector<std::string>, std::size_t> known;
    for (const measurement* m : f.all) {
        std::vector<std::string> row;
        for (const std::string& key : down) row.emplace_back((*m)[key]);
        const auto [at, is_new] = known.try_emplace(row, rows.size());
        if (is_new) {
            row.resize(head.size());
            rows.push_back(std::move(row));
        }
        const auto column = across.empty() ? columns.begin() : std::find(columns.begin(), columns.end(), (*m)[across]);
        rows[at->second][down.size() + static_cast<std::size_t>(column - columns.begin())] = rounded(m->ns());
    }
    write_table(out, rows);
}

/// The counters of those that have any.
inline void write_counters(std::ostream& out, const family& f) {
    std::vector<std::string> counters;
    for (const measurement* m : f.all)
        for (const auto& [name, values] : m->counters)
            if (std::find(counters.begin(), counters.end(), name) == counters.end()) counters.push_back(name);
    if (counters.empty()) return;
    const auto keys = f.keys();
    std::vector<std::string> head;
    for (const auto& [key, values] : keys) head.push_back(key);
    head.insert(head.end(), counters.begin(), counters.end());
    std::vector<std::vector<std::string>> rows{head};
    for (const measurement* m : f.all) {
        if (m->counters.empty()) continue;
        std::vector<std::string> row;
        for (const auto& [key, values] : keys) row.emplace_back((*m)[key]);
        for (const std::string& c : counters) row.push_back(rounded(m->counter(c)));
        rows.push_back(std::move(row));
    }
    write_table(out, rows);
}

/// How far repetitions were apart, at worst and in the middle: what the times are worth.
inline void write_spread(std::ostream& out, const program& p) {
    std::vector<double> spreads;
    std::size_t repetitions = 0;
    for (const measurement& m : p.all) {
        repetitions = std::max(repetitions, m.nanoseconds.size());
        if (m.nanoseconds.size() > 1 && m.least() > 0) spreads.push_back(m.most() / m.least());
    }
    if (spreads.empty())
        fmt::print(out, "{} benchmarks, measured once.\n\n", p.all.size());
    else
        fmt::print(out,
                   "{} benchmarks, medians of up to {} repetitions; the slowest repetition took {} times as long as the "
                   "fastest in the middle of all benchmarks, {} at worst.\n\n",
                   p.all.size(), repetitions, rounded(median(spreads)),
                   rounded(*std::max_element(spreads.begin(), spreads.end())));
}

inline void write_program(std::ostream& out, const program& p) {
    fmt::print(out, "## {}\n\nNanoseconds of one item; what an item is stands at the head of `bench/{}.cpp`. ", p.name, p.name);
    write_spread(out, p);
    for (const family& f : families_of(p)) {
        fmt::print(out, "### {}\n\n", f.what);
        write_times(out, f);
        write_counters(out, f);
    }
}

/// The machine and the circumstances, as the programs noted them.
inline void write_context(std::ostream& out, const std::vector<program>& all) {
    std::vector<std::vector<std::string>> rows{{"", ""}};
    const auto row = [&rows](const char* name, const json& value) {
        if (!value.is_null()) rows.push_back({name, value.is_string() ? value.get<std::string>() : value.dump()});
    };
    const json& first = all.front().context;
    const auto field = [&first](const char* key) { return first.is_object() && first.contains(key) ? first.at(key) : json(); };
    row("machine", field("machine"));
    row("cores", field("num_cpus"));
    row("MHz", field("mhz_per_cpu"));
    row("compiler", field("compiler"));
    row("commit", field("commit"));
    row("date", field("date"));
    if (const json caches = field("caches"); caches.is_array()) {
        std::string text;
        for (const json& cache : caches)
            if (cache.is_object())
                text += fmt::format("{}L{} {} {} kB", text.empty() ? "" : ", ", cache.value("level", 0),
                                    cache.value("type", ""), cache.value("size", 0) / 1024);
        row("caches", text);
    }
    std::string loads;
    for (const program& p : all)
        if (p.context.is_object() && p.context.contains("load_avg") && p.context.at("load_avg").is_array() &&
            !p.context.at("load_avg").empty() && p.context.at("load_avg")[0].is_number())
            loads += fmt::format("{}{} {:.2f}", loads.empty() ? "" : ", ", p.name, p.context.at("load_avg")[0].get<double>());
    if (!loads.empty()) row("load when the programs began", loads);
    write_table(out, rows);
}

}  // namespace tmigr::report

#endif
