# SPDX-License-Identifier: BSL-1.0
# What the tests of tmigr-bench-report share. Each runs in an empty directory of its own.
cmake_minimum_required(VERSION 3.24)
file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}")

# report(<exit status> <argument>...): runs the tool and leaves what it wrote in `out` and `err`
function(report status)
    execute_process(COMMAND "${TOOL}" ${ARGN} WORKING_DIRECTORY "${SCRATCH}"
                    OUTPUT_VARIABLE written ERROR_VARIABLE complaint RESULT_VARIABLE result)
    if(NOT result STREQUAL status)
        list(JOIN ARGN " " arguments)
        message(FATAL_ERROR "tmigr-bench-report ${arguments}\nexit status ${result}, expected ${status}\n"
                            "${written}${complaint}")
    endif()
    set(out "${written}" PARENT_SCOPE)
    set(err "${complaint}" PARENT_SCOPE)
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
