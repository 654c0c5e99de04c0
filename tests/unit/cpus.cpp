// SPDX-License-Identifier: BSL-1.0
#include "catch.hpp"
#include "support/input.hpp"
#include "support/machines.hpp"

#include <tmigr/io/cpus.hpp>

#include <algorithm>
#include <locale>
#include <sstream>
#include <string>
#include <vector>

using tmigr::input_error;
using tmigr::topology;
using tmigr::test::refused;
using tmigr::test::scratch_directory;

namespace {

using tmigr::test::wrong_input;

topology parse(const std::string& text) {
    std::istringstream in{text};
    return tmigr::read_cpus(in, "text.cpus");
}

topology machine(const char* file) {
    return tmigr::read_cpus(std::filesystem::path{TMIGR_TEST_DATA} / "machines" / file);
}

bool same(const topology& a, const topology& b) {
    return std::ranges::equal(a.cpus(), b.cpus()) && a.possible_cpus() == b.possible_cpus() &&
           a.possible_nodes() == b.possible_nodes();
}

}  // namespace

TEST_CASE("every .cpus file is read as recorded") {
    std::size_t files = 0;
    for (const auto& facts : tmigr::test::machines) {
        if (facts.kind != tmigr::test::reader::cpus) continue;
        CAPTURE(facts.file);
        ++files;
        const topology read = tmigr::read_cpus(facts.path());
        CHECK(tmigr::test::facts_of(read) == tmigr::test::facts_of(facts));
    }
    CHECK(files == 23);
}

TEST_CASE("selected .cpus machines have the CPUs of their sources") {
    SECTION("classes that alternate") {
        const topology read = machine("juno-r0.cpus");
        CHECK(read.capacities() == std::vector<unsigned>{446, 1024});
        for (const tmigr::cpu_id little : {0u, 3u, 4u, 5u}) CHECK(read.cpu(little).capacity == 446);
        for (const tmigr::cpu_id big : {1u, 2u}) CHECK(read.cpu(big).capacity == 1024);
    }
    SECTION("a class split around all others") {
        const topology read = machine("radxa-orion-o6-boot0.cpus");
        CHECK(read.capacities() == std::vector<unsigned>{278, 866, 905, 984, 1024});
        CHECK(read.cpu(0).capacity == 1024);
        CHECK(read.cpu(4).capacity == 278);
        CHECK(read.cpu(5).capacity == 905);
        CHECK(read.cpu(8).capacity == 866);
        CHECK(read.cpu(10).capacity == 984);
        CHECK(read.cpu(11).capacity == 1024);
    }
    SECTION("holes in the numbers") {
        const topology hybrid = machine("intel-i7-1370p-nosmt.cpus");
        CHECK_FALSE(hybrid.contains(1));
        CHECK_FALSE(hybrid.contains(11));
        CHECK(hybrid.cpu(4).capacity == 1024);
        CHECK(hybrid.cpu(12).capacity == 596);
        CHECK(hybrid.capacities() == std::vector<unsigned>{596, 978, 1024});

        const topology grace = machine("nvidia-grace-seen-74.cpus");
        CHECK(grace.cpus()[0].id == 2);
        CHECK(grace.cpus()[1].id == 6);
        CHECK(std::ranges::count(grace.cpus(), 0, &tmigr::cpu_info::node) == 4);
        CHECK(std::ranges::count(grace.cpus(), 1, &tmigr::cpu_info::node) == 70);
    }
    SECTION("many classes") {
        CHECK(machine("nvidia-grace-superchip-144.cpus").capacities() ==
              std::vector<unsigned>{996, 999, 1002, 1005, 1007, 1010, 1013, 1015, 1018, 1021, 1024});
        CHECK(machine("synthetic-16class-2node-128.cpus").capacities().front() == 904);
        const topology distinct = machine("synthetic-all-distinct-64.cpus");
        CHECK(distinct.capacities().front() == 772);
        CHECK(distinct.capacities().back() == 1024);
    }
    SECTION("nodes") {
        const topology altra = machine("ampere-altra-80.cpus");
        CHECK(altra.cpu(39).node == 0);
        CHECK(altra.cpu(40).node == 1);
    }
}

