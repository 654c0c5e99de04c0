# SPDX-License-Identifier: BSL-1.0
# Holds the tables of docs/memory-orders.md against what the model tests printed.
# Definitions: OUTPUTS, SOURCE, SCRATCH; FIGURES, false where another compiler comes to other figures.
set(document "${SOURCE}/docs/memory-orders.md")
execute_process(COMMAND awk -f "${SOURCE}/tests/model/tables.awk" "${SOURCE}/include/tmigr/config.hpp" "${document}" ${OUTPUTS}
                OUTPUT_FILE "${SCRATCH}/memory-orders.md" ERROR_VARIABLE complaint RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${complaint}")
endif()
if(FIGURES)
    execute_process(COMMAND diff -u "${document}" "${SCRATCH}/memory-orders.md" OUTPUT_VARIABLE difference RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "docs/memory-orders.md is out of date, see scripts/model-tables:\n${difference}")
    endif()
endif()
