/* SPDX-License-Identifier: BSL-1.0 */

/* The walks and the slots for Spin, under sequential consistency: one step for each access to an atomic, in the order
   of the C++; what is computed between two accesses belongs to the step before or behind it. Root R over A = {0, 1}
   and B = {2}; or A alone until it grows. The labels are those of the headers in include/tmigr.

   Swaps do not fail for no reason here: such a failure leads to the state just after the load, which is reached
   anyway by whoever begins his loop later. */

#include "words.pml"

#define A 0
#define B 1
#define R 2
#define NOBODY 3

#ifndef CPUS_IN_A
#define CPUS_IN_A 2
#endif
#define LEAF(cpu) ((cpu) < CPUS_IN_A -> A : B)
#define PLACE_OF(cpu) ((cpu) < CPUS_IN_A -> (cpu) : (cpu) - CPUS_IN_A)
#define CPU_AT(leaf, place) ((leaf) == A -> (place) : CPUS_IN_A + (place))
#define BIT(place) (1 << (place))
/* of the bits 1, 2 and 4 */
#define PLACE(bit) ((bit) >> 1)
#define SLOT(group, place) slot[(group) * CHILDREN + (place)]

#if defined(PICK_LOWEST)
#define PREFERS_LOWEST(g) ((g) == R)
#elif defined(LOWEST_EVERYWHERE)
/* R over A and B as over two pairs of classes, ranks 0 and 1 below A, 2 and 3 below B; one CPU to a class */
#define PREFERS_LOWEST(g) 1
#else
#define PREFERS_LOWEST(g) 0
#endif

#ifdef ONE_REFRESH
#define REFRESH_ATTEMPTS 1
#else
#define REFRESH_ATTEMPTS 2
#endif

mtype = { WAKE, SLEEP, REARM, RUN, EXPIRE, TICK, REFRESH, GROW, LEAVE, JOIN, END };
#define BEFORE 3

#include "scenarios.pml"

/* What the C++ shares between threads. */
short word[3] = NOBODY_AWAKE;
short slot[3 * CHILDREN] = NEVER;
byte up[3] = NOBODY;
byte mask[3];
byte down;
bit claimed[3];

/* The user's: timers of each CPU, what it armed, whether it is awake; and the time. */
byte near[3] = NEVER;
byte far[3] = NEVER;
byte armed[3] = NEVER;
bit awake[3];
byte running[3];
byte moment;
#define NEXT(cpu) MIN(near[cpu], far[cpu])

#ifdef LEAVING
/* available is shared; the others are the owner's: whether it takes part, and what it was told to take over. */
bit available[3] = 1;
bit takes_part[3] = 1;
byte taken_over[3] = NEVER;
#define TAKES_PART(c) takes_part[c]
#define TAKEN_OVER(c) taken_over[c]
#else
#define TAKES_PART(c) 1
#define TAKEN_OVER(c) NEVER
#endif

/* For the checks. */
byte in_flight;
byte finished;
hidden byte one_migrator, seq_is_new, tag_is_new, active_up, low_first, covered, no_late, mask_is_known, one_expirer,
    link_is_known;

/* Invariants 1 and 2 hold in every state if they hold in every word that is written. Numbers that came round could
   make an error look like none, or like one that is meant: where threads end, there are enough numbers. */
inline check_word(w, before) {
    one_migrator = VALID(w);
    assert(one_migrator);
#if !defined(WITHOUT_SEQ) && !defined(FOR_EVER)
    seq_is_new = SEQ(w) > SEQ(before);
    assert(seq_is_new)
#endif
}
/* Invariant 6 is asked for whenever nothing is in flight; but it holds in every word. */
inline check_low_first(g, w) {
#if (defined(PICK_LOWEST) || defined(LOWEST_EVERYWHERE)) && !defined(LOW_FIRST_AT_REST)
    low_first = !PREFERS_LOWEST(g) || MIGRATOR(w) == HEIR(ACTIVE(w));
    assert(low_first)
#else
    skip
#endif
}
inline check_slot(s, before) {
#if !defined(WITHOUT_TAG) && !defined(FOR_EVER)
    tag_is_new = TAG(s) > TAG(before);
    assert(tag_is_new)
#else
    skip
#endif
}

/* compare_exchange of a group's word: `seen` is what is expected; on failure it becomes what is there. A macro, since
   what Spin takes as an argument of an inline is short. */
