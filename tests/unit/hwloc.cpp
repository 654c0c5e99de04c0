// SPDX-License-Identifier: BSL-1.0
#include "catch.hpp"
#include "support/input.hpp"
#include "support/machines.hpp"

#include <tmigr/io/cpus.hpp>
#include <tmigr/io/hwloc.hpp>
#include <tmigr/io/live.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

using tmigr::input_error;
using tmigr::topology;
using tmigr::test::refused;
using tmigr::test::scratch_directory;

namespace {

using tmigr::test::wrong_input;

const std::filesystem::path machines_directory = std::filesystem::path{TMIGR_TEST_DATA} / "machines";

topology machine(const char* file) { return tmigr::read_hwloc(machines_directory / file); }

topology parse(const std::string& xml) { return tmigr::read_hwloc_string(xml, "text.xml"); }

bool same(const topology& a, const topology& b) {
    // A list knows nothing of caches and cores.
    const auto alike = [](const tmigr::cpu_info& x, const tmigr::cpu_info& y) {
        return x.id == y.id && x.node == y.node && x.capacity == y.capacity && x.family == y.family;
    };
    return std::ranges::equal(a.cpus(), b.cpus(), alike) && a.possible_cpus() == b.possible_cpus() &&
           a.possible_nodes() == b.possible_nodes();
}

// Two CPUs on one node, of two capacities; the line is what a test may spoil.
const std::string small =
    R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
<object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x7" nodeset="0x1" complete_nodeset="0x1">
<object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x7" nodeset="0x1" complete_nodeset="0x1"/>
<object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"/>
<object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1"/>
</object>
<cpukind cpuset="0x1">
<info name="LinuxCapacity" value="512"/>
</cpukind>
</topology>
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("every hwloc file is read as recorded") {
    std::size_t files = 0;
    for (const auto& facts : tmigr::test::machines) {
        if (facts.kind != tmigr::test::reader::hwloc) continue;
        CAPTURE(facts.file);
        ++files;
        const topology read = tmigr::read_hwloc(facts.path());
        CHECK(tmigr::test::facts_of(read) == tmigr::test::facts_of(facts));
        CHECK(std::ranges::is_sorted(read.cpus(), {}, &tmigr::cpu_info::id));
    }
    CHECK(files == 21);
}

TEST_CASE("selected hwloc machines have the CPUs, nodes and capacities of their sources") {
    SECTION("CPUs without a node, an offline node") {
        const topology read = machine("cpu17-offline-node0-xeon-e5-2680v3.xml");
        CHECK(read.cpus().front().id == 4);
        CHECK(read.cpus().back().id == 20);
        CHECK(std::ranges::count(read.cpus(), tmigr::no_node, &tmigr::cpu_info::node) == 9);
        CHECK(std::ranges::count(read.cpus(), 1, &tmigr::cpu_info::node) == 8);
    }
    SECTION("holes in the CPU numbers") {
        const topology power8 = machine("cpu16-holes-2node-power8.xml");
        for (const tmigr::cpu_id id : {0u, 1u, 8u, 9u, 16u, 24u, 80u, 81u}) CHECK(power8.contains(id));
        for (const tmigr::cpu_id id : {2u, 7u, 10u, 26u, 82u}) CHECK_FALSE(power8.contains(id));

        const topology power9 = machine("cpu32-holes-8node-gpumem-power9.xml");
        CHECK(power9.cpu(15).node == 0);
        CHECK_FALSE(power9.contains(16));
        CHECK(power9.cpu(88).node == 8);
        CHECK(power9.cpu(103).node == 8);
    }
    SECTION("sparse node numbers") {
        const topology read = machine("cpu48-8node-sparse-ids-opteron.xml");
        for (const tmigr::node_id node : {0, 1, 2, 33, 34, 45, 72, 73})
            CHECK(std::ranges::count(read.cpus(), node, &tmigr::cpu_info::node) == 6);
    }
    SECTION("CPUs that alternate over the nodes") {
        const topology read = machine("cpu80-4node-xeon-6230.xml");
        for (const tmigr::cpu_info& cpu : read.cpus()) CHECK(cpu.node == static_cast<int>(cpu.id % 4));
        const topology smt = machine("cpu32-2node-xeon-4108.xml");
        CHECK(smt.cpu(7).node == 0);
        CHECK(smt.cpu(8).node == 1);
        CHECK(smt.cpu(16).node == 0);
        CHECK(smt.cpu(31).node == 1);
    }
    SECTION("nodes without CPUs") {
        const topology read = machine("built-cpu288-36node-gh200x4.xml");
        CHECK(read.cpu(71).node == 0);
        CHECK(read.cpu(72).node == 1);
        CHECK(read.cpu(287).node == 3);
    }
    SECTION("big machines") {
        const topology epyc = machine("built-cpu768-2node-epyc9965.xml");
        CHECK(epyc.cpu(191).node == 0);
        CHECK(epyc.cpu(192).node == 1);
        CHECK(epyc.cpu(384).node == 0);
        CHECK(epyc.cpu(767).node == 1);
        const topology huge = machine("synthetic-cpu1792-32node.xml");
        for (const tmigr::cpu_info& cpu : huge.cpus())
            REQUIRE(cpu.node == static_cast<int>(cpu.id % 896 / 28));
        CHECK(machine("cpu384-24node-xeon-e5-4640.xml").cpu(192).node == 0);
    }
    SECTION("capacities") {
        CHECK(machine("cpu20-5cap-arm-gb10.xml").capacities() ==
              std::vector<unsigned>{718, 731, 997, 1017, 1024});
        CHECK(machine("built-cpu144-2node-11cap-grace.xml").capacities() ==
              std::vector<unsigned>{996, 999, 1002, 1005, 1007, 1010, 1013, 1015, 1018, 1021, 1024});
        // Two kinds of CPU, but Linux gave no capacity.
        CHECK(machine("cpu20-hybrid-intel-i7-1370p.xml").capacities() == std::vector<unsigned>{1024});
    }
}

TEST_CASE("hwloc files agree with the lists of the same machines") {
    const std::vector<std::pair<const char*, const char*>> pairs{
        {"cpu8-3cap-arm-sm8550-numbers.xml", "snapdragon-sm8550.cpus"},
        {"cpu20-5cap-arm-gb10.xml", "nvidia-gb10-dgx-spark.cpus"},
        {"cpu128-4node-arm-kunpeng920.xml", "huawei-kunpeng920-128.cpus"},
        {"built-cpu8-2cap-rk3588.xml", "rk3588-rock-5b.cpus"},
        {"built-cpu12-5cap-orion-o6.xml", "radxa-orion-o6-boot0.cpus"},
        {"built-cpu144-2node-11cap-grace.xml", "nvidia-grace-superchip-144.cpus"},
    };
    for (const auto& [xml, list] : pairs) {
        CAPTURE(xml, list);
        CHECK(same(machine(xml), tmigr::read_cpus(machines_directory / list)));
    }
}

TEST_CASE("small hwloc texts are read whole") {
    const topology read = parse(small);
    REQUIRE(read.size() == 2);
    CHECK(read.cpus()[0] == tmigr::cpu_info{0, 0, 512, 0});
    CHECK(read.cpus()[1] == tmigr::cpu_info{1, 0, 1024, 0});
    CHECK(read.possible_cpus() == 3);
    CHECK(read.possible_nodes() == 1);

    SECTION("CR LF and a byte order mark") {
        std::string dos = "\xef\xbb\xbf";
        for (const char c : small) dos += c == '\n' ? std::string{"\r\n"} : std::string{c};
        CHECK(same(read, parse(dos)));
    }
    SECTION("comments, and elements that are of no use here") {
        CHECK(same(read,
                   parse(with(small, "<cpukind", "<!-- <object> --><userdata>a&b<x/></userdata><cpukind"))));
        CHECK(same(read, parse(with(small, "<object type=\"PU\" os_index=\"1\"",
                                    "<object type=\"PCIDev\" os_index=\"99999999\"><object type=\"OSDev\"/>"
                                    "</object><object type=\"PU\" os_index=\"1\""))));
        CHECK(same(read, parse(with(small, "</topology>",
                                    "<distances2 nbobjs=\"4294967295\"></distances2></topology>"))));
    }
    SECTION("the lowest of several nodes") {
        const std::string two = R"(<topology version="2.0">
<object type="Machine" cpuset="0x1" complete_cpuset="0x1" nodeset="0x300" complete_nodeset="0x300">
<object type="NUMANode" os_index="9" cpuset="0x1" complete_cpuset="0x1"
        nodeset="0x200" complete_nodeset="0x200"/>
<object type="NUMANode" os_index="8" cpuset="0x1" complete_cpuset="0x1"
        nodeset="0x100" complete_nodeset="0x100"/>
<object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x300" complete_nodeset="0x300"/>
</object></topology>)";
        CHECK(parse(two).cpu(0).node == 8);
        CHECK(parse(two).possible_nodes() == 2);
    }
}

