// SPDX-License-Identifier: BSL-1.0
#include <tmigr/tmigr.hpp>

#include <iostream>

int main() {
    tmigr::topology machine;  // two nodes of four CPUs
    for (tmigr::cpu_id cpu : {0u, 1u, 2u, 3u}) machine.add(cpu, 0);
    for (tmigr::cpu_id cpu : {4u, 5u, 6u, 7u}) machine.add(cpu, 1);

    tmigr::hierarchy tree{machine};  // everybody is idle
    tree.cpu(5).activate();
    tree.cpu(2).activate();
    std::cout << "CPU " << tree.migrator().value() << " is in charge\n";
    tree.cpu(5).deactivate();
    std::cout << "CPU " << tree.migrator().value() << " is in charge\n";
    tmigr::draw_text(std::cout, tree);
}
