// SPDX-License-Identifier: BSL-1.0
// Drives a fuzz target without libFuzzer, with the same arguments:
//
//     fuzz_x [-runs=N] [-max_total_time=SECONDS] [-seed=N] [-max_len=BYTES]
//            [-artifact_prefix=PATH] [FILE|DIRECTORY]...
//
// Runs the target on every file given, then N times on random mutations of them. The
// same seed makes the same inputs. When the target crashes, the input is written to
// PATHcrash-input and can be run again by naming that file. Other options of
// libFuzzer are accepted and ignored.

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// AddressSanitizer ends the process without a signal, but calls back first.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());  // NOLINT(bugprone-reserved-identifier)

namespace {

using input = std::vector<std::uint8_t>;

struct options {
    std::uint64_t runs = 10000;
    std::uint64_t seconds = 0;  // 0: no limit
    std::uint64_t seed = 1;
    std::uint64_t max_len = 4096;
    std::string artifact_prefix = "./";
    std::vector<std::filesystem::path> paths;
};

const input* current = nullptr;
std::string crash_file;

void save_current() {
    if (current == nullptr) return;
    if (std::FILE* out = std::fopen(crash_file.c_str(), "wb")) {
        std::fwrite(current->data(), 1, current->size(), out);
        std::fclose(out);
        std::fprintf(stderr, "crashing input written to %s\n", crash_file.c_str());
    }
    current = nullptr;
}

void on_signal(int signal) {
    std::signal(signal, SIG_DFL);
    save_current();
    std::raise(signal);
}

void run(const input& bytes) {
    current = &bytes;
    // A copy of exact size on the heap, so that AddressSanitizer sees a read past the end.
    const input exact(bytes);
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
    current = nullptr;
}

std::uint64_t number(std::string_view argument, std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
        std::fprintf(stderr, "%.*s: expected a number\n", static_cast<int>(argument.size()), argument.data());
        std::exit(2);
    }
    return value;
}

options parse(int argc, char** argv) {
    options given;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (!argument.starts_with('-')) {
            given.paths.emplace_back(argument);
            continue;
        }
        const auto equals = argument.find('=');
        if (equals == argument.npos) continue;
        const auto name = argument.substr(1, equals - 1);
        const auto value = argument.substr(equals + 1);
        if (name == "runs") given.runs = number(argument, value);
        if (name == "max_total_time") given.seconds = number(argument, value);
        if (name == "seed") given.seed = number(argument, value);
        if (name == "max_len") given.max_len = number(argument, value);
        if (name == "artifact_prefix") given.artifact_prefix = value;
    }
    return given;
}

std::vector<input> read_corpus(const std::vector<std::filesystem::path>& paths) {
    std::vector<std::filesystem::path> files;
    for (const auto& path : paths) {
        if (!std::filesystem::exists(path)) {
            std::fprintf(stderr, "%s: no such file or directory\n", path.c_str());
            std::exit(2);
        }
        if (!std::filesystem::is_directory(path)) {
            files.push_back(path);
            continue;
        }
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
            if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<input> corpus;
    for (const auto& file : files) {
        std::ifstream in(file, std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    return corpus;
}

class mutator {
public:
    mutator(const std::vector<input>& corpus, std::uint64_t seed, std::size_t max_len)
        : corpus_(corpus), random_(seed), max_len_(max_len) {}

    input next() {
        input bytes = corpus_[below(corpus_.size())];
        for (auto steps = 1 + below(4); steps > 0; --steps) step(bytes);
        if (bytes.size() > max_len_) bytes.resize(max_len_);
        return bytes;
    }

private:
    std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
    std::uint8_t byte() { return static_cast<std::uint8_t>(random_()); }
    static auto at(input& bytes, std::size_t place) { return bytes.begin() + static_cast<std::ptrdiff_t>(place); }

    void insert(input& bytes, const input& what) {
        bytes.insert(at(bytes, below(bytes.size() + 1)), what.begin(), what.end());
    }
    input piece(const input& from) {
        const auto first = below(from.size());
        const auto length = below(std::min<std::size_t>(from.size() - first, 64) + 1);
        const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
        return {begin, begin + static_cast<std::ptrdiff_t>(length)};
    }

    void step(input& bytes) {
        switch (below(9)) {
            case 0:
                if (!bytes.empty()) bytes[below(bytes.size())] ^= static_cast<std::uint8_t>(1u << below(8));
                break;
            case 1:
                if (!bytes.empty()) bytes[below(bytes.size())] = byte();
                break;
            case 2: insert(bytes, {byte()}); break;
            case 3: {
                const auto first = below(bytes.size());
                const auto length = below(std::min<std::size_t>(bytes.size() - first, 32) + 1);
                bytes.erase(at(bytes, first), at(bytes, first + length));
                break;
            }
            case 4: bytes.resize(below(bytes.size() + 1)); break;
            case 5: insert(bytes, piece(bytes)); break;
            case 6: insert(bytes, piece(corpus_[below(corpus_.size())])); break;
            case 7: {
                const std::string_view text = words[below(words.size())];
                insert(bytes, input(text.begin(), text.end()));
                break;
            }
            case 8: replace_number(bytes); break;
        }
    }

    // The readers' inputs are text full of numbers: put another one where one stands.
    void replace_number(input& bytes) {
        const auto is_digit = [](std::uint8_t c) { return c >= '0' && c <= '9'; };
        const auto from = at(bytes, below(bytes.size()));
        const auto first = std::find_if(from, bytes.end(), is_digit);
        const auto last = std::find_if_not(first, bytes.end(), is_digit);
        const std::string_view text = numbers[below(numbers.size())];
        const auto place = bytes.erase(first, last);
        bytes.insert(place, text.begin(), text.end());
    }

    static constexpr std::array<std::string_view, 12> numbers = {
        "0", "1", "-1", "8", "255", "256", "1024", "1025", "65536", "4294967295", "4294967296",
        "18446744073709551616"};
    static constexpr std::array<std::string_view, 11> words = {"\n", "\r\n", " ",  "\t", "#", ",",
                                                               "-",  "<",    "\"", "=",  ":"};

    const std::vector<input>& corpus_;
    std::mt19937_64 random_;
    std::size_t max_len_;
};

}  // namespace

int main(int argc, char** argv) {
    const options given = parse(argc, argv);
    crash_file = given.artifact_prefix + "crash-input";
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, on_signal);
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(save_current);

    std::vector<input> corpus = read_corpus(given.paths);
    for (const input& bytes : corpus) run(bytes);
    const std::size_t files = corpus.size();
    if (corpus.empty()) corpus.emplace_back();

    mutator mutate(corpus, given.seed, given.max_len);
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t done = 0;
    for (; done < given.runs; ++done) {
        if (given.seconds != 0 && done % 64 == 0 &&
            std::chrono::steady_clock::now() - start >= std::chrono::seconds(given.seconds))
            break;
        run(mutate.next());
    }
    std::printf("%zu files, %llu mutations, seed %llu\n", files, static_cast<unsigned long long>(done),
                static_cast<unsigned long long>(given.seed));
}
