# SPDX-License-Identifier: BSL-1.0
# cmake -DBINARY=<build tree> -DSTAGE=<folder> -P stage.cmake
# From scratch each time: a header left over from before would hide that it is no longer installed.
file(REMOVE_RECURSE "${STAGE}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BINARY}" --prefix "${STAGE}" --component tmigr_development
                COMMAND_ERROR_IS_FATAL ANY)
