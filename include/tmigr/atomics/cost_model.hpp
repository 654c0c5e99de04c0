// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_ATOMICS_COST_MODEL_HPP
#define TMIGR_ATOMICS_COST_MODEL_HPP

#include <tmigr/atomics/backend.hpp>
#include <tmigr/atomics/plain.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace tmigr {

/// From how far away the core that acts had to fetch a line, or to drive copies of it out.
enum class line_distance : std::uint8_t { own_core, same_cache, same_socket, other_socket, memory };
inline constexpr std::size_t line_distances = 5;

/// What a fetch costs, by distance, in a unit of the user's choice, and what the atomic
/// instruction of a read-modify-write costs besides. Those that are preset are of a server
/// of two sockets or more, in nanoseconds, as orders of magnitude: put in what you measured.
struct line_costs {
    std::array<double, line_distances> fetch{1, 25, 60, 200, 100};
    double read_modify_write = 5;
};

/// What was done on a line_machine since it last reset its counts.
struct line_counts {
    std::uint64_t loads = 0;
    std::uint64_t stores = 0;
    std::uint64_t read_modify_writes = 0;  ///< attempts, failed ones included
    std::uint64_t group_visits = 0;        ///< groups that walks updated
    std::array<std::uint64_t, line_distances> fetches{};

    std::uint64_t of(line_distance d) const noexcept { return fetches[static_cast<std::size_t>(d)]; }
    /// Lines that moved, or whose copies were driven out, between cores.
    std::uint64_t transfers() const noexcept {
        return of(line_distance::same_cache) + of(line_distance::same_socket) + of(line_distance::other_socket);
    }
    double cost(const line_costs& costs) const noexcept {
        double sum = static_cast<double>(read_modify_writes) * costs.read_modify_write;
        for (std::size_t d = 0; d < line_distances; ++d) sum += static_cast<double>(fetches[d]) * costs.fetch[d];
        return sum;
    }
    friend bool operator==(const line_counts&, const line_counts&) = default;
};

/// A machine whose caches never run full: for every line, which cores hold it, and whether
/// alone. A read leaves the line shared by the reader and those who held it, a write leaves
/// it with the writer alone, as in MESI; who holds a line alone writes without asking.
///
/// A read fetches from the nearest core that holds the line; a write waits for the farthest.
/// Nobody's line comes from memory. Accesses happen one after the other: what several cores
/// would do at once, and that hardware overlaps fetches, is not in it.
///
/// For one thread. Deterministic in the lines, that is up to where memory was allocated.
class line_machine {
public:
    static constexpr std::size_t line_bytes = 64;

    /// Core c is below cache c / cores_per_cache and on socket c / cores_per_socket; a
    /// multiple of the former, both at least 1.
    explicit line_machine(std::uint32_t cores_per_cache = 8, std::uint32_t cores_per_socket = 64) noexcept
        : per_cache_(std::max(cores_per_cache, 1u)), per_socket_(std::max(cores_per_socket, 1u)) {}

    /// Whatever happens from now on is done by that core.
    void act_on(std::uint32_t core) noexcept { core_ = core; }
    std::uint32_t acting() const noexcept { return core_; }

    line_counts& counts() noexcept { return counts_; }

    line_distance read(const void* address) {
        line& l = lines_[reinterpret_cast<std::uintptr_t>(address) / line_bytes];
        const auto at = std::lower_bound(l.holders.begin(), l.holders.end(), core_);
        line_distance from = line_distance::memory;
        if (at != l.holders.end() && *at == core_) {
            from = line_distance::own_core;
        } else {
            // Those below one cache, or on one socket, are neighbours in order.
            if (at != l.holders.end()) from = distance(*at);
            if (at != l.holders.begin()) from = std::min(from, distance(*(at - 1)));
            l.holders.insert(at, core_);
        }
        return count(from);
    }
    line_distance write(const void* address) {
        line& l = lines_[reinterpret_cast<std::uintptr_t>(address) / line_bytes];
        line_distance from = line_distance::memory;
        // For the same reason the farthest is the first or the last.
        if (!l.holders.empty()) from = std::max(distance(l.holders.front()), distance(l.holders.back()));
        l.holders.assign(1, core_);
        return count(from);
    }