TEST_CASE("wrong hwloc text names line, value and what would be right") {
    const std::string pu1 = R"(type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2")";
    const std::string cpu = "a CPU number from 0 to 1048575";
    const std::string set = "a finite set of numbers up to 1048575, written like 0x00000001,0x0000ffff";
    const std::string root = "an XML text that begins with <topology>, as hwloc writes it";
    const std::string version =
        "version 2 of hwloc's XML format (lstopo of hwloc 3 writes it with "
        "--export-xml-flags v2, lstopo of hwloc 2 converts version 1)";
    const std::string tag = "a tag as hwloc writes it: <name attribute=\"value\" ...>";
    const std::string capacity = "a LinuxCapacity from 1 to 1024";
    const std::string v2 = "<topology version=\"2.0\">";
    const auto no_cpu = small.substr(0, small.find("<object type=\"PU\"")) + "</object></topology>";
    const std::vector<wrong_input> cases{
        {"", 1, "", root},
        {"<svg/>", 1, "svg", root},
        {"0 0 1024\n", 1, "0 0 1024\n", "only blanks between tags"},
        {std::string{"\x7f\x45\x4c\x46\0\0\1", 7}, 1, std::string{"\x7f\x45\x4c\x46\0\0\1", 7},
         "only blanks between tags"},
        {with(small, v2, "<topology version=\"3.0\">"), 3, "3.0", version},
        {with(small, v2, "<topology>"), 3, "", version},
        {with(small, v2, "<topology version=\"2.0x\">"), 3, "2.0x", version},
        {with(small, "\"hwloc2.dtd\"", "[<!ENTITY a"), 2, "<!DOCTYPE topology SYSTEM [<!ENTITY a",
         "a DOCTYPE without declarations of its own"},
        {small.substr(0, small.find("</topology>")), 12, "end of file", "</topology>"},
        {small.substr(0, small.find("</object>")), 8, "end of file", "</object>"},
        {small.substr(0, small.find("os_index=\"1\"")), 7, "<object type=\"PU\" ", "'>' at its end"},
        {with(small, "</topology>", "</topology>\n<x/>"), 13, "x", "nothing after </topology>"},
        {with(small, "</object>", "</cpukind>"), 8, "cpukind", "</object>"},
        {with(small, "type=\"PU\"", "type='PU'"), 6,
         R"(object type='PU' os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" )"
         R"(complete_nodeset="0x1"/)",
         tag},
        {with(small, "<cpukind cpuset=\"0x1\"", "<cpukind cpuset=\"0x1\" cpuset=\"0x2\""), 9,
         R"(cpukind cpuset="0x1" cpuset="0x2")", tag},
        {with(small, pu1, R"(type="Thread" os_index="1")"), 7, "Thread",
         "a type of object that hwloc 2 writes"},
        {with(small, pu1, R"(type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1")"), 7, "0x1",
         "CPUs of its own, the first above the first of the object before"},
        {with(small, pu1, R"(type="PU" os_index="-1" cpuset="0x2" complete_cpuset="0x2")"), 7, "-1", cpu},
        {with(small, pu1, R"(type="PU" os_index="4294967295" cpuset="0x2" complete_cpuset="0x2")"), 7,
         "4294967295", cpu},
        {with(small, pu1, R"(type="PU" cpuset="0x2" complete_cpuset="0x2")"), 7, "", cpu},
        {with(small, pu1, R"(type="PU" os_index="2" cpuset="0x2" complete_cpuset="0x2")"), 7, "2",
         "the number of the one CPU in its set"},
        {with(small,
              "os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x7\" nodeset=\"0x1\" "
              "complete_nodeset=\"0x1\"/>",
              "os_index=\"99999999999999999999\" cpuset=\"0x3\" complete_cpuset=\"0x7\" nodeset=\"0x1\" "
              "complete_nodeset=\"0x1\"/>"),
         5, "99999999999999999999", "a node number from 0 to 1048575"},
        {with(small, pu1, R"(type="PU" os_index="1" cpuset="0xf...f" complete_cpuset="0x2")"), 7, "0xf...f",
         set},
        {with(small, pu1, R"(type="PU" os_index="1" cpuset="2" complete_cpuset="0x2")"), 7, "2", set},
        {with(small, pu1, R"(type="PU" os_index="1" cpuset="0x123456789" complete_cpuset="0x2")"), 7,
         "0x123456789", set},
        {with(small, pu1, "type=\"PU\" os_index=\"1\" cpuset=\"0x2" + std::string(32768, ',') + "0x0\""), 7,
         "0x2" + std::string(32768, ',') + "0x0", set},
        {with(small, pu1, R"(type="PU" os_index="1" cpuset="0x2")"), 7, "", set},
        {with(small, pu1, R"(type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x4")"), 7, "0x2",
         "a cpuset within the complete_cpuset"},
        {with(small, pu1, R"(type="PU" os_index="3" cpuset="0x8" complete_cpuset="0x8")"), 7, "0x8",
         "a cpuset within the cpuset of the object around it"},
        {with(small, pu1, R"(type="Core" os_index="1+" cpuset="0x2" complete_cpuset="0x2")"), 7, "1+",
         "a decimal number as os_index"},
        {with(small, "type=\"Machine\"", "type=\"Package\""), 4, "Package",
         "one Machine, around all other objects"},
        {with(small, pu1, R"(type="Machine" os_index="1" cpuset="0x2" complete_cpuset="0x2")"), 7, "Machine",
         "one Machine, around all other objects"},
        {with(small, "complete_nodeset=\"0x1\"/>\n<object type=\"PU\" os_index=\"0\"",
              "complete_nodeset=\"0x1\">\n<object type=\"PU\" os_index=\"0\""),
         6, "PU", "no such object inside a NUMANode"},
        {with(small, "<object type=\"NUMANode\"",
              R"(<object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x7" nodeset="0x1" )"
              R"(complete_nodeset="0x1"/><object type="NUMANode")"),
         5, "0", "a node number that was not used before"},
        {with(small, "NUMANode", "MemCache"), 12, "no NUMANode", "a machine with at least one node"},
        {no_cpu, 6, "no PU", "a machine with at least one CPU"},
        {with(small, "value=\"512\"", "value=\"0\""), 10, "0", capacity},
        {with(small, "value=\"512\"", "value=\"1025\""), 10, "1025", capacity},
        {with(small, "value=\"512\"", "value=\"big\""), 10, "big", capacity},
        {with(small, "value=\"512\"", "value=\"99999999999999999999\""), 10, "99999999999999999999",
         capacity},
        {with(small, "value=\"512\"", ""), 10, "", capacity},
    };
    for (const wrong_input& each : cases) {
        CAPTURE(each.text.substr(0, 2000));
        const input_error error = refused([&] { parse(each.text); });
        CHECK(error.file() == "text.xml");
        CHECK(error.line() == each.line);
        CHECK(error.value() == each.value);
        CHECK(error.expected() == each.expected);
    }
}

