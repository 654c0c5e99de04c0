// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_HEX_HPP
#define TMIGR_DETAIL_HEX_HPP

#include <charconv>
#include <cstdint>
#include <string>

namespace tmigr::detail {

/// Hexadecimal digits without a prefix.
inline std::string hex(std::uint64_t number) {
    char text[16];
    return {text, std::to_chars(text, text + sizeof text, number, 16).ptr};
}

}  // namespace tmigr::detail

#endif
