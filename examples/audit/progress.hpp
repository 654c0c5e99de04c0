// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_AUDIT_PROGRESS_HPP
#define TMIGR_EXAMPLES_AUDIT_PROGRESS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace audit_tool {

/// A bar on standard error while a file is read: only where that is a terminal and the size is known.
class progress {
public:
    progress(const std::string& path, bool wanted);
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;
    ~progress();

    /// So far so many lines and bytes; costs nearly nothing.
    void at(std::size_t lines, std::uint64_t bytes) {
        if (size_ != 0 && lines >= next_) show(lines, bytes);
    }

private:
    void show(std::size_t lines, std::uint64_t bytes);

    std::uint64_t size_ = 0;
    std::size_t next_ = 0;
    bool shown_ = false;
    std::chrono::steady_clock::time_point begin_;
};

}  // namespace audit_tool

#endif
