// SPDX-License-Identifier: BSL-1.0
// Compiled to assembly, which check_no_locked.cmake reads. Nothing here but the two
// walks on a tree made elsewhere, so that all of the output belongs to them.
#include <tmigr/hierarchy.hpp>

#ifdef TMIGR_CODEGEN_STD
#include <tmigr/atomics/std.hpp>
using atomics = tmigr::std_atomics;
#else
#include <tmigr/atomics/plain.hpp>
using atomics = tmigr::plain_atomics;
#endif

using handle = tmigr::basic_hierarchy<tmigr::linux_config<atomics>>::handle;

void wake(handle cpu);
void wake(handle cpu) { cpu.activate(); }

void sleep(handle cpu);
void sleep(handle cpu) { cpu.deactivate(); }
