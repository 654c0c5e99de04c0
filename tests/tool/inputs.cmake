# SPDX-License-Identifier: BSL-1.0
# Every kind of input, and all machines in the tests' data.
include("${CMAKE_CURRENT_LIST_DIR}/tool.cmake")

file(GLOB lists "${MACHINES}/*.cpus")
list(LENGTH lists count)
if(count LESS 20)
    message(FATAL_ERROR "only ${count} machines in ${MACHINES}")
endif()
foreach(machine IN LISTS lists)
    file(STRINGS "${machine}" cpus REGEX "^[0-9]")
    list(LENGTH cpus count)
    tool(0 --cpus "${machine}")
    contains("${out}" "CPUs                ${count} of " "nobody is awake")
endforeach()

if(WITH_HWLOC)
    # facts(<file> <line>...)
    function(facts file)
        tool(0 --hwloc "${MACHINES}/${file}" --quiet)
        contains("${out}" ${ARGN})
    endfunction()
    facts(cpu384-24node-xeon-e5-4640.xml "CPUs                384 of 384" "nodes               24 of 24"
          "levels              4 of 4" "cross-family level  2 (groups mix" "groups              76,")
    facts(cpu17-offline-node0-xeon-e5-2680v3.xml "CPUs                17 of 24" "nodes               1 of 1")
    facts(cpu32-holes-8node-gpumem-power9.xml "CPUs                32 of 32" "nodes               2 of 8")
    facts(built-cpu8-2cap-rk3588.xml "2 classes: " "no group mixes nodes")
    facts(cpu1-qemu-ppc-numbers.xml "CPUs                1 of 1")
    facts(synthetic-cpu1792-32node.xml "CPUs                1792 of 1792" "nodes               32 of 32")

    tool(0 --live)
    contains("${out}" "nobody is awake" "group 1")
else()
    refused("built without hwloc" --live)
    refused("built without hwloc" --hwloc "${MACHINES}/cpu1-qemu-ppc-numbers.xml")
endif()

# A trace and the list of the CPUs in it are the same machine.
set(capture "${CAPTURES}/kernel-7.3-24cpu-2node")
tool(0 --trace "${capture}.trace" --activate 13,2)
set(from_trace "${out}")
tool(0 --cpus "${capture}.topology" --activate 13,2)
same("${from_trace}" "${out}")
contains("${out}" "CPUs                24 of 24" "groups              7,"
         "form                Linux 6.19 and newer")

# An older kernel's lines are known by what they lack, and the command line has the last word.
set(capture "${CAPTURES}/kernel-6.12-24cpu-2node")
tool(0 --trace "${capture}.trace")
contains("${out}" "form                Linux 6.13 to 6.18")
tool(0 --trace "${capture}.trace" --linux 6.9)
contains("${out}" "form                Linux 6.9 to 6.12")

tool(0 --cpus "${two_nodes}" --possible 64,4)
contains("${out}" "CPUs                8 of 64 possible" "nodes               2 of 4 possible"
         "levels              3 of 3 planned" "cross-family level  2")
tool(0 --cpus "${two_nodes}" --width 2)
contains("${out}" "of at most 2 children" "levels              3 of 3")
