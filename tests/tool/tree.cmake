# SPDX-License-Identifier: BSL-1.0
# What is drawn, to the letter.
include("${CMAKE_CURRENT_LIST_DIR}/tool.cmake")

set(header [[
CPUs                8 of 8 possible
nodes               2 of 2 possible
capacity            2 classes: 512 1024
levels              2 of 2 planned for the possible CPUs
cross-family level  1 (groups mix nodes from there up)
groups              3, of at most 8 children each
form                Linux 6.19 and newer

]])

tool(0 --cpus "${two_nodes}")
same("${out}" "${header}"
[[group 3  level 1  active 0x0  migrator none
|- group 1  level 0  node 0  mask 0x1  active 0x0  migrator none  cpus 0 1 2 3
`- group 2  level 0  node 1  mask 0x2  active 0x0  migrator none  cpus 4 5 6 7

nobody is awake
]])

# The first awake in a group becomes its migrator, whatever its number.
tool(0 --cpus "${two_nodes}" --activate 5,1-3,4)
same("${out}" "${header}"
[[group 3  level 1  active 0x3  migrator 0x2
|- group 1  level 0  node 0  mask 0x1  active 0xe  migrator 0x2  cpus 0 >1 *2 *3
`- group 2  level 0  node 1  mask 0x2  active 0x3  migrator 0x2  cpus *4 >5 6 7

CPU 5 is the migrator of everything
]])

# The migrator that leaves hands over: within the group, then at the top.
tool(0 --cpus "${two_nodes}" --activate 5,1-3,4 --deactivate 5)
same("${out}" "${header}"
[[group 3  level 1  active 0x3  migrator 0x2
|- group 1  level 0  node 0  mask 0x1  active 0xe  migrator 0x2  cpus 0 >1 *2 *3
`- group 2  level 0  node 1  mask 0x2  active 0x1  migrator 0x1  cpus >4 5 6 7

CPU 4 is the migrator of everything
]])
tool(0 --cpus "${two_nodes}" --activate 5,1-3,4 --deactivate 5,4,1 --quiet)
same("${out}" "${header}" "CPU 2 is the migrator of everything\n")
tool(0 --cpus "${two_nodes}" --activate 0-7 --deactivate 0-7 --quiet)
same("${out}" "${header}" "nobody is awake\n")
