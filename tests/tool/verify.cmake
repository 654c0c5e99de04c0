# SPDX-License-Identifier: BSL-1.0
# Real kernels' traces, whole and tampered with.
include("${CMAKE_CURRENT_LIST_DIR}/tool.cmake")

tool(0 --trace "${CAPTURES}/kernel-7.3-24cpu-2node.trace" --verify)
same("${out}" [[
CPUs                24 of 24 possible
nodes               2 of 2 possible
capacity            1 class: 1024
levels              3 of 3 planned for the possible CPUs
cross-family level  2 (groups mix nodes from there up)
groups              7, of at most 8 children each
form                Linux 6.19 and newer

   16294  lines read
       7  groups compared
      30  connect events compared: 6 of groups, 24 of CPUs
       0  differences between the trees
    4768  transitions checked
    4768    agreed
       5      of these reordered: printed behind a line that happened later
       0    different
       0  transitions learnt

kernel and library agree
]])

tool(0 --trace "${CAPTURES}/kernel-6.12-64cpu-4node.trace" --verify)
contains("${out}" "form                Linux 6.13 to 6.18"
         "      13  groups compared\n"
         "      76  connect events compared: 12 of groups, 64 of CPUs\n"
         "       0  differences between the trees\n"
         "    5567  transitions checked\n"
         "    5567    agreed\n"
         "       3      of these reordered"
         "       0    different\n"
         "kernel and library agree\n")

# A window from the middle of a run: the first line of each group can only be believed.
tool(0 --trace "${CAPTURES}/workload-7.3-16cpu-2node-mixed.trace" --verify)
contains("${out}" "no connect events: the tree is not compared" "    1183  transitions checked\n"
         "       3  transitions learnt: taken as printed" "kernel and library agree\n")

# Windows one behind the other: lines are missing after each event that ends one.
tool(1 --trace "${CAPTURES}/kernel-7.3-16cpu-late-timer.trace" --verify)
contains("${out}" "       3    different" "kernel and library do not agree\n")
tool(0 --trace "${CAPTURES}/kernel-7.3-16cpu-late-timer.trace" --verify --gap-at other --gap-at do_stress)
contains("${out}" "       3  gaps, behind events of --gap-at\n" "     395    agreed\n" "       0    different\n"
         "       9  transitions learnt: taken as printed" "kernel and library agree\n")
# An event that does not occur shows as such.
tool(1 --trace "${CAPTURES}/kernel-7.3-16cpu-late-timer.trace" --verify --gap-at other)
contains("${out}" "       0  gaps, behind events of --gap-at\n")

file(GLOB captures "${CAPTURES}/*.trace")
list(LENGTH captures count)
if(count LESS 27)
    message(FATAL_ERROR "only ${count} captures in ${CAPTURES}")
endif()
foreach(capture IN LISTS captures)
    set(gaps "")
    if(capture MATCHES "late-timer")
        set(gaps --gap-at do_stress)
    endif()
    tool(0 --trace "${capture}" --verify ${gaps})
    contains("${out}" "       0    different\n" "kernel and library agree\n")
endforeach()

# tampered(<pattern> <replacement> <words>...): the 24-CPU trace with one place changed
file(READ "${CAPTURES}/kernel-7.3-24cpu-2node.trace" whole)
function(tampered pattern replacement)
    string(REGEX REPLACE "${pattern}" "${replacement}" changed "${whole}")
    if(changed STREQUAL whole)
        message(FATAL_ERROR "nothing to change: ${pattern}")
    endif()
    file(WRITE "${SCRATCH}/changed.trace" "${changed}")
    tool(1 --trace changed.trace --verify)
    contains("${out}" ${ARGN} "kernel and library do not agree\n")
endfunction()
tampered("(cpu=11 )groupmask=8" "\\1groupmask=80" "2  differences between the trees" "The trees differ:"
         "CPU 11: mask 0x80 in the trace, 0x8 in the tree")
tampered("(cpu=23 groupmask=[0-9a-f]+ parent=[0-9a-f]+ lvl=0 numa=1 capacity=1024 )num_children=4"
         "\\1num_children=4\n  <idle>-0  [000] d.... 22.000000: tmigr_group_set: group=00aa lvl=0 numa=1"
         "1  differences between the trees" "group aa: in the trace, not in the tree")

# A state word that no transition leads to.
string(REGEX MATCH "[^\n]*tmigr_group_set_cpu_active: [^\n]* active=7 [^\n]*" line "${whole}")
string(REPLACE " active=7 " " active=40 " bad "${line}")
string(REPLACE "${line}" "${bad}" changed "${whole}")
file(WRITE "${SCRATCH}/changed.trace" "${changed}")
tool(1 --trace changed.trace --verify)
contains("${out}" "       0  differences between the trees" "The transitions differ:\n  changed.trace:"
         "got 'active=40 migrator=" "kernel and library do not agree\n")

# Other rules than the kernel's give another tree.
tool(1 --trace "${CAPTURES}/kernel-7.3-24cpu-2node.trace" --verify --linux 6.9)
contains("${out}" "       4  differences between the trees" "       0    different"
         "mask 0x1 in the trace, 0x2 in the tree")
tool(1 --trace "${CAPTURES}/kernel-7.3-24cpu-2node.trace" --verify --width 4)
contains("${out}" "The trees differ:" "  and " " more\n")
