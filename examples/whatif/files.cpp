// SPDX-License-Identifier: BSL-1.0
#include "files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
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

stdout_buffer::int_type stdout_buffer::overflow(int_type byte) {
    if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
    const char c = traits_type::to_char_type(byte);
    return xsputn(&c, 1) == 1 ? byte : traits_type::eof();
}

std::streamsize stdout_buffer::xsputn(const char* text, std::streamsize length) {
    if (gone_) return length;
    errno = 0;
    if (std::fwrite(text, 1, static_cast<std::size_t>(length), stdout) == static_cast<std::size_t>(length))
        return length;
    gone_ = errno == EPIPE;
    if (gone_) return length;
    if (failure_ == 0) failure_ = errno != 0 ? errno : EIO;
    return 0;
}

int stdout_buffer::sync() {
    errno = 0;
    if (gone_ || std::fflush(stdout) == 0) return 0;
    gone_ = errno == EPIPE;
    if (!gone_ && failure_ == 0) failure_ = errno != 0 ? errno : EIO;
    return gone_ ? 0 : -1;
}

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
    if (path == "-") return stdout_stream_;
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
    stdout_stream_.flush();
    if (stdout_.failure() != 0) fail("standard output", stdout_.failure());
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
    stdout_buffer out;
    static_cast<void>(out.sputn(text.data(), static_cast<std::streamsize>(text.size())));
    static_cast<void>(out.pubsync());
    if (out.failure() != 0) fail("standard output", out.failure());
}

}  // namespace whatif
