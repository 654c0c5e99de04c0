# SPDX-License-Identifier: BSL-1.0

# tmigr_missing(<what> DEBIAN <package> FOR <who>): stops and says what to install or switch off
function(tmigr_missing what)
    cmake_parse_arguments(arg "" "DEBIAN;FOR" "" ${ARGN})
    string(STRIP "${what}" what)
    message(FATAL_ERROR "${arg_FOR} needs ${what}, which was not found. "
                        "On Debian and Ubuntu: apt-get install ${arg_DEBIAN}")
endfunction()

# tmigr_require(<package> [VERSION <version>] DEBIAN <package> FOR <who>): find_package that explains itself
macro(tmigr_require package)
    cmake_parse_arguments(tmigr_require "" "VERSION;DEBIAN;FOR" "" ${ARGN})
    find_package(${package} ${tmigr_require_VERSION} QUIET)
    if(NOT ${package}_FOUND)
        tmigr_missing("${package} ${tmigr_require_VERSION}" DEBIAN ${tmigr_require_DEBIAN} FOR "${tmigr_require_FOR}")
    endif()
endmacro()
