// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PROGRAM_HPP
#define TMIGR_BENCH_PROGRAM_HPP

#include <benchmark/benchmark.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tmigr::bench {

/// One `key:value` of a benchmark's name. The report makes columns of them.
struct label {
    std::string_view key;
    std::string value;

    label(std::string_view k, const char* v) : key(k), value(v) {}
    label(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
    template <class Number>
        requires std::is_arithmetic_v<Number>
    label(std::string_view k, Number v) : key(k), value(std::to_string(v)) {
        if constexpr (std::is_floating_point_v<Number>) {
            value.erase(value.find_last_not_of('0') + 1);
            if (value.ends_with('.')) value.pop_back();
        }
    }
};

/// `what/key:value/...`
inline std::string name_of(std::string_view what, std::initializer_list<label> labels) {
    std::string name(what);
    for (const label& l : labels) name.append("/").append(l.key).append(":").append(l.value);
    return name;
}

/// Registers a benchmark that counts its items itself, in real time.
template <class Body>
benchmark::internal::Benchmark* add(std::string_view what, std::initializer_list<label> labels, Body body) {
    return benchmark::RegisterBenchmark(name_of(what, labels).c_str(), std::move(body))->UseRealTime();
}

inline void items(benchmark::State& state, std::int64_t in_one_iteration) {
    state.SetItemsProcessed(in_one_iteration * state.iterations());
}

/// The same thing for every type of a list.
template <class... T>
struct types {
    template <class F>
    static void each([[maybe_unused]] F f) {
        (f(std::type_identity<T>{}), ...);
    }
};

template <class... A, class... B>
types<A..., B...> joined(types<A...>, types<B...>);

#if defined(__clang__)
inline constexpr const char* compiler = "clang " __clang_version__;
#else
inline constexpr const char* compiler = "g++ " __VERSION__;
#endif

/// The main function of each program: `enroll` registers its benchmarks.
inline int run(int argc, char** argv, void (*enroll)()) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::AddCustomContext("compiler", compiler);
    enroll();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}

}  // namespace tmigr::bench

#endif
