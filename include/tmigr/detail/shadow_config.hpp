// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_SHADOW_CONFIG_HPP
#define TMIGR_DETAIL_SHADOW_CONFIG_HPP

#include <tmigr/config.hpp>
#include <tmigr/detail/undo_atomics.hpp>
#include <tmigr/expiry.hpp>
#include <tmigr/trace.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tmigr::detail {

/// Keeps the words that a walk leaves behind.
struct word_tracer {
    static constexpr bool enabled = true;
    static constexpr std::size_t most = 64;
    struct words {
        std::array<event::group_word, most> held{};
        std::size_t count = 0;
    };
    words* to = nullptr;

    template <class Event>
    void trace(const Event& e, cpu_id) const noexcept {
        if constexpr (std::is_base_of_v<event::group_word, Event>)
            if (to != nullptr && to->count < most) to->held[to->count++] = e;
    }
};

struct shadow_config : expiry_config<undo_atomics> {
    using tracer = word_tracer;
    // One thread, so no tag: nanoseconds take all the bits.
    using slot = basic_slot<std::uint64_t, 64, 0>;
    struct misuse {
        static void check(bool, const char*) noexcept {}
    };
};

}  // namespace tmigr::detail

#endif
