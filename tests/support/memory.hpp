// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_MEMORY_HPP
#define TMIGR_TESTS_MEMORY_HPP

#include <cstddef>

namespace tmigr::test {

/// The unit tests' own operator new counts, and fails on demand. One thread only.
inline std::size_t allocations = 0;
inline std::size_t fail_in = 0;  ///< the n-th allocation from now on fails; 0: none does

}  // namespace tmigr::test

#endif
