// SPDX-License-Identifier: BSL-1.0
// tmigr-audit: finds the timers that a kernel's tree lost sight of. See docs/tmigr-audit.md.
#include "explain.hpp"
#include "html.hpp"
#include "json.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"

#include "../tree/output.hpp"

#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>
#include <tmigr/io/audit.hpp>
#include <tmigr/io/ftrace.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace audit_tool {

namespace {

/// Counts the bytes that come from a stream, for the progress bar.
class counted_buffer : public std::streambuf {
public:
    explicit counted_buffer(std::streambuf* from) : from_(from) {}
    std::uint64_t bytes() const noexcept { return bytes_; }

protected:
    std::streamsize xsgetn(char* to, std::streamsize room) override {
        const std::streamsize got = from_ != nullptr ? from_->sgetn(to, room) : 0;
        bytes_ += static_cast<std::uint64_t>(got);
        return got;
    }

private:
    std::streambuf* from_;
    std::uint64_t bytes_ = 0;
};

bool is_gap(const tmigr::ftrace_record& record, const std::vector<std::string>& gap_at) {
    if (gap_at.empty()) return false;
    return std::visit(
        [&](const auto& e) {
            if constexpr (requires { e.name; }) return std::ranges::find(gap_at, e.name) != gap_at.end();
            return false;
        },
        record.event);
}

/// Refuses files that are traces, but not text, with the way to make them so.
void refuse_packed(std::istream& file, const std::string& name) {
    struct kind {
        std::string_view begins, what, use;
    };
    constexpr kind kinds[] = {{"\x1f\x8b", "a gzip file", "zcat"},
                              {"\xfd"
                               "7zXZ",
                               "an xz file", "xzcat"},
                              {"\x28\xb5\x2f\xfd", "a zstd file", "zstdcat"},
                              {"\x17\x08\x44tracing", "a file of trace-cmd record", "trace-cmd report"}};
    std::string first(16, '\0');
    file.read(first.data(), static_cast<std::streamsize>(first.size()));
    file.clear();
    file.seekg(0);
    for (const kind& k : kinds)
        if (first.starts_with(k.begins))
            throw tmigr::input_error(std::string{k.what},
                                     fmt::format("text: {} {} | tmigr-audit", k.use, name), name);
}

audited read(const options& chosen) {
    std::ifstream file;
    if (chosen.trace != "-") {
        file = tmigr::detail::open_input(chosen.trace);
        std::error_code none;
        if (std::filesystem::is_regular_file(chosen.trace, none)) refuse_packed(file, chosen.trace);
    }
    const std::string name = chosen.trace == "-" ? "standard input" : chosen.trace;
    counted_buffer bytes{chosen.trace == "-" ? std::cin.rdbuf() : file.rdbuf()};
    std::istream in{&bytes};
    progress bar{chosen.trace, chosen.progress};
    tmigr::ftrace_reader reader{in, name, tmigr::ftrace_reader::others::keep};
    tmigr::auditor audit{{chosen.most, chosen.needs_stories()}};
    while (const auto record = reader.next()) {
        try {
            audit.add(*record);
        } catch (const tmigr::input_error& error) {
            throw error.at(name, record->line);
        }
        if (is_gap(*record, chosen.gap_at)) audit.gap();
        bar.at(record->line, bytes.bytes());
    }
    audit.finish();
    if (audit.counts().events == 0)
        throw tmigr::input_error("no such line", "lines of the timer_migration events", name);
    return {name, reader.counts(), std::move(audit)};
}

int run(int argc, char** argv) {
    const auto chosen = read_options(argc, argv);
    if (!chosen) return 0;
    const audited done = read(*chosen);
    const std::vector<tmigr::audit_finding>& found = done.audit.findings();

    std::string text;
    if (!chosen->quiet) text += summary(done);
    if (chosen->details) text += details(done);
    for (const std::size_t number : chosen->explain) {
        if (number > found.size())
            throw tmigr::input_error(std::to_string(number),
                                     fmt::format("a number of one of the {} findings", found.size()),
                                     "--explain");
        text += explain(found[number - 1], number);
    }
    for (std::size_t i = 0; chosen->explain_all && i < found.size(); ++i) text += explain(found[i], i + 1);

    std::vector<tree_tool::output_file> files;
    const auto deliver = [&](const std::string& path, std::string content) {
        if (path == "-")
            text = std::move(content);
        else
            files.push_back({path, std::move(content)});
    };
    if (chosen->json) deliver(*chosen->json, as_json(done));
    if (chosen->html) deliver(*chosen->html, as_html(done));
    tree_tool::write_files(files);
    tree_tool::write_stdout(text);
    return done.audit.counts().findings() == 0 ? 0 : 1;
}

}  // namespace

}  // namespace audit_tool

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return audit_tool::run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "tmigr-audit: {}\n", error.what());
        return 2;
    }
}
