// SPDX-License-Identifier: BSL-1.0
// Any text can be audited, or is refused with an input_error; what an audit counts and finds adds up.
#include <tmigr/io/audit.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

void audit_text(const std::string& text, tmigr::audit_options options) {
    std::istringstream in{text};
    tmigr::auditor audit{options};
    try {
        tmigr::ftrace_reader reader{in, "input.trace", tmigr::ftrace_reader::others::keep};
        while (const auto record = reader.next()) audit.add(*record);
    } catch (const tmigr::input_error& error) {
        require(error.file() == "input.trace" && !error.expected().empty());
    }
    // Also what came before an error.
    audit.finish();
    const tmigr::audit_counts& c = audit.counts();
    require(audit.findings().size() <= options.details && audit.findings().size() <= c.findings());
    require(c.looked_for_nothing <= c.looked && c.served_same_group + c.served_other_node <= c.served);
    require(c.woken_for_other_node <= c.looked && c.woken_for_other_capacity <= c.looked);
    require(c.stays_for_nothing <= c.stays_to_armed && c.stays_to_armed <= c.stays);
    for (const tmigr::audit_finding& f : audit.findings()) {
        require(f.begin.line <= f.end.line && f.fault != nullptr && f.cause != nullptr);
        if (!f.story) continue;
        tmigr::audit_tree tree = f.story->before;
        for (const tmigr::ftrace_record& record : f.story->lines) tree.take(record);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text{data, data + size};
    audit_text(text, {});
    audit_text(text, {3, true, 16});
    return 0;
}