#ifdef WITHOUT_RELOAD
#define RELOAD(group) skip
#else
#define RELOAD(group) seen = word[group]
#endif
#define SWAP_WORD(group, wanted) \
    d_step { \
        if \
        :: word[group] == seen -> \
            next = wanted; \
            check_word(next, seen); \
            check_low_first(group, next); \
            word[group] = next; \
            swapped = 1 \
        :: else -> \
            RELOAD(group); \
            swapped = 0 \
        fi \
    }

/* The first of two or three loads starts the sum. (S1) */
inline earliest(g, first) {
    first = DUE(SLOT(g, 0));
    first = MIN(first, DUE(SLOT(g, 1)));
#if CHILDREN > 2
    first = MIN(first, DUE(SLOT(g, 2)));
#endif
}

inline refresh(parent, child_group) {
#ifndef WORDS_ONLY
    attempt = 0;
    do
    :: attempt == REFRESH_ATTEMPTS -> break
    :: else ->
        old = SLOT(parent, PLACE(mask[child_group]));                      /* (S2) */
        if                                                                /* (S3) */
        :: ACTIVE(word[child_group]) != 0 -> offer = NEVER
        :: else -> earliest(child_group, offer)
        fi;
#ifdef SKIPPED_WRITE
        if
        :: DUE(old) == offer -> break
        :: else
        fi;
#endif
        d_step {                                                          /* (S4) */
            if
            :: SLOT(parent, PLACE(mask[child_group])) == old ->
                check_slot(BY_OTHER(old, offer), old);
                SLOT(parent, PLACE(mask[child_group])) = BY_OTHER(old, offer);
                attempt = REFRESH_ATTEMPTS
            :: else -> attempt++
            fi
        }
    od
#else
    skip
#endif
}

/* The way from `g` to `upper`, which was found in up[g]. */
inline climb() {
    d_step {
        mask_is_known = mask[g] != 0;
        assert(mask_is_known);
        child = mask[g];
        below = g;
        g = upper
    }
}

/* (O1), (O2), (N1): the owner loads its own slot for the tag, then stores. */
inline store_slot(due) {
#ifndef WORDS_ONLY
    old = SLOT(LEAF(cpu), PLACE_OF(cpu));
    d_step {
        check_slot(BY_OWNER(old, due), old);
        SLOT(LEAF(cpu), PLACE_OF(cpu)) = BY_OWNER(old, due)
    }
#else
    skip
#endif
}

/* walk.hpp, from `g`, in which `child` woke */
#ifdef LATE_TAKE_OVER
#define TAKES_OVER_AT_ONCE(g) 0
#else
#define TAKES_OVER_AT_ONCE(g) PREFERS_LOWEST(g)
#endif
inline walk_active() {
    do
    :: seen = word[g];                                                    /* (A1) */
        do
        :: SWAP_WORD(g, ACTIVATED(seen, child, TAKES_OVER_AT_ONCE(g)));    /* (A2) */
            if
            :: swapped -> break
            :: else
            fi
        od;
#ifdef LATE_TAKE_OVER
        skip;  /* a break may not lead into a d_step */
        d_step { goes_on = !HAS_MIGRATOR(seen); swapped = !PREFERS_LOWEST(g) }
        if
        :: !swapped -> seen = word[g]
        :: else
        fi;
        do
        :: !swapped && HAS_MIGRATOR(seen) && child < MIGRATOR(seen) ->
            SWAP_WORD(g, WORD(ACTIVE(seen), child, NEXT_SEQ(seen)))
        :: else -> break
        od;
        if
        :: !goes_on -> break
        :: else
        fi;
#else
        if
        :: HAS_MIGRATOR(seen) -> break
        :: else
        fi;
#endif
#ifdef SILENT_FIRST_WAKE
        if
        :: PREFERS_LOWEST(g) -> break
        :: else
        fi;
#endif
        upper = up[g];                                                    /* (P1) */
        if
        :: upper == NOBODY -> break
        :: else
        fi;
        climb()
    od
}

/* walk.hpp, from `g`, in which `child` fell asleep; gives `result` */
inline walk_inactive() {
    below = NOBODY;
    result = NEVER;
    do
    ::
#ifndef RESIGN_FIRST
        if
        :: below != NOBODY -> refresh(g, below)
        :: else
        fi;
#endif
        seen = word[g];                                                   /* (D1) */
        do
        ::
#ifndef CLEAR_BLINDLY
            if                                                            /* (D2) */
            :: below == NOBODY -> awake_again = 0
            :: else -> awake_again = ACTIVE(word[below]) != 0
            fi;
#endif
            SWAP_WORD(g, (awake_again -> TOUCHED(seen) : DEACTIVATED(seen, child)));    /* (D3) */
            if
            :: swapped -> break
            :: else
            fi
        od;
        goes_on = ACTIVE(next) == 0;
#ifdef STOP_AT_IDLE_GROUPS
        goes_on = goes_on && ACTIVE(seen) != 0;
#endif
        if
        :: goes_on -> upper = up[g]                                       /* (P1) */
        :: else
        fi;
#ifdef RESIGN_FIRST
        if
        :: below != NOBODY -> refresh(g, below)
        :: else
        fi;
#endif
        if
        :: !goes_on -> break
        :: goes_on && upper == NOBODY ->
#ifndef WORDS_ONLY
            earliest(g, result);
#endif
            break
        :: else
        fi;
        climb()
    od
}

