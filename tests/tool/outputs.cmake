# SPDX-License-Identifier: BSL-1.0
# Files for Graphviz and for readers of kernel traces.
include("${CMAKE_CURRENT_LIST_DIR}/tool.cmake")

tool(0 --cpus "${two_nodes}" --activate 5,2 --dot tree.dot --ftrace tree.trace)
contains("${out}" "CPU 5 is the migrator of everything")
file(READ "${SCRATCH}/tree.dot" dot)
contains("${dot}" "digraph tmigr {"
         [=[g3 [shape=box, label="group 3\nlevel 1\nactive 0x3\nmigrator 0x2", style=filled]=]
         [=[g3 -> g2 [label="0x2", penwidth=2.5];]=]
         [=[g3 -> g1 [label="0x1"];]=]
         [=[c5 [label="CPU 5", style=filled, fillcolor="#cfe8cf"];]=]
         [=[g2 -> c5 [label="0x2", penwidth=2.5];]=]
         [=[c7 [label="CPU 7"];]=]
         "}\n")

# Standard output holds that and nothing else.
tool(0 --cpus "${two_nodes}" --activate 5,2 --dot -)
same("${out}" "${dot}")
find_program(graphviz dot)
if(graphviz)
    execute_process(COMMAND "${graphviz}" -Tsvg "${SCRATCH}/tree.dot"
                    OUTPUT_VARIABLE svg COMMAND_ERROR_IS_FATAL ANY)
    contains("${svg}" "CPU 7" "group 3")
endif()

file(READ "${SCRATCH}/tree.trace" trace)
tool(0 --cpus "${two_nodes}" --activate 5,2 --ftrace -)
same("${out}" "${trace}")
contains("${trace}" "# tracer: nop\n"
"tmigr_connect_cpu_parent: cpu=7 groupmask=8 parent=0000000000000002 lvl=0 numa=1 capacity=1024 \
num_children=4\n"
"          <idle>-0       [005] d....     0.000009: tmigr_group_set_cpu_active: group=0000000000000003 lvl=1 \
numa=-1 active=2 migrator=2 parent=0000000000000000 childmask=2\n")
string(REGEX MATCHALL "tmigr_connect_cpu_parent" lines "${trace}")
list(LENGTH lines count)
same("${count}" "8")

# What is written is read back, and is what a kernel would have printed.
# round_trip(<form> <possible> <input>...)
function(round_trip form possible)
    tool(0 ${ARGN} --linux ${form} --ftrace back.trace --quiet)
    string(REGEX REPLACE "\ncapacity [^\n]*\n" "\n" header "${out}")
    tool(0 --trace back.trace --verify --linux ${form} --possible ${possible})
    contains("${out}" "       0  differences between the trees" "       0    different"
             "kernel and library agree")
    tool(0 --trace back.trace --linux ${form} --possible ${possible} --quiet)
    string(REGEX REPLACE "\n[^\n]*(migrator of everything|nobody is awake)\n" "\n" header "${header}")
    string(REGEX REPLACE "\ncapacity [^\n]*\n" "\n" again "${out}")
    contains("${again}" "${header}")
endfunction()
foreach(form IN ITEMS newest 6.13 6.9)
    round_trip(${form} 8,2 --cpus "${two_nodes}" --activate 7,0-6 --deactivate 7,1-3)
    round_trip(${form} 256,4 --cpus "${MACHINES}/synthetic-biglittle-4node-256.cpus"
               --activate 255,3-90 --deactivate 255,4-80)
    round_trip(${form} 144,2 --cpus "${MACHINES}/nvidia-grace-superchip-144.cpus"
               --activate 0-143 --deactivate 0-143)
endforeach()
# The form is seen from the lines.
tool(0 --cpus "${two_nodes}" --linux 6.13 --ftrace back.trace --quiet)
tool(0 --trace back.trace --verify)
contains("${out}" "form                Linux 6.13" "kernel and library agree")
if(WITH_HWLOC)
    # Nodes without CPUs count for the levels, and no line of a trace tells of them.
    tool(0 --hwloc "${MACHINES}/cpu32-holes-8node-gpumem-power9.xml" --activate 1 --ftrace back.trace --quiet)
    tool(1 --trace back.trace --verify)
    contains("${out}" "see --possible" "kernel and library do not agree")
    tool(0 --trace back.trace --verify --possible 32,8)
endif()

# A file that cannot be written is named; what was there stays, what was not is not made.
file(WRITE "${SCRATCH}/kept" "old\n")
foreach(other IN ITEMS kept fresh)
    tool(2 --cpus "${two_nodes}" --dot ${other} --ftrace missing-directory/file)
    same("${out}" "")
    contains("${err}" "tmigr-tree: missing-directory/file: cannot be written")
endforeach()
file(READ "${SCRATCH}/kept" kept)
same("${kept}" "old\n")
if(EXISTS "${SCRATCH}/fresh")
    message(FATAL_ERROR "a file was made although the other cannot be")
endif()
tool(2 --cpus "${two_nodes}" --dot "${SCRATCH}")
contains("${err}" "cannot be written")
same("${out}" "")

# A reader that goes away is no error; a full disk is.
if(EXISTS /dev/full)
    execute_process(COMMAND "${TOOL}" --cpus "${two_nodes}" OUTPUT_FILE /dev/full
                    ERROR_VARIABLE err RESULT_VARIABLE result)
    same("${result}" "2")
    contains("${err}" "standard output: cannot be written")
endif()
execute_process(COMMAND "${TOOL}" --cpus "${MACHINES}/synthetic-biglittle-4node-256.cpus" --ftrace -
                COMMAND true RESULTS_VARIABLE results ERROR_VARIABLE err)
same("${results}" "0;0")
same("${err}" "")
