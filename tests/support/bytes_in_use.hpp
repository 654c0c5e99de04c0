// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_BYTES_IN_USE_HPP
#define TMIGR_TESTS_BYTES_IN_USE_HPP

#include <atomic>
#include <cstddef>

namespace tmigr::test {

/// What operator new has given out and not got back, in bytes, and the most that it ever was:
/// in programs with a file that includes `counted_new.hpp`.
inline std::atomic<std::size_t> bytes_in_use{0}, peak_in_use{0};

}  // namespace tmigr::test

#endif
