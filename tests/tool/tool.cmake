# SPDX-License-Identifier: BSL-1.0
# What the scripts here share. Each runs in an empty directory of its own.
cmake_minimum_required(VERSION 3.24)
file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}")

set(two_nodes "${SCRATCH}/two-nodes.cpus")
file(WRITE "${two_nodes}" "0 0 1024\n1 0 1024\n2 0 1024\n3 0 1024\n4 1 512\n5 1 512\n6 1 512\n7 1 512\n")

# tool(<exit status> <argument>...): runs tmigr-tree and leaves what it wrote in `out` and `err`
function(tool status)
    execute_process(COMMAND "${TOOL}" ${ARGN} WORKING_DIRECTORY "${SCRATCH}"
                    OUTPUT_VARIABLE written ERROR_VARIABLE complaint RESULT_VARIABLE result)
    if(NOT result STREQUAL status)
        list(JOIN ARGN " " arguments)
        message(FATAL_ERROR "tmigr-tree ${arguments}\nexit status ${result}, expected ${status}\n"
                            "${written}${complaint}")
    endif()
    # hwloc warns there where a container hides parts of the machine.
    if(NOT status EQUAL 2 AND NOT "--live" IN_LIST ARGN AND NOT complaint STREQUAL "")
        message(FATAL_ERROR "nothing expected on standard error, got\n${complaint}")
    endif()
    set(out "${written}" PARENT_SCOPE)
    set(err "${complaint}" PARENT_SCOPE)
endfunction()

# same(<text> <expected>...): the expected parts one after the other
function(same text)
    math(EXPR last "${ARGC} - 1")
    set(expected "")
    foreach(i RANGE 1 ${last})
        string(APPEND expected "${ARGV${i}}")
    endforeach()
    if(NOT text STREQUAL expected)
        message(FATAL_ERROR "got\n${text}\nexpected\n${expected}")
    endif()
endfunction()

# contains(<text> <part>...): every part, literally
function(contains text)
    math(EXPR last "${ARGC} - 1")
    foreach(i RANGE 1 ${last})
        string(FIND "${text}" "${ARGV${i}}" at)
        if(at EQUAL -1)
            message(FATAL_ERROR "no '${ARGV${i}}' in\n${text}")
        endif()
    endforeach()
endfunction()

# refused(<words> <argument>...): bad input is named on one line, and nothing is written
function(refused words)
    set(arguments ${ARGN})
    if(NOT "--verify" IN_LIST ARGN)
        list(APPEND arguments --dot refused.dot --ftrace refused.trace)
    endif()
    tool(2 ${arguments})
    same("${out}" "")
    contains("${err}" "${words}")
    if(NOT err MATCHES "^tmigr-tree: [^\n]+\n$")
        message(FATAL_ERROR "not one line that says who complains:\n${err}")
    endif()
    if(EXISTS "${SCRATCH}/refused.dot" OR EXISTS "${SCRATCH}/refused.trace")
        message(FATAL_ERROR "output files were made although the input is bad: ${arguments}")
    endif()
endfunction()
