// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_AUDIT_TIMERS_HPP
#define TMIGR_DETAIL_AUDIT_TIMERS_HPP

#include <tmigr/detail/audit_text.hpp>
#include <tmigr/detail/ftrace_line.hpp>
#include <tmigr/topology.hpp>
#include <tmigr/trace.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tmigr::detail {

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

/// Timers of the wheel, as timer_start, timer_cancel and timer_expire_entry lines tell. Bounded: beyond
/// `most` timers at once, no more are followed.
class audit_timers {
public:
    static constexpr std::size_t most = 1u << 16;

    struct expiry {
        cpu_id base = 0;         ///< the CPU it was queued on
        std::uint64_t late = 0;  ///< jiffies behind what the wheel had promised
        bool pinned = false, deferrable = false;
    };

    void start(std::string_view text) {
        const auto id = id_in(text);
        const auto bucket = audit_number(text, "bucket_expiry");
        const auto cpu = audit_number(text, "cpu");
        if (!id || !bucket || !cpu || *cpu > max_cpu_id) return;
        if (pending_.size() >= most && !pending_.contains(*id)) {
            ++unfollowed_;
            return;
        }
        const std::string_view flags = audit_field(text, "flags").value_or(std::string_view{});
        pending_[*id] = {*bucket, static_cast<cpu_id>(*cpu), has(flags, 'P'), has(flags, 'D')};
    }
    /// A timer leaves the wheel. Kernels print this before an expiry too, on the same CPU: the last two of
    /// a CPU are kept for that.
    void cancel(std::string_view text, cpu_id on) {
        const auto id = id_in(text);
        const auto found = id ? pending_.find(*id) : pending_.end();
        if (found == pending_.end()) return;
        if (on >= leaving_.size()) leaving_.resize(on + std::size_t{1});
        leaving_[on][1] = leaving_[on][0];
        leaving_[on][0] = {found->first, found->second};
        pending_.erase(found);
    }
    std::optional<expiry> expire(std::string_view text, cpu_id on) {
        const auto id = id_in(text);
        const auto now = audit_number(text, "now");
        if (!id || !now) return std::nullopt;
        const auto s = take(*id, on);
        if (!s) return std::nullopt;
        return expiry{s->cpu, *now > s->bucket ? *now - s->bucket : 0, s->pinned, s->deferrable};
    }
    void forget() {
        pending_.clear();
        leaving_.clear();
    }
    /// Timers that were not followed, for there were too many.
    std::size_t unfollowed() const noexcept { return unfollowed_; }

private:
    struct started {
        std::uint64_t bucket = 0;
        cpu_id cpu = 0;
        bool pinned = false, deferrable = false;
    };
    struct leaving {
        std::uint64_t id = 0;
        started timer{};
    };
    static std::optional<std::uint64_t> id_in(std::string_view text) {
        const auto timer = audit_field(text, "timer");
        return timer ? parse_pointer(*timer) : std::nullopt;
    }
    std::optional<started> take(std::uint64_t id, cpu_id on) {
        if (const auto node = pending_.extract(id)) return node.mapped();
        if (on >= leaving_.size()) return std::nullopt;
        for (leaving& l : leaving_[on])
            if (id != 0 && l.id == id) {
                l.id = 0;
                return l.timer;
            }
        return std::nullopt;
    }
    /// Flags stand alone, with `|` between: `D|P|I`.
    static bool has(std::string_view flags, char flag) noexcept {
        for (std::size_t i = 0; i < flags.size(); ++i)
            if (flags[i] == flag && (i == 0 || flags[i - 1] == '|') &&
                (i + 1 == flags.size() || flags[i + 1] == '|'))
                return true;
        return false;
    }
    std::unordered_map<std::uint64_t, started> pending_;
    std::vector<std::array<leaving, 2>> leaving_;
    std::size_t unfollowed_ = 0;
};

}  // namespace tmigr::detail

#endif