    /// How far another core is.
    line_distance distance(std::uint32_t other) const noexcept {
        if (other == core_) return line_distance::own_core;
        if (other / per_cache_ == core_ / per_cache_) return line_distance::same_cache;
        return other / per_socket_ == core_ / per_socket_ ? line_distance::same_socket : line_distance::other_socket;
    }

private:
    struct line {
        std::vector<std::uint32_t> holders;  ///< in order; one: alone, whether it wrote or not
    };

    line_distance count(line_distance from) noexcept {
        ++counts_.fetches[static_cast<std::size_t>(from)];
        return from;
    }

    std::uint32_t per_cache_;
    std::uint32_t per_socket_;
    std::uint32_t core_ = 0;
    line_counts counts_;
    std::unordered_map<std::uintptr_t, line> lines_;
};

/// No atomics, and every access is made on a line_machine by the core that acts: what an
/// operation would move between the cores of a machine that is not at hand.
///
/// One thread drives all CPUs, and says before each operation on which core it happens. Plain
/// cells and mutexes are followed too: an uncontended mutex is one read-modify-write to
/// lock it and one to unlock it. Not for timing.
struct cost_model_atomics {
    /// The machine of the calling thread. Assign a new one before a structure is built that
    /// is to be followed: memory is used again, lines are known by their addresses.
    static line_machine& machine() noexcept {
        static thread_local line_machine mine;
        return mine;
    }

    using order = plain_atomics::order;
    static constexpr order relaxed = order::relaxed;
    static constexpr order acquire = order::acquire;
    static constexpr order release = order::release;
    static constexpr order acq_rel = order::acq_rel;
    static constexpr order seq_cst = order::seq_cst;

    template <class T>
    class atomic {
    public:
        atomic() = default;
        explicit atomic(T value) : value_(value) {}
        atomic(const atomic&) = delete;
        atomic& operator=(const atomic&) = delete;

        T load(order) const {
            ++machine().counts().loads;
            machine().read(this);
            return value_;
        }
        void store(T value, order) {
            ++machine().counts().stores;
            machine().write(this);
            value_ = value;
        }
        /// The line comes to the core that tries, whether it succeeds or not.
        bool compare_exchange_strong(T& expected, T desired, order, order) {
            ++machine().counts().read_modify_writes;
            machine().write(this);
            if (value_ == expected) {
                value_ = desired;
                return true;
            }
            expected = value_;
            return false;
        }
        bool compare_exchange_weak(T& expected, T desired, order success, order failure) {
            return compare_exchange_strong(expected, desired, success, failure);
        }

    private:
        T value_{};
    };

    template <class T>
    class var {
    public:
        var() = default;
        explicit var(T value) : value_(value) {}
        var(const var&) = delete;
        var& operator=(const var&) = delete;

        T get() const {
            machine().read(this);
            return value_;
        }
        void set(T value) {
            machine().write(this);
            value_ = value;
        }

    private:
        T value_{};
    };

    /// As large as a real one, so that what lies behind it lies where it does.
    class mutex {
    public:
        mutex() = default;
        mutex(const mutex&) = delete;
        mutex& operator=(const mutex&) = delete;
        void lock() { swap(); }
        void unlock() { swap(); }

    private:
        void swap() {
            ++machine().counts().read_modify_writes;
            machine().write(this);
        }
        alignas(std::mutex) std::array<unsigned char, sizeof(std::mutex)> room_{};
    };

    static void pause() noexcept {}
    static void visiting(unsigned) noexcept { ++machine().counts().group_visits; }

    template <class T>
    static constexpr bool is_always_lock_free = true;
};
static_assert(atomics_backend<cost_model_atomics>);

}  // namespace tmigr

#endif
