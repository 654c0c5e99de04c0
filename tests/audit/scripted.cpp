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

TEST_CASE("K22 the old root has several nodes") {
    // The new branch is of a third node: that the two have no node in common does not make them two trees.
    std::ostringstream out;
    text_tracer tracer{out};
    const group_id a = 0xa, b = 0xb, old_root = 0xc, d = 0xd, root = 0xe;
    for (const group_id leaf : {a, b}) tracer.trace(event::group_set{leaf, 0, leaf == a ? 0 : 1}, 0);
    tracer.trace(event::group_set{old_root, 1, no_family}, 0);
    for (const group_id leaf : {a, b}) {
        tracer.trace(event::connect_child_parent{leaf, leaf == a ? 1u : 2u, old_root, 1, no_family, 1024, 2},
                     0);
        tracer.trace(event::connect_cpu_parent{leaf == a ? 0u : 1u, 1, leaf, 0, leaf == a ? 0 : 1, 1024, 1},
                     0);
    }
    tracer.trace(event::group_set{d, 0, 2}, 0);
    tracer.trace(event::group_set{root, 2, no_family}, 0);
    tracer.trace(event::connect_child_parent{d, 2, root, 2, no_family, 1024, 2}, 0);
    tracer.trace(event::connect_cpu_parent{2, 1, d, 0, 2, 1024, 1}, 0);
    tracer.trace(event::cpu_active{2, d, event::never}, 2);
    check_only(audited_text(out.str()), audit_kind::two_roots, "K22");
}

TEST_CASE("K21 the old root is awake, and the new one was not told") {
    for (const bool told : {true, false}) {
        std::ostringstream out;
        text_tracer tracer{out};
        tracer.set_time(1000 * ms);
        const group_id a = 0xa, b = 0xb, root = 0xc;
        tracer.trace(event::group_set{a, 0, 0}, 0);
        for (cpu_id c = 0; c < 2; ++c)
            tracer.trace(event::connect_cpu_parent{c, 1ull << c, a, 0, 0, 1024, c + 1}, 0);
        tracer.trace(event::cpu_active{0, a, event::never}, 0);
        tracer.trace(event::group_set_cpu_active{{a, 0, 0, 1, 1, no_group, 1}}, 0);
        tracer.trace(event::group_set{b, 0, 0}, 2);
        tracer.trace(event::group_set{root, 1, 0}, 2);
        tracer.trace(event::connect_child_parent{b, 2, root, 1, 0, 1024, 2}, 2);
        tracer.trace(event::connect_cpu_parent{2, 1, b, 0, 0, 1024, 1}, 2);
        tracer.trace(event::connect_child_parent{a, 1, root, 1, 0, 1024, 2}, 2);
        if (told) tracer.trace(event::group_set_cpu_active{{root, 1, 0, 1, 1, no_group, 1}}, 2);
        tracer.trace(event::cpu_active{2, b, event::never}, 2);
        tracer.trace(event::group_set_cpu_active{{b, 0, 0, 1, 1, root, 1}}, 2);
        tracer.trace(event::group_set_cpu_active{{root, 1, 0, told ? 3u : 2u, told ? 1u : 2u, no_group, 2}},
                     2);
        for (unsigned i = 0; i < 4; ++i) {
            tracer.set_time((1400 + 100 * i) * ms);
            tracer.trace(event::handle_remote{b, 0}, 2);
        }
        const auto audit = audited_text(out.str());
        if (told) {
            test::tell(audit);
            CHECK(audit.counts().findings() == 0);
        } else {
            check_only(audit, audit_kind::awake_untold, "K21");
            CHECK(audit.findings()[0].group == a);
        }
    }
}

namespace {

std::string last_line(const std::string& text, std::string_view word) {
    std::size_t at = text.rfind(word);
    REQUIRE(at != text.npos);
    at = text.rfind('\n', at) + 1;
    return text.substr(at, text.find('\n', at) + 1 - at);
}
std::string with(std::string text, const std::string& old, const std::string& fresh) {
    const std::size_t at = text.rfind(old);
    REQUIRE(at != text.npos);
    return text.replace(at, old.size(), fresh);
}
std::string wakeup(ticks t) { return " wakeup=" + std::to_string(t); }
/// Something that wakes a CPU some day.
std::string some_day(machine& m, cpu_id c) {
    m.pass(300 * ms);
    const auto before = m.out.str().size();
    m.tree.cpu(c).activate();
    return m.out.str().substr(before);
}

}  // namespace