TEST_CASE("the order of the lines is the order of arrival") {
    const topology read = parse("5 1 1024\n2 -1 7\n9 0 1\n");
    REQUIRE(read.size() == 3);
    CHECK(read.cpus()[0] == tmigr::cpu_info{5, 1, 1024, 1});
    CHECK(read.cpus()[1] == tmigr::cpu_info{2, tmigr::no_node, 7, tmigr::no_family});
    CHECK(read.cpus()[2] == tmigr::cpu_info{9, 0, 1, 0});
}

TEST_CASE("comments, blank lines, blanks and CR LF are taken") {
    const topology plain = parse("0 0 1024\n1 0 512\n");
    CHECK(same(plain, parse("# head\n\n  0\t0   1024  # big\n#0 0 1\n \t \n1 0 512")));
    CHECK(same(plain, parse("0 0 1024\r\n\r\n# x\r\n1 0 512\r\n")));
    CHECK(same(plain, parse("000 00 01024\n1 -0 512\n")));
    CHECK(parse("1048575 1048575 1024\n").cpus()[0].id == tmigr::max_cpu_id);
}

TEST_CASE("a comment may say what is possible") {
    const topology stated = parse("# cpus: 8 nodes: 4 capacity classes: 1 (1024)\n0 0 1024\n");
    CHECK(stated.possible_cpus() == 8);
    CHECK(stated.possible_nodes() == 4);
    const topology late = parse("0 0 1024\n#cpus:\t8 nodes: 4\r\n");
    CHECK(late.possible_cpus() == 8);
    const topology plain = parse("# cpus: 8\n# cpus 8 nodes 4\n# nodes: 4 cpus: 8\n0 0 1024\n");
    CHECK(plain.possible_cpus() == 1);
    CHECK(plain.possible_nodes() == 1);
    CHECK(parse("# cpus: 1 nodes: 1\n0 0 1\n1 1 1\n").possible_cpus() == 2);
}

TEST_CASE("wrong .cpus text names line, value and what would be right") {
    const std::string columns = "three columns: cpu node capacity";
    const std::string cpu = "a CPU number from 0 to 1048575";
    const std::string node = "a node number from 0 to 1048575, or -1 for none";
    const std::string capacity = "a capacity from 1 to 1024";
    const std::string some = "at least one line: cpu node capacity";
    const std::string cpus = "a number of possible CPUs from 1 to 1048576";
    const std::string nodes = "a number of possible nodes from 1 to 1048576";
    const std::vector<wrong_input> cases{
        {"", 1, "end of file", some},
        {"# only\n\n", 3, "end of file", some},
        {"0 0 1024\n1 0\n", 2, "1 0", columns},
        {"0 0 1024\n\n1\n", 3, "1", columns},
        {"0 0 1024 1\n", 1, "0 0 1024 1", columns},
        {"0 0\r\n", 1, "0 0", columns},
        {"0,0,1024\n", 1, "0,0,1024", columns},
        {"0 0 1024\n0 1 512\n", 2, "0", "a CPU number that was not used before"},
        {"1048576 0 1024\n", 1, "1048576", cpu},
        {"99999999999999999999 0 1\n", 1, "99999999999999999999", cpu},
        {"4294967296 0 1\n", 1, "4294967296", cpu},
        {"-1 0 1\n", 1, "-1", cpu},
        {"0x10 0 1\n", 1, "0x10", cpu},
        {"1e3 0 1\n", 1, "1e3", cpu},
        {"+5 0 1\n", 1, "+5", cpu},
        {"5; 0 1\n", 1, "5;", cpu},
        {"0 -2 1\n", 1, "-2", node},
        {"0 1048576 1\n", 1, "1048576", node},
        {"0 -99999999999999999999 1\n", 1, "-99999999999999999999", node},
        {"0 - 1\n", 1, "-", node},
        {"0 --1 1\n", 1, "--1", node},
        {"0 0.5 1\n", 1, "0.5", node},
        {"0 0 0\n", 1, "0", capacity},
        {"0 0 1025\n", 1, "1025", capacity},
        {"0 0 -1\n", 1, "-1", capacity},
        {"0 0 big\n", 1, "big", capacity},
        {std::string{"0 0 1\n0\0 0 1\n", 13}, 2, std::string{"0\0", 2}, cpu},
        {std::string{"\x7f\xff\0\1\n", 5}, 1, std::string{"\x7f\xff\0\1", 4}, columns},
        {"# cpus: 0 nodes: 1\n0 0 1\n", 1, "0", cpus},
        {"0 0 1\n# cpus: 1 nodes: x\n", 2, "x", nodes},
        {"# cpus: 1048577 nodes: 1\n", 1, "1048577", cpus},
    };
    for (const wrong_input& each : cases) {
        CAPTURE(each.text);
        const input_error error = refused([&] { parse(each.text); });
        CHECK(error.file() == "text.cpus");
        CHECK(error.line() == each.line);
        CHECK(error.value() == each.value);
        CHECK(error.expected() == each.expected);
    }
}

