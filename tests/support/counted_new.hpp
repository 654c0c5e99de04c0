// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_TESTS_COUNTED_NEW_HPP
#define TMIGR_TESTS_COUNTED_NEW_HPP

// Replaces operator new of the program: for one file of it, with nothing else in it, since
// compilers that see both ends take them for a mismatch.

#include "support/bytes_in_use.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

// Before each piece stands its size.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    constexpr std::size_t before = alignof(std::max_align_t);
    static_assert(before >= sizeof size);
    auto* const p = static_cast<char*>(std::malloc(size + before));
    if (p == nullptr) return nullptr;
    std::memcpy(p, &size, sizeof size);
    const std::size_t now = tmigr::test::bytes_in_use += size;
    std::size_t most = tmigr::test::peak_in_use;
    while (now > most && !tmigr::test::peak_in_use.compare_exchange_weak(most, now)) {
    }
    return p + before;
}
void* operator new(std::size_t size) {
    if (void* const p = operator new(size, std::nothrow)) return p;
    throw std::bad_alloc{};
}
void operator delete(void* given) noexcept {
    if (given == nullptr) return;
    char* const p = static_cast<char*>(given) - alignof(std::max_align_t);
    std::size_t size = 0;
    std::memcpy(&size, p, sizeof size);
    tmigr::test::bytes_in_use -= size;
    std::free(p);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { operator delete(p); }

#endif
