// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_AUDIT_TIMERS_HPP
#define TMIGR_DETAIL_AUDIT_TIMERS_HPP

#include <tmigr/detail/ftrace_line.hpp>
#include <tmigr/detail/text.hpp>
#include <tmigr/topology.hpp>
#include <tmigr/trace.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace tmigr::detail {

/// The value behind ` KEY=` in what an event printed, or nothing.
inline std::optional<std::string_view> audit_field(std::string_view text, std::string_view key) {
    for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
        if (at != 0 && text[at - 1] != ' ' && text[at - 1] != '[') continue;
        const std::size_t from = at + key.size();
        if (from >= text.size() || text[from] != '=') continue;
        return text.substr(from + 1, text.find_first_of(" ]", from + 1) - from - 1);
    }
    return std::nullopt;
}
inline std::optional<std::uint64_t> audit_number(std::string_view text, std::string_view key) {
    const auto value = audit_field(text, key);
    if (!value) return std::nullopt;
    return parse_number<std::uint64_t>(*value, 0, std::numeric_limits<std::uint64_t>::max());
}

/// The length of a jiffy, from expiries that are multiples of it: none of the lengths in use divides
/// another that divides them all but by chance.
class jiffy_length {
public:
    void add(std::uint64_t expiry) noexcept {
        if (expiry == event::never || expiry == 0) return;
        divisor_ = std::gcd(divisor_, expiry);
        ++seen_;
    }
    /// Nothing while too few were seen, or where they are no multiples of a jiffy.
    std::optional<std::uint64_t> nanoseconds() const noexcept {
        if (seen_ < 8) return std::nullopt;
        for (const std::uint64_t length : {10'000'000u, 4'000'000u, 3'333'333u, 1'000'000u})
            if (divisor_ % length == 0) return length;
        return std::nullopt;
    }

private:
    std::uint64_t divisor_ = 0;
    std::size_t seen_ = 0;
};

/// Timers of the wheel, as timer_start and timer_expire_entry lines tell. Bounded: beyond
/// `most` timers at once, no more are followed.
class audit_timers {
public:
    static constexpr std::size_t most = 1u << 16;

    struct expiry {
        cpu_id base = 0;          ///< the CPU it was queued on
        std::uint64_t late = 0;   ///< jiffies behind what the wheel had promised
        bool pinned = false, deferrable = false;
    };

    void start(std::string_view text) {
        const auto timer = audit_field(text, "timer");
        const auto bucket = audit_number(text, "bucket_expiry");
        const auto cpu = audit_number(text, "cpu");
        const auto id = timer ? parse_pointer(*timer) : std::nullopt;
        if (!id || !bucket || !cpu || *cpu > max_cpu_id) return;
        if (pending_.size() >= most && !pending_.contains(*id)) return;
        const std::string_view flags = audit_field(text, "flags").value_or(std::string_view{});
        pending_[*id] = {*bucket, static_cast<cpu_id>(*cpu), has(flags, 'P'), has(flags, 'D')};
    }
    std::optional<expiry> expire(std::string_view text) {
        const auto timer = audit_field(text, "timer");
        const auto now = audit_number(text, "now");
        const auto id = timer ? parse_pointer(*timer) : std::nullopt;
        if (!id || !now) return std::nullopt;
        const auto found = pending_.find(*id);
        if (found == pending_.end()) return std::nullopt;
        const started s = found->second;
        pending_.erase(found);
        return expiry{s.cpu, *now > s.bucket ? *now - s.bucket : 0, s.pinned, s.deferrable};
    }
    void forget() { pending_.clear(); }

private:
    struct started {
        std::uint64_t bucket;
        cpu_id cpu;
        bool pinned, deferrable;
    };
    /// Flags stand alone, with `|` between: `D|P|I`.
    static bool has(std::string_view flags, char flag) noexcept {
        for (std::size_t i = 0; i < flags.size(); ++i)
            if (flags[i] == flag && (i == 0 || flags[i - 1] == '|') && (i + 1 == flags.size() || flags[i + 1] == '|'))
                return true;
        return false;
    }
    std::unordered_map<std::uint64_t, started> pending_;
};

}  // namespace tmigr::detail

#endif
