// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_MODEL_HPP
#define TMIGR_TESTS_MODEL_HPP

#include <tmigr/atomics/relacy.hpp>
#include <tmigr/hierarchy.hpp>
#include <tmigr/invariants.hpp>

#include <array>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <system_error>

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

/// What a program is asked to do: `long` searches deeper, minutes instead of seconds, and so
/// does TMIGR_MODEL_LONG in the environment; FIRST-LAST plays those random schedules of every
/// test that must pass, and nothing else, so that many machines can share a campaign.
struct plan {
    bool longer = false;
    rl::iteration_t first = 0, last = 0;

    bool campaign() const { return last != 0; }
};
inline plan asked;

/// Reads what is asked for; exit code 2 when it makes no sense.
inline void start(int argc, char** argv) {
    const auto wrong = [](std::string_view word) {
        std::cerr << "'" << word << "': expected nothing, long, or two numbers of schedules as in 1-100000\n";
        std::exit(2);
    };
    const char* const longer = std::getenv("TMIGR_MODEL_LONG");
    asked.longer = longer != nullptr && *longer != '\0' && std::string_view(longer) != "0";
    if (argc > 2) wrong(argv[2]);
    if (argc < 2) return;
    const std::string_view word = argv[1];
    if (word == "long") {
        asked.longer = true;
        return;
    }
    const char* const end = word.data() + word.size();
    const auto [dash, bad_first] = std::from_chars(word.data(), end, asked.first);
    if (bad_first != std::errc{} || dash == end || *dash != '-') wrong(word);
    const auto [rest, bad_last] = std::from_chars(dash + 1, end, asked.last);
    if (bad_last != std::errc{} || rest != end || asked.first == 0 || asked.last < asked.first) wrong(word);
}

/// Schedules drawn at random, the same ones in every run: the number of a schedule is its seed.
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

/// Every schedule; for very small tests.
inline rl::test_params all_schedules() {
    rl::test_params params;
    params.search_type = rl::fair_full_search_scheduler_type;
    return params;
}

/// How the schedules were searched, as it follows the name of a test.
inline std::string how(const rl::test_params& params) {
    if (params.search_type == rl::random_scheduler_type) return "";
    if (params.search_type == rl::fair_full_search_scheduler_type) return ", all schedules";
    return ", all schedules with " + std::to_string(params.context_bound) +
           (params.context_bound == 1 ? " switch" : " switches");
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

/// Runs `Suite` and returns what Relacy returned: whether the result was the one expected.
/// Prints one line; Relacy's own words follow only on a surprise. `weakened` is what a twin
/// lacks. With TMIGR_MODEL_ONLY in the environment only tests with that in their name run.
template <class Suite>
bool run(const std::string& test, rl::test_params params, const char* weakened = "") {
    std::string name = test + how(params);
    if (const char* only = std::getenv("TMIGR_MODEL_ONLY"); only != nullptr && name.find(only) == std::string::npos)
        return true;
    rl::iteration_t before = 0;
    if (asked.campaign()) {
        if (params.search_type != rl::random_scheduler_type || *weakened != '\0') return true;
        // Relacy begins with the number that it finds there.
        params.initial_state = std::to_string(asked.first);
        params.iteration_count = asked.last;
        before = asked.first - 1;
        name += ", from " + std::to_string(asked.first) + " to " + std::to_string(asked.last);
    }
    first_words words;
    std::ostream stream(&words);
    params.output_stream = &stream;
    params.progress_stream = &stream;
    const bool passed = rl::simulate<Suite>(params);
    std::cout << (passed ? "ok      " : "SURPRISE") << "  " << name << ": " << rl::test_result_str(params.test_result)
              << " after " << params.stop_iteration - before << " executions";
    if (*weakened != '\0') std::cout << ", " << weakened;
    std::cout << std::endl;
    if (!passed) std::cout << words.text() << '\n';
    return passed;
}

/// Two runs that must pass: at random, and all schedules with at most so many switches.
/// `Exhaustive` is the same suite without spurious failures.
template <class Random, class Exhaustive>
bool sound(const std::string& name, rl::iteration_t executions, unsigned switches) {
    const bool at_random = run<Random>(name, random_schedules(executions));
    return run<Exhaustive>(name, all_schedules_with(switches)) && at_random;
}

constexpr std::string_view name_of(rl::memory_order order) {
    switch (order) {
        case rl::mo_relaxed: return "relaxed";
        case rl::mo_acquire: return "acquire";
        case rl::mo_release: return "release";
        case rl::mo_acq_rel: return "acq_rel";
        case rl::mo_seq_cst: return "seq_cst";
        default: return "?";
    }
}

/// What a twin lacks, in words: an order by its name, or a step.
template <class Twin>
std::string lack() {
    if constexpr (requires { Twin::weaker_order; })
        return std::string(Twin::lacks) + " " + std::string(name_of(Twin::order)) + " to " +
               std::string(name_of(Twin::weaker_order));
    else
        return std::string("without ") + Twin::lacks;
}

}  // namespace tmigr::model

/// A configuration like `base` with one order weakened.
#define TMIGR_WEAKER(base, name, access, weaker)                                          \
    struct name : base {                                                                  \
        struct orders : base::orders {                                                    \
            static constexpr auto access = ::tmigr::relacy_atomics::weaker;               \
        };                                                                                \
        static constexpr const char* lacks = #access;                                     \
        static constexpr rl::memory_order order = base::orders::access;                   \
        static constexpr rl::memory_order weaker_order = ::tmigr::relacy_atomics::weaker; \
    }
/// A configuration like `base` that leaves one step out.
#define TMIGR_WITHOUT(base, name, step)                                                   \
    struct name : base {                                                                  \
        struct steps : ::tmigr::algorithm_steps {                                         \
            static constexpr bool step = false;                                           \
        };                                                                                \
        static constexpr const char* lacks = #step;                                       \
    }
/// Runs a suite with a weakened configuration; it must fail in that way.
#define TMIGR_TWIN(suite, twin, result, params)                                                   \
    ::tmigr::model::run<suite<twin, rl::test_result_##result>>(#suite ", " #twin, params,         \
                                                               ::tmigr::model::lack<twin>().c_str())

#endif
