# SPDX-License-Identifier: BSL-1.0
# Bad input: exit status 2, one line that names the file, where in it, and what was expected.
include("${DATA}/../check.cmake")

function(refused text)
    file(WRITE "${SCRATCH}/bad.json" "${text}")
    report(2 print "${SCRATCH}/bad.json")
    if(NOT err MATCHES "^tmigr-bench-report: [^\n]+\n$")
        message(FATAL_ERROR "not one line that says who complains:\n${err}")
    endif()
    contains("${err}" "bad.json" "expected" ${ARGN})
    # Comparing reads the same way.
    report(2 compare "${DATA}/before" "${SCRATCH}/bad.json")
    contains("${err}" "bad.json" "expected" ${ARGN})
endfunction()

refused("" "bad.json:1: expected JSON")
refused("{\n\"benchmarks\": [\n  oops\n]}" "bad.json:3: expected JSON")
refused("{\"benchmarks\": [" "bad.json:1: expected JSON")
refused("[]" "an object with a list \"benchmarks\"")
refused("{\"context\": {}}" "an object with a list \"benchmarks\"")
refused("{\"benchmarks\": 7}" "an object with a list \"benchmarks\"")
refused("{\"benchmarks\": [7]}" "benchmarks[0]: expected an object")
refused("{\"benchmarks\": [{}]}" "benchmarks[0]: expected a string \"run_name\"")
refused("{\"benchmarks\": [{\"run_name\": \"\"}]}" "benchmarks[0]: expected a name that is not empty")
refused("{\"benchmarks\": [{\"run_name\": \"a\"}]}" "expected a number in \"items_per_second\" or \"real_time\"")
refused("{\"benchmarks\": [{\"run_name\": \"a\", \"items_per_second\": \"x\"}]}" "a number above 0")
refused("{\"benchmarks\": [{\"run_name\": \"a\", \"items_per_second\": -1}]}" "a number above 0")
refused("{\"benchmarks\": [{\"run_name\": \"a\", \"items_per_second\": NaN}]}" "a number above 0")
refused("{\"benchmarks\": [{\"run_name\": \"a\", \"real_time\": 1, \"time_unit\": \"h\"}]}" "\"time_unit\"")
refused("{\"benchmarks\": [{\"run_name\": \"a\", \"real_time\": 1, \"time_unit\": 5}]}" "expected fields of the types")
refused("{\"benchmarks\": [{\"run_name\": \"a\", \"run_type\": 1}]}" "expected fields of the types")

report(2 print "${SCRATCH}/nowhere.json")
contains("${err}" "nowhere.json: expected a file that can be read")
file(MAKE_DIRECTORY "${SCRATCH}/empty")
report(2 tables "${SCRATCH}/empty")
contains("${err}" "empty: expected a folder with results")

# Strange, but no reason to complain.
foreach(text IN ITEMS "{\"benchmarks\": []}"
        "{\"context\": {\"caches\": [3], \"load_avg\": [\"x\"], \"date\": 5}, \"benchmarks\": [{\"run_name\": \"///\", \"real_time\": 0}]}"
        "{\"context\": 3, \"benchmarks\": [{\"run_name\": \"a/b:\\\"|NaN\", \"real_time\": 1e308, \"time_unit\": \"s\"}]}")
    file(WRITE "${SCRATCH}/strange.json" "${text}")
    report(0 print "${SCRATCH}/strange.json")
    report(0 compare "${SCRATCH}/strange.json" "${SCRATCH}/strange.json")
endforeach()

# The command line.
report(2)
report(2 print)
report(2 compare "${DATA}/before")
report(2 bogus)
report(0 --help)
contains("${out}" "compare" "tables")
