// SPDX-License-Identifier: BSL-1.0
#include "files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace whatif {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& name, int reason) {
    throw std::runtime_error(name + ": cannot be written: " + std::strerror(reason));
}

/// Something that cannot be replaced by a file of its name: a device, a pipe.
bool is_special(const std::string& path) {
    std::error_code none;
    const fs::file_status status = fs::status(path, none);
    return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

}  // namespace

file_set::~file_set() {
    std::error_code none;
    for (entry& one : entries_) {
        one.out.reset();
        if (one.written != one.path) fs::remove(one.written, none);
    }
}

std::string file_set::place_for(const std::string& path) {
    std::error_code none;
    if (fs::is_directory(path, none)) fail(path, EISDIR);
    if (fs::exists(path, none) && ::access(path.c_str(), W_OK) != 0) fail(path, errno);
    // A link stays, what it points to is replaced.
    return fs::is_symlink(path, none) ? fs::weakly_canonical(path, none).string() : path;
}

std::string file_set::written(const std::string& path) const {
    for (const entry& one : entries_)
        if (one.asked == path) return one.written;
    return path;
}

void file_set::adopt(const std::string& temporary, const std::string& path) {
    entries_.push_back({path, place_for(path), temporary, nullptr, false});
}

std::ostream& file_set::open(const std::string& path) {
    if (path == "-") {
        uses_stdout_ = true;
        return std::cout;
    }
    if (is_special(path)) {
        entries_.push_back({path, path, path, nullptr, true});
    } else {
        // The process's number: runs that write the same file meanwhile do not meet.
        std::string place = place_for(path);
        std::string part = place + ".part" + std::to_string(::getpid()) + '.' + std::to_string(count_++);
        entries_.push_back({path, std::move(place), std::move(part), nullptr, true});
    }
    entry& one = entries_.back();
    errno = 0;
    one.out = std::make_unique<std::ofstream>(one.written, std::ios::binary);
    if (!*one.out) fail(path, errno);
    return *one.out;
}

void file_set::commit() {
    if (uses_stdout_) {
        errno = 0;
        if (!std::cout.flush() && errno != EPIPE) fail("standard output", errno);
    }
    for (entry& one : entries_) {
        if (!one.out) continue;
        errno = 0;
        one.out->close();
        if (!*one.out && errno != EPIPE) fail(one.path, errno);
    }
    std::error_code error;
    for (const entry& one : entries_) {
        if (one.written == one.path || (!one.required && !fs::exists(one.written, error))) continue;
        fs::rename(one.written, one.path, error);
        if (error) fail(one.path, error.value());
    }
    entries_.clear();
}

void write_stdout(const std::string& text) {
    errno = 0;
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written && errno != EPIPE) fail("standard output", errno);
}

}  // namespace whatif
