// SPDX-License-Identifier: BSL-1.0
#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace audit_tool {

progress::progress(const std::string& path, bool wanted) : begin_(std::chrono::steady_clock::now()) {
    std::error_code none;
    if (wanted && path != "-" && std::filesystem::is_regular_file(path, none) && isatty(STDERR_FILENO) == 1)
        size_ = std::filesystem::file_size(path, none);
    if (none) size_ = 0;
}

progress::~progress() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
}

void progress::show(std::size_t lines, std::uint64_t bytes) {
    constexpr std::size_t step = 50'000, width = 40;
    next_ = lines + step;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
    const double part = std::min(1.0, static_cast<double>(bytes) / static_cast<double>(size_));
    const auto done = static_cast<std::size_t>(part * width);
    const double rate = taken.count() > 0 ? static_cast<double>(lines) / taken.count() / 1e6 : 0;
    fmt::print(stderr, "\r[{:=<{}}{: <{}}] {:3.0f} %  {} lines, {:.2f} million/s", "", done, "", width - done, part * 100,
               lines, rate);
    std::fflush(stderr);
    shown_ = true;
}

}  // namespace audit_tool
