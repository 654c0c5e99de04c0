// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_IO_HWLOC_HPP
#define TMIGR_IO_HWLOC_HPP

#include <tmigr/detail/hwloc_xml.hpp>
#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>
#include <tmigr/topology.hpp>

#include <hwloc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#if HWLOC_API_VERSION < 0x00020400 || HWLOC_API_VERSION >= 0x00030000
#error "tmigr/io/hwloc.hpp needs hwloc 2.4 or a later 2.x"
#endif

namespace tmigr {

namespace detail {

struct hwloc_topology_deleter {
    void operator()(hwloc_topology_t machine) const noexcept { hwloc_topology_destroy(machine); }
};
using hwloc_machine = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, hwloc_topology_deleter>;

/// An hwloc topology that is not loaded yet and will hold every online CPU, also
/// those that this process may not run on.
inline hwloc_machine new_hwloc_machine() {
    hwloc_topology_t machine = nullptr;
    if (hwloc_topology_init(&machine) != 0) throw std::bad_alloc{};
    hwloc_machine owner{machine};
    hwloc_topology_set_flags(machine, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    return owner;
}

/// `LinuxCapacity` of the kind of CPU that `pu` is; `max_capacity` where hwloc has none.
inline unsigned capacity_of(hwloc_topology_t machine, hwloc_obj_t pu, const std::string& name) {
    const int kind = hwloc_cpukinds_get_by_cpuset(machine, pu->cpuset, 0);
    unsigned count = 0;
    hwloc_info_s* infos = nullptr;
    if (kind < 0 || hwloc_cpukinds_get_info(machine, static_cast<unsigned>(kind), nullptr, nullptr, &count,
                                            &infos, 0) != 0)
        return max_capacity;
    for (unsigned i = 0; i < count; ++i) {
        if (std::string_view{infos[i].name} != "LinuxCapacity") continue;
        const std::string_view value = infos[i].value;
        if (const auto capacity = parse_number<unsigned>(value, 1, max_capacity)) return *capacity;
        throw input_error(std::string{value}, "a LinuxCapacity from 1 to " + std::to_string(max_capacity),
                          name);
    }
    return max_capacity;
}

/// Says of each CPU which core it is a thread of, and which cache it shares: the innermost one
/// that several cores have in common.
inline void add_locality(hwloc_topology_t machine, const std::vector<hwloc_obj_t>& pus, topology& result) {
    for (hwloc_obj_t pu : pus) {
        std::uint32_t core = no_locality, cache = no_locality;
        for (hwloc_obj_t above = pu->parent; above != nullptr && cache == no_locality; above = above->parent) {
            if (above->type == HWLOC_OBJ_CORE) core = above->logical_index;
            const bool shared = hwloc_obj_type_is_dcache(above->type) != 0 &&
                                hwloc_get_nbobjs_inside_cpuset_by_type(machine, above->cpuset, HWLOC_OBJ_CORE) > 1;
            // Caches of different levels must not get one number.
            if (shared) cache = (static_cast<std::uint32_t>(above->depth) << 20) | (above->logical_index & 0xfffffu);
        }
        result.set_locality(pu->os_index, cache, core);
    }
}

/// The CPUs of a loaded hwloc topology by ascending number; `capacity(pu)` gives
/// the capacity of each. Throws `input_error` for `name` where a number is out of range.
template <class Capacity>
topology topology_of(hwloc_topology_t machine, const std::string& name, Capacity&& capacity) {
    std::vector<hwloc_obj_t> pus;
    for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, pu)) != nullptr;)
        pus.push_back(pu);
    if (pus.empty()) throw input_error("no PU", "a machine with at least one CPU", name);
    std::ranges::sort(pus, {}, [](hwloc_obj_t pu) { return pu->os_index; });

    topology result;
    for (hwloc_obj_t pu : pus) {
        // hwloc gives -1 for an empty set, which is `no_node`.
        const int node = pu->nodeset ? hwloc_bitmap_first(pu->nodeset) : no_node;
        try {
            result.add(pu->os_index, node, capacity(pu));
        } catch (const input_error& error) {
            throw error.file().empty() ? error.at(name, 0) : error;
        }
    }
    add_locality(machine, pus, result);
    const int possible = hwloc_bitmap_weight(hwloc_topology_get_complete_cpuset(machine));
    const int nodes = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_NUMANODE);
    result.set_possible(possible < 0 ? 0 : static_cast<std::size_t>(possible),
                        nodes < 0 ? 0 : static_cast<std::size_t>(nodes));
    return result;
}

}  // namespace detail

/// Reads a machine from the XML text that `lstopo` of hwloc 2 writes; `name`
/// stands for it in errors.
///
/// CPUs arrive by ascending number. The node of a CPU is the lowest of those
/// hwloc calls local to it, `no_node` where there is none. Its capacity is the
/// `LinuxCapacity` of its kind, 1024 without one. What it shares is as hwloc has it: the core, and
/// the innermost cache that several cores share. Possible CPUs are those of the
/// complete set, offline ones among them; possible nodes are all nodes, those
/// without CPUs among them.
///
/// Throws `input_error` with `name` and the line for a text that is no such XML
/// (formats 1 and 3 of hwloc too), is above 16 MiB, or holds a number, set or
/// capacity out of range; line 0 where only hwloc itself finds the fault. Leaves
/// the environment and standard error alone.
inline topology read_hwloc_string(std::string_view xml, const std::string& name) {
    const std::string text = detail::hwloc_xml{xml, name}.checked();
    const detail::hwloc_machine machine = detail::new_hwloc_machine();
    // hwloc counts the terminating zero.
    if (hwloc_topology_set_xmlbuffer(machine.get(), text.c_str(), static_cast<int>(text.size() + 1)) != 0 ||
        hwloc_topology_load(machine.get()) != 0)
        throw input_error("an XML text that hwloc rejects", "a topology of hwloc 2", name);
    return detail::topology_of(machine.get(), name,
                               [&](hwloc_obj_t pu) { return detail::capacity_of(machine.get(), pu, name); });
}

/// The same from a file; also throws `input_error` (line 0) when it cannot be read.
inline topology read_hwloc(const std::filesystem::path& xml) {
    std::ifstream in = detail::open_input(xml);
    std::string text;
    std::array<char, 65536> chunk;
    // One chunk above the limit is enough for the check to see that it is above.
    while (in && text.size() <= detail::hwloc_xml::largest_text) {
        in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
        text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
    }
    if (in.bad()) throw input_error(xml.string(), "a readable file", xml.string());
    return read_hwloc_string(text, xml.string());
}

}  // namespace tmigr

#endif
