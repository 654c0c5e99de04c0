// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_EXAMPLES_WHATIF_FILES_HPP
#define TMIGR_EXAMPLES_WHATIF_FILES_HPP

#include <fstream>
#include <list>
#include <memory>
#include <ostream>
#include <streambuf>
#include <string>

namespace whatif {

/// Standard output as a stream that remembers why it failed.
class stdout_buffer final : public std::streambuf {
public:
    /// 0: it did not. A reader that has gone away wants no more: not a failure.
    int failure() const noexcept { return failure_; }

protected:
    int_type overflow(int_type byte) override;
    std::streamsize xsputn(const char* text, std::streamsize length) override;
    int sync() override;

private:
    bool gone_ = false;
    int failure_ = 0;
};

/// Files that appear whole and together, or not at all: written beside their places under other
/// names, and moved there by `commit`. What is not committed is removed. Devices and pipes are
/// written as they are. Throws `std::runtime_error` that names the file.
class file_set {
public:
    file_set() = default;
    file_set(const file_set&) = delete;
    file_set& operator=(const file_set&) = delete;
    ~file_set();

    /// To be written from here on; `-` is standard output. Valid until `commit`.
    std::ostream& open(const std::string& path);
    /// Under which name a file that was opened is written.
    std::string written(const std::string& path) const;
    /// Another program will write `temporary`; `commit` moves it to `path`, if it is there.
    void adopt(const std::string& temporary, const std::string& path);
    void commit();

private:
    static std::string place_for(const std::string& path);

    struct entry {
        std::string asked;
        std::string path;     ///< where it will be
        std::string written;  ///< under this name until `commit`
        std::unique_ptr<std::ofstream> out;
        bool required = true;
    };
    std::list<entry> entries_;
    unsigned count_ = 0;
    stdout_buffer stdout_;
    std::ostream stdout_stream_{&stdout_};
};

/// Writes to standard output. A reader that has gone away wants no more: not an error.
/// Throws `std::runtime_error` for other failures.
void write_stdout(const std::string& text);

}  // namespace whatif

#endif
