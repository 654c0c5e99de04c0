// SPDX-License-Identifier: BSL-1.0

// Every ordered access of the library carries a label: a comment that names its order, its
// partners, and the model tests that fail when it is weakened. Here the labels are held
// against the code, against each other, against the model tests and against the table in
// docs/memory-orders.md.

#include "catch.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

const std::filesystem::path root = std::filesystem::path(TMIGR_TEST_DATA).parent_path().parent_path();

std::vector<std::string> lines_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}
std::string text_of(const std::filesystem::path& file) {
    std::ostringstream text;
    for (const std::string& line : lines_of(file)) text << line << '\n';
    return text.str();
}
std::vector<std::string> all_matches(const std::string& text, const char* pattern) {
    const std::regex regex(pattern);
    std::vector<std::string> found;
    for (std::sregex_iterator m(text.begin(), text.end(), regex), end; m != end; ++m) found.push_back((*m)[1]);
    return found;
}

struct label {
    std::string text;  // of all its comments
    std::set<std::string> partners, killers;
};

struct source {
    std::filesystem::path file;
    std::vector<std::string> lines;
};

std::vector<source> headers() {
    std::vector<source> found;
    for (const auto& entry : std::filesystem::directory_iterator(root / "include" / "tmigr"))
        if (entry.path().extension() == ".hpp") found.push_back({entry.path(), lines_of(entry.path())});
    return found;
}

/// The labels' comments; one may stand in several places.
std::map<std::string, label> labels(const std::vector<source>& sources) {
    static const std::regex first(R"(^\s*// \(([A-Z]\d)\) (.*)$)"), more(R"(^\s*//      (.*)$)");
    std::map<std::string, label> found;
    for (const source& s : sources)
        for (std::size_t i = 0; i < s.lines.size(); ++i) {
            std::smatch m;
            if (!std::regex_match(s.lines[i], m, first)) continue;
            label& l = found[m[1]];
            std::string text = m[2];
            for (std::smatch next; i + 1 < s.lines.size() && std::regex_match(s.lines[i + 1], next, more); ++i)
                text += ' ' + next[1].str();
            l.text += text + ' ';
            for (const std::string& pairs : all_matches(text, R"(pairs with ([^.;]*))"))
                for (const std::string& p : all_matches(pairs, R"(\(([A-Z]\d)\))")) l.partners.insert(p);
            for (const std::string& names : all_matches(text, R"(killed by: ([a-z_]+(?:, [a-z_]+)*))"))
                for (const std::string& n : all_matches(names, "([a-z_]+)")) l.killers.insert(n);
        }
    return found;
}

/// Names of orders in config.hpp, and the labels that stand beside them.
std::map<std::string, std::string> orders() {
    static const std::regex order(R"(^\s*static constexpr auto (\w+) = B::\w+;\s*// \(([A-Z]\d)\).*$)");
    std::map<std::string, std::string> found;
    for (const std::string& line : lines_of(root / "include" / "tmigr" / "config.hpp")) {
        std::smatch m;
        if (std::regex_match(line, m, order)) found[m[1]] = m[2];
    }
    return found;
}

/// Whether one of the lines before, or the line itself, has that in a comment.
bool near(const source& s, std::size_t line, const std::string& what) {
    constexpr std::size_t reach = 16;
    for (std::size_t i = line > reach ? line - reach : 0; i <= line; ++i)
        if (const auto comment = s.lines[i].find("//"); comment != std::string::npos && s.lines[i].find(what, comment) != std::string::npos)
            return true;
    return false;
}

}  // namespace

TEST_CASE("every ordered access has its label beside it") {
    const auto names = orders();
    REQUIRE(names.size() > 30);
    std::set<std::string> used;
    for (const source& s : headers()) {
        if (s.file.filename() == "config.hpp") continue;
        for (std::size_t i = 0; i < s.lines.size(); ++i) {
            INFO(s.file.filename().string() << ":" << i + 1 << ": " << s.lines[i]);
            for (const std::string& name : all_matches(s.lines[i], R"(orders::(\w+))")) {
                REQUIRE(names.count(name) == 1);
                used.insert(name);
                CHECK(near(s, i, "(" + names.at(name) + ")"));
            }
            CHECK(s.lines[i].find("atomics::relaxed") == std::string::npos);
            // No access without an order of the configuration.
            const bool access = std::regex_search(s.lines[i], std::regex(R"(\.(load|store|compare_exchange_\w+)\()"));
            const std::string both = s.lines[i] + (i + 1 < s.lines.size() ? s.lines[i + 1] : "");
            if (access)
                CHECK((both.find("orders::") != std::string::npos || both.find(", order)") != std::string::npos || both.find("load(order)") != std::string::npos));
        }
    }
    for (const auto& [name, in] : names) {
        INFO(name << " (" << in << ")");
        CHECK(used.count(name) == 1);
    }
}

