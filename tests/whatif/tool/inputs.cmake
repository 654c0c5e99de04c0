# SPDX-License-Identifier: BSL-1.0
# Every kind of machine, workload and policy.
include("${CMAKE_CURRENT_LIST_DIR}/tool.cmake")

tool(0 ${rk3576} --policy all --seconds 1)
set(policies off linux-default balanced split gated-split prefer-low prefer-low-per-node buckets tolerance push push-rearm
    ilb hmp-kick hmp-kick-old)
foreach(policy IN LISTS policies)
    contains("${out}" " ${policy} ")
endforeach()
contains("${out}" "machine   " "8 CPUs; capacity 442 (CPU 0-3), 1024 (CPU 4-7)\n"
         "workload  idle, 1 s, 250 ticks a second, governor menu, seed 1\n"
         "Seconds in each state, summed over the CPUs of a capacity, and the difference to off\n")

# Switched off it is no policy at all.
tool(0 ${rk3576} --policy push:off,ilb:off,ilb:7,buckets:64,gated-split:5,tolerance:0 --seconds 1 --csv p.csv --quiet)
file(STRINGS "${SCRATCH}/p.csv" off REGEX "^off,all")
file(STRINGS "${SCRATCH}/p.csv" push REGEX "^push:off,all,,(residency|wakeups|migrations|lateness|timers),")
foreach(line IN LISTS push)
    string(REGEX REPLACE "^push:" "" line "${line}")
    if(NOT line IN_LIST off)
        message(FATAL_ERROR "push:off differs from off: ${line}")
    endif()
endforeach()
foreach(load IN ITEMS idle little-pin tbench-like schbench-like heavy-on-little enqueue-99)
    tool(0 ${rk3576} --workload ${load} --seconds 0.5 --policy prefer-low)
    contains("${out}" "workload  ${load}, 0.5 s,")
endforeach()
set(sixteen "")
foreach(cpu RANGE 15)
    string(APPEND sixteen "${cpu} 0 1024\n")
endforeach()
file(WRITE "${SCRATCH}/sixteen.cpus" "${sixteen}")
tool(0 --cpus sixteen.cpus --workload ilb-2009 --policy ilb --seconds 0.5)
contains("${out}" "workload  ilb-2009, 0.5 s,")

tool(0 --cpus "${two_nodes}" --seconds 0.5 --hz 1000 --governor perfect --seed 7 --runs 3 --policy buckets:64
     --baseline none)
contains("${out}" "1000 ticks a second, governor perfect, seed 7 to 9: mean and standard deviation of 3 runs\n" " ±"
         " buckets:64 ")
tool(0 --cpus "${MACHINES}/nvidia-grace-superchip-144.cpus" --seconds 0.2 --quiet)
same("${out}" "")
tool(0 --cpus "${MACHINES}/nvidia-grace-superchip-144.cpus" --seconds 0.2)
string(FIND "${out}" "\nCPU " at)
same("${at}" "-1")
tool(0 --cpus "${MACHINES}/nvidia-grace-superchip-144.cpus" --seconds 0.2 --per-cpu)
contains("${out}" "\nCPU ")

if(WITH_HWLOC)
    tool(0 --hwloc "${MACHINES}/built-cpu12-5cap-orion-o6.xml" --seconds 0.2)
    contains("${out}" "12 CPUs; capacity ")
    tool(0 --live --seconds 0.2)
    contains("${out}" "machine   this machine, ")
else()
    refused("built without hwloc" --live)
endif()

file(WRITE "${SCRATCH}/app.json" [[{"tasks": {"loop": {"loop": -1, "run": 1000, "sleep": 9000}}, "global": {"duration": 1}}]])
tool(0 ${rk3576} --rt-app app.json --policy prefer-low)
contains("${out}" "rt-app:app.json, 1 s,")

foreach(name IN ITEMS 8cpu-idle arm64-12cpu-3capacity-idle)
    tool(0 --cpus "${WORKLOADS}/workload-7.3-${name}.topology" --trace "${WORKLOADS}/workload-7.3-${name}.trace"
         --policy linux-default,push)
    contains("${out}" "\nrecording " " lines; it counted " "\nlinux-default ")
endforeach()
complains("workload-7.3-8cpu-idle.trace:" --cpus "${two_nodes}" --hz 1000
          --trace "${WORKLOADS}/workload-7.3-8cpu-idle.trace")
