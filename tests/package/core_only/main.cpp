// SPDX-License-Identifier: BSL-1.0
#include <tmigr/atomics/plain.hpp>
#include <tmigr/atomics/std.hpp>
#include <tmigr/hierarchy.hpp>

#include <cstdio>

template <class Atomics>
void use() {
    tmigr::topology machine;
    for (tmigr::cpu_id id = 0; id < 20; ++id) machine.add(id);

    tmigr::basic_hierarchy<tmigr::linux_config<Atomics>> tree(machine);
    tree.cpu(3).activate();
    tree.cpu(3).deactivate();
}

int main() {
    use<tmigr::plain_atomics>();
    use<tmigr::std_atomics>();
    std::puts("consumed the core");
}
