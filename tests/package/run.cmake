# SPDX-License-Identifier: BSL-1.0
# cmake -DSOURCE=... -DBINARY=... -DGENERATOR=... [-DFORBID=<regex>] -P run.cmake -- <configure argument>...
# Configures, builds and runs the project; fails when the build's output matches FORBID, or when the project,
# which has no tests but enables testing, turns out to have some.

set(configure_arguments "")
set(after_dashes FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
    if(after_dashes)
        list(APPEND configure_arguments "${CMAKE_ARGV${i}}")
    elseif(CMAKE_ARGV${i} STREQUAL "--")
        set(after_dashes TRUE)
    endif()
endforeach()

file(REMOVE_RECURSE "${BINARY}")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${BINARY}" -G "${GENERATOR}" ${configure_arguments}
                COMMAND_ERROR_IS_FATAL ANY)

execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BINARY}"
                OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    # Without the lists of includes that core_only asks the compiler for.
    string(REGEX REPLACE "\n\\.+ [^\n]*" "" output "${output}")
    string(REGEX REPLACE "\nMultiple include guards[^:]*:(\n/[^\n]*)*" "" output "${output}")
    message(FATAL_ERROR "the build failed:\n${output}")
endif()
if(FORBID AND output MATCHES "[^\n]*${FORBID}[^\n]*")
    message(FATAL_ERROR "the build used ${CMAKE_MATCH_0}")
endif()

execute_process(COMMAND "${BINARY}/consumer" COMMAND_ERROR_IS_FATAL ANY)

get_filename_component(cmake_dir "${CMAKE_COMMAND}" DIRECTORY)
execute_process(COMMAND "${cmake_dir}/ctest" -N WORKING_DIRECTORY "${BINARY}"
                OUTPUT_VARIABLE tests COMMAND_ERROR_IS_FATAL ANY)
if(NOT tests MATCHES "Total Tests: 0\n")
    message(FATAL_ERROR "tests leaked into the consumer:\n${tests}")
endif()
