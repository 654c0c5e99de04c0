/* SPDX-License-Identifier: BSL-1.0 */

/* What the threads do: the scenarios of tests/model by the same names, and some of Spin's own. BEFORE is done first,
   by one thread; then the threads 0, 1 and 2 at once. DO(n, what, cpu, number) is a thread's n-th step; the number is
   the later one of the CPU's two expiries, or the time of EXPIRE. The earlier one is in `near`. */

#define DO(n, what, c, number) :: pc == n -> op = what; cpu = c; arg = number

#if defined(WALKS)
/* Every CPU wakes and falls asleep; CPU 1 wakes once more, and sleeps or stays awake. */
#define DONE_BEFORE
#define THREAD_0 DO(0, WAKE, 0, 0) DO(1, SLEEP, 0, NEVER)
#define THREAD_1 DO(0, WAKE, 1, 0) DO(1, SLEEP, 1, NEVER) DO(2, WAKE, 1, 0)
#define THREAD_2 DO(0, WAKE, 2, 0) DO(1, SLEEP, 2, NEVER)
#define MAYBE DO(3, SLEEP, 1, NEVER)
#define THREADS 3

#elif defined(CROSSING_WALKS)
/* 0 and 2, alone in their groups, fall asleep while 1 wakes. */
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, WAKE, 2, 0)
#define THREAD_0 DO(0, SLEEP, 0, NEVER)
#define THREAD_1 DO(0, WAKE, 1, 0)
#define THREAD_2 DO(0, SLEEP, 2, NEVER)
#define THREADS 3

#elif defined(RELIEVING_WALKS)
/* In one group one falls asleep while the other wakes. */
#define DONE_BEFORE DO(0, WAKE, 0, 0)
#define THREAD_0 DO(0, SLEEP, 0, NEVER)
#define THREAD_1 DO(0, WAKE, 1, 0)

#elif defined(TAKE_OVER_AGAINST_HAND_OVER)
/* CPU 0, the lowest, wakes while CPU 1, in charge of all, falls asleep; CPU 2 is awake. */
#define DONE_BEFORE DO(0, WAKE, 1, 0) DO(1, WAKE, 2, 0)
#define THREAD_0 DO(0, WAKE, 0, 0)
#define THREAD_1 DO(0, SLEEP, 1, 5)

#elif defined(TAKE_OVER_AGAINST_LAST_SLEEPER)
/* The same where CPU 2 is the last one awake, and CPU 1 asleep. */
#define DONE_BEFORE DO(0, WAKE, 1, 0) DO(1, WAKE, 2, 0) DO(2, SLEEP, 1, 7)
#define THREAD_0 DO(0, WAKE, 0, 0)
#define THREAD_1 DO(0, SLEEP, 2, 5)

#elif defined(TWO_WAKES_AT_ONCE)
#define DONE_BEFORE DO(0, WAKE, 2, 0)
#define THREAD_0 DO(0, WAKE, 0, 0)
#define THREAD_1 DO(0, WAKE, 1, 0)

#elif defined(TAKE_OVER_AND_BACK)
/* The lowest takes over and hands back, while the highest falls asleep and the one between wakes. */
#define DONE_BEFORE DO(0, WAKE, 2, 0)
#define THREAD_0 DO(0, WAKE, 0, 0) DO(1, SLEEP, 0, 6)
#define THREAD_1 DO(0, WAKE, 1, 0)
#define THREAD_2 DO(0, SLEEP, 2, 5)
#define THREADS 3

#elif defined(TAKE_OVER_AGAINST_EXPIRY)
/* CPU 1, in charge, looks for what is due and falls asleep; CPU 0 takes over and looks too. */
#define DONE_BEFORE DO(0, WAKE, 2, 0) DO(1, WAKE, 1, 0) DO(2, SLEEP, 2, 13)
#define NEAR_OF_2_BEFORE 5
#define THREAD_0 DO(0, WAKE, 0, 0) DO(1, EXPIRE, 0, 10)
#define THREAD_1 DO(0, EXPIRE, 1, 10) DO(1, SLEEP, 1, NEVER)

#elif defined(TWO_SLEEPERS_OF_ONE_LEAF)
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, WAKE, 1, 0)
#define THREAD_0 DO(0, SLEEP, 0, 5)
#define THREAD_1 DO(0, SLEEP, 1, NEVER)

