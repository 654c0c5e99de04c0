// SPDX-License-Identifier: BSL-1.0
#include "sweep.hpp"

#include "files.hpp"
#include "progress.hpp"
#include "report_json.hpp"
#include "runs.hpp"
#include "scene.hpp"

#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace whatif {

namespace {

constexpr const char* format_name = "tmigr-whatif sweep 1";
// A line has all figures of a machine; those of 4096 CPUs take some ten MB.
constexpr std::size_t longest_line = std::size_t{64} << 20;

std::string line(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

/// All but which part it is: what the parts of one sweep have in common.
json description(const options& chosen, const scene_source& source) {
    json parameters = json::object();
    for (const axis& one : chosen.axes) parameters[one.name] = one.values;
    return {{"format", format_name},
            {"points", count_points(chosen.axes)},
            {"inputs", fmt::format("{:016x}", source.fingerprint())},
            {"workload", chosen.scene.load_text},
            {"parameters", std::move(parameters)},
            {"seed", chosen.base.seed},
            {"runs", chosen.runs},
            {"hz", chosen.base.hertz},
            {"governor", name_of(chosen.base.governor)},
            {"seconds", static_cast<double>(chosen.base.length) / 1e9},
            {"tick_stop", chosen.base.tick_stops},
            {"per_cpu", chosen.per_cpu}};
}

/// A file line by line, each a JSON object.
class part_reader {
public:
    explicit part_reader(const std::string& file) : file_(file), in_(tmigr::detail::open_input(file)) {}

    bool next() {
        ++number_;
        text_.clear();
        char c = 0;
        while (in_.get(c) && c != '\n') {
            if (text_.size() == longest_line) fail("", fmt::format("a line of at most {} MiB", longest_line >> 20));
            text_ += c;
        }
        if (in_.bad()) fail("", "a readable file");
        if (text_.empty() && in_.eof()) return false;
        if (in_.eof()) fail(text_, "a line feed after the last line (the file is cut here)");
        // Not thrown for by the parser: its messages have several lines.
        value_ = json::parse(text_, shallow, false);
        if (!value_.is_object()) fail(text_, "a line of JSON that `tmigr-whatif sweep` wrote");
        return true;
    }
    const json& value() const { return value_; }
    const std::string& text() const { return text_; }

    std::uint64_t number(const char* name, std::uint64_t least, std::uint64_t most) const {
        const auto found = value_.find(name);
        if (found == value_.end() || !found->is_number_unsigned())
            fail(text_, fmt::format("\"{}\" and a number", name));
        const auto number = found->get<std::uint64_t>();
        if (number < least || number > most)
            fail(std::to_string(number), fmt::format("\"{}\" from {} to {}", name, least, most));
        return number;
    }
    [[noreturn]] void fail(const std::string& value, const std::string& expected) const {
        throw tmigr::input_error(value, expected, file_, number_);
    }

private:
    /// Lines are not deeper: what is, is not kept.
    static bool shallow(int depth, json::parse_event_t, json&) { return depth < 16; }

    std::string file_;
    std::ifstream in_;
    std::string text_;
    std::size_t number_ = 0;
    json value_;
};

}  // namespace

std::string run_sweep(const options& chosen) {
    const std::string path =
        fmt::format("{}.{}-of-{}.jsonl", chosen.out, chosen.shard.part, chosen.shard.parts);
    file_set files;
    std::ostream& out = files.open(path);

    const scene_source source{chosen.scene};
    json head = description(chosen, source);
    head["part"] = chosen.shard.part;
    head["of"] = chosen.shard.parts;
    out << line(head);

    const std::size_t points = count_points(chosen.axes);
    const std::size_t first = chosen.shard.part - 1;
    const std::size_t mine = first < points ? (points - first - 1) / chosen.shard.parts + 1 : 0;
    progress_bar bar{mine * chosen.runs};
    for (std::size_t point = first; point < points; point += chosen.shard.parts) {
        const auto values = values_of(chosen.axes, point);
        point_parameters parameters = chosen.base;
        json named = json::object();
        std::string text;
        for (const auto& [name, value] : values) {
            set_parameter(parameters, name, value);
            named[name] = value;
            text += (text.empty() ? "" : " ") + name + '=' + value;
        }
        const scene made = source.make(parameters);
        const summary came = run_policy(made, parameters, chosen.runs, text, bar, {});
        out << line({{"point", point},
                     {"parameters", std::move(named)},
                     {"figures", figures_json(came, nullptr, chosen.per_cpu)}});
    }
    files.commit();
    return path;
}

std::size_t merge_sweep(const options& chosen) {
    json whole;
    std::map<std::uint64_t, std::pair<std::string, std::string>> lines;  // by point: the line, and whence
    std::uint64_t points = 0;
    for (const std::string& part : chosen.parts) {
        part_reader in{part};
        if (!in.next()) in.fail("", "the first line of what `tmigr-whatif sweep` wrote");
        json head = in.value();
        if (!head.contains("format") || head["format"] != format_name)
            in.fail(in.text(), fmt::format("\"format\":\"{}\"", format_name));
        const std::uint64_t expected = in.number("points", 1, 1'000'000);
        const std::uint64_t parts = in.number("of", 1, 1'000'000);
        const std::uint64_t number = in.number("part", 1, parts);
        head.erase("part");
        head.erase("of");
        if (whole.is_null()) {
            whole = std::move(head);
            points = expected;
        } else if (whole != head) {
            in.fail(in.text(), "a part of the same sweep as " + chosen.parts.front());
        }
        std::uint64_t due = number - 1;
        for (; in.next(); due += parts) {
            const std::uint64_t point = in.number("point", 0, points - 1);
            if (point != due) in.fail(std::to_string(point), fmt::format("point {}, the next of this part", due));
            const auto [there, is_new] = lines.try_emplace(point, in.text(), part);
            if (!is_new)
                in.fail(std::to_string(point), "a point that is not in " + there->second.second + " already");
        }
        if (due < points) in.fail("nothing more", fmt::format("point {} (this part is not whole)", due));
    }
    for (std::uint64_t point = 0; point < points; ++point)
        if (!lines.contains(point))
            throw tmigr::input_error(fmt::format("{} of {} points", lines.size(), points),
                                     fmt::format("all; the first that is missing is {}", point), "merge");

    file_set files;
    std::ostream& out = files.open(chosen.out);
    whole["part"] = 1;
    whole["of"] = 1;
    out << line(whole);
    for (const auto& [point, text] : lines) out << text.first << '\n';
    files.commit();
    return static_cast<std::size_t>(points);
}

}  // namespace whatif