TEST_CASE("a text that only hwloc finds fault with is refused by name") {
    const input_error error = refused([&] {
        parse(with(small, "type=\"PU\" os_index=\"1\"", "type=\"L2Cache\" depth=\"9\" os_index=\"1\""));
    });
    CHECK(error.file() == "text.xml");
    CHECK(error.line() == 0);
    CHECK(error.value() == "an XML text that hwloc rejects");
    CHECK(error.expected() == "a topology of hwloc 2");
}

TEST_CASE("texts made to exhaust hwloc are refused before it sees them") {
    const std::string head = small.substr(0, small.find("<object type=\"PU\""));
    const auto group = [](const std::string& end) {
        return R"(<object type="Group" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" )"
               R"(complete_nodeset="0x1")" +
               end;
    };
    SECTION("deep") {
        std::string deep = head;
        for (int i = 0; i < 100'000; ++i) deep += group(">\n");
        const input_error error = refused([&] { parse(deep); });
        CHECK(error.value() == "object");
        CHECK(error.expected() == "elements nested at most 64 deep");
        CHECK(error.line() == 68);
    }
    SECTION("wide") {
        std::string wide = head;
        const std::string empty = R"(<object type="Group" cpuset="0x0" complete_cpuset="0x0" nodeset="0x1" )"
                                  R"(complete_nodeset="0x1"/>)";
        for (int i = 0; i < 1025; ++i) wide += empty;
        const input_error error = refused([&] { parse(wide); });
        CHECK(error.value() == "1025");
        CHECK(error.expected() == "at most 1024 Groups");
    }
    SECTION("long") {
        const input_error error = refused([&] { parse(small + std::string((std::size_t{16} << 20), ' ')); });
        CHECK(error.value() == "a longer text");
        CHECK(error.expected() == "XML of at most 16777216 bytes");
    }
}

