# SPDX-License-Identifier: BSL-1.0
# cmake -DPROGRAM=<model test> -DOUTPUT=<file> -P run.cmake: runs the test, and keeps what it prints.
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE printed RESULT_VARIABLE result)
message("${printed}")
file(WRITE "${OUTPUT}" "${printed}")
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${PROGRAM}: exit code ${result}")
endif()