/* expiry_walk.hpp; gives `result` */
inline walk_new_expiry() {
    do
    :: ACTIVE(word[g]) != 0 -> result = NEVER; break                      /* (N2) */
    :: else ->
        upper = up[g];                                                    /* (N3) */
        if
        :: upper == NOBODY -> earliest(g, result); break
        :: else
        fi;
        refresh(upper, g);
        g = upper
    od
}

/* expire.hpp: one sleeper; the user's function takes its due timers away under a lock of the user's. */
inline expire_cpu(leaf, p) {
    sleeper = CPU_AT(leaf, p);
#ifndef WITHOUT_CLAIM
    d_step { mine = !claimed[sleeper]; claimed[sleeper] = 1 }             /* (X2) */
#else
    mine = 1;
#endif
    if
    :: !mine
    :: else ->
        if                                                                /* (X1) */
        :: (ACTIVE(word[leaf]) & BIT(p)) != 0
        :: else ->
            old = SLOT(leaf, p);                                          /* (S1) */
            if
            :: DUE(old) > time
            :: else ->
                d_step {
                    running[sleeper]++;
                    one_expirer = running[sleeper] == 1;
                    assert(one_expirer)
                }
                d_step {
                    run_due(sleeper);
                    offer = NEXT(sleeper);
                    running[sleeper]--
                }
                d_step {                                                  /* (X4) */
                    if
#ifdef EXPIRER_STORES
                    :: 1 ->
#else
                    :: SLOT(leaf, p) == old ->
                        check_slot(BY_OTHER(old, offer), old);
#endif
                        SLOT(leaf, p) = BY_OTHER(old, offer)
                    :: else
                    fi
                }
            fi
        fi;
#ifndef WITHOUT_CLAIM
        claimed[sleeper] = 0                                              /* (X3) */
#endif
    fi
}
inline run_due(owner) {
    near[owner] = (near[owner] <= time -> NEVER : near[owner]);
    far[owner] = (far[owner] <= time -> NEVER : far[owner])
}
/* A leaf's due slots, each once. */
inline expire_leaf(leaf) {
    place = 0;
    do
    :: place == CHILDREN -> break
    :: else ->
        if                                                                /* (S1) */
        :: DUE(SLOT(leaf, place)) > time
        :: else -> any = 1; expire_cpu(leaf, place)
        fi;
        place++
    od
}
/* expire.hpp; gives `result` */
inline walk_expire() {
    first = NEVER;
    below = NOBODY;
    do
    ::  seen = word[g];                                                   /* (X1) */
        if
        :: HAS_MIGRATOR(seen) && MIGRATOR(seen) != child -> result = NEVER; break
        :: else
        fi;
        any = 0;
        if
        :: g != R -> expire_leaf(g)
        :: else ->
            branch = 0;
            do
            :: branch == 2 -> break
            :: else ->
                if                                                        /* (S1) */
                :: DUE(SLOT(R, branch)) > time
                :: else ->
                    any = 1;
                    link_is_known = (down & BIT(branch)) != 0;
                    assert(link_is_known);
                    if                                                    /* (X1) */
                    :: branch == below || ACTIVE(word[branch]) != 0
                    :: else -> expire_leaf(branch)
                    fi;
                    refresh(R, branch)
                fi;
                branch++
            od
        fi;
        idle = ACTIVE(word[g]) == 0;                                      /* (X1) */
        upper = up[g];                                                    /* (P1) */
        if
#ifdef ROOT_ALONE
        :: idle && upper == NOBODY ->
#else
        :: idle ->
#endif
            earliest(g, offer);
            first = MIN(first, offer)
        :: else
        fi;
        if
        :: upper == NOBODY -> result = (idle -> first : NEVER); break
        :: else
        fi;
        if
        :: any -> refresh(upper, g)
        :: else
        fi;
        climb()
    od
}
/* cpu_handle.hpp; gives `any` */
inline must_expire() {
    any = 0;
    do
    ::  seen = word[g];                                                   /* (Q1) */
        if
        :: HAS_MIGRATOR(seen) && MIGRATOR(seen) != child -> break
        :: else
        fi;
        earliest(g, offer);
        if
        :: offer <= time -> any = 1; break
        :: else
        fi;
        upper = up[g];
        if
        :: upper == NOBODY -> break
        :: else
        fi;
        climb()
    od
}

