// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_BENCH_PEERS_CELLS_HPP
#define TMIGR_BENCH_PEERS_CELLS_HPP

#include <tmigr/atomics/backend.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

// What the peers share: cells laid out by cache lines, read-modify-writes beyond the
// compare-and-swap, a spin lock.

namespace tmigr::peers {

inline constexpr std::size_t line = 64;

/// A cell that shares its cache line with nobody.
template <class Atomics, class T>
struct alignas(line) lone_cell {
    typename Atomics::template atomic<T> cell{T{}};
};

/// Cells side by side, as many to a line as fit, beginning with a line: for what is scanned.
template <class Atomics, class T>
class dense_cells {
public:
    using cell_type = typename Atomics::template atomic<T>;

    dense_cells(std::size_t size, T initial) : rows_((size + per_line - 1) / per_line), size_(size) {
        for (std::size_t i = 0; i < rows_.size() * per_line; ++i) (*this)[i].store(initial, Atomics::relaxed);
    }
    cell_type& operator[](std::size_t i) noexcept { return rows_[i / per_line].cells[i % per_line]; }
    const cell_type& operator[](std::size_t i) const noexcept { return rows_[i / per_line].cells[i % per_line]; }
    std::size_t size() const noexcept { return size_; }

private:
    static constexpr std::size_t per_line = line / sizeof(T);
    struct alignas(line) row {
        cell_type cells[per_line];
    };
    std::vector<row> rows_;
    std::size_t size_;
};

/// Changes a cell to `change` of what is there; returns what was there.
template <class Cell, class Change, class Order>
auto swap_loop(Cell& cell, Change change, Order first, Order success, Order failure) {
    auto seen = cell.load(first);
    while (!cell.compare_exchange_weak(seen, static_cast<decltype(seen)>(change(seen)), success, failure)) {
    }
    return seen;
}

// The processor's own instruction where the backend has it (std, boost); a backend that has
// none, as the one that counts, gets a load and a compare-and-swap. One read-modify-write
// without contention either way. `failure` is for the loop.

template <class Cell, class T, class Order>
T fetch_or(Cell& cell, T bits, Order order, Order failure) {
    if constexpr (requires { cell.fetch_or(bits, order); })
        return cell.fetch_or(bits, order);
    else
        return swap_loop(cell, [bits](T seen) { return static_cast<T>(seen | bits); }, failure, order, failure);
}
template <class Cell, class T, class Order>
T fetch_and(Cell& cell, T bits, Order order, Order failure) {
    if constexpr (requires { cell.fetch_and(bits, order); })
        return cell.fetch_and(bits, order);
    else
        return swap_loop(cell, [bits](T seen) { return static_cast<T>(seen & bits); }, failure, order, failure);
}
template <class Cell, class T, class Order>
T fetch_add(Cell& cell, T more, Order order, Order failure) {
    if constexpr (requires { cell.fetch_add(more, order); })
        return cell.fetch_add(more, order);
    else
        return swap_loop(cell, [more](T seen) { return static_cast<T>(seen + more); }, failure, order, failure);
}

/// Test-and-test-and-set: waits with loads, tries with a swap. Not fair.
template <class Atomics>
class spin_lock {
public:
    static constexpr const char* name = "spin lock";
    void lock() {
        for (;;) {
            std::uint32_t free = 0;
            // Acquire: sees what the previous holder did. Relaxed on failure: tried again.
            if (cell_.compare_exchange_weak(free, 1, Atomics::acquire, Atomics::relaxed)) return;
            // Relaxed: only a hint when to try again.
            while (cell_.load(Atomics::relaxed) != 0) Atomics::pause();
        }
    }
    // Release: carries what this holder did.
    void unlock() { cell_.store(0, Atomics::release); }

private:
    typename Atomics::template atomic<std::uint32_t> cell_{0};
};

/// The backend's mutex; not seen by backends that count atomics.
template <class Atomics>
class mutex_lock : public Atomics::mutex {
public:
    static constexpr const char* name = "mutex";
};

}  // namespace tmigr::peers

#endif
