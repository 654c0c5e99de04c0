// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_PREFETCH_HPP
#define TMIGR_DETAIL_PREFETCH_HPP

namespace tmigr::detail {

/// Asks for the line of `cell` as one that will be written: a load before the write would
/// fetch a line that another core has changed only to be read, and the write once more. A
/// hint, which orders nothing and changes nothing but time.
template <class Cell>
void about_to_write(const Cell& cell) noexcept {
#if defined(__GNUC__) && defined(__x86_64__)
    // What the compilers' builtin becomes without -mprfchw asks for a line to read. Processors
    // that do not know the instruction take it for a no-op.
    asm volatile("prefetchw %0" : : "m"(cell));
#elif defined(__GNUC__)
    __builtin_prefetch(&cell, 1);
#else
    static_cast<void>(cell);
#endif
}

}  // namespace tmigr::detail

#endif
