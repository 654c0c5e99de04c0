# SPDX-License-Identifier: BSL-1.0
# The parts of a sweep, put together, are what one run writes; what is missing or twice there is refused.
include("${CMAKE_CURRENT_LIST_DIR}/tool.cmake")

set(sweep sweep ${rk3576} --seconds 0.5 policy=off,split buckets=64,128 seed=1..3 hz=250,1000)
tool(0 ${sweep} --out whole)
same("${out}" "whole.1-of-1.jsonl\n")
file(READ "${SCRATCH}/whole.1-of-1.jsonl" whole)
file(STRINGS "${SCRATCH}/whole.1-of-1.jsonl" lines)
list(LENGTH lines count)
same("${count}" "25")

# Eleven do not divide 24 evenly.
foreach(parts IN ITEMS 2 5 11)
    set(files "")
    foreach(part RANGE 1 ${parts})
        tool(0 ${sweep} --out part --shard ${part}/${parts})
        same("${out}" "part.${part}-of-${parts}.jsonl\n")
        list(PREPEND files part.${part}-of-${parts}.jsonl)
    endforeach()
    tool(0 merge --out merged.jsonl ${files})
    same("${out}" "24 points in merged.jsonl\n")
    file(READ "${SCRATCH}/merged.jsonl" merged)
    same("${merged}" "${whole}")
endforeach()
# More parts than points: one is empty, and merged like the others.
set(tiny sweep ${rk3576} --seconds 0.1 seed=1,2)
foreach(part RANGE 1 3)
    tool(0 ${tiny} --out tiny --shard ${part}/3)
endforeach()
tool(0 merge --out merged.jsonl tiny.1-of-3.jsonl tiny.2-of-3.jsonl tiny.3-of-3.jsonl)
same("${out}" "2 points in merged.jsonl\n")

complains("merge: got '12 of 24 points', expected all; the first that is missing is 1" merge --out no part.1-of-2.jsonl)
complains("part.1-of-2.jsonl:2: got '0', expected a point that is not in part.1-of-2.jsonl already"
          merge --out no part.1-of-2.jsonl part.1-of-2.jsonl)
complains("part.1-of-5.jsonl:2: got '0', expected a point that is not in part.1-of-2.jsonl already"
          merge --out no part.1-of-2.jsonl part.1-of-5.jsonl)
complains("tiny.1-of-3.jsonl:1: got '{\"format\":" merge --out no part.1-of-2.jsonl tiny.1-of-3.jsonl)
# Other idle states are another sweep, though nothing on the command line differs.
tool(0 ${tiny} --out tiny --shard 2/2)
file(READ "${WHATIF}/machines/rk3576.idle.json" states)
string(REPLACE "900" "901" changed "${states}")
if(changed STREQUAL states)
    message(FATAL_ERROR "nothing to change")
endif()
file(WRITE "${SCRATCH}/changed.json" "${changed}")
tool(0 sweep --cpus "${WHATIF}/machines/rk3576.cpus" --idle-states changed.json --seconds 0.1 seed=1,2 --out tiny
     --shard 1/2)
complains("expected a part of the same sweep as tiny.1-of-2.jsonl" merge --out no tiny.1-of-2.jsonl tiny.2-of-2.jsonl)

# Files that are cut, torn, or none.
file(READ "${SCRATCH}/part.2-of-2.jsonl" part)
string(LENGTH "${part}" length)
foreach(less IN ITEMS 1 50)
    math(EXPR shorter "${length} - ${less}")
    string(SUBSTRING "${part}" 0 ${shorter} cut)
    file(WRITE "${SCRATCH}/cut.jsonl" "${cut}")
    complains("expected a line feed after the last line (the file is cut here)"
              merge --out no part.1-of-2.jsonl cut.jsonl)
endforeach()
string(FIND "${part}" "\n" last REVERSE)
string(SUBSTRING "${part}" 0 ${last} cut)
string(FIND "${cut}" "\n" last REVERSE)
math(EXPR last "${last} + 1")
string(SUBSTRING "${part}" 0 ${last} cut)
file(WRITE "${SCRATCH}/cut.jsonl" "${cut}")
complains("cut.jsonl:13: got 'nothing more', expected point 23 (this part is not whole)"
          merge --out no part.1-of-2.jsonl cut.jsonl)