TEST_CASE("K05 a sleeper gets its first timer while the last one falls asleep") {
    const std::string none = wakeup(event::never);
    for (const bool all_idle : {true, false}) {
        machine m{one_node(8)};
        const auto a = m.tree.cpu(0), b = m.tree.cpu(5);
        for (const auto& cpu : {a, b}) m.pass(ms), cpu.activate();
        m.pass(ms);
        static_cast<void>(a.deactivate(never));
        m.pass(ms);
        if (all_idle) static_cast<void>(b.deactivate(never));
        m.pass(ms);
        const ticks due = m.now + 40 * ms;
        const ticks armed = a.new_expiry(due);
        CHECK(armed == (all_idle ? due : never));
        const std::string healthy = m.out.str();
        // It took the group above for awake, or its own: it arms nothing, or goes no further.
        const std::string told = last_line(healthy, "tmigr_cpu_new_timer_idle:"),
                          above = last_line(healthy, "tmigr_update_events:");
        const std::string faulty =
            all_idle ? with(healthy, told, with(told, wakeup(due), none)) : with(healthy, above, "");
        const std::string later = some_day(m, 6);
        CHECK(audited_text(healthy + later).counts().findings() == 0);
        const auto audit = audited_text(faulty + later);
        check_only(audit, audit_kind::uncovered, "K05");
        CHECK(audit.findings()[0].cpu == 0);
    }
}

TEST_CASE("K07 whoever runs a sleeper's timers writes a later expiry over one that came meanwhile") {
    machine m{one_node(4)};
    const auto a = m.tree.cpu(0), b = m.tree.cpu(1);
    for (const auto& cpu : {a, b}) m.pass(ms), cpu.activate();
    m.pass(ms);
    const ticks first = m.now + 40 * ms, meanwhile = m.now + 60 * ms, late = m.now + 900 * ms;
    static_cast<void>(a.deactivate(first));
    m.pass(41 * ms);
    for (const ticks next : {meanwhile, late}) {
        const std::string text = m.out.str();
        std::ostringstream more;
        text_tracer tracer{more};
        const group_id leaf = 1;
        const std::size_t header = more.str().size();
        tracer.set_time(m.now);
        tracer.trace(event::handle_remote{leaf, 0}, 1);
        tracer.trace(event::handle_remote_cpu{0, leaf, event::never}, 1);
        // Its timers are being run: it leaves the telling to who does.
        tracer.trace(event::cpu_new_timer{0, leaf, event::never}, 0);
        tracer.trace(event::cpu_new_timer_idle{0, leaf, meanwhile, event::never}, 0);
        tracer.trace(event::update_events{no_group, leaf, 0, 0, 2, next, next, next, 0}, 1);
        for (unsigned i = 1; i < 4; ++i) {
            tracer.set_time(m.now + i * 100 * ms);
            tracer.trace(event::handle_remote{leaf, 0}, 1);
            tracer.trace(event::cpu_idle{3, leaf, event::never, event::never}, 3);
        }
        const auto audit = audited_text(text + more.str().substr(header));
        if (next == meanwhile) {
            test::tell(audit);
            CHECK(audit.counts().findings() == 0);
        } else {
            check_only(audit, audit_kind::uncovered, "K07");
            CHECK(audit.findings()[0].due == meanwhile);
        }
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

TEST_CASE("a time that goes back is a place where lines are missing") {
    const auto then = [](const char* time) {
        const std::string tail = ": tmigr_cpu_new_timer: cpu=0 parent=a wakeup=1\n",
                          head = " <idle>-0 [000] d..1. ";
        return audited_text("# tracer: nop\n" + head + "5.0" + tail + head + time + tail).counts().gaps;
    };
    // Clocks of CPUs can differ a little.
    CHECK(then("4.5") == 0);
    CHECK(then("3.9") == 1);
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
