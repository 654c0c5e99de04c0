# SPDX-License-Identifier: BSL-1.0
# cmake -DPROGRAM=<model test> -P refuse.cmake: arguments that make no sense end it with exit code 2, and are named.
foreach(word IN ITEMS short 0-5 7-3 5 1-x -3 99999999999999999999-1)
    execute_process(COMMAND "${PROGRAM}" "${word}" OUTPUT_VARIABLE out ERROR_VARIABLE complaint RESULT_VARIABLE result)
    if(NOT result STREQUAL "2" OR NOT complaint MATCHES "^'${word}': expected " OR NOT out STREQUAL "")
        message(FATAL_ERROR "${PROGRAM} ${word}: exit code ${result}\n${out}${complaint}")
    endif()
endforeach()
