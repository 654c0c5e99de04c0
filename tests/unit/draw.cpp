// SPDX-License-Identifier: BSL-1.0

// draw_words; what draw_text and draw_dot show is in hierarchy.cpp.

#include "catch.hpp"

#include <tmigr/atomics/plain.hpp>
#include <tmigr/draw.hpp>
#include <tmigr/hierarchy.hpp>

#include <string>

using namespace tmigr;

namespace {

using words = linux_config<plain_atomics>;
using expiries = expiry_config<plain_atomics>;

std::string letter(group_id id) { return {static_cast<char>('A' + id - 1)}; }

template <class Groups>
std::string drawn(const Groups& groups, words_shown shown = {}) {
    std::string text;
    for (const drawn_words& line : draw_words(groups, letter, shown)) text += line.text + '\n';
    return text;
}

struct without_seq : words {
    using state = basic_state<std::uint32_t, 8, 0>;
};

}  // namespace

TEST_CASE("the words of a tree are drawn in columns") {
    basic_hierarchy<expiries> tree(8, 1, {.width = 2});
    for (cpu_id id = 0; id < 3; ++id) tree.add({.id = id, .node = 0}).activate();
    static_cast<void>(tree.cpu(0).deactivate(1000));
    CHECK(drawn(tree.groups()) ==
          "C     >A:-     *B:-  seq 2\n"
          "|- A   0:1000  >1:-  seq 4\n"
          "`- B  >2:-           seq 1\n");
    CHECK(drawn(tree.groups(), {.seq = false, .slots = false}) ==
          "C     >A  *B\n"
          "|- A   0  >1\n"
          "`- B  >2\n");
    CHECK(drawn(tree.groups(), {.tags = true, .masks = true}) ==
          "C     >A:-/3     *B:-/0  seq 2  mask 0x1\n"
          "|- A   0:1000/4  >1:-/2  seq 4  mask 0x1\n"
          "`- B  >2:-/2             seq 1  mask 0x2\n");
    CHECK(draw_words(tree.groups(), letter)[2].group == 2);
}

TEST_CASE("words are drawn on three levels, without what there is not") {
    basic_hierarchy<without_seq> tree(8, 1, {.width = 2});
    CHECK(drawn(tree.groups()).empty());
    for (cpu_id id = 0; id < 5; ++id) tree.add({.id = id, .node = 0});
    tree.cpu(3).activate();
    CHECK(drawn(tree.groups()) ==
          "F        >C   E\n"
          "|- C      A  >B\n"
          "|  |- A   0   1\n"
          "|  `- B   2  >3\n"
          "`- E      D\n"
          "   `- D   4\n");
}

TEST_CASE("groups without a link stand apart, and a migrator that is no child shows") {
    std::deque<group<words>> groups;
    for (group_id id = 1; id <= 3; ++id) groups.emplace_back(id, id == 3 ? 1u : 0u, no_family, pick::first);
    link_below<words>(groups[1], 2, groups[2]);
    groups[2].word().store(state32(0x2, 0x4, 7), words::orders::query_load);
    CHECK(drawn(groups, {.masks = true}) ==
          "A         seq 0\n"
          "C     *B  seq 7  migrator 0x4\n"
          "`- B      seq 0  mask 0x2\n");
}
