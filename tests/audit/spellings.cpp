// SPDX-License-Identifier: BSL-1.0
// Kernels from 6.9 to 7.3 print the same things under different names: an audit finds the same in each.
#include "machine.hpp"

#include <tmigr/atomics/plain.hpp>
#include <tmigr/family.hpp>

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

using namespace tmigr;
using namespace tmigr::test;

namespace {

std::string with_each(std::string text, std::string_view old, std::string_view fresh) {
    for (std::size_t at = text.find(old); at != text.npos; at = text.find(old, at + fresh.size()))
        text.replace(at, old.size(), fresh);
    return text;
}

/// The same lines as another kernel would print them.
struct spelling {
    bool family, capacity, online;

    std::string of(std::string text) const {
        if (family) text = with_each(std::move(text), " numa=", " family=");
        if (!capacity) text = with_each(std::move(text), " capacity=1024", "");
        if (online) {
            text = with_each(std::move(text), "tmigr_cpu_available:", "tmigr_cpu_online:");
            text = with_each(std::move(text), "tmigr_cpu_unavailable:", "tmigr_cpu_offline:");
        }
        return text;
    }
};

using summary = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::vector<std::string>>;
summary summary_of(const auditor& audit) {
    std::vector<std::string> found;
    for (const audit_finding& f : audit.findings()) {
        std::ostringstream line;
        line << name_of(f.kind) << ' ' << f.fault << ' ' << f.cpu << ' ' << f.group << ' ' << f.due << ' '
             << f.begin.line << ' ' << f.end.line << ' ' << name_of(f.ended_by) << ' ' << f.detail;
        for (const audit_evidence& e : f.evidence) line << ' ' << e.at.line;
        found.push_back(line.str());
    }
    const audit_counts& c = audit.counts();
    return {c.events, c.judged, c.words.agreed, c.served_other_node, std::move(found)};
}

struct traced : expiry_config<plain_atomics> {
    using tracer = text_tracer;
};

/// All CPUs wake, sleep and are looked after once.
template <class Tree>
void live(Tree& tree, const topology& machine) {
    ticks now = 1'000'000'000;
    const auto pass = [&] { tree.tracer().set_time(now += 1'000'000); };
    for (const cpu_info& cpu : machine.cpus()) pass(), tree.cpu(cpu.id).activate();
    ticks due = now + 40'000'000;
    for (const cpu_info& cpu : machine.cpus())
        pass(), static_cast<void>(tree.cpu(cpu.id).deactivate(due += 4'000'000));
}

}  // namespace

TEST_CASE("an audit finds the same whatever the kernel calls it") {
    // Two nodes, CPUs that leave, and a fault.
    const random_machine_of<stepping_expiries>::shape s{
        .cpus = 12, .width = 4, .nodes = 2, .late = 4, .leaves = true};
    for (const misdeed what : {misdeed::none, misdeed::last_forgets}) {
        const std::string text = random_machine_of<stepping_expiries>{s, 3, what}.run(60);
        for (const char* word :
             {" numa=", " capacity=1024", "tmigr_cpu_available:", "tmigr_cpu_unavailable:"})
            REQUIRE(text.find(word) != text.npos);
        const summary expected = summary_of(audited_text(text));
        REQUIRE(std::get<4>(expected).empty() == (what == misdeed::none));
        for (unsigned how = 1; how < 8; ++how) {
            const spelling spelt{(how & 1) != 0, (how & 2) != 0, (how & 4) != 0};
            CAPTURE(spelt.family, spelt.capacity, spelt.online);
            const std::string other = spelt.of(text);
            REQUIRE((spelt.family || spelt.online || !spelt.capacity) == (other != text));
            CHECK(summary_of(audited_text(other)) == expected);
        }
    }
}

TEST_CASE("an audit reads what the library prints in the form of each kernel") {
    topology machine;
    for (cpu_id c = 0; c < 20; ++c) machine.add(c, c / 10);
    for (const linux_form form : {linux_form::v6_9, linux_form::v6_13, linux_form::v6_19})
        for (const family_field field : {family_field::numa, family_field::family}) {
            std::ostringstream out;
            basic_hierarchy<traced> tree(machine, {.width = 8, .form = form}, text_tracer(out, form, field));
            live(tree, machine);
            const auditor audit = audited_text(out.str());
            tell(audit);
            CHECK(audit.counts().findings() == 0);
            CHECK(audit.counts().judged > 0);
            CHECK(audit.tree().cpus().size() == 20);
        }
}

TEST_CASE("a tree for each family is not two roots") {
    // Two capacities, of two nodes each, so that no root is of one family; one root is a leaf where a class
    // is small.
    for (const cpu_id little : {10u, 3u}) {
        topology machine;
        for (cpu_id c = 0; c < 20; ++c) machine.add(c, c / 2 % 2, c < little ? 512 : 1024);
        for (const unsigned width : {4u, 8u})
            for (const family_field field : {family_field::numa, family_field::family}) {
                std::ostringstream out;
                basic_hierarchy<traced> tree(machine, families::split(), {.width = width},
                                             text_tracer(out, linux_form::newest, field));
                live(tree, machine);
                const std::string with = out.str();
                for (const std::string& text :
                     {with, with_each(with_each(with, " capacity=1024", ""), " capacity=512", "")}) {
                    const auditor audit = audited_text(text);
                    tell(audit);
                    CAPTURE(little, width);
                    CHECK(audit.counts().findings() == 0);
                    std::size_t roots = 0;
                    for (const audit_group& g : audit.tree().groups()) roots += g.parent == no_index ? 1 : 0;
                    CHECK(roots == 2);
                }
            }
    }
}
