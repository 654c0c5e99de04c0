// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_REPORT_TARGETS_HPP
#define TMIGR_BENCH_REPORT_TARGETS_HPP

#include "results.hpp"
#include "tables.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tmigr::report {

/// What the library is meant to reach, each with the ratios that the same run measured.
class targets {
public:
    explicit targets(const std::vector<program>& all) : all_(all) {}

    void write(std::ostream& out) {
        walks();
        timers();
        peers_of_the_same_kind();
        growth();
        enqueue();
        out << "## Targets\n\nRatios of the same run: of the medians of the repetitions, which decide, and of the "
               "fastest, which suffer less from whoever else uses the machine. With the case that is worst.\n\n";
        write_table(out, rows_);
        weaker_peers(out);
    }

private:
    using wanted = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    const measurement* find(std::string_view what, wanted given) const {
        for (const program& p : all_)
            for (const measurement& m : p.all)
                if (m.what == what && m["threads"] == value_of(given, "threads") &&
                    std::all_of(given.begin(), given.end(), [&m](const auto& l) { return m[l.first] == l.second; }))
                    return &m;
        return nullptr;
    }
    static std::string_view value_of(wanted given, std::string_view key) {
        for (const auto& [k, v] : given)
            if (k == key) return v;
        return {};
    }
    void each(std::string_view what, const std::function<void(const measurement&)>& f) const {
        for (const program& p : all_)
            for (const measurement& m : p.all)
                if (m.what == what) f(m);
    }
    /// The library's measurement of the same question as a peer's.
    const measurement* library_for(const measurement& peer, std::string_view backend = {}) const {
        for (const program& p : all_)
            for (const measurement& m : p.all) {
                if (m.what != peer.what || m["who"] != "tmigr") continue;
                if (!backend.empty() && m["backend"] != backend) continue;
                if (std::all_of(peer.with.begin(), peer.with.end(),
                                [&m](const auto& l) { return l.first == "who" || m[l.first] == l.second; }) &&
                    m.with.size() == peer.with.size())
                    return &m;
            }
        return nullptr;
    }

    /// Ratios that have to be at most, or at least, a limit.
    struct bound {
        std::string text;
        bool at_most;
        double limit;
        std::vector<std::pair<double, std::string>> found{};
        std::vector<double> fastest{};  ///< the same of the fastest repetitions

        void add(double value, std::string where) { found.emplace_back(value, std::move(where)); }
        void add(const measurement& over, const measurement& under, std::string where) {
            add(over.ns() / under.ns(), std::move(where));
            fastest.push_back(over.least() / under.least());
        }
        bool holds(double ratio) const { return at_most ? ratio <= limit : ratio >= limit; }
    };
    void close(const bound& b) {
        if (rows_.empty()) rows_.push_back({"target", "limit", "medians", "fastest", "reached", "worst case"});
        const std::string limit = (b.at_most ? "at most " : "at least ") + rounded(b.limit);
        if (b.found.empty()) {
            rows_.push_back({b.text, limit, "", "", "not measured", ""});
            return;
        }
        const auto [low, high] = std::minmax_element(b.found.begin(), b.found.end());
        const auto& worst = b.at_most ? *high : *low;
        const auto reached = std::count_if(b.found.begin(), b.found.end(), [&b](const auto& f) { return b.holds(f.first); });
        const auto range = [](double from, double to) {
            return rounded(from) == rounded(to) ? rounded(from) : rounded(from) + " to " + rounded(to);
        };
        const auto [low_fastest, high_fastest] = std::minmax_element(b.fastest.begin(), b.fastest.end());
        rows_.push_back({b.text, limit, range(low->first, high->first),
                         b.fastest.empty() ? "" : range(*low_fastest, *high_fastest),
                         reached == static_cast<std::ptrdiff_t>(b.found.size())
                             ? "yes"
                             : fmt::format("{} of {}", reached, b.found.size()),
                         worst.second});
    }

    void walks() {
        bound level0{"sleep and wake at level 0, against bare swaps", true, 1.15};
        bound higher{"sleep and wake through more levels, against bare swaps", true, 1.3};
        bound timers{"the same with expiries, against bare swaps and stores", true, 1.3};
        bound plain{"without atomics, against Boost.Atomic", false, 3};
        bound plain_timers{"the same with expiries", false, 3};
        each("walk", [&](const measurement& m) {
            if (m["who"] != "tmigr" || m["width"] != "8" || m["backend"] != "boost" || m["word"] == "128") return;
            if (const measurement* bare = find("walk", {{"who", "bare_swaps"},
                                                        {"word", m["word"]},
                                                        {"expiries", m["expiries"]},
                                                        {"levels", m["levels"]}}))
                (m["expiries"] == "1" ? timers : m["levels"] == "1" ? level0 : higher).add(m, *bare, m.name);
            if (const measurement* other = find("walk", {{"who", "tmigr"},
                                                         {"backend", "plain"},
                                                         {"word", m["word"]},
                                                         {"width", "8"},
                                                         {"expiries", m["expiries"]},
                                                         {"levels", m["levels"]}}))
                (m["expiries"] == "1" ? plain_timers : plain).add(m, *other, m.name);
        });
        for (const bound* b : {&level0, &higher, &timers, &plain, &plain_timers}) close(*b);
    }

    /// What threads did between, which is in the times of both and nobody's merit; null where
    /// they did nothing.
    const measurement* work_between(const measurement& m) const {
        if (m["work"].empty() || m["work"] == "0") return nullptr;
        return find(m.what, {{"what", m["what"]}, {"who", "work"}, {"work", m["work"]}, {"threads", m["threads"]}});
    }
    /// What is left without it; less than a nanosecond is not told from nothing.
    static double left(const measurement& m, const measurement& work) { return std::max(m.ns() - work.ns(), 1.0); }
    void add_without_work(bound& to, const measurement& over, const measurement& under) const {
        if (const measurement* work = work_between(over))
            to.add(left(over, *work) / left(under, *work), over.name);
        else
            to.add(over, under, over.name);
    }