string(REPLACE "\n{\"point\":3," "\n{\"point\":-3," bad "${part}")
file(WRITE "${SCRATCH}/bad.jsonl" "${bad}")
complains("bad.jsonl:3: got '{\"point\":-3" merge --out no bad.jsonl)
string(REPLACE "\n{\"point\":3," "\n{\"point\":4," bad "${part}")
file(WRITE "${SCRATCH}/bad.jsonl" "${bad}")
complains("bad.jsonl:3: got '4', expected point 3, the next of this part" merge --out no bad.jsonl)
file(WRITE "${SCRATCH}/bad.jsonl" "")
complains("bad.jsonl:1: got '', expected the first line" merge --out no bad.jsonl)
file(WRITE "${SCRATCH}/bad.jsonl" "{\"point\": \n")
complains("bad.jsonl:1: got '{\"point\": ', expected a line of JSON" merge --out no bad.jsonl)
string(REPEAT "[" 100000 deep)
file(WRITE "${SCRATCH}/bad.jsonl" "{\"a\":${deep}\n")
complains("bad.jsonl:1: got '{\"a\":[[[" merge --out no bad.jsonl)
file(WRITE "${SCRATCH}/bad.jsonl" "{\"format\":\"other\"}\n")
complains("expected \"format\":\"tmigr-whatif sweep 1\"" merge --out no bad.jsonl)
complains("missing.jsonl: got 'missing.jsonl', expected a readable file" merge --out no missing.jsonl)

# Which part, from those who start processes.
# by_environment(<expected> <variable>...)
function(by_environment expected)
    set(without "")
    foreach(name IN ITEMS OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE SLURM_ARRAY_TASK_ID
            SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_STEP SLURM_ARRAY_TASK_COUNT SLURM_PROCID SLURM_NTASKS)
        list(APPEND without --unset=${name})
    endforeach()
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env ${without} ${ARGN} "${TOOL}" ${tiny} --out env --shard env
                    WORKING_DIRECTORY "${SCRATCH}" OUTPUT_VARIABLE out ERROR_VARIABLE err)
    contains("${out}${err}" "${expected}")
endfunction()
by_environment("env.2-of-3.jsonl" OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3)
by_environment("env.3-of-3.jsonl" PMI_RANK=2 PMI_SIZE=3)
by_environment("env.3-of-4.jsonl" SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_STEP=2
               SLURM_ARRAY_TASK_COUNT=4 SLURM_PROCID=0 SLURM_NTASKS=1)
by_environment("env.1-of-2.jsonl" SLURM_PROCID=0 SLURM_NTASKS=2)
by_environment("expected a rank below the size" OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=3)
by_environment("OMPI_COMM_WORLD_RANK: got 'x', expected a number" OMPI_COMM_WORLD_RANK=x OMPI_COMM_WORLD_SIZE=3)
by_environment("expected a task of an array without holes" SLURM_ARRAY_TASK_ID=13 SLURM_ARRAY_TASK_MIN=10
               SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=4)
by_environment("expected a process that mpirun, srun or a Slurm array started")

# The real one, where it is there and lets itself be run.
if(MPIRUN)
    execute_process(COMMAND "${MPIRUN}" --allow-run-as-root --oversubscribe -np 2 "${TOOL}" ${sweep} --out mpi
                            --shard env
                    WORKING_DIRECTORY "${SCRATCH}" RESULT_VARIABLE result ERROR_VARIABLE err OUTPUT_VARIABLE out)
    if(result STREQUAL "0")
        tool(0 merge --out mpi.jsonl mpi.1-of-2.jsonl mpi.2-of-2.jsonl)
        file(READ "${SCRATCH}/mpi.jsonl" merged)
        same("${merged}" "${whole}")
    else()
        message(STATUS "mpirun does not run here: ${err}")
    endif()
endif()
