// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_SUPPORT_MACHINES_HPP
#define TMIGR_TESTS_SUPPORT_MACHINES_HPP

#include <tmigr/topology.hpp>

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>

namespace tmigr::test {

enum class reader { hwloc, cpus };

/// What is known of a machine in tests/data/machines, from where it was recorded.
struct machine_facts {
    const char* file;
    reader kind;
    std::size_t cpus;
    std::size_t nodes;
    std::size_t possible_cpus;
    std::size_t possible_nodes;
    std::size_t classes;  ///< of capacity

    std::filesystem::path path() const { return std::filesystem::path{TMIGR_TEST_DATA} / "machines" / file; }
};

/// The numbers of a machine on one line: what was recorded, and what a reader made of it.
inline std::string facts_of(std::size_t cpus, std::size_t nodes, std::size_t possible_cpus,
                            std::size_t possible_nodes, std::size_t classes) {
    return std::to_string(cpus) + " CPUs of " + std::to_string(possible_cpus) + ", " + std::to_string(nodes) +
           " nodes of " + std::to_string(possible_nodes) + ", " + std::to_string(classes) + " capacities";
}
inline std::string facts_of(const machine_facts& m) {
    return facts_of(m.cpus, m.nodes, m.possible_cpus, m.possible_nodes, m.classes);
}
inline std::string facts_of(const topology& t) {
    return facts_of(t.size(), t.node_count(), t.possible_cpus(), t.possible_nodes(), t.capacities().size());
}

inline constexpr std::array machines{
    machine_facts{"cpu1-qemu-ppc-numbers.xml", reader::hwloc, 1, 1, 1, 1, 1},
    machine_facts{"cpu4-riscv-visionfive2-numbers.xml", reader::hwloc, 4, 1, 4, 1, 1},
    machine_facts{"cpu8-1node-xeon-e5345.xml", reader::hwloc, 8, 1, 8, 1, 1},
    machine_facts{"cpu8-3cap-arm-sm8550-numbers.xml", reader::hwloc, 8, 1, 8, 1, 3},
    machine_facts{"cpu16-holes-2node-power8.xml", reader::hwloc, 16, 2, 16, 2, 1},
    machine_facts{"cpu17-offline-node0-xeon-e5-2680v3.xml", reader::hwloc, 17, 1, 24, 1, 1},
    machine_facts{"cpu20-5cap-arm-gb10.xml", reader::hwloc, 20, 1, 20, 1, 5},
    machine_facts{"cpu20-hybrid-intel-i7-1370p.xml", reader::hwloc, 20, 1, 20, 1, 1},
    machine_facts{"cpu32-2node-xeon-4108.xml", reader::hwloc, 32, 2, 32, 2, 1},
    machine_facts{"cpu32-holes-8node-gpumem-power9.xml", reader::hwloc, 32, 2, 32, 8, 1},
    machine_facts{"cpu48-8node-sparse-ids-opteron.xml", reader::hwloc, 48, 8, 48, 8, 1},
    machine_facts{"cpu80-4node-xeon-6230.xml", reader::hwloc, 80, 4, 80, 4, 1},
    machine_facts{"cpu128-4node-arm-kunpeng920.xml", reader::hwloc, 128, 4, 128, 4, 1},
    machine_facts{"cpu256-64node-ia64.xml", reader::hwloc, 256, 64, 256, 64, 1},
    machine_facts{"cpu384-24node-xeon-e5-4640.xml", reader::hwloc, 384, 24, 384, 24, 1},
    machine_facts{"built-cpu8-2cap-rk3588.xml", reader::hwloc, 8, 1, 8, 1, 2},
    machine_facts{"built-cpu12-5cap-orion-o6.xml", reader::hwloc, 12, 1, 12, 1, 5},
    machine_facts{"built-cpu144-2node-11cap-grace.xml", reader::hwloc, 144, 2, 144, 2, 11},
    machine_facts{"built-cpu288-36node-gh200x4.xml", reader::hwloc, 288, 4, 288, 36, 1},
    machine_facts{"built-cpu768-2node-epyc9965.xml", reader::hwloc, 768, 2, 768, 2, 1},
    machine_facts{"synthetic-cpu1792-32node.xml", reader::hwloc, 1792, 32, 1792, 32, 1},

    machine_facts{"ampere-altra-80.cpus", reader::cpus, 80, 2, 80, 2, 1},
    machine_facts{"apple-m1.cpus", reader::cpus, 8, 1, 8, 1, 2},
    machine_facts{"apple-m1-ultra.cpus", reader::cpus, 20, 1, 20, 1, 2},
    machine_facts{"hikey960.cpus", reader::cpus, 8, 1, 8, 1, 2},
    machine_facts{"huawei-kunpeng920-128.cpus", reader::cpus, 128, 4, 128, 4, 1},
    machine_facts{"intel-i7-1370p-nosmt.cpus", reader::cpus, 14, 1, 14, 1, 3},
    machine_facts{"juno-r0.cpus", reader::cpus, 6, 1, 6, 1, 2},
    machine_facts{"juno-r2.cpus", reader::cpus, 6, 1, 6, 1, 2},
    machine_facts{"nvidia-gb10-dgx-spark.cpus", reader::cpus, 20, 1, 20, 1, 5},
    machine_facts{"nvidia-grace-seen-74.cpus", reader::cpus, 74, 2, 74, 2, 8},
    machine_facts{"nvidia-grace-superchip-144.cpus", reader::cpus, 144, 2, 144, 2, 11},
    machine_facts{"radxa-orion-o6.cpus", reader::cpus, 12, 1, 12, 1, 5},
    machine_facts{"radxa-orion-o6-boot0.cpus", reader::cpus, 12, 1, 12, 1, 5},
    machine_facts{"rk3399-firefly.cpus", reader::cpus, 6, 1, 6, 1, 2},
    machine_facts{"rk3576.cpus", reader::cpus, 8, 1, 8, 1, 2},
    machine_facts{"rk3588-rock-5b.cpus", reader::cpus, 8, 1, 8, 1, 2},
    machine_facts{"snapdragon-8cx-gen3-sc8280xp.cpus", reader::cpus, 8, 1, 8, 1, 2},
    machine_facts{"snapdragon-sm8250.cpus", reader::cpus, 8, 1, 8, 1, 3},
    machine_facts{"snapdragon-sm8550.cpus", reader::cpus, 8, 1, 8, 1, 3},
    machine_facts{"snapdragon-sm8650.cpus", reader::cpus, 8, 1, 8, 1, 3},
    machine_facts{"synthetic-16class-2node-128.cpus", reader::cpus, 128, 2, 128, 2, 16},
    machine_facts{"synthetic-all-distinct-64.cpus", reader::cpus, 64, 4, 64, 4, 64},
    machine_facts{"synthetic-biglittle-4node-256.cpus", reader::cpus, 256, 4, 256, 4, 2},
};

}  // namespace tmigr::test

#endif
