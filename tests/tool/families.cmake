# SPDX-License-Identifier: BSL-1.0
# Who shares groups under which policy, to the letter.
include("${CMAKE_CURRENT_LIST_DIR}/tool.cmake")

set(orion "${MACHINES}/radxa-orion-o6.cpus")

tool(0 --cpus "${orion}" --family prefer-low --activate 0,7,3)
same("${out}"
[[CPUs                12 of 12 possible
nodes               1 of 1 possible
capacity            5 classes: 279 866 905 984 1024
levels              2 of 2 planned for the possible CPUs
cross-family level  1 (groups mix families from there up)
groups              6, of at most 8 children each
form                Linux 6.19 and newer
policy              prefer-low, 1 tree
  family 0          rank 0  capacity 279  cpus 2-5
  family 1          rank 1  capacity 866  cpus 8-9
  family 2          rank 2  capacity 905  cpus 6-7
  family 3          rank 3  capacity 984  cpus 10-11
  family 4          rank 4  capacity 1024  cpus 0-1
prefer low          group 3

group 3  level 1  active 0x15  migrator 0x1  prefers low
|- group 2  level 0  family 0  mask 0x1  active 0x2  migrator 0x2  cpus 2 >3 4 5
|- group 5  level 0  family 1  mask 0x2  active 0x0  migrator none  cpus 8 9
|- group 4  level 0  family 2  mask 0x4  active 0x2  migrator 0x2  cpus 6 >7
|- group 6  level 0  family 3  mask 0x8  active 0x0  migrator none  cpus 10 11
`- group 1  level 0  family 4  mask 0x10  active 0x1  migrator 0x1  cpus >0 1

CPU 3 is the migrator of everything
]])
# CPU 3 hands over to the lowest awake class, which is not the first that woke.
tool(0 --cpus "${orion}" --family prefer-low --activate 0,7,3 --deactivate 3 --quiet)
contains("${out}" "CPU 7 is the migrator of everything")

tool(0 --cpus "${orion}" --family split --activate 0,3)
contains("${out}" "policy              split, 5 trees\n"
"\ngroup 2  level 0  family 0  active 0x2  migrator 0x2  cpus 2 >3 4 5\n"
"\nCPU 0 is the migrator below group 1\nCPU 3 is the migrator below group 2\nnobody is awake below group 3\n")
# A tree as of old, and why.
tool(0 --cpus "${orion}" --family gated-split --quiet)
contains("${out}" "policy              gated-split, 1 tree; its gate is shut, so as linux-default\n"
         "  family 0          capacity 279 866 905 984 1024  cpus 0-11\n")
tool(0 --cpus "${orion}" --family gated-split:2 --quiet)
contains("${out}" "policy              gated-split:2, 5 trees\n")
tool(0 --cpus "${orion}" --family split --full-dynticks 3,4 --quiet)
contains("${out}" "policy              split, 1 tree; its gate is shut, so as linux-default\n")
tool(0 --cpus "${orion}" --family buckets:512 --quiet)
contains("${out}" "  family 0          rank 0  capacity 279  cpus 2-5\n"
         "  family 1          rank 1  capacity 866 905 984 1024  cpus 0-1,6-11\n")
tool(0 --cpus "${orion}" --family tolerance:10 --quiet)
contains("${out}" "  family 1          rank 1  capacity 866 905  cpus 6-9\n")
tool(0 --cpus "${orion}" --family balanced)
contains("${out}" "cpus 0 1 2 3 4 5\n" "cpus 6 7 8 9 10 11\n")
tool(0 --cpus "${two_nodes}" --family prefer-low-per-node --quiet)
contains("${out}" "  family 0          rank 1  capacity 1024  node 0  cpus 0-3\n"
         "  family 1          rank 0  capacity 512  node 1  cpus 4-7\n" "prefer low          groups 3 5\n")

# More classes than a group has children; the lowest that is awake serves.
tool(0 --cpus "${MACHINES}/synthetic-all-distinct-64.cpus" --family prefer-low --activate 60,3,33 --quiet)
contains("${out}" "  family 63         rank 63  ")

# Linux lines with the field that kernels with families print, and without.
tool(0 --cpus "${two_nodes}" --family prefer-low --family-field --ftrace -)
contains("${out}" "tmigr_group_set: group=0000000000000001 lvl=0 family=1\n"
         "lvl=0 family=0 capacity=1024 num_children=1\n")
tool(0 --cpus "${two_nodes}" --family split --ftrace -)
contains("${out}" "lvl=0 numa=0 capacity=512 num_children=1\n")

refused("--family: got 'lowest', expected one of linux-default, balanced, split, gated-split, prefer-low"
        --cpus "${two_nodes}" --family lowest)
refused("--family: got 'buckets:0', expected buckets: and a number from 1 to 1024" --cpus "${two_nodes}" --family buckets:0)
refused("--family: got 'gated-split:x', expected gated-split: and a number" --cpus "${two_nodes}" --family gated-split:x)
refused("--family: got 'split:4', expected one of" --cpus "${two_nodes}" --family split:4)
refused("--full-dynticks needs --family" --cpus "${two_nodes}" --full-dynticks 1)
refused("--full-dynticks: got '99', expected the number of a CPU" --cpus "${two_nodes}" --family split --full-dynticks 99)
refused("expected linux-default with a form before 6.19" --cpus "${two_nodes}" --family split --linux 6.9)
tool(2 --cpus "${two_nodes}" --family-field)
contains("${err}" "--family-field needs --ftrace")
tool(2 --trace x --verify --family split)
contains("${err}" "--verify does not go together with --family")
