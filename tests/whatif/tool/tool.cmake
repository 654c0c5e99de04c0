# SPDX-License-Identifier: BSL-1.0
# What the scripts here share, on top of what the scripts of tmigr-tree do.
include("${CMAKE_CURRENT_LIST_DIR}/../../tool/tool.cmake")

set(orion --cpus "${WHATIF}/machines/orion-o6.cpus" --idle-states "${WHATIF}/machines/orion-o6.idle.json")
set(rk3576 --cpus "${WHATIF}/machines/rk3576.cpus" --idle-states "${WHATIF}/machines/rk3576.idle.json")

# tool(<exit status> <argument>...): runs tmigr-whatif and leaves what it wrote in `out` and `err`
function(tool status)
    execute_process(COMMAND "${TOOL}" ${ARGN} WORKING_DIRECTORY "${SCRATCH}"
                    OUTPUT_VARIABLE written ERROR_VARIABLE complaint RESULT_VARIABLE result)
    if(NOT result STREQUAL status)
        list(JOIN ARGN " " arguments)
        message(FATAL_ERROR "tmigr-whatif ${arguments}\nexit status ${result}, expected ${status}\n"
                            "${written}${complaint}")
    endif()
    # hwloc warns where a container hides parts of the machine; gnuplot may not be there.
    if(NOT status EQUAL 2 AND NOT "--live" IN_LIST ARGN AND NOT "--plot" IN_LIST ARGN AND NOT complaint STREQUAL "")
        message(FATAL_ERROR "nothing expected on standard error, got\n${complaint}")
    endif()
    set(out "${written}" PARENT_SCOPE)
    set(err "${complaint}" PARENT_SCOPE)
endfunction()

# only_files(<name>...): that is what the scratch directory holds, besides *.cpus
function(only_files)
    file(GLOB there RELATIVE "${SCRATCH}" "${SCRATCH}/*")
    list(FILTER there EXCLUDE REGEX "\\.cpus$")
    set(expected ${ARGN})
    list(SORT there)
    list(SORT expected)
    if(NOT there STREQUAL expected)
        message(FATAL_ERROR "files: ${there}\nexpected: ${expected}")
    endif()
endfunction()

# complains(<words> <argument>...): bad input is named on one line, and nothing is written
function(complains words)
    file(GLOB before "${SCRATCH}/*")
    tool(2 ${ARGN})
    same("${out}" "")
    contains("${err}" "${words}")
    if(NOT err MATCHES "^tmigr-whatif: [^\n]+\n$")
        message(FATAL_ERROR "not one line that says who complains:\n${err}")
    endif()
    file(GLOB after "${SCRATCH}/*")
    if(NOT before STREQUAL after)
        message(FATAL_ERROR "output files were made although the input is bad: ${ARGN}\n${after}")
    endif()
endfunction()

# refused(<words> <argument>...): the same for simulations, which would write files of every kind
function(refused words)
    complains("${words}" ${ARGN} --csv r.csv --json r.json --plot r --chrome-trace r.trace.json)
endfunction()