#elif defined(TWO_SLEEPERS_OF_TWO_LEAVES)
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, WAKE, 2, 0)
#define THREAD_0 DO(0, SLEEP, 0, 5)
#define THREAD_1 DO(0, SLEEP, 2, 7)

#elif defined(LAST_SLEEPER_AGAINST_NEW_EXPIRY)
/* The last CPU falls asleep while a sleeper of another leaf gets a timer. */
#define DONE_BEFORE DO(0, WAKE, 2, 0)
#define THREAD_0 DO(0, REARM, 0, 5)
#define THREAD_1 DO(0, SLEEP, 2, NEVER)

#elif defined(THREE_AT_ONCE)
/* Sleep, sleep and new expiry at once, in both leaves. */
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, WAKE, 2, 0)
#define THREAD_0 DO(0, SLEEP, 0, 5)
#define THREAD_1 DO(0, REARM, 1, 4)
#define THREAD_2 DO(0, SLEEP, 2, 6)
#define THREADS 3

#elif defined(THREE_IN_ONE_LEAF)
/* Built with three CPUs in A: one falls asleep, one wakes and one gets a new timer. */
#define DONE_BEFORE DO(0, WAKE, 0, 0)
#define THREAD_0 DO(0, SLEEP, 0, 5)
#define THREAD_1 DO(0, WAKE, 1, 0) DO(1, SLEEP, 1, NEVER)
#define THREAD_2 DO(0, REARM, 2, 4)
#define THREADS 3

#elif defined(FLAPPING)
/* One CPU sleeps, wakes and sleeps with an earlier timer, while the others fall asleep. */
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, WAKE, 1, 0) DO(2, WAKE, 2, 0)
#define THREAD_0 DO(0, SLEEP, 0, 9) DO(1, WAKE, 0, 0) DO(2, SLEEP, 0, 5)
#define THREAD_1 DO(0, SLEEP, 1, 8)
#define THREAD_2 DO(0, SLEEP, 2, 12)
#define THREADS 3

#elif defined(REFRESH_AGAINST_SAME_EXPIRY)
/* A CPU wakes and sleeps again with the same expiry while another brings the slot of its group up to date; then that
   one sleeps too. */
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, WAKE, 2, 0) DO(2, SLEEP, 0, 5)
#define THREAD_0 DO(0, WAKE, 0, 0) DO(1, SLEEP, 0, 5)
#define THREAD_1 DO(0, REFRESH, 2, 0) DO(1, SLEEP, 2, NEVER)

#elif defined(TWO_REFRESHES_AGAINST_OWNER)
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, WAKE, 2, 0) DO(2, SLEEP, 0, 5)
#define THREAD_0 DO(0, WAKE, 0, 0) DO(1, SLEEP, 0, 13)
#define THREAD_1 DO(0, REFRESH, 2, 0) DO(1, REFRESH, 2, 0) DO(2, SLEEP, 2, NEVER)

#elif defined(EXPIRY_AGAINST_OWNER)
/* An awake CPU runs a sleeper's due timer while the sleeper wakes, runs it, gets another and sleeps. */
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, WAKE, 2, 0) DO(2, SLEEP, 0, 14)
#define NEAR_BEFORE 5
#define THREAD_0 DO(0, WAKE, 0, 0) DO(1, RUN, 0, 10) DO(2, SLEEP, 0, 12)
#define THREAD_1 DO(0, EXPIRE, 2, 10) DO(1, SLEEP, 2, NEVER)

#elif defined(EXPIRY_AGAINST_NEW_EXPIRY)
/* The same, but the sleeper stays idle. */
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, WAKE, 2, 0) DO(2, SLEEP, 0, 14)
#define NEAR_BEFORE 5
#define THREAD_0 DO(0, REARM, 0, 12)
#define THREAD_1 DO(0, EXPIRE, 2, 10) DO(1, SLEEP, 2, NEVER)

#elif defined(TWO_EXPIRERS)
/* Two CPUs find the same sleeper's timer due: 1 sleeps beside the sleeper, 2 is awake. */
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, WAKE, 2, 0) DO(2, SLEEP, 0, 13)
#define NEAR_BEFORE 5
#define THREAD_0 DO(0, EXPIRE, 1, 10)
#define THREAD_1 DO(0, EXPIRE, 2, 10) DO(1, SLEEP, 2, NEVER)