    void timers() {
        bound alone{"operations with timers, against Linux-like events, alone", false, 2};
        bound at_once{"the same, two threads, nothing between two operations", false, 3};
        bound spaced{"the same, two threads, work of their own between (taken off)", false, 3};
        each("timers", [&](const measurement& m) {
            if (!m["who"].starts_with("Linux-like")) return;
            const measurement* ours = library_for(m);
            if (ours == nullptr || (!m["work"].empty() && m["work"] != "0" && work_between(m) == nullptr)) return;
            add_without_work(m["threads"].empty() ? alone : work_between(m) == nullptr ? at_once : spaced, m, *ours);
        });
        for (const bound* b : {&alone, &at_once, &spaced}) close(*b);
    }

    /// Those that name a migrator, lose no timer, and find what to arm.
    static bool same_answers(const measurement& m) {
        const std::string_view who = m["who"];
        return who != "tmigr" && who != "bare" && who != "barriers" && who != "pass" && who != "work" &&
               (m["expiries"] == "1" || m.what == "timers" || who.starts_with("locked_tree"));
    }
    /// Of these, the one that has no lock for all to wait for.
    static bool waits_for_nobody(const measurement& m) { return m["who"] == "array_of_expiries"; }
    void peers_of_the_same_kind() {
        for (const bool lock_free : {true, false})
            for (const char* what : {"timers", "sweep", "contention", "model"}) {
                // The model follows too little of what locks protect (docs/benchmarks.md).
                if (!lock_free && std::string_view(what) == "model") continue;
                bound b{fmt::format("not slower than peers of the same guarantees{}: {}",
                                    lock_free ? "" : ", but for locks", what),
                        false, 1};
                each(what, [&](const measurement& m) {
                    if (!same_answers(m) || waits_for_nobody(m) != lock_free) return;
                    if (const measurement* ours = library_for(m)) add_without_work(b, m, *ours);
                });
                close(b);
            }
    }

    void growth() {
        bound time{"4096 CPUs against 512, at a of 0.1 and more: time", true, 1.1};
        bound swaps{"the same: read-modify-writes", true, 1.1};
        bound below{"at a below 0.1: more read-modify-writes at 4096 CPUs than at 512, per level more", true, 1};
        each("sweep", [&](const measurement& m) {
            if (m["who"] != "tmigr" || m["backend"] != "boost" || m["cpus"] != "4096" || m["expiries"] != "0") return;
            const measurement* small = find("sweep", {{"who", "tmigr"},
                                                      {"backend", "boost"},
                                                      {"expiries", m["expiries"]},
                                                      {"cpus", "512"},
                                                      {"a", m["a"]}});
            if (small == nullptr) return;
            if (std::atof(std::string(m["a"]).c_str()) >= 0.1) {
                time.add(m, *small, m.name);
                if (small->counter("rmw") > 0) swaps.add(m.counter("rmw") / small->counter("rmw"), m.name);
            } else {
                below.add(m.counter("rmw") - small->counter("rmw"), m.name);
            }
        });
        for (const bound* b : {&time, &swaps, &below}) close(*b);
    }

    void enqueue() {
        bound ours{"timer of a CPU whose neighbour is awake: lines beyond its own leaf", true, 0};
        bound scans{"the same, choosing a target by a scan: lines of others", false, 1};
        each("enqueue", [&](const measurement& m) {
            if (!m.has("foreign")) return;
            if (m["who"] == "tmigr" && m["distance"] == "1") ours.add(m.counter("foreign"), m.name);
            if (m["who"] == "target_by_scan") scans.add(m.counter("foreign"), m.name);
        });
        close(ours);
        close(scans);
    }

    /// Those who know less can be faster: where.
    void weaker_peers(std::ostream& out) const {
        std::vector<std::string> cpus;
        std::vector<std::vector<std::string>> rows;
        std::vector<std::pair<std::string, std::string>> known;
        each("sweep", [&](const measurement& m) {
            if (m["expiries"] != "0" || m["who"] == "tmigr" || m["who"] == "bare") return;
            const measurement* ours = library_for(m, "boost");
            if (ours == nullptr) return;
            const std::string size(m["cpus"]);
            auto column = std::find(cpus.begin(), cpus.end(), size);
            if (column == cpus.end()) column = cpus.insert(cpus.end(), size);
            const std::pair<std::string, std::string> key(m["who"], m["a"]);
            auto row = std::find(known.begin(), known.end(), key);
            if (row == known.end()) {
                row = known.insert(known.end(), key);
                rows.push_back({key.first, key.second});
            }
            auto& cells = rows[static_cast<std::size_t>(row - known.begin())];
            const auto at = 2 + static_cast<std::size_t>(column - cpus.begin());
            if (cells.size() <= at) cells.resize(at + 1);
            cells[at] = rounded(m.ns() / ours->ns());
        });
        if (rows.empty()) return;
        std::vector<std::string> head{"peer", "a"};
        for (const std::string& size : cpus) head.push_back(size + " CPUs");
        for (auto& row : rows) row.resize(head.size());
        rows.insert(rows.begin(), head);
        out << "### Peers that know only who is awake\n\nTheir time of a change as a part of the library's, one thread "
               "driving all CPUs: below 1 they are faster.\n\n";
        write_table(out, rows);
    }

    const std::vector<program>& all_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace tmigr::report

#endif
