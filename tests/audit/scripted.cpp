// SPDX-License-Identifier: BSL-1.0
// Traces of a few steps, each of a fault that takes no race.
#include "support.hpp"

#include <tmigr/atomics/plain.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/text_tracer.hpp>

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

using namespace tmigr;
using tmigr::test::audited_text;

namespace {

constexpr std::uint64_t ms = 1'000'000;

struct traced : expiry_config<plain_atomics> {
    using tracer = text_tracer;
};

/// A machine whose time passes when the test says so.
struct machine {
    std::ostringstream out;
    basic_hierarchy<traced> tree;
    std::uint64_t now = 1000 * ms;

    explicit machine(const topology& cpus, hierarchy_options options = {.width = 4})
        : tree(cpus, options, text_tracer(out, options.form)) {}
    void pass(std::uint64_t time) { tree.tracer().set_time(now += time); }
};

topology one_node(cpu_id cpus) {
    topology machine;
    for (cpu_id c = 0; c < cpus; ++c) machine.add(c, 0);
    return machine;
}

void check_only(const auditor& audit, audit_kind kind, std::string_view fault) {
    test::tell(audit);
    CHECK(audit.counts().findings() == 1);
    REQUIRE(audit.findings().size() == 1);
    CHECK(audit.findings()[0].kind == kind);
    CHECK(std::string_view{audit.findings()[0].fault} == fault);
}

}  // namespace

TEST_CASE("K25 the last one awake leaves, and nobody takes over what it was to look after") {
    for (const bool taken_over : {true, false}) {
        machine m{one_node(8)};
        const auto a = m.tree.cpu(0), b = m.tree.cpu(5);
        for (const auto& cpu : {a, b}) m.pass(ms), cpu.activate();
        m.pass(ms);
        CHECK(b.deactivate(m.now + 40 * ms) == never);
        m.pass(ms);
        const departure left = a.leave();
        REQUIRE(left.due != never);
        m.pass(ms);
        if (taken_over) {
            const auto by = m.tree.cpu(*left.by);
            by.activate();
            m.pass(ms);
            static_cast<void>(by.deactivate(never));
        }
        // Something else that wakes a CPU some day.
        m.pass(300 * ms);
        const auto other = m.tree.cpu(6);
        other.activate();
        m.pass(ms);
        const auto audit = audited_text(m.out.str());
        if (taken_over) {
            test::tell(audit);
            CHECK(audit.counts().findings() == 0);
        } else {
            check_only(audit, audit_kind::uncovered, "K25");
            CHECK(audit.findings()[0].cpu == 5);
            CHECK(audit.findings()[0].ended_by == audit_end::covered);
        }
    }
}

TEST_CASE("K22 the old root is not connected to the new one") {
    for (const bool connected : {true, false}) {
        std::ostringstream out;
        text_tracer tracer{out};
        const group_id a = 0xa, b = 0xb, root = 0xc;
        tracer.trace(event::group_set{a, 0, 0}, 0);
        for (cpu_id c = 0; c < 8; ++c)
            tracer.trace(event::connect_cpu_parent{c, 1ull << c, a, 0, 0, 1024, c + 1}, 0);
        tracer.trace(event::group_set{b, 0, 0}, 0);
        tracer.trace(event::group_set{root, 1, 0}, 0);
        tracer.trace(event::connect_child_parent{b, 2, root, 1, 0, 1024, 2}, 0);
        tracer.trace(event::connect_cpu_parent{8, 1, b, 0, 0, 1024, 1}, 0);
        if (connected) tracer.trace(event::connect_child_parent{a, 1, root, 1, 0, 1024, 2}, 0);
        tracer.trace(event::cpu_active{8, b, event::never}, 8);
        tracer.trace(event::group_set_cpu_active{{b, 0, 0, 1, 1, root, 1}}, 8);
        tracer.trace(event::group_set_cpu_active{{root, 1, 0, 2, 2, no_group, 2}}, 8);
        const auto audit = audited_text(out.str());
        if (connected)
            CHECK(audit.counts().findings() == 0);
        else
            check_only(audit, audit_kind::two_roots, "K22");
    }
}

// The rules of 6.9 put a node's group under another node's when CPUs arrive so.
TEST_CASE("K38 a group of one node below a group of another") {
    topology cpus;
    for (cpu_id c = 0; c < 18; ++c) cpus.add(c % 2 == 0 ? c / 2 : 9 + c / 2, static_cast<node_id>(c % 2));
    machine newest{cpus, {.width = 8}};
    CHECK(audited_text(newest.out.str()).counts().findings() == 0);
    machine old{cpus, {.width = 8, .form = linux_form::v6_9}};
    const auto audit = audited_text(old.out.str());
    test::tell(audit);
    CHECK(audit.counts().of(audit_kind::mixed_nodes) == audit.counts().findings());
    REQUIRE(audit.counts().findings() > 0);
    CHECK(std::string_view{audit.findings()[0].fault} == "K38");
}

TEST_CASE("a word whose migrator is nobody awake is no word") {
    std::ostringstream out;
    text_tracer tracer{out};
    tracer.trace(event::group_set_cpu_active{{0xa, 0, 0, 3, 4, no_group, 1}}, 0);
    check_only(audited_text(out.str()), audit_kind::bad_migrator, "unknown");
}

TEST_CASE("what cannot be known is not judged") {
    // The window begins behind the line that armed, or behind the one that told the root.
    machine m{one_node(8)};
    const auto a = m.tree.cpu(0), b = m.tree.cpu(5);
    for (const auto& cpu : {a, b}) m.pass(ms), cpu.activate();
    m.pass(ms);
    CHECK(b.deactivate(m.now + 40 * ms) == never);
    m.pass(ms);
    CHECK(a.deactivate(never) != never);
    m.pass(ms);
    CHECK(b.new_expiry(m.now + 60 * ms) != never);
    const std::string all = m.out.str();
    for (std::size_t cut = 0; cut < all.size(); cut = all.find('\n', cut) + 1) {
        const auto audit = audited_text("# tracer: nop\n" + all.substr(cut));
        CAPTURE(all.substr(cut, all.find('\n', cut) - cut));
        CHECK(audit.counts().findings() == 0);
    }
}
