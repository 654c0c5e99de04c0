/* SPDX-License-Identifier: BSL-1.0 */

/* The word of a group and the word of a slot, laid out as basic_state (state.hpp) and basic_slot (expiry.hpp)
   lay them out. transitions.pml holds all of this against the C++. */

#ifndef CHILDREN
#define CHILDREN 2
#endif
#ifndef SEQ_BITS
#define SEQ_BITS 4
#endif
#define TICK_BITS 4
#ifndef TAG_BITS
#define TAG_BITS 4
#endif

#define ALL ((1 << CHILDREN) - 1)
#define NONE ALL
#define SEQ_MAX ((1 << SEQ_BITS) - 1)

#define ACTIVE(w) ((w) & ALL)
#define MIGRATOR(w) (((w) >> CHILDREN) & ALL)
#define SEQ(w) ((w) >> (2 * CHILDREN))
#define HAS_MIGRATOR(w) (MIGRATOR(w) != NONE)
#define WORD(active, migrator, seq) ((active) | ((migrator) << CHILDREN) | ((seq) << (2 * CHILDREN)))
#define LOWEST(bits) ((bits) & -(bits))

#ifdef WITHOUT_SEQ
#define NEXT_SEQ(w) 0
#else
#define NEXT_SEQ(w) ((SEQ(w) + 1) & SEQ_MAX)
#endif

/* prefers_lowest: pick::lowest, otherwise pick::first */
#define TAKES_OVER(w, child, prefers_lowest) (!HAS_MIGRATOR(w) || ((prefers_lowest) && (child) < MIGRATOR(w)))
#define HEIR(left) ((left) == 0 -> NONE : LOWEST(left))
#define ACTIVATED(w, child, prefers_lowest) \
    WORD(ACTIVE(w) | (child), (TAKES_OVER(w, child, prefers_lowest) -> (child) : MIGRATOR(w)), NEXT_SEQ(w))
#define DEACTIVATED(w, child) \
    WORD(ACTIVE(w) & ~(child), (MIGRATOR(w) == (child) -> HEIR(ACTIVE(w) & ~(child)) : MIGRATOR(w)), NEXT_SEQ(w))
#define TOUCHED(w) WORD(ACTIVE(w), MIGRATOR(w), NEXT_SEQ(w))
#define NOBODY_AWAKE WORD(0, NONE, 0)

/* Invariants 1 and 2. */
#define VALID(w) \
    (ACTIVE(w) == 0 -> MIGRATOR(w) == NONE : \
     (MIGRATOR(w) != 0 && LOWEST(MIGRATOR(w)) == MIGRATOR(w) && (ACTIVE(w) & MIGRATOR(w)) != 0))

#define NEVER ((1 << TICK_BITS) - 1)
#define TAG_MAX ((1 << TAG_BITS) - 1)
#define MIN(a, b) ((a) < (b) -> (a) : (b))

#define DUE(s) ((s) & NEVER)
#define TAG(s) ((s) >> TICK_BITS)
#define OFFER(due, tag) ((due) | (((tag) & TAG_MAX) << TICK_BITS))
#ifdef WITHOUT_TAG
#define BY_OWNER(s, due) OFFER(due, 0)
#define BY_OTHER(s, due) OFFER(due, 0)
#else
#define BY_OWNER(s, due) OFFER(due, (TAG(s) | 1) + 1)
#define BY_OTHER(s, due) OFFER(due, (TAG(s) | 1) + 2)
#endif
