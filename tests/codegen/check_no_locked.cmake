# SPDX-License-Identifier: BSL-1.0
# cmake -DCOMPILER=... -DSOURCE=... -DINCLUDE=... -DBACKEND=plain|std -DPROCESSOR=... -DOUTPUT=... -P check_no_locked.cmake
#
# Compiles SOURCE to assembly and looks for instructions and calls that synchronize with other threads.
# With the plain backend there must be none; with the std backend some, or this check sees nothing.

if(PROCESSOR MATCHES "^(x86_64|AMD64|i.86)$")
    # xchg with memory locks without the prefix; between registers it is harmless.
    set(locked "lock|xchg[bwlq]?[ \t][^\n]*\\(|[ml]fence")
elseif(PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(locked "ldxp|ldxr|ldaxr|ldaxp|stxr|stlxr|stxp|stlxp|cas|ldadd|ldclr|ldset|ldeor|swp|ldar|stlr|dmb")
else()
    message(FATAL_ERROR "no list of instructions for ${PROCESSOR}")
endif()
set(pattern "\n[ \t]+((${locked})[^\n]*|(call|callq|jmp|bl|b)[ \t]+[^\n]*(__atomic_|__sync_|__aarch64_(cas|swp|ld))[^\n]*)")

set(flags -std=c++20 -O2 -DNDEBUG -S)
if(BACKEND STREQUAL "std")
    list(APPEND flags -DTMIGR_CODEGEN_STD)
endif()
execute_process(COMMAND "${COMPILER}" ${flags} "-I${INCLUDE}" "${SOURCE}" -o "${OUTPUT}"
                RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${SOURCE} does not compile")
endif()

file(READ "${OUTPUT}" assembly)
string(REPLACE ";" " " assembly "${assembly}")
if(NOT assembly MATCHES "wake" OR NOT assembly MATCHES "sleep")
    message(FATAL_ERROR "${OUTPUT} has not the functions to look at")
endif()
string(REGEX MATCHALL "${pattern}" found "${assembly}")
list(LENGTH found count)
message("${BACKEND}: ${count} locked instructions ${found}")
if(BACKEND STREQUAL "std" AND count EQUAL 0)
    message(FATAL_ERROR "the std backend must use locked instructions, but none was found in ${OUTPUT}")
elseif(BACKEND STREQUAL "plain" AND count GREATER 0)
    message(FATAL_ERROR "the plain backend must pay for no atomics; see ${OUTPUT}")
endif()