#elif defined(GROWTH_AGAINST_SLEEP)
/* CPU 0 of the old root falls asleep while CPU 2 arrives, wakes and sleeps. */
#define GROWING
#define DONE_BEFORE DO(0, WAKE, 0, 0)
#define THREAD_0 DO(0, SLEEP, 0, 5)
#define THREAD_1 DO(0, GROW, 2, 0) DO(1, WAKE, 2, 0) DO(2, SLEEP, 2, NEVER)

#elif defined(GROWTH_AGAINST_WAKE)
/* All sleep, CPU 1 has armed a timer; CPU 0 wakes while CPU 2 arrives. */
#define GROWING
#define DONE_BEFORE DO(0, WAKE, 1, 0) DO(1, SLEEP, 1, 5)
#define THREAD_0 DO(0, WAKE, 0, 0)
#define THREAD_1 DO(0, GROW, 2, 0)

#elif defined(GROWTH_OVER_SLEEPERS)
/* Nobody moves but the new CPU, and a sleeper gets an earlier timer. */
#define GROWING
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, WAKE, 1, 0) DO(2, SLEEP, 0, 7) DO(3, SLEEP, 1, NEVER)
#define THREAD_0 DO(0, REARM, 0, 5)
#define THREAD_1 DO(0, GROW, 2, 0)

#elif defined(GROWTH_AGAINST_INTERRUPT)
/* All sleep, and CPU 0 is armed for them; it has an interrupt while CPU 2 arrives. */
#define GROWING
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, SLEEP, 0, 5)
#define THREAD_0 DO(0, EXPIRE, 0, 3)
#define THREAD_1 DO(0, GROW, 2, 0)

#elif defined(GROWTH_AGAINST_RELIEF)
/* CPU 0 falls asleep and CPU 1 wakes while CPU 2 arrives. */
#define GROWING
#define DONE_BEFORE DO(0, WAKE, 0, 0)
#define THREAD_0 DO(0, SLEEP, 0, NEVER)
#define THREAD_1 DO(0, WAKE, 1, 0)
#define THREAD_2 DO(0, GROW, 2, 0)
#define THREADS 3

#elif defined(GROWTH_AGAINST_ALL)
/* CPU 0 sleeps, wakes and sleeps, or with ONCE only sleeps; CPU 1 wakes and sleeps, CPU 2 arrives, wakes and sleeps. */
#define GROWING
#define DONE_BEFORE DO(0, WAKE, 0, 0)
#ifdef ONCE
#define THREAD_0 DO(0, SLEEP, 0, 5)
#else
#define THREAD_0 DO(0, SLEEP, 0, 9) DO(1, WAKE, 0, 0) DO(2, SLEEP, 0, 5)
#endif
#define THREAD_1 DO(0, WAKE, 1, 0) DO(1, SLEEP, 1, 8)
#define THREAD_2 DO(0, GROW, 2, 0) DO(1, WAKE, 2, 0) DO(2, SLEEP, 2, NEVER)
#define THREADS 3

#elif defined(LEAVE_OF_THE_LAST_AGAINST_SPURIOUS_EXPIRE)
/* The last CPU awake leaves while the sleepers are interrupted for nothing. */
#define LEAVING
#define DONE_BEFORE \
    DO(0, WAKE, 0, 0) DO(1, WAKE, 1, 0) DO(2, WAKE, 2, 0) DO(3, SLEEP, 0, 5) DO(4, SLEEP, 1, 8)
#define THREAD_0 DO(0, LEAVE, 2, 0)
#define THREAD_1 DO(0, EXPIRE, 0, 3) DO(1, EXPIRE, 1, 3)

#elif defined(TWO_LEAVE_AT_ONCE)
/* One awake and one idle CPU leave at once; whoever is told to take over must be the third. */
#define LEAVING
#define DONE_BEFORE \
    DO(0, WAKE, 0, 0) DO(1, WAKE, 1, 0) DO(2, WAKE, 2, 0) DO(3, SLEEP, 0, 9) DO(4, SLEEP, 1, 5)
#define THREAD_0 DO(0, LEAVE, 0, 0)
#define THREAD_1 DO(0, LEAVE, 2, 0)

#elif defined(LEAVE_AGAINST_SLEEP)
/* A CPU leaves while the last other one falls asleep. */
#define LEAVING
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, WAKE, 1, 0) DO(2, WAKE, 2, 0) DO(3, SLEEP, 1, 5)
#define THREAD_0 DO(0, LEAVE, 0, 0)
#define THREAD_1 DO(0, SLEEP, 2, 7)

