# SPDX-License-Identifier: BSL-1.0
include("${CMAKE_CURRENT_LIST_DIR}/tool.cmake")

tool(0 --help)
contains("${out}" --cpus --hwloc --live --trace --linux --width --possible --family --full-dynticks --family-field --activate --deactivate
         --dot --ftrace --quiet --verify --gap-at --version "Exit status")
string(REGEX MATCHALL "\n  [^\n]*tmigr-tree --[^\n]+" examples "${out}")
list(LENGTH examples count)
same("${count}" "4")

tool(0 --version)
same("${out}" "tmigr-tree ${VERSION}\n")
