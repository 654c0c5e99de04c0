// SPDX-License-Identifier: BSL-1.0
// What does a CPU cost in memory, and how long does it take to build, from 8 to 65,536 CPUs?
//
// An item is one CPU taken in; the machine's description is made before. Counters: bytes, what
// is allocated and stays, per CPU (of the library with its own books: the shape, the index of
// numbers); lines, the part of it that is lines of 64 bytes which CPUs touch when they sleep and
// wake (groups and seats; peers: all they have); groups, per CPU.
//
// Floor: a line of 64 bytes for each CPU, in one piece. Peers: all.

#include "contenders.hpp"
#include "floors.hpp"
#include "program.hpp"

#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

namespace {

// For one thread: the programs of this folder build trees on one.
std::size_t bytes_in_use = 0;

/// The size stands before what is handed out, at a distance that keeps it aligned.
void* allocate(std::size_t size, std::size_t alignment) {
    const std::size_t ahead = alignment < 16 ? 16 : alignment;
    const std::size_t whole = (size + ahead + ahead - 1) / ahead * ahead;
    auto* const begin = static_cast<unsigned char*>(std::aligned_alloc(ahead, whole));
    if (begin == nullptr) throw std::bad_alloc();
    *reinterpret_cast<std::size_t*>(begin) = size;
    bytes_in_use += size;
    return begin + ahead;
}
void release(void* memory, std::size_t alignment) noexcept {
    if (memory == nullptr) return;
    auto* const begin = static_cast<unsigned char*>(memory) - (alignment < 16 ? 16 : alignment);
    bytes_in_use -= *reinterpret_cast<std::size_t*>(begin);
    std::free(begin);
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 1); }
void* operator new[](std::size_t size) { return allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t a) { return allocate(size, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t size, std::align_val_t a) { return allocate(size, static_cast<std::size_t>(a)); }
void operator delete(void* memory) noexcept { release(memory, 1); }
void operator delete[](void* memory) noexcept { release(memory, 1); }
void operator delete(void* memory, std::size_t) noexcept { release(memory, 1); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory, 1); }
void operator delete(void* memory, std::align_val_t a) noexcept { release(memory, static_cast<std::size_t>(a)); }
void operator delete[](void* memory, std::align_val_t a) noexcept { release(memory, static_cast<std::size_t>(a)); }
void operator delete(void* memory, std::size_t, std::align_val_t a) noexcept {
    release(memory, static_cast<std::size_t>(a));
}
void operator delete[](void* memory, std::size_t, std::align_val_t a) noexcept {
    release(memory, static_cast<std::size_t>(a));
}

namespace {

using namespace tmigr;
using namespace tmigr::bench;

const topology& machine(std::size_t cpus) {
    static std::map<std::size_t, topology> made;
    const auto found = made.find(cpus);
    return found != made.end() ? found->second : made.emplace(cpus, machine_of(cpus)).first->second;
}

template <class Build>
void building(benchmark::State& state, std::size_t cpus, Build build) {
    std::size_t bytes = 0;
    for (auto _ : state) {
        const std::size_t before = bytes_in_use;
        auto made = build();
        benchmark::DoNotOptimize(made.get());
        bytes = bytes_in_use - before;
        state.PauseTiming();
        made.reset();
        state.ResumeTiming();
    }
    items(state, static_cast<std::int64_t>(cpus));
    const auto all = static_cast<double>(cpus);
    state.counters["bytes"] = static_cast<double>(bytes) / all;
    state.counters["lines"] = static_cast<double>(bytes) / all / 64;
}

template <class Config>
void build_library(benchmark::State& state, std::size_t cpus) {
    const topology& all = machine(cpus);
    building(state, cpus, [&] { return std::make_unique<basic_hierarchy<Config>>(all); });
    const basic_hierarchy<Config> tree(all);
    const double groups = static_cast<double>(tree.groups().size()) / static_cast<double>(cpus);
    state.counters["groups"] = groups;
    state.counters["lines"] = (groups * sizeof(group<Config>) + sizeof(cpu_seat<Config>)) / 64;
}

template <class Peers>
void add_peers(int expiries, std::size_t cpus) {
    Peers::each([=]<class C>(std::type_identity<C>) {
        using P = typename C::template on<boost_atomics>;
        add("build", {{"who", who<P>()}, {"expiries", expiries}, {"cpus", cpus}}, [=](benchmark::State& s) {
            try {
                building(s, cpus, [=] { return std::make_unique<P>(cpus); });
            } catch (const std::length_error& error) {
                s.SkipWithError(error.what());  // some have no room in their word for so many
            }
        });
    });
}

void enroll() {
    for (const std::size_t cpus : {8, 64, 512, 4096, 32768, 65536}) {
        add("build", {{"who", "bare"}, {"expiries", 0}, {"cpus", cpus}}, [cpus](benchmark::State& s) {
            building(s, cpus, [cpus] { return std::make_unique<std::vector<bare_word<>>>(cpus); });
        });
        add("build", {{"who", "tmigr"}, {"expiries", 0}, {"cpus", cpus}},
            [cpus](benchmark::State& s) { build_library<linux_config<boost_atomics>>(s, cpus); });
        add("build", {{"who", "tmigr"}, {"expiries", 1}, {"cpus", cpus}},
            [cpus](benchmark::State& s) { build_library<expiry_config<boost_atomics>>(s, cpus); });
        add_peers<state_peers>(0, cpus);
        add_peers<timer_peers>(1, cpus);
    }
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, enroll); }