TEST_CASE("the deterministic backend knows the same accesses by the same labels") {
    static const std::regex order(R"re(^\s*static constexpr labelled (\w+)\{"([A-Z]\d)"\};$)re");
    std::map<std::string, std::string> labelled;
    for (const std::string& line : lines_of(root / "tests" / "support" / "labelled_orders.hpp")) {
        std::smatch m;
        if (std::regex_match(line, m, order)) labelled[m[1]] = m[2];
    }
    CHECK(labelled == orders());
}

TEST_CASE("partners exist and name each other") {
    const auto all = labels(headers());
    REQUIRE(all.size() > 25);
    for (const auto& [name, l] : all)
        for (const std::string& partner : l.partners) {
            INFO("(" << name << ") pairs with (" << partner << ")");
            REQUIRE(all.count(partner) == 1);
            CHECK(all.at(partner).partners.count(name) == 1);
        }
    for (const auto& [order, name] : orders()) {
        INFO(order << " (" << name << ")");
        CHECK(all.count(name) == 1);
    }
}

TEST_CASE("what is more than relaxed has a model test that fails without, and the table says so") {
    std::string models;
    for (const auto& entry : std::filesystem::directory_iterator(root / "tests" / "model")) models += text_of(entry.path());
    const std::string table = text_of(root / "docs" / "memory-orders.md");
    const auto all = labels(headers());
    for (const auto& [name, l] : all) {
        INFO("(" << name << ") " << l.text);
        CHECK(table.find("\n| " + name + " |") != std::string::npos);
        const bool relaxed_only = l.text.rfind("relaxed", 0) == 0;
        if (!relaxed_only) CHECK_FALSE(l.killers.empty());
        for (const std::string& killer : l.killers) {
            INFO(killer);
            CHECK(std::regex_search(models, std::regex("\\b" + killer + "\\b")));
            CHECK(table.find("`" + killer) != std::string::npos);
        }
    }
    // And nothing in the table that the code does not have.
    for (const std::string& name : all_matches(table, R"(\n\| ([A-Z]\d) \|)")) {
        INFO(name);
        CHECK(all.count(name) == 1);
    }
}

// "`suite`: `twin`" in the documents, or "`suite` with `twin`".
TEST_CASE("the documents name weakened twins with the suites that run them") {
    std::string models;
    for (const auto& entry : std::filesystem::directory_iterator(root / "tests" / "model")) models += text_of(entry.path());
    std::size_t pairs = 0;
    for (const char* file : {"algorithm.md", "known-faults.md"}) {
        const std::string text = text_of(root / "docs" / file);
        const std::regex pair(R"(`(\w+)`(?::| with)\s+`(\w+)`)");
        for (std::sregex_iterator m(text.begin(), text.end(), pair), end; m != end; ++m) {
            const std::string suite = (*m)[1], twin = (*m)[2];
            if (models.find("struct " + suite) == std::string::npos) continue;
            ++pairs;
            INFO(file << ": " << suite << ", " << twin);
            CHECK(std::regex_search(models, std::regex(suite + "(, |<)" + twin + "\\b")));
        }
    }
    CHECK(pairs >= 10);
}

TEST_CASE("a step that is left out is found by the model tests, by Spin and by random interleavings") {
    std::string models;
    for (const auto& entry : std::filesystem::directory_iterator(root / "tests" / "model")) models += text_of(entry.path());
    std::vector<std::string> twins = all_matches(models, R"(TMIGR_WITHOUT\(\w+, (\w+), \w+\);)");
    twins.insert(twins.end(), {"without_seq", "without_tag", "one_refresh"});
    CHECK(twins.size() >= 15);
    const std::string spin = text_of(root / "tests" / "spin" / "scenarios.txt");
    const std::string interleavings = text_of(root / "tests" / "unit" / "interleavings.cpp");
    // The random machines ask at rest whether the lowest has the role, and have hardly ever two levels of groups
    // that prefer it.
    const std::set<std::string> not_interleaved = {"late_take_over", "silent_first_wake"};
    for (const std::string& twin : twins) {
        INFO(twin);
        CHECK(std::regex_search(models, std::regex("TMIGR_TWIN\\(\\w+, " + twin + ", ")));
        // Sequential consistency hides it: Spin goes through everything, and finds nothing.
        const bool weak = twin == "load_instead_of_swap";
        CHECK(std::regex_search(spin, std::regex("\\| " + twin + (weak ? " \\| safe \\| - \\|" : " \\| safe \\| [a-z]"))));
        if (not_interleaved.count(twin) == 1) continue;
        const std::string use = weak ? "search<" + twin + ">\\(.*== \"\"" : "\\b" + twin + "[,)]\\s";
        CHECK(std::regex_search(interleavings.substr(interleavings.find("TEST_CASE")), std::regex(use)));
    }
}
