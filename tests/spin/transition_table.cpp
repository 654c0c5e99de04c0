// SPDX-License-Identifier: BSL-1.0

// transition_table <2, 3 or 8>: what the library's words become, and its slots, for all inputs
// that there are, as rows for transitions.pml. Of seq, which no bit depends on, only the ends where
// there are eight children.

#include <tmigr/expiry.hpp>
#include <tmigr/state.hpp>

#include <cstdint>
#include <iostream>
#include <map>
#include <string_view>
#include <utility>

using namespace tmigr;

namespace {

constexpr unsigned seq_bits = 4, tick_bits = 4, tag_bits = 4;
constexpr ticks none = (ticks{1} << tick_bits) - 1;

template <class State>
void row_of(State word, typename State::mask_type child) {
    std::cout << "WORD_ROW(" << word.word() << ", " << unsigned{child} << ", " << word.activated(child).word()
              << ", " << word.activated(child, pick::lowest).word() << ", " << word.deactivated(child).word()
              << ", " << word.touched().word() << ")\n";
}

template <unsigned Children>
void words(unsigned step_of_seq) {
    using state = basic_state<std::uint32_t, Children, seq_bits>;
    using mask_type = typename state::mask_type;
    const auto rows_of = [](state word) {
        for (unsigned child = 0; child < Children; ++child) row_of(word, static_cast<mask_type>(1u << child));
    };
    for (unsigned seq = 0; seq < 1u << seq_bits; seq += step_of_seq) {
        rows_of(state(0, state::none, seq));
        for (unsigned active = 1; active <= state::all; ++active)
            for (unsigned migrator = 1; migrator <= state::all; migrator <<= 1)
                if ((active & migrator) != 0)
                    rows_of(state(static_cast<mask_type>(active), static_cast<mask_type>(migrator), seq));
    }
}

using slot = basic_slot<std::uint16_t, tick_bits, tag_bits>;

ticks number(slot s) { return (s.due() == never ? none : s.due()) | s.tag() << tick_bits; }
ticks due_of(unsigned n) { return n == none ? never : n; }

/// A slot shows its word to nobody, so those of all tags are made from the first one.
void slots() {
    std::map<ticks, slot> all{{number(slot()), slot()}};
    for (std::size_t before = 0; before != all.size();) {
        before = all.size();
        const auto known = all;
        for (const auto& [_, s] : known)
            for (unsigned due = 0; due <= none; ++due)
                for (const slot next : {s.by_owner(due_of(due)), s.by_other(due_of(due))})
                    all.emplace(number(next), next);
    }
    for (const auto& [word, s] : all)
        for (unsigned due = 0; due <= none; ++due)
            std::cout << "SLOT_ROW(" << word << ", " << due << ", " << number(s.by_owner(due_of(due))) << ", "
                      << number(s.by_other(due_of(due))) << ")\n";
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view children = argc > 1 ? argv[1] : "";
    if (children == "2")
        words<2>(1);
    else if (children == "3")
        words<3>(1);
    else if (children == "8")
        words<8>((1u << seq_bits) - 1);
    else
        return 2;
    slots();
    return std::cout.flush() ? 0 : 1;
}
