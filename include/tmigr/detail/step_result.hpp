// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_STEP_RESULT_HPP
#define TMIGR_DETAIL_STEP_RESULT_HPP

#include <tmigr/io/outcome.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tmigr::detail {

/// What of a step was held against the library.
enum class aspect : std::uint8_t {
    connected,
    awake,
    words,
    wakeup,
    found,
    kept,
    until_now,
    told,
    in_charge,
    first,
    due,
    offer,
    leaves
};

struct step_difference {
    aspect what = aspect::connected;
    std::uint64_t expected = 0;
    std::uint64_t printed = 0;
};

/// What came of one step.
struct step_result {
    std::array<std::uint16_t, outcome_count> counts{};
    std::array<step_difference, 4> differences{};
    std::size_t differing = 0;
    std::optional<std::size_t> lost;  ///< the step whose expiry nobody is armed for

    void note(outcome kind, std::size_t times = 1) {
        counts[static_cast<std::size_t>(kind)] =
            static_cast<std::uint16_t>(counts[static_cast<std::size_t>(kind)] + times);
    }
    void note(aspect what, std::uint64_t expected, std::uint64_t printed) {
        note(outcome::different);
        if (differing < differences.size()) differences[differing++] = {what, expected, printed};
    }
    bool differs_in(aspect what) const {
        return std::any_of(differences.begin(), differences.begin() + static_cast<std::ptrdiff_t>(differing),
                           [=](const step_difference& d) { return d.what == what; });
    }
    /// The difference is explained.
    void explain(aspect what, outcome kind, std::size_t times) {
        std::size_t left = 0;
        for (std::size_t i = 0; i < differing; ++i) {
            if (differences[i].what != what) {
                differences[left++] = differences[i];
                continue;
            }
            --counts[static_cast<std::size_t>(outcome::different)];
            note(kind, times);
        }
        differing = left;
    }
};

}  // namespace tmigr::detail

#endif
