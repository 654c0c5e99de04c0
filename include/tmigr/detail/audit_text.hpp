// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_AUDIT_TEXT_HPP
#define TMIGR_DETAIL_AUDIT_TEXT_HPP

#include <tmigr/detail/text.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace tmigr::detail {

/// The value behind ` KEY=` in what an event printed, or nothing.
inline std::optional<std::string_view> audit_field(std::string_view text, std::string_view key) {
    for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
        if (at != 0 && text[at - 1] != ' ' && text[at - 1] != '[') continue;
        const std::size_t from = at + key.size();
        if (from >= text.size() || text[from] != '=') continue;
        return text.substr(from + 1, text.find_first_of(" ]", from + 1) - from - 1);
    }
    return std::nullopt;
}
/// The same as a number.
inline std::optional<std::uint64_t> audit_number(std::string_view text, std::string_view key) {
    const auto value = audit_field(text, key);
    if (!value) return std::nullopt;
    return parse_number<std::uint64_t>(*value, 0, std::numeric_limits<std::uint64_t>::max());
}

}  // namespace tmigr::detail

#endif
