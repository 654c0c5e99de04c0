# SPDX-License-Identifier: BSL-1.0
# Tables, ratios and plots of results that are small enough to be worked out by hand.
include("${DATA}/../check.cmake")

file(COPY "${DATA}/before/" DESTINATION "${SCRATCH}/results")
report(0 tables "${SCRATCH}/results")
contains("${out}" "results.md")
file(READ "${SCRATCH}/results/results.md" text)

contains("${text}" "| machine | A machine |" "| cores | 2 |" "| compiler | g++ 12.2.0 |" "| commit | 0123456789ab |"
         "| date | 2024-02-29T12:00:00+00:00 |" "| caches | L1 Data 48 kB |" "activity_sweep 0.50")

# Medians 12 and 24 against 11 and 22, fastest 11.5 and 23 against 10 and 20; without atomics 4 and 8.
contains("${text}"
         "| sleep and wake at level 0, against bare swaps | at most 1.15 | 1.09 | 1.15 | yes |"
         "| sleep and wake through more levels, against bare swaps | at most 1.3 | 1.09 | 1.15 | yes |"
         "| without atomics, against Boost.Atomic | at least 3 | 3 | 2.88 | yes |"
         "| operations with timers, against Linux-like events, alone | at least 2 | 2.5 | 2.5 | yes |"
         "| the same, two threads, nothing between two operations | at least 3 | 2.5 | 2.5 | 0 of 1 | timers/what:sleep_wake/who:Linux-like_sorted_array/due:0/threads:2 |"
         # 450 against 300, of which 250 are work.
         "| the same, two threads, work of their own between (taken off) | at least 3 | 4 |  | yes | timers/what:sleep_wake/who:Linux-like_sorted_array/due:0/work:500/threads:2 |"
         "| not slower than peers of the same guarantees, but for locks: timers | at least 1 | 0.5 to 4 | 0.5 to 2.5 | 3 of 5 | timers/what:sleep_wake/who:heap_under_one_spin_lock/due:0 |"
         "| not slower than peers of the same guarantees: timers | at least 1 | 4 | 4 | yes | timers/what:sleep_wake/who:array_of_expiries/due:0 |"
         "| not slower than peers of the same guarantees: model | at least 1 |  |  | not measured |  |"
         "| 4096 CPUs against 512, at a of 0.1 and more: time | at most 1.1 | 1.2 | 1.2 | 0 of 1 |"
         "| the same: read-modify-writes | at most 1.1 | 1 |  | yes |"
         "lines beyond its own leaf | at most 0 | 0 |  | yes | enqueue/who:tmigr/distance:1 |")

# Who knows less: faster at 512 CPUs, slower at 4096.
contains("${text}" "| peer | a | 512 CPUs | 4096 CPUs |" "| bitmap | 0.1 | 0.5 | 2 |")

# Times by the last label, counters, spread: 30 is 2.61 times 11.5.
contains("${text}" "| who | backend | word | width | expiries | levels 1 | levels 2 |"
         "| tmigr | boost | 32 | 8 | 0 | 12 | 24 |" "| bare_swaps |  | 32 |  | 0 | 11 | 22 |"
         "| tmigr | boost | 32 | 8 | 0 | 2 | 4 | 2 |" "2.61 at worst")
# A time without items, in microseconds; what went wrong is left out.
contains("${text}" "### plain_name" "| 2500 |")
if(text MATCHES "broken")
    message(FATAL_ERROR "a benchmark that failed is in\n${text}")
endif()

foreach(plot IN ITEMS walk sweep_cpus)
    contains("${text}" "![${plot}](${plot}.svg)")
    foreach(end IN ITEMS dat gp)
        if(NOT EXISTS "${SCRATCH}/results/${plot}.${end}")
            message(FATAL_ERROR "no ${plot}.${end}")
        endif()
    endforeach()
endforeach()
file(READ "${SCRATCH}/results/walk.dat" data)
contains("${data}" "1 11\n2 22\n" "1 12\n2 24\n" "1 4\n2 8\n")
if(EXISTS "${SCRATCH}/results/model_cpus.gp")
    message(FATAL_ERROR "a plot of what was not measured")
endif()

# One file, printed.
report(0 print "${DATA}/before/walk_cost.json")
contains("${out}" "## walk_cost" "| sleep and wake at level 0, against bare swaps | at most 1.15 | 1.09 | 1.15 | yes |")
