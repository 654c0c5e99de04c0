# SPDX-License-Identifier: BSL-1.0
# Two runs against each other: the second takes twice as long where atomics are involved, and
# measured other things besides.
include("${DATA}/../check.cmake")

report(0 compare "${DATA}/before" "${DATA}/after")
contains("${out}" "| benchmark | before, ns | after, ns | ratio | apart |"
         # 11.5 to 30 and 23 to 60 overlap, so that nothing is said of them.
         "| walk/who:tmigr/backend:boost/word:32/width:8/expiries:0/levels:1 | 12 | 24 | 2.00 |  |"
         "| walk/who:bare_swaps/word:32/expiries:0/levels:1 | 11 | 11 | 1.00 |  |"
         "| timers/what:sleep_wake/who:tmigr/due:0 | 20 |  |  | gone |"
         "| sweep/new |  | 3 |  | new |"
         "10 in both: 0 faster and 0 slower" "ratio 1.15 on geometric average" "12 gone, 1 new.")

# Single files; and the other way round, without overlap.
report(0 compare "${DATA}/before/walk_cost.json" "${DATA}/before/walk_cost.json")
contains("${out}" "6 in both: 0 faster and 0 slower" "ratio 1.00")
file(READ "${DATA}/before/activity_sweep.json" text)
string(REPLACE "\"items_per_second\": 100000000.0" "\"items_per_second\": 400000000.0" text "${text}")
file(WRITE "${SCRATCH}/fast.json" "${text}")
report(0 compare "${DATA}/before/activity_sweep.json" "${SCRATCH}/fast.json")
contains("${out}" "| 10 | 2.5 | 0.25 | faster |" "1 faster and 0 slower")
report(0 compare "${SCRATCH}/fast.json" "${DATA}/before/activity_sweep.json")
contains("${out}" "| 2.5 | 10 | 4.00 | slower |" "0 faster and 1 slower")