#elif defined(JOIN_AGAINST_LEAVE)
/* An idle CPU joins with a timer while the last one awake leaves. */
#define LEAVING
#define DONE_BEFORE DO(0, LEAVE, 0, 0) DO(1, REARM, 0, 5) DO(2, WAKE, 2, 0)
#define THREAD_0 DO(0, JOIN, 0, 0)
#define THREAD_1 DO(0, LEAVE, 2, 0)

#elif defined(LEAVE_AGAINST_EXPIRY)
/* A sleeper leaves while somebody runs its due timer. */
#define LEAVING
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, WAKE, 2, 0) DO(2, SLEEP, 0, 13)
#define NEAR_BEFORE 5
#define THREAD_0 DO(0, LEAVE, 0, 0)
#define THREAD_1 DO(0, EXPIRE, 2, 10) DO(1, SLEEP, 2, NEVER)

#elif defined(ANYTHING)
/* CPU 0 and CPU 1, or with TWO_LEAVES CPU 2, do ROUNDS operations of any kind, in any order, from all asleep or, with
   ONE_AWAKE, from the second one awake. What is due at 3 has passed when somebody expires at 4. */
#ifdef TWO_LEAVES
#define SECOND 2
#else
#define SECOND 1
#endif
#ifdef ONE_AWAKE
#define DONE_BEFORE DO(0, WAKE, SECOND, 0)
#else
#define DONE_BEFORE
#endif
#define CHOICE

#elif defined(TIME)
/* Time goes on to LAST. CPU 0 falls asleep with a timer; CPU 2, or with ONE_LEAF CPU 1, falls asleep with another or
   none. Who is awake looks every tick, who is armed gets an interrupt. */
#ifdef ONE_LEAF
#define SECOND 1
#else
#define SECOND 2
#endif
#define DONE_BEFORE DO(0, WAKE, 0, 0) DO(1, WAKE, SECOND, 0)
#define NEAR_BEFORE 1
#define FOR_EVER
#else
#error "name a scenario"
#endif

#ifndef THREADS
#define THREADS 2
#endif

/* Sets op, cpu and arg of the next operation; END when there is none. */
inline fetch() {
    op = END;
#if defined(CHOICE)
    cpu = (me == 0 -> 0 : SECOND);
    if
    :: me == BEFORE -> if DONE_BEFORE :: else -> skip fi
    :: me != BEFORE && pc == ROUNDS
    :: me != BEFORE && pc < ROUNDS ->
        if
        :: awake[cpu] -> op = SLEEP
        :: !awake[cpu] -> op = WAKE
        :: !awake[cpu] -> op = REARM
        :: op = EXPIRE
        fi;
        if
        :: op == EXPIRE -> arg = 4
        :: op == WAKE -> arg = 0
        :: else ->
            if
            :: arg = 3
            :: arg = 5
            :: arg = NEVER
            fi
        fi
    fi;
    pc++
#elif defined(FOR_EVER)
    cpu = (me == 0 -> 0 : SECOND);
    if
    :: me == BEFORE -> if DONE_BEFORE :: else -> skip fi; pc++
    :: me == 0 && pc == 0 -> op = SLEEP; arg = 2; pc++
    :: me == 1 && pc < TURNS && awake[cpu] -> op = SLEEP; pc++;
        if
        :: arg = 1
        :: arg = NEVER
        fi
    :: me == 1 && pc < TURNS && !awake[cpu] -> op = WAKE; arg = 0; pc++
    :: me == 1 && awake[cpu] -> op = TICK; arg = moment
    :: (me == 1 || me == 0 && pc > 0) && !awake[cpu] && armed[cpu] <= moment -> op = EXPIRE; arg = moment
    fi
#else
    if
    :: me == BEFORE -> if DONE_BEFORE :: else -> skip fi
    :: me == 0 -> if THREAD_0 :: else -> skip fi
    :: me == 1 ->
        if
        THREAD_1
#ifdef MAYBE
        MAYBE
        :: pc == 3
#endif
        :: else -> skip
        fi
#if THREADS > 2
    :: me == 2 -> if THREAD_2 :: else -> skip fi
#endif
    fi;
    pc++
#endif
}
