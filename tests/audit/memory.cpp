// SPDX-License-Identifier: BSL-1.0
// However long a trace is, and whatever it holds, an audit of it takes so much memory and no more.
#include "support.hpp"
#include "support/bytes_in_use.hpp"

#include <tmigr/input_error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <streambuf>
#include <string>

using namespace tmigr;

namespace {

/// Lines that are made while they are read: an endless trace takes no memory of its own.
class made_lines : public std::streambuf {
public:
    explicit made_lines(std::function<bool(std::string&)> more) : more_(std::move(more)) {}

protected:
    int_type underflow() override {
        line_.clear();
        if (!more_(line_)) return traits_type::eof();
        setg(line_.data(), line_.data(), line_.data() + line_.size());
        return traits_type::to_int_type(line_[0]);
    }

private:
    std::function<bool(std::string&)> more_;
    std::string line_;
};

struct outcome {
    std::size_t bytes = 0;  ///< in use at most, beyond what was before
    audit_counts counts{};
    std::string refused;  ///< what was expected instead, where the input was refused
};

outcome audit_of(std::function<bool(std::string&)> more, audit_options options = {}) {
    made_lines buffer{std::move(more)};
    std::istream in{&buffer};
    outcome o;
    const std::size_t before = test::bytes_in_use;
    test::peak_in_use = before;
    {
        ftrace_reader reader{in, "made", ftrace_reader::others::keep};
        auditor audit{options};
        try {
            while (const auto record = reader.next()) audit.add(*record);
        } catch (const input_error& error) {
            o.refused = error.expected();
        }
        audit.finish();
        o.counts = audit.counts();
    }
    o.bytes = test::peak_in_use - before;
    return o;
}
/// `make(n)` is line n.
outcome audit_lines(std::size_t lines, const std::function<std::string(std::size_t)>& make,
                    audit_options options = {}) {
    return audit_of(
        [&, n = std::size_t{0}](std::string& to) mutable {
            if (n > lines) return false;
            to = n == 0 ? "# tracer: nop\n" : make(n) + '\n';
            ++n;
            return true;
        },
        options);
}
std::string line(std::size_t cpu, const std::string& event) {
    return " <idle>-0 [" + std::to_string(cpu) + "] d..1. 1.0: " + event;
}

constexpr std::size_t million = 1'000'000;

}  // namespace

