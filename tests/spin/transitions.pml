/* SPDX-License-Identifier: BSL-1.0 */

/* Holds the macros of words.pml against rows that the C++ printed: transition_table.cpp, for as many children as
   CHILDREN says. Simulated, not searched: there is one way only. */

#include "words.pml"

chan words = [0] of { int, int, int, int, int, int };
chan slots = [0] of { int, int, int, int };
int rows;

active proctype library() {
#define WORD_ROW(word, child, first, lowest, deactivated, touched) \
    words!word, child, first, lowest, deactivated, touched;
#define SLOT_ROW(word, due, by_owner, by_other) \
    slots!word, due, by_owner, by_other;
#include "rows.pml"
    skip
}

active proctype model() {
    int word, child, first, lowest, deactivated, touched, due, by_owner, by_other;
    do
    ::  words?word, child, first, lowest, deactivated, touched;
        assert(VALID(word));
        assert(ACTIVATED(word, child, 0) == first);
        assert(ACTIVATED(word, child, 1) == lowest);
        assert(DEACTIVATED(word, child) == deactivated);
        assert(TOUCHED(word) == touched);
        assert(VALID(first) && VALID(lowest) && VALID(deactivated));
        rows++
    ::  slots?word, due, by_owner, by_other;
        assert(BY_OWNER(word, due) == by_owner);
        assert(BY_OTHER(word, due) == by_other);
        assert(OFFER(DUE(word), TAG(word)) == word);
        rows++
    ::  timeout ->
        printf("%d rows agree\n", rows);
        break
    od
}
