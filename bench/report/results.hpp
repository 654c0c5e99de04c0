// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_REPORT_RESULTS_HPP
#define TMIGR_BENCH_REPORT_RESULTS_HPP

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tmigr::report {

using json = nlohmann::json;
using labels = std::vector<std::pair<std::string, std::string>>;  ///< in the order of the name

/// What is wrong with a file, where, and what was expected there.
class bad_input : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

inline double median(std::vector<double> values) {
    if (values.empty()) return std::nan("");
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// One benchmark of a program, all its repetitions together.
struct measurement {
    std::string name;  ///< without what Google Benchmark adds about the clock
    std::string what;  ///< the part before the labels
    labels with;
    std::vector<double> nanoseconds;  ///< of one item, one for each repetition
    std::pair<std::int64_t, std::int64_t> place{};  ///< among the program's benchmarks
    std::map<std::string, std::vector<double>> counters;

    double ns() const { return median(nanoseconds); }
    double least() const { return *std::min_element(nanoseconds.begin(), nanoseconds.end()); }
    double most() const { return *std::max_element(nanoseconds.begin(), nanoseconds.end()); }
    bool has(std::string_view counter) const { return counters.contains(std::string(counter)); }
    double counter(std::string_view which) const {
        const auto found = counters.find(std::string(which));
        return found == counters.end() ? std::nan("") : median(found->second);
    }
    /// The value of a label; empty where there is none.
    std::string_view operator[](std::string_view key) const {
        for (const auto& [k, v] : with)
            if (k == key) return v;
        return {};
    }
};

/// What one program measured.
struct program {
    std::string name;  ///< of its file, without .json
    json context;
    std::vector<measurement> all;
};

/// A name in parts: `what/key:value/.../real_time`.
inline measurement named(const std::string& run_name) {
    measurement m;
    std::size_t from = 0;
    while (from <= run_name.size()) {
        const std::size_t to = std::min(run_name.find('/', from), run_name.size());
        const std::string part = run_name.substr(from, to - from);
        from = to + 1;
        const std::size_t colon = part.find(':');
        if (part == "real_time" || part == "manual_time" || part == "process_time" || part.starts_with("iterations:"))
            continue;
        if (!m.name.empty()) m.name += '/';
        m.name += part;
        if (m.what.empty())
            m.what = part;
        else if (colon != std::string::npos)
            m.with.emplace_back(part.substr(0, colon), part.substr(colon + 1));
        else
            m.with.emplace_back("", part);
    }
    return m;
}

namespace detail {

inline double nanoseconds_in(const std::string& unit) {
    if (unit == "ns") return 1;
    if (unit == "us") return 1e3;
    if (unit == "ms") return 1e6;
    if (unit == "s") return 1e9;
    return 0;
}

/// Everything in an entry that is not one of Google Benchmark's own fields.
inline bool is_counter(const std::string& key) {
    static const char* const own[] = {"iterations",    "real_time",     "cpu_time",
                                      "threads",       "repetitions",   "repetition_index",
                                      "family_index",  "per_family_instance_index",
                                      "items_per_second", "bytes_per_second"};
    return std::find(std::begin(own), std::end(own), key) == std::end(own);
}

inline void add_entry(program& p, std::map<std::string, std::size_t>& index, const json& entry,
                      const std::string& where) {
    const auto expect = [&](bool right, const char* what) {
        if (!right) throw bad_input(fmt::format("{}: expected {}", where, what));
    };
    expect(entry.is_object(), "an object for each benchmark");
    const auto text = [&](const char* key) {
        const auto found = entry.find(key);
        expect(found != entry.end() && found->is_string(), fmt::format("a string \"{}\"", key).c_str());
        return found->get<std::string>();
    };
    if (entry.value("run_type", "iteration") != "iteration" || entry.value("error_occurred", false)) return;
    const std::string run_name = text("run_name");
    expect(!run_name.empty(), "a name that is not empty in \"run_name\"");
    measurement m = named(run_name);
    double ns = 0;
    if (const auto rate = entry.find("items_per_second"); rate != entry.end()) {
        expect(rate->is_number() && rate->get<double>() > 0, "a number above 0 in \"items_per_second\"");
        ns = 1e9 / rate->get<double>();
    } else {
        const auto time = entry.find("real_time");
        expect(time != entry.end() && time->is_number(), "a number in \"items_per_second\" or \"real_time\"");
        const double unit = nanoseconds_in(entry.value("time_unit", "ns"));
        expect(unit > 0, "\"ns\", \"us\", \"ms\" or \"s\" in \"time_unit\"");
        ns = time->get<double>() * unit;
    }
    // Repetitions come in any order.
    m.place = {entry.value("family_index", std::int64_t{0}), entry.value("per_family_instance_index", std::int64_t{0})};
    const auto [at, is_new] = index.try_emplace(m.name, p.all.size());
    if (is_new) p.all.push_back(std::move(m));
    measurement& known = p.all[at->second];
    known.nanoseconds.push_back(ns);
    for (const auto& [key, value] : entry.items())
        if (value.is_number() && is_counter(key)) known.counters[key].push_back(value.get<double>());
}

/// Google Benchmark writes NaN and Infinity, which JSON does not have, for the deviation of
/// counters that are 0. They are in aggregates only, which nobody reads here.
inline void without_nan(std::string& text) {
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') in_string = !in_string;
        if (text[i] == '\\' && in_string) ++i;
        if (in_string || i >= text.size()) continue;
        for (const std::string_view word : {"-NaN", "NaN", "-Infinity", "Infinity"})
            if (text.compare(i, word.size(), word) == 0) text.replace(i, word.size(), "null");
    }
}

/// The line that a parse error is in; the library knows the byte.
inline std::size_t line_of(const std::string& text, std::size_t byte) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
    return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

}  // namespace detail

/// Reads what Google Benchmark wrote. Throws `bad_input`.
inline program read_program(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!in.is_open() || in.bad())
        throw bad_input(fmt::format("{}: expected a file that can be read", file.string()));
    detail::without_nan(text);
    program p;
    p.name = file.stem().string();
    json all;
    try {
        all = json::parse(text);
    } catch (const json::parse_error& error) {
        throw bad_input(fmt::format("{}:{}: expected JSON as Google Benchmark writes it with "
                                    "--benchmark_out ({})",
                                    file.string(), detail::line_of(text, error.byte), error.what()));
    }
    const auto list = all.is_object() ? all.find("benchmarks") : all.end();
    if (!all.is_object() || list == all.end() || !list->is_array())
        throw bad_input(fmt::format("{}:1: expected an object with a list \"benchmarks\"", file.string()));
    if (const auto context = all.find("context"); context != all.end() && context->is_object()) p.context = *context;
    std::map<std::string, std::size_t> index;
    try {
        for (std::size_t i = 0; i < list->size(); ++i)
            detail::add_entry(p, index, (*list)[i], fmt::format("{}: benchmarks[{}]", file.string(), i));
    } catch (const json::exception& error) {
        throw bad_input(fmt::format("{}: expected fields of the types that Google Benchmark writes ({})", file.string(),
                                    error.what()));
    }
    std::stable_sort(p.all.begin(), p.all.end(), [](const auto& a, const auto& b) { return a.place < b.place; });
    return p;
}

/// The programs of a folder in order of their names, or the one in a file. Throws `bad_input`.
inline std::vector<program> read_results(const std::filesystem::path& where) {
    std::vector<std::filesystem::path> files;
    std::error_code failed;
    if (std::filesystem::is_directory(where, failed)) {
        for (const auto& entry : std::filesystem::directory_iterator(where, failed))
            if (entry.path().extension() == ".json") files.push_back(entry.path());
        if (files.empty()) throw bad_input(fmt::format("{}: expected a folder with results (*.json)", where.string()));
    } else {
        files.push_back(where);
    }
    std::sort(files.begin(), files.end());
    std::vector<program> all;
    for (const auto& file : files) all.push_back(read_program(file));
    return all;
}

/// A number for people: three digits that count.
inline std::string rounded(double value) {
    if (std::isnan(value)) return "";
    if (value == 0) return "0";
    const double size = std::fabs(value);
    if (size >= 1e7 || size < 1e-3) return fmt::format("{:.2e}", value);
    if (size >= 100) return fmt::format("{:.0f}", value);
    std::string text = fmt::format("{:.{}f}", value, size >= 10 ? 1 : size >= 1 ? 2 : 3);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

}  // namespace tmigr::report

#endif
