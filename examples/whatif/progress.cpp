// SPDX-License-Identifier: BSL-1.0
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace whatif {

progress_bar::progress_bar(std::size_t runs)
    : runs_(std::max<std::size_t>(runs, 1)),
      wanted_(::isatty(STDERR_FILENO) == 1),
      due_(clock::now() + std::chrono::seconds{1}) {}

progress_bar::~progress_bar() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
}

void progress_bar::next(std::string what) {
    what_ = std::move(what);
    ++begun_;
    if (wanted_) show(0);
}

void progress_bar::progress(nanoseconds now, nanoseconds length) {
    if (wanted_ && length > 0) show(std::min(1.0, static_cast<double>(now) / static_cast<double>(length)));
}

std::string progress_bar::line(double share, const std::string& what) {
    constexpr std::size_t cells = 30;
    const auto full = static_cast<std::size_t>(share * cells);
    return fmt::format("[{}{}] {:3}% {}", std::string(full, '#'), std::string(cells - full, '.'),
                       static_cast<int>(share * 100), what);
}

void progress_bar::show(double of_this_run) {
    const auto now = clock::now();
    if (now < due_) return;
    due_ = now + std::chrono::milliseconds{100};
    shown_ = true;
    const double done = (static_cast<double>(begun_) - 1 + of_this_run) / static_cast<double>(runs_);
    fmt::print(stderr, "\r{}\x1b[K", line(std::clamp(done, 0.0, 1.0), what_));
    std::fflush(stderr);
}

}  // namespace whatif
