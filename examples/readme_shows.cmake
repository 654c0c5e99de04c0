# SPDX-License-Identifier: BSL-1.0
# The README shows the quickstart and its output to the letter: cmake -D README=... -D FILES="a;b" -P this
file(READ "${README}" readme)
foreach(file IN LISTS FILES)
    file(READ "${file}" text)
    string(FIND "${readme}" "${text}" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "${README} does not show ${file} as it is")
    endif()
endforeach()
