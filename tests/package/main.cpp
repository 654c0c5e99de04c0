// SPDX-License-Identifier: BSL-1.0
#include <tmigr/tmigr.hpp>

#ifdef WITH_HWLOC
#include <tmigr/io/hwloc.hpp>
#endif

#include <cstdio>

int main() {
    tmigr::topology machine;
    for (tmigr::cpu_id id = 0; id < 20; ++id) machine.add(id, id < 10 ? 0 : 1);

    tmigr::hierarchy tree(machine);
    tree.cpu(3).activate();
    tree.cpu(17).activate();
    tree.cpu(3).deactivate();
    std::puts("consumed");
}
