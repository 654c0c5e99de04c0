# SPDX-License-Identifier: BSL-1.0
# cmake -DPROGRAM=... -DEXPECTED=<file> -P compare_output.cmake
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
file(READ "${EXPECTED}" expected)
if(NOT output STREQUAL expected)
    message(FATAL_ERROR "${PROGRAM} printed\n${output}\nbut ${EXPECTED} has\n${expected}")
endif()
