// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_MODEL_HPP
#define TMIGR_TESTS_MODEL_HPP

#include <tmigr/atomics/relacy.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/invariants.hpp>

#include <array>
#include <cstdlib>
#include <iostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace tmigr::model {

/// Misuse ends an execution like any other failed assertion.
struct relacy_misuse {
    static void check(bool used_rightly, const char*) noexcept { RL_ASSERT(used_rightly); }
};

/// The library's own configurations on Relacy; tests shadow one thing at a time.
template <cas_failures Failures = cas_failures::spurious>
struct config : linux_config<basic_relacy_atomics<Failures>> {
    using misuse = relacy_misuse;
};
template <cas_failures Failures = cas_failures::spurious>
struct with_expiries : expiry_config<basic_relacy_atomics<Failures>> {
    using misuse = relacy_misuse;
};

/// Schedules drawn at random, the same ones in every run.
inline rl::test_params random_schedules(rl::iteration_t executions) {
    rl::test_params params;
    params.search_type = rl::random_scheduler_type;
    params.iteration_count = executions;
    return params;
}

/// Every schedule in which threads are interrupted at most so often.
inline rl::test_params all_schedules_with(unsigned context_switches) {
    rl::test_params params;
    params.search_type = rl::fair_context_bound_scheduler_type;
    params.context_bound = context_switches;
    return params;
}

/// Keeps the first words of Relacy and drops the rest. Never allocates: memory that is
/// taken inside an execution belongs to the checker and must not outlive it.
class first_words : public std::streambuf {
public:
    first_words() { setp(text_.data(), text_.data() + text_.size()); }
    std::string_view text() const { return {pbase(), static_cast<std::size_t>(pptr() - pbase())}; }

protected:
    int overflow(int c) override { return traits_type::not_eof(c); }

private:
    std::array<char, 1 << 16> text_;
};

/// Every schedule; for very small tests.
inline rl::test_params all_schedules() {
    rl::test_params params;
    params.search_type = rl::fair_full_search_scheduler_type;
    return params;
}

/// Runs `Suite` and returns what Relacy returned: whether the result was the one expected.
/// Prints one line; Relacy's own words follow only on a surprise. With TMIGR_MODEL_ONLY in
/// the environment only tests with that in their name run.
template <class Suite>
bool run(const char* name, rl::test_params params) {
    if (const char* only = std::getenv("TMIGR_MODEL_ONLY"); only != nullptr && std::string_view(name).find(only) == std::string_view::npos)
        return true;
    first_words words;
    std::ostream stream(&words);
    params.output_stream = &stream;
    params.progress_stream = &stream;
    const bool passed = rl::simulate<Suite>(params);
    std::cout << (passed ? "ok      " : "SURPRISE") << "  " << name << ": " << rl::test_result_str(params.test_result)
              << " after " << params.stop_iteration << " executions" << std::endl;
    if (!passed) std::cout << words.text() << '\n';
    return passed;
}

/// Two runs that must pass: at random, and all schedules with at most so many switches.
/// `Exhaustive` is the same suite without spurious failures.
template <class Random, class Exhaustive>
bool sound(const std::string& name, rl::iteration_t executions, unsigned switches) {
    const bool at_random = run<Random>(name.c_str(), random_schedules(executions));
    const std::string all = name + ", all schedules with " + std::to_string(switches) + (switches == 1 ? " switch" : " switches");
    return run<Exhaustive>(all.c_str(), all_schedules_with(switches)) && at_random;
}

}  // namespace tmigr::model

/// A configuration like `base` with one order weakened.
#define TMIGR_WEAKER(base, name, access, weaker)                                          \
    struct name : base {                                                                  \
        struct orders : base::orders {                                                    \
            static constexpr auto access = ::tmigr::relacy_atomics::weaker;               \
        };                                                                                \
    }
/// A configuration like `base` that leaves one step out.
#define TMIGR_WITHOUT(base, name, step)                                                   \
    struct name : base {                                                                  \
        struct steps : ::tmigr::algorithm_steps {                                         \
            static constexpr bool step = false;                                           \
        };                                                                                \
    }
/// Runs a suite with a weakened configuration; it must fail in that way.
#define TMIGR_TWIN(suite, twin, result, params) \
    ::tmigr::model::run<suite<twin, rl::test_result_##result>>(#suite ", " #twin, params)

#endif