/* growth.hpp: B and R are there before anybody can meet them, so their link is no step. */
inline grow() {
    d_step { mask[B] = 2; up[B] = R; down = 2 }
#ifndef MASK_AFTER_LINK
    mask[A] = 1;
#endif
    down = 3;                                                             /* (G6) */
    up[A] = R;                                                            /* (G1) */
#ifdef MASK_AFTER_LINK
    mask[A] = 1;
#endif
    seen = word[A];
#ifndef LOAD_INSTEAD_OF_SWAP
    do
    :: SWAP_WORD(A, TOUCHED(seen));                                       /* (G2) */
        if
        :: swapped -> break
        :: else
        fi
    od;
#endif
    if
    :: ACTIVE(seen) != 0 ->
        seen = word[R];                                                   /* (G3) */
        do
        ::
#ifndef CARRIED_BLINDLY
            if                                                            /* (G4) */
            :: ACTIVE(word[A]) == 0 -> break
            :: else
            fi;
#endif
            SWAP_WORD(R, ACTIVATED(seen, mask[A], PREFERS_LOWEST(R)));     /* (G5) */
            if
            :: swapped -> break
            :: else
            fi
        od
    :: else
    fi;
#ifndef NO_REFRESH_AFTER_LINK
    refresh(R, A)
#endif
}

/* cpu_handle.hpp; gives `result`, what the CPU has to arm for itself. Who is named is told at once. */
inline leave() {
    takes_part[cpu] = 0;
#ifndef AVAILABLE_AFTER_WALK
    available[cpu] = 0;                                                   /* (V1) */
#endif
    if
    :: awake[cpu] -> arg = NEVER; walk_inactive()
    :: else ->
        arg = DUE(SLOT(LEAF(cpu), PLACE_OF(cpu)));
        store_slot(NEVER);
        walk_new_expiry()
    fi;
#ifdef AVAILABLE_AFTER_WALK
    available[cpu] = 0;
#endif
    if
    :: result != NEVER ->
        place = 0;
        do
        :: place < 3 && !available[place] -> place++                      /* (V2) */
        :: place < 3 && available[place] ->
            taken_over[place] = MIN(taken_over[place], result);
            break
        :: place == 3 -> break
        od
    :: else
    fi;
    result = arg
}
/* Of an idle CPU. */
inline join() {
    takes_part[cpu] = 1;
    available[cpu] = 1;                                                   /* (V1) */
    if
    :: armed[cpu] != NEVER -> arg = armed[cpu]; store_slot(arg)
    :: else
    fi;
    walk_new_expiry()
}

/* Invariants 3 to 6 of invariants.hpp, whenever nothing is in flight. */
#define AWAKE(c) (awake[c] && TAKES_PART(c))
#define TRUTH_OF_A (AWAKE(0) | (AWAKE(1) << 1) | (CPUS_IN_A > 2 -> AWAKE(2) << 2 : 0))
#define TRUTH_OF_B (CPUS_IN_A > 2 -> 0 : AWAKE(2))
#define UP_TO_DATE(g) ((up[g] == NOBODY) || (((ACTIVE(word[R]) & mask[g]) != 0) == (ACTIVE(word[g]) != 0)))
#define FIRST_OF(g) MIN(DUE(SLOT(g, 0)), MIN(DUE(SLOT(g, 1)), DUE(SLOT(g, CHILDREN - 1))))
#define ARMED(c) (TAKES_PART(c) -> MIN(armed[c], TAKEN_OVER(c)) : NEVER)
#define FIRST_ARMED MIN(ARMED(0), MIN(ARMED(1), ARMED(2)))
#define TOLD(g) ((up[g] == NOBODY) || ACTIVE(word[g]) != 0 || DUE(SLOT(R, PLACE(mask[g]))) <= FIRST_OF(g))
#define OWN_SLOT_IN_TIME(c) (awake[c] || !TAKES_PART(c) || DUE(SLOT(LEAF(c), PLACE_OF(c))) <= NEXT(c))
/* Who does not take part looks after itself. */
#define COVERED(c) \
    (awake[c] || NEXT(c) == NEVER || \
     (!TAKES_PART(c) -> armed[c] <= NEXT(c) : \
      ACTIVE(word[LEAF(c)]) != 0 || (up[LEAF(c)] != NOBODY && ACTIVE(word[R]) != 0) || FIRST_ARMED <= NEXT(c)))