TEST_CASE("a line without end is refused before it fills the memory") {
    const std::size_t longest = tmigr::detail::line_reader::longest_line;
    CHECK(parse("0 0 1024" + std::string(longest - 8, ' ') + "\n").size() == 1);
    const input_error error = refused([&] { parse("0 0 1\n" + std::string(4 * longest, '\0')); });
    CHECK(error.line() == 2);
    CHECK(error.value().size() == longest);
    CHECK(error.expected() == "a line of at most 65536 bytes");
}

TEST_CASE("files that are none are refused by name") {
    const scratch_directory scratch;
    const std::string missing = (scratch.path() / "missing.cpus").string();
    const input_error none = refused([&] { tmigr::read_cpus(std::filesystem::path{missing}); });
    CHECK(none.file() == missing);
    CHECK(none.line() == 0);
    CHECK(none.value() == missing);
    CHECK(none.expected() == "a readable file");

    const input_error directory = refused([&] { tmigr::read_cpus(scratch.path()); });
    CHECK(directory.file() == scratch.path().string());
    CHECK(directory.value() == "a directory");
    CHECK(directory.expected() == "a readable file");

    const auto empty = scratch.file("empty.cpus", "");
    const input_error nothing = refused([&] { tmigr::read_cpus(empty); });
    CHECK(nothing.file() == empty.string());
    CHECK(nothing.line() == 1);
    CHECK(nothing.value() == "end of file");
}

TEST_CASE("a machine reads back as it was written") {
    for (const auto& facts : tmigr::test::machines) {
        if (facts.kind != tmigr::test::reader::cpus) continue;
        CAPTURE(facts.file);
        const topology read = tmigr::read_cpus(facts.path());
        std::stringstream text;
        tmigr::write_cpus(text, read);
        CHECK(same(read, tmigr::read_cpus(text, "written")));
    }
    topology odd;
    odd.add(tmigr::max_cpu_id, tmigr::max_node_id, 1);
    odd.add(3, tmigr::no_node, 1024);
    odd.set_possible(1u << 20, 1u << 20);
    std::ostringstream text;
    tmigr::write_cpus(text, odd);
    CHECK(text.str() ==
          "# cpus: 1048576 nodes: 1048576\n# columns: cpu node capacity\n1048575 1048575 1\n3 -1 1024\n");
    CHECK(same(odd, parse(text.str())));
}

TEST_CASE("writing does not follow the stream's locale and flags") {
    struct grouped : std::numpunct<char> {
        char do_thousands_sep() const override { return ','; }
        std::string do_grouping() const override { return "\3"; }
    };
    std::ostringstream text;
    text.imbue(std::locale{std::locale::classic(), new grouped});
    text << std::hex;
    topology one;
    one.add(4096, 0, 1024);
    tmigr::write_cpus(text, one);
    CHECK(same(one, parse(text.str())));
}

TEST_CASE("what no .cpus file can say is not written") {
    std::ostringstream text;
    CHECK(refused([&] { tmigr::write_cpus(text, topology{}); }).value() == "no CPU");
    topology huge;
    huge.add(0);
    huge.set_possible((std::size_t{1} << 20) + 1, 1);
    const input_error error = refused([&] { tmigr::write_cpus(text, huge); });
    CHECK(error.value() == "1048577");
    CHECK(error.expected() == "at most 1048576 possible CPUs or nodes");
    CHECK(text.str().empty());
}
