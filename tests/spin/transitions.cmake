# SPDX-License-Identifier: BSL-1.0
# cmake -DSPIN=<spin> -DTABLE=<transition_table> -DCHILDREN=<2, 3 or 8> -DROWS=<how many> -DWORK=<directory>
#       [-DFAULT=<definition>] -P transitions.cmake
# With a fault, the table and the model must disagree.
cmake_minimum_required(VERSION 3.24)

file(MAKE_DIRECTORY "${WORK}")
file(COPY "${CMAKE_CURRENT_LIST_DIR}/" DESTINATION "${WORK}" FILES_MATCHING PATTERN "*.pml")
execute_process(COMMAND "${TABLE}" ${CHILDREN} OUTPUT_FILE "${WORK}/rows.pml" COMMAND_ERROR_IS_FATAL ANY)
set(defines -DCHILDREN=${CHILDREN})
if(FAULT)
    list(APPEND defines -D${FAULT})
endif()
execute_process(COMMAND "${SPIN}" ${defines} transitions.pml WORKING_DIRECTORY "${WORK}"
                OUTPUT_VARIABLE printed ERROR_VARIABLE printed)
message("${printed}")
if(FAULT)
    if(NOT printed MATCHES "assertion violated")
        message(FATAL_ERROR "the model agrees with the library in spite of ${FAULT}")
    endif()
elseif(printed MATCHES "assertion violated" OR NOT printed MATCHES "(^|[^0-9])${ROWS} rows agree")
    message(FATAL_ERROR "the model and the library disagree, or there are not ${ROWS} rows")
endif()