inline check_at_rest() {
    active_up = ACTIVE(word[A]) == TRUTH_OF_A && ACTIVE(word[B]) == TRUTH_OF_B && UP_TO_DATE(A) && UP_TO_DATE(B);
    assert(active_up);
#if defined(PICK_LOWEST) || defined(LOWEST_EVERYWHERE)
    low_first = (!PREFERS_LOWEST(A) || MIGRATOR(word[A]) == HEIR(ACTIVE(word[A]))) &&
                (!PREFERS_LOWEST(B) || MIGRATOR(word[B]) == HEIR(ACTIVE(word[B]))) &&
                MIGRATOR(word[R]) == HEIR(ACTIVE(word[R]));
    assert(low_first);
#endif
#ifndef WORDS_ONLY
    covered = COVERED(0) && COVERED(1) && COVERED(2);
    assert(covered);
    no_late = OWN_SLOT_IN_TIME(0) && OWN_SLOT_IN_TIME(1) && OWN_SLOT_IN_TIME(2) && TOLD(A) && TOLD(B);
    assert(no_late)
#endif
}


#define START(c) g = LEAF(c); child = BIT(PLACE_OF(c))

/* One thread of a scenario: does what the scenario says, for whichever CPU it says. */
proctype thread(byte me) {
    mtype op;
    byte pc, cpu, arg, time;
    byte g, child, below, upper, result, attempt, offer, sleeper, place, branch, first;
    short seen, next, old;
    bit swapped, awake_again, goes_on, mine, any, idle;

end:
    do
    ::  atomic {
            fetch();
            if
            :: op == END -> break
            :: else
            fi;
            in_flight++;
            time = arg;
            START(cpu);
            below = NOBODY
        }
        if
        :: op == WAKE ->
            store_slot(NEVER);
            walk_active();
            result = NEVER;
            awake[cpu] = 1
        :: op == SLEEP ->
            d_step { far[cpu] = arg; arg = NEXT(cpu); awake[cpu] = 0 }
#ifdef OWN_SLOT_LAST
            walk_inactive();
            store_slot(arg)
#else
            store_slot(arg);
            walk_inactive()
#endif
        :: op == REARM ->
            d_step { far[cpu] = arg; arg = NEXT(cpu) }
#ifdef LEAVING
            if
            :: !takes_part[cpu] -> result = arg
            :: else -> store_slot(arg); walk_new_expiry()
            fi
#else
            store_slot(arg);
            walk_new_expiry()
#endif
        :: op == RUN -> d_step { run_due(cpu); result = NEVER }
        :: op == EXPIRE -> walk_expire(); result = (awake[cpu] -> NEVER : result)
        :: op == TICK ->
            d_step { run_due(cpu) }
            must_expire();
            result = NEVER;
            START(cpu);
            if
            :: any -> walk_expire(); result = NEVER
            :: else
            fi
        :: op == REFRESH -> refresh(R, A); result = NEVER
        :: op == GROW -> grow(); result = armed[cpu]
#ifdef LEAVING
        :: op == LEAVE -> leave()
        :: op == JOIN -> join()
#endif
        fi;
        skip;  /* a break may not lead into a d_step */
        d_step {
            armed[cpu] = result;
            in_flight--;
            if
            :: in_flight == 0 -> check_at_rest()
            :: else
            fi
        }
    od;
    finished++
}

init {
#ifndef GROWING
    d_step { mask[A] = 1; up[A] = R; mask[B] = 2; up[B] = R; down = 3 }
#endif
#ifdef NEAR_BEFORE
    near[0] = NEAR_BEFORE;
#endif
#ifdef NEAR_OF_2_BEFORE
    near[2] = NEAR_OF_2_BEFORE;
#endif
    run thread(BEFORE);
    finished == 1;
    atomic {
        finished = 0;
#if THREADS > 2
        run thread(2);
#endif
        run thread(1);
        run thread(0)
    }
#ifdef FOR_EVER
end:
    do
    :: moment < LAST -> moment++
    od
#endif
}

#ifdef FOR_EVER
#define OVERDUE(c) (near[c] <= moment || far[c] <= moment)
/* What is due stays due until it is run, and there are few of them: so each is run. */
ltl all_run { []<> !(OVERDUE(0) || OVERDUE(1) || OVERDUE(2)) }
#endif
