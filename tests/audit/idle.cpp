// SPDX-License-Identifier: BSL-1.0
// What cpu_idle lines add: in what state a CPU is from its first line on, and which wake-ups were for
// nothing.
#include "support.hpp"

#include <cstddef>
#include <filesystem>
#include <string>

using namespace tmigr;
using tmigr::test::audited;
using tmigr::test::audited_text;

namespace {

std::string line(const std::string& time, const std::string& event) {
    return "          <idle>-0       [001] d..1. " + time + ": " + event + "\n";
}

/// CPU 1 sleeps for the tree, armed for CPU 0's timer of 2.04 s; the clocks are the same. It goes into state
/// 2 at 2.001, then comes what is given, and it goes into a state again at 2.1.
auditor stay(const std::string& events) {
    return audited_text(
        "# tracer: nop\n" +
        line("1.999000", "hrtimer_expire_entry: hrtimer=1 function=tick_nohz_handler now=1999000000") +
        line("1.999500", "tmigr_cpu_active: cpu=1 parent=a wakeup=9223372036854775807") +
        line("2.000000", "tmigr_cpu_idle: cpu=1 parent=a nextevt=9223372036854775807 wakeup=2040000000") +
        line("2.001000", "cpu_idle: state=2 cpu_id=1") + events +
        line("2.100000", "cpu_idle: state=0 cpu_id=1"));
}
const std::string leaves_early = line("2.030000", "cpu_idle: state=4294967295 cpu_id=1");
const std::string leaves_then = line("2.041000", "cpu_idle: state=4294967295 cpu_id=1");

struct stays {
    std::size_t all, to_armed, for_nothing;
    friend bool operator==(const stays&, const stays&) = default;
};
stays stays_of(const auditor& audit) {
    return {audit.counts().stays, audit.counts().stays_to_armed, audit.counts().stays_for_nothing};
}

}  // namespace

TEST_CASE("an audit tells wake-ups that were for nothing") {
    CHECK(stays_of(stay(leaves_early)) == stays{1, 0, 0});
    CHECK(stays_of(stay(leaves_then)) == stays{1, 1, 1});
    const std::string tick =
        line("2.040500", "hrtimer_expire_entry: hrtimer=1 function=tick_nohz_handler now=2040500000");
    CHECK(stays_of(stay(tick + leaves_then)) == stays{1, 1, 1});
    for (const char* work : {"timer_expire_entry: timer=00000000f67391c9 function=process_timeout "
                             "now=4294894846 baseclk=4294894846",
                             "hrtimer_expire_entry: hrtimer=2 function=hrtimer_wakeup now=2040500000",
                             "tmigr_handle_remote_cpu: cpu=0 parent=a wakeup=2040000000",
                             "tmigr_cpu_active: cpu=1 parent=a wakeup=2040000000"}) {
        CAPTURE(work);
        // An interrupt is handled before the line that the state was left, what it woke runs behind.
        CHECK(stays_of(stay(line("2.040500", work) + leaves_then)) == stays{1, 1, 0});
        CHECK(stays_of(stay(leaves_then + line("2.041500", work))) == stays{1, 1, 0});
    }
}

TEST_CASE("an audit does not judge a stay of which it has not seen all") {
    // From before the trace; the end of it lost; twice the same line.
    CHECK(stays_of(audited_text("# tracer: nop\n" + leaves_then +
                                line("2.100000", "cpu_idle: state=1 cpu_id=1"))) == stays{0, 0, 0});
    CHECK(stays_of(stay(leaves_then + "CPU:1 [LOST 3 EVENTS]\n")) == stays{0, 0, 0});
    CHECK(stays_of(stay("")) == stays{0, 0, 0});
    CHECK(stays_of(stay(leaves_then + leaves_then)) == stays{1, 1, 1});
    // No number, too large a CPU, no such key: lines that say nothing.
    for (const char* odd : {"cpu_idle: state=x cpu_id=1", "cpu_idle: state=1 cpu_id=4294967295",
                            "cpu_idle: state=1", "cpu_idle: "})
        CHECK(stays_of(stay(leaves_then + line("2.050000", odd))) == stays{1, 1, 1});
}

TEST_CASE("an audit learns the idle state of a CPU from the middle of a trace") {
    using where = audit_idle::where;
    const auto state = [](const std::string& events) {
        return audited_text("# tracer: nop\n" + line("1.0", "tmigr_cpu_new_timer: cpu=1 parent=a wakeup=1") +
                            events)
            .tree()
            .idle_of(1);
    };
    CHECK(state("").is == where::unknown);
    CHECK(state(line("1.1", "cpu_idle: state=3 cpu_id=1")).is == where::in);
    CHECK(state(line("1.1", "cpu_idle: state=3 cpu_id=1")).state == 3);
    CHECK(state(leaves_early).is == where::out);
    CHECK(state(line("1.1", "cpu_idle: state=3 cpu_id=1") + "CPU:1 [LOST 3 EVENTS]\n").is == where::unknown);
}

