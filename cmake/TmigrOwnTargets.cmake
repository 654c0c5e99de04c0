# SPDX-License-Identifier: BSL-1.0
# What our own tests, benchmarks and examples are built with; none of it reaches users of the library.

find_package(Threads REQUIRED)

set(CMAKE_CXX_SCAN_FOR_MODULES OFF)

add_library(tmigr_warnings INTERFACE)
target_compile_options(tmigr_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${TMIGR_WERROR}>:-Werror>
    # g++ 12 sees an overlap in std::string's own operator+.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)

add_library(tmigr_sanitize INTERFACE)
if(TMIGR_SANITIZE)
    set(tmigr_sanitize_flags -fsanitize=${TMIGR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
    target_compile_options(tmigr_sanitize INTERFACE ${tmigr_sanitize_flags}
        # g++'s guesses about what is uninitialised go astray in instrumented code, in <regex> for one.
        $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(tmigr_sanitize INTERFACE ${tmigr_sanitize_flags})
endif()

# Words of 128 bits: the compare-and-swap instruction for those that inline it, libatomic for those that call it.
add_library(tmigr_wide_words INTERFACE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    target_compile_options(tmigr_wide_words INTERFACE -mcx16)
endif()
target_link_libraries(tmigr_wide_words INTERFACE atomic)

# tmigr_executable(<name> SOURCES <file>... LINK <target>...)
function(tmigr_executable name)
    cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE ${arg_LINK} tmigr_warnings tmigr_sanitize Threads::Threads)
    set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()
