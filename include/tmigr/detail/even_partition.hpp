// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_EVEN_PARTITION_HPP
#define TMIGR_DETAIL_EVEN_PARTITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace tmigr::detail {

/// How much two neighbours in a row want to stay together.
enum class bond : std::uint8_t { none, cache, core };

/// Cuts a row of items into runs of at most `width`: never between threads of a core if that
/// can be helped, then not between sharers of a cache, then into as few runs as possible, then
/// as evenly as possible. `bonds[i]` is between items i and i + 1. Returns the lengths of the
/// runs. Of equal solutions the one whose last runs are shorter.
///
/// Exact, by dynamic programming: items times width steps.
inline std::vector<std::size_t> even_partition(const std::vector<bond>& bonds, std::size_t items, std::size_t width) {
    using cost = std::tuple<std::size_t, std::size_t, std::size_t, std::uint64_t>;  // core, cache, runs, squares
    std::vector<cost> best(items + 1);
    std::vector<std::size_t> last(items + 1);
    for (std::size_t end = 1; end <= items; ++end) {
        best[end] = {std::numeric_limits<std::size_t>::max(), 0, 0, 0};
        for (std::size_t length = 1; length <= std::min(width, end); ++length) {
            const std::size_t start = end - length;
            auto [cores, caches, runs, squares] = best[start];
            if (start > 0) {
                cores += bonds[start - 1] == bond::core;
                caches += bonds[start - 1] != bond::none;
            }
            const cost here{cores, caches, runs + 1, squares + std::uint64_t{length} * length};
            if (here < best[end]) {
                best[end] = here;
                last[end] = length;
            }
        }
    }
    std::vector<std::size_t> lengths;
    for (std::size_t end = items; end > 0; end -= last[end]) lengths.push_back(last[end]);
    std::reverse(lengths.begin(), lengths.end());
    return lengths;
}

}  // namespace tmigr::detail

#endif