TEST_CASE("a trace ten times as long takes an audit no more memory") {
    for (const char* name : {"workload-7.3-16cpu-2node-mixed", "kernel-7.3-16cpu-late-timer"}) {
        std::ifstream file{std::filesystem::path{TMIGR_TEST_CAPTURES_TIMERS} /
                           (std::string{name} + "-timers.trace")};
        const std::string text{std::istreambuf_iterator<char>{file}, {}};
        REQUIRE(text.size() > 100'000);
        for (const bool stories : {false, true}) {
            const auto repeated = [&](std::size_t times) {
                return audit_of(
                    [&, n = std::size_t{0}](std::string& to) mutable {
                        if (n++ == times) return false;
                        to = text;
                        return true;
                    },
                    {.details = 5, .stories = stories, .story_lines = 40});
            };
            // Tables grow to what they need in the first.
            const outcome few = repeated(3), many = repeated(30);
            CHECK(many.counts.events > few.counts.events * 9);
            CAPTURE(name, stories, few.bytes);
            CHECK(many.bytes == few.bytes);
        }
    }
}

TEST_CASE("what a hostile trace names anew and anew is refused or not followed") {
    const auto cpu = [](std::size_t n) {
        return "tmigr_cpu_active: cpu=" + std::to_string(n) + " parent=1 wakeup=0";
    };
    const auto hex = [](std::size_t n) {
        char text[20];
        std::snprintf(text, sizeof text, "%zx", n);
        return std::string{text};
    };
    const auto other_cpus = [&](std::size_t n) { return line(0, cpu(n % max_cpu_id)); };
    const auto printers = [&](std::size_t n) { return line(n % max_cpu_id, cpu(1)); };
    const auto groups = [&](std::size_t n) {
        return line(0, "tmigr_handle_remote: group=" + hex(n) + " lvl=0");
    };
    for (const auto& [make, refused] :
         {std::pair{std::function<std::string(std::size_t)>{other_cpus}, "at most 65536 CPUs"},
          {std::function<std::string(std::size_t)>{printers}, "at most 65536 CPUs"},
          {std::function<std::string(std::size_t)>{groups}, "at most 32768 groups"}}) {
        const outcome o = audit_lines(million, make);
        CAPTURE(refused, o.bytes);
        CHECK(o.refused == refused);
        CHECK(o.bytes < 64 * million);
    }

    const auto timers = [&](std::size_t n) {
        return line(0, "timer_start: timer=" + hex(n) +
                           " function=f expires=9 [timeout=9] bucket_expiry=9 cpu=1 idx=1 flags=");
    };
    const outcome few = audit_lines(million / 10, timers), many = audit_lines(million, timers);
    CHECK(many.refused.empty());
    CHECK(many.bytes == few.bytes);
    CHECK(many.counts.timers_unfollowed == million - (1u << 16));
}

TEST_CASE("a tree that is made again and again takes an audit no more memory") {
    const auto boots = [](std::size_t n) {
        const std::string group = n % 3 == 0 ? "1" : std::to_string(n + 1);
        return line(0, n % 3 != 1 ? "tmigr_group_set: group=" + group + " lvl=0 numa=0"
                                  : "tmigr_group_set_cpu_active: group=" + group +
                                        " lvl=0 numa=0 active=1 migrator=1 parent=0 childmask=1");
    };
    const outcome few = audit_lines(million / 100, boots), many = audit_lines(million / 10, boots);
    CHECK(many.refused.empty());
    CHECK(many.counts.words.lines > 30'000);
    CHECK(many.bytes == few.bytes);
}

TEST_CASE("findings beyond those kept take no memory") {
    const auto wrong = [](std::size_t) {
        return line(
            0, "tmigr_group_set_cpu_active: group=1 lvl=0 numa=0 active=3 migrator=4 parent=0 childmask=1");
    };
    const audit_options options{.details = 100, .stories = true};
    const outcome few = audit_lines(million / 100, wrong, options),
                  many = audit_lines(million / 10, wrong, options);
    CHECK(many.counts.of(audit_kind::bad_migrator) == million / 10);
    CHECK(many.bytes == few.bytes);
}

TEST_CASE("stories share a fixed amount of memory") {
    // Lines as long as lines may be, around each finding.
    const std::string text(60'000, 'x');
    const auto wrong = [&](std::size_t n) {
        return n % 40 == 0 ? line(0,
                                  "tmigr_group_set_cpu_active: group=1 lvl=0 numa=0 active=3 migrator=4 "
                                  "parent=0 childmask=1")
                           : line(0, "timer_start: " + text);
    };
    const outcome o = audit_lines(20'000, wrong, {.stories = true});
    CHECK(o.counts.of(audit_kind::bad_migrator) == 500);
    CHECK(o.bytes < 400 * million);
}

TEST_CASE("a line without end, and bytes that are no text, are refused at once") {
    std::size_t read = 0;
    const auto endless = [&](char byte) {
        read = 0;
        return audit_of([&, byte](std::string& to) {
            to.assign(1 << 16, byte);
            read += to.size();
            return true;
        });
    };
    const outcome letters = endless('x');
    CHECK(letters.refused == "a line of at most 65536 bytes");
    CHECK((read < million && letters.bytes < million));
    const outcome zeros = endless('\0');
    CHECK(!zeros.refused.empty());
    CHECK((read < million && zeros.bytes < million));
    const outcome prose = audit_of([&](std::string& to) {
        to = "no trace\n";
        return true;
    });
    CHECK(prose.refused.starts_with("ftrace text"));
}
