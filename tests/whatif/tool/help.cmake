# SPDX-License-Identifier: BSL-1.0
include("${CMAKE_CURRENT_LIST_DIR}/tool.cmake")

tool(0 --help)
contains("${out}" --cpus --hwloc --live --idle-states --workload --background --rt-app --trace --policy --baseline --seconds --seed
         --runs --hz --governor --keep-tick --csv --json --plot --ftrace --chrome-trace --window --per-cpu --quiet
         --version sweep merge ilb-2009 gated-split push-rearm hmp-kick "Exit status")
string(REGEX MATCHALL "\n  [^\n]*tmigr-whatif [^\n]+" examples "${out}")
list(LENGTH examples count)
same("${count}" "4")

tool(0 sweep --help)
contains("${out}" NAME=V1,V2 --shard --out --cpus --seconds)
tool(0 merge --help)
contains("${out}" parts --out)
tool(0 --version)
same("${out}" "tmigr-whatif ${VERSION}\n")