TEST_CASE("hwloc files that are none are refused by name") {
    const scratch_directory scratch;
    const auto missing = scratch.path() / "missing.xml";
    const input_error none = refused([&] { tmigr::read_hwloc(missing); });
    CHECK(none.file() == missing.string());
    CHECK(none.line() == 0);
    CHECK(none.value() == missing.string());
    CHECK(none.expected() == "a readable file");

    const input_error directory = refused([&] { tmigr::read_hwloc(scratch.path()); });
    CHECK(directory.file() == scratch.path().string());
    CHECK(directory.value() == "a directory");

    const auto empty = scratch.file("empty.xml", "");
    const input_error nothing = refused([&] { tmigr::read_hwloc(empty); });
    CHECK(nothing.file() == empty.string());
    CHECK(nothing.line() == 1);
    CHECK(nothing.expected() == "an XML text that begins with <topology>, as hwloc writes it");

    CHECK(same(parse(small), tmigr::read_hwloc(scratch.file("small.xml", small))));
}

TEST_CASE("every recorded file, cut anywhere, is refused with a line") {
    std::ifstream in{machines_directory / "cpu20-5cap-arm-gb10.xml", std::ios::binary};
    const std::string whole{std::istreambuf_iterator<char>{in}, {}};
    REQUIRE(whole.size() > 20'000);
    for (std::size_t size = 0; size + 2 < whole.size(); size += 97) {
        const input_error error = refused([&] { parse(whole.substr(0, size)); });
        REQUIRE(error.line() != 0);
    }
}

TEST_CASE("this machine is read through hwloc and sysfs") {
    const scratch_directory scratch;
    const topology plain = tmigr::read_live(scratch.path());
    REQUIRE_FALSE(plain.empty());
    const tmigr::cpu_info first = plain.cpus().front();

    SECTION("as it is") {
        const topology live = tmigr::read_live();
        CHECK(live.size() == plain.size());
        CHECK(live.possible_cpus() >= live.size());
    }
    SECTION("the capacities and counts of sysfs come first") {
        const std::string cpu = "cpu/cpu" + std::to_string(first.id) + "/cpu_capacity";
        scratch.file(cpu, "77\n");
        scratch.file("cpu/possible", "0-1023,2000\n");
        scratch.file("node/possible", "0-31\n");
        const topology read = tmigr::read_live(scratch.path());
        CHECK(read.cpu(first.id).capacity == 77);
        CHECK(read.possible_cpus() == 1025);
        CHECK(read.possible_nodes() == 32);
    }
    SECTION("nonsense in sysfs is named") {
        const std::vector<std::pair<std::string, std::string>> bad{
            {"1025\n", "1025"}, {"x", "x"}, {"", "end of file"}, {"0\n", "0"}};
        for (const auto& [text, value] : bad) {
            const auto file = scratch.file("cpu/cpu" + std::to_string(first.id) + "/cpu_capacity", text);
            const input_error error = refused([&] { tmigr::read_live(scratch.path()); });
            CHECK(error.file() == file.string());
            CHECK(error.line() == 1);
            CHECK(error.value() == value);
        }
    }
    SECTION("so is a list that is none") {
        const std::vector<std::pair<std::string, std::string>> bad{
            {"3-1\n", "1"},
            {"0-\n", ""},
            {"0,,1\n", ""},
            {"0-99999999999999999999\n", "99999999999999999999"}};
        for (const auto& [text, value] : bad) {
            CAPTURE(text);
            const auto file = scratch.file("node/possible", text);
            const input_error error = refused([&] { tmigr::read_live(scratch.path()); });
            CHECK(error.file() == file.string());
            CHECK(error.value() == value);
            CHECK(error.expected() == "a list of numbers, as in 0-3,8");
        }
    }
}

TEST_CASE("CPUs say which core and which cache they share") {
    // Six cores of two threads with caches of their own below one for all, and eight cores of one
    // thread with a cache for four.
    const topology hybrid = machine("cpu20-hybrid-intel-i7-1370p.xml");
    for (tmigr::cpu_id cpu = 0; cpu < 12; ++cpu) {
        CHECK((hybrid.cpu(cpu).core == hybrid.cpu(cpu ^ 1).core));
        CHECK(hybrid.cpu(cpu).core != hybrid.cpu(cpu ^ 2).core);
        CHECK(hybrid.cpu(cpu).cache == hybrid.cpu(0).cache);
    }
    for (tmigr::cpu_id cpu = 12; cpu < 20; ++cpu) {
        CHECK(hybrid.cpu(cpu).cache == hybrid.cpu(cpu < 16 ? 12 : 16).cache);
        CHECK(hybrid.cpu(cpu).cache != hybrid.cpu(0).cache);
        CHECK(hybrid.cpu(cpu).core != hybrid.cpu(cpu ^ 1).core);
    }
    CHECK(hybrid.cpu(12).cache != hybrid.cpu(16).cache);

    // Threads of a core need not be neighbours.
    const topology server = machine("cpu384-24node-xeon-e5-4640.xml");
    for (tmigr::cpu_id cpu = 0; cpu < 192; ++cpu) CHECK(server.cpu(cpu).core == server.cpu(cpu + 192).core);
    CHECK(server.cpu(0).cache == server.cpu(7).cache);
    CHECK(server.cpu(0).cache != server.cpu(8).cache);

    // One cache for one core is not shared.
    CHECK(parse(small).cpu(0).cache == tmigr::no_locality);
    CHECK(parse(small).cpu(0).core == tmigr::no_locality);
}
