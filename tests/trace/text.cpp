// SPDX-License-Identifier: BSL-1.0
// What the text tracer writes is what a kernel writes, byte by byte.
#include <support/captures.hpp>

#include <tmigr/text_tracer.hpp>

#include <cstddef>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>

#include "catch.hpp"

using namespace tmigr;
using tmigr::test::capture;
using tmigr::test::captures;

namespace {

template <class Event>
constexpr bool is_printed = !std::is_same_v<Event, event::lost> && !std::is_same_v<Event, event::other>;

std::string from_name_on(std::string_view line) {
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);  // a serial line's
    const std::size_t name = line.find(": tmigr_");
    return name == line.npos ? std::string{} : std::string{line.substr(name + 2)};
}

}  // namespace

TEST_CASE("every line of every capture is written again as it was printed") {
    std::map<std::string, std::size_t> kinds;
    for (const capture& c : captures) {
        CAPTURE(c.name);
        const linux_form form = c.kernel == std::string_view{"6.12"} ? linux_form::v6_13 : linux_form::newest;
        std::ifstream again{c.path(".trace")};
        std::string line;
        std::size_t number = 0;
        std::ifstream in{c.path(".trace")};
        ftrace_reader reader{in, c.name};
        std::ostringstream out;
        text_tracer tracer{out, form};
        while (const auto record = reader.next()) {
            while (number < record->line && std::getline(again, line)) ++number;
            out.str({});
            std::visit(
                [&](const auto& e) {
                    if constexpr (is_printed<std::decay_t<decltype(e)>>) tracer.trace(e, record->cpu);
                },
                record->event);
            const std::string printed = from_name_on(line);
            if (from_name_on(out.str()) != printed) {
                CAPTURE(number);
                CHECK(from_name_on(out.str()) == printed);
            } else {
                ++kinds[printed.substr(0, printed.find(':'))];
            }
        }
        CHECK(reader.counts().events > 0);
    }
    for (const auto& [kind, lines] : kinds) std::cout << kind << ": " << lines << " lines written again\n";
    // The fourteen kinds, two of them by two names.
    CHECK(kinds.size() == 16);
}
