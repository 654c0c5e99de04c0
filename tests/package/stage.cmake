# SPDX-License-Identifier: BSL-1.0
# cmake -DBINARY=<build tree> -DSTAGE=<folder> -DSOURCE_HEADERS=<include/ of the sources>
#       -DHEADERS=<include/ of the stage> -DABSENT=<source headers not to expect> -P stage.cmake
# From scratch each time: a header left over from before would hide that it is no longer installed.
file(REMOVE_RECURSE "${STAGE}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BINARY}" --prefix "${STAGE}" --component tmigr_development
                COMMAND_ERROR_IS_FATAL ANY)

file(GLOB_RECURSE headers "${SOURCE_HEADERS}/*.hpp")
list(REMOVE_ITEM headers ${ABSENT})
foreach(header IN LISTS headers)
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY "${SOURCE_HEADERS}")
    if(NOT EXISTS "${HEADERS}/${header}")
        message(SEND_ERROR "${header} is not installed")
    endif()
endforeach()
