// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_RANDOM_MACHINE_HPP
#define TMIGR_TESTS_RANDOM_MACHINE_HPP

#include <tmigr/topology.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace tmigr::test {

/// The seed of a random test: TMIGR_SEED from the environment, else always the same.
/// Printed, so that a failure can be repeated.
inline std::uint64_t seed() {
    const char* given = std::getenv("TMIGR_SEED");
    const std::uint64_t value = given != nullptr ? std::stoull(given) : 20260309;
    std::cout << "seed " << value << " (set TMIGR_SEED for another)\n";
    return value;
}

/// A machine of `cpus` CPUs in random order, with holes in the numbers now and then, on up
/// to 12 nodes of very different sizes, sometimes with CPUs that have no node.
inline topology random_machine(std::mt19937_64& random, std::size_t cpus) {
    std::vector<node_id> nodes;
    for (std::size_t n = 1 + random() % 12; n > 0; --n) nodes.push_back(static_cast<node_id>(random() % 40));
    if (random() % 4 == 0) nodes.push_back(no_node);
    std::vector<double> weights;
    for (std::size_t n = 0; n < nodes.size(); ++n) weights.push_back(1.0 + static_cast<double>(random() % 30));
    std::discrete_distribution<std::size_t> node_of(weights.begin(), weights.end());

    std::vector<cpu_id> ids(cpus);
    const cpu_id stride = 1 + static_cast<cpu_id>(random() % 3);
    for (std::size_t i = 0; i < cpus; ++i) ids[i] = static_cast<cpu_id>(i) * stride;
    if (random() % 3 != 0) std::shuffle(ids.begin(), ids.end(), random);

    topology machine;
    for (cpu_id id : ids) machine.add(id, nodes[node_of(random)]);
    return machine;
}

}  // namespace tmigr::test

#endif