TEST_CASE("a sleeper that looks counts once for another node, however many timers it runs there") {
    const auto word = [](const char* event, const char* group, int node) {
        return std::string{event} + ": group=" + group + " lvl=0 numa=" + std::to_string(node);
    };
    std::string text = "# tracer: nop\n";
    for (const char* g : {"a", "b"}) text += line("1.0", word("tmigr_group_set", g, *g == 'a' ? 0 : 1));
    for (const char* cpu : {"0", "1", "2"})
        text += line("1.0", std::string{"tmigr_connect_cpu_parent: cpu="} + cpu + " groupmask=" +
                                (*cpu == '0' ? "2" : "1") + " parent=" + (*cpu == '2' ? "a" : "b") +
                                " lvl=0 numa=" + (*cpu == '2' ? "0" : "1") +
                                " capacity=" + (*cpu == '0' ? "512" : "1024") + " num_children=2");
    const std::string sleeps =
        line("2.0", "tmigr_cpu_idle: cpu=1 parent=b nextevt=9223372036854775807 wakeup=2040000000");
    const std::string looks = line("2.1", "tmigr_handle_remote: group=b lvl=0");
    const auto serve = [](const char* cpu) {
        return line("2.1", std::string{"tmigr_handle_remote_cpu: cpu="} + cpu +
                               " parent=" + (*cpu == '2' ? "a" : "b") + " wakeup=2040000000");
    };
    const std::string done = line(
        "2.2",
        "tmigr_cpu_new_timer_idle: cpu=1 parent=b nextevt=9223372036854775807 wakeup=9223372036854775807");
    const auto counts = [&](const std::string& served) {
        return audited_text(text + sleeps + looks + served + done).counts();
    };

    const audit_counts none = counts(""), far = counts(serve("2") + serve("2")),
                       both = counts(serve("2") + serve("1")), small = counts(serve("0"));
    CHECK((none.looked == 1 && none.looked_for_nothing == 1 && none.woken_for_other_node == 0));
    CHECK((far.looked == 1 && far.looked_for_nothing == 0 && far.woken_for_other_node == 1 &&
           far.served_other_node == 2));
    CHECK((both.woken_for_other_node == 0 && both.served_other_node == 1 &&
           both.woken_for_other_capacity == 0));
    CHECK((small.woken_for_other_node == 0 && small.woken_for_other_capacity == 1 &&
           small.served_other_capacity == 1));
}

// README says of them in what they differ: cpu_idle is there, no idle driver is.
TEST_CASE("an audit counts the stays in idle of recorded workloads") {
    struct {
        const char* name;
        stays expected;
    } const workloads[] = {{"16cpu-2node-mixed", {3147, 78, 39}},
                           {"8cpu-hotplug", {2676, 88, 40}},
                           {"8cpu-idle", {621, 220, 19}},
                           {"8cpu-pin4ms", {1859, 7, 0}},
                           {"arm64-12cpu-3capacity-idle", {691, 301, 102}},
                           {"arm64-12cpu-3capacity-mixed", {2545, 144, 77}}};
    for (const auto& w : workloads) {
        CAPTURE(w.name);
        const auditor audit = audited(std::filesystem::path{TMIGR_TEST_CAPTURES_TIMERS} /
                                      (std::string{"workload-7.3-"} + w.name + "-timers.trace"));
        test::tell(audit);
        CHECK(stays_of(audit) == w.expected);
        CHECK(audit.counts().findings() == 0);
    }
}

TEST_CASE("an audit forgets timers that are cancelled, but not those that expire") {
    const auto start = [](const std::string& id) {
        return line("1.0", "timer_start: timer=" + id +
                               " function=f expires=10 [timeout=10] bucket_expiry=10 cpu=1 idx=1 flags=");
    };
    const auto cancel = [](const std::string& id) { return line("1.1", "timer_cancel: timer=" + id); };
    const auto expire = [](const std::string& id) {
        return line("1.2", "timer_expire_entry: timer=" + id + " function=f now=11 baseclk=11");
    };
    const auto ran = [](const std::string& text) {
        return audited_text("# tracer: nop\n" + text).counts().timers[1];
    };
    CHECK(ran(start("a") + expire("a")) == 1);
    CHECK(ran(start("a") + cancel("a") + expire("a")) == 1);
    // An interrupt between the two.
    CHECK(ran(start("a") + start("b") + cancel("a") + cancel("b") + expire("a")) == 1);
    CHECK(ran(start("a") + cancel("a") + expire("a") + expire("a")) == 1);
    std::string many;
    for (unsigned i = 1; i <= 70'000; ++i) many += start(std::to_string(i)) + cancel(std::to_string(i));
    const audit_counts freed = audited_text("# tracer: nop\n" + many + start("a") + expire("a")).counts();
    CHECK((freed.timers[1] == 1 && freed.timers_unfollowed == 0));
    std::string kept;
    for (unsigned i = 1; i <= 70'000; ++i) kept += start(std::to_string(i));
    CHECK(audited_text("# tracer: nop\n" + kept).counts().timers_unfollowed == 70'000 - (1u << 16));
}
