// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_DETAIL_FTRACE_FIELDS_HPP
#define TMIGR_DETAIL_FTRACE_FIELDS_HPP

#include <tmigr/detail/ftrace_line.hpp>
#include <tmigr/detail/text.hpp>
#include <tmigr/input_error.hpp>
#include <tmigr/topology.hpp>
#include <tmigr/trace.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tmigr::detail {

/// The keys of timer_migration events that are read, by the length of their names;
/// `family` stands where some kernels have `numa`.
// clang-format off
enum class ftrace_key : std::size_t {
    lvl, cpu, numa, group, child, parent, family, active, wakeup, nextevt, migrator, capacity,
    childmask, groupmask, group_lvl, next_expiry, num_children, child_active, group_active, child_evtcpu,
    child_evt_expiry, count
};
// clang-format on
inline constexpr std::size_t ftrace_key_count = static_cast<std::size_t>(ftrace_key::count);
inline constexpr std::array<std::string_view, ftrace_key_count> ftrace_key_names = {
    "lvl",          "cpu",          "numa",
    "group",        "child",        "parent",
    "family",       "active",       "wakeup",
    "nextevt",      "migrator",     "capacity",
    "childmask",    "groupmask",    "group_lvl",
    "next_expiry",  "num_children", "child_active",
    "group_active", "child_evtcpu", "child_evt_expiry"};
static_assert(std::ranges::is_sorted(ftrace_key_names, {}, &std::string_view::size));

/// Where the names of at least so many characters begin in `ftrace_key_names`.
inline constexpr auto ftrace_key_starts = [] {
    std::array<std::size_t, ftrace_key_names.back().size() + 2> starts{};
    for (std::size_t length = 0; length < starts.size(); ++length)
        for (const std::string_view name : ftrace_key_names) starts[length] += name.size() < length ? 1 : 0;
    return starts;
}();

/// The number of a key, or `ftrace_key_count` for one that is not read.
inline std::size_t find_ftrace_key(std::string_view name) noexcept {
    if (name.size() > ftrace_key_names.back().size()) return ftrace_key_count;
    for (std::size_t k = ftrace_key_starts[name.size()]; k < ftrace_key_starts[name.size() + 1]; ++k)
        if (ftrace_key_names[k] == name) return k;
    return ftrace_key_count;
}

/// All of `text` as the number of a CPU. Throws `input_error` without place.
inline cpu_id ftrace_cpu(std::string_view text) {
    if (const auto id = parse_number<cpu_id>(text, 0, max_cpu_id)) return *id;
    throw input_error(std::string{text}, "a CPU number from 0 to " + std::to_string(max_cpu_id));
}

/// The fields `KEY=VALUE ...` of one event, as views, and their values as what they must
/// be. All throw `input_error` without place: a field that is none, a key twice, a key
/// that is missing when it is asked for, a value that cannot be.
class ftrace_fields {
    using key = ftrace_key;

public:
    ftrace_fields(std::string_view event, std::string_view fields) : event_(event), all_(fields) {
        for (std::string_view field = take_word(fields); !field.empty(); field = take_word(fields)) {
            const std::size_t equals = field.find('=');
            if (equals == field.npos || equals == 0) fail(field, "fields of the form KEY=VALUE");
            const std::size_t k = find_ftrace_key(field.substr(0, equals));
            if (k == ftrace_key_count) continue;
            if (values_[k].data() != nullptr) fail(field, "each key once");
            values_[k] = field.substr(equals + 1);
        }
    }

    std::uint64_t mask(key k) const {
        if (const auto bits = parse_hex(value(k))) return *bits;
        fail(value(k), text_of(k) + " with a mask of at most 16 hexadecimal digits, without 0x");
    }
    group_id pointer(key k) const {
        if (const auto id = parse_pointer(value(k))) return *id;
        fail(value(k), text_of(k) + " with a pointer of at most 16 hexadecimal digits");
    }
    group_id named(key k) const {
        const group_id id = pointer(k);
        if (id == no_group) fail(value(k), text_of(k) + " with a pointer that is not 0");
        return id;
    }
    cpu_id cpu(key k) const { return ftrace_cpu(value(k)); }
    unsigned level(key k) const { return number<unsigned>(k, 0, 255, "a level"); }
    unsigned children() const { return number<unsigned>(key::num_children, 0, 64, "a number"); }
    unsigned capacity() const {
        return has(key::capacity) ? number<unsigned>(key::capacity, 1, max_capacity, "a capacity")
                                  : max_capacity;
    }
    family_id node() const {
        const key k = has(key::numa) || !has(key::family) ? key::numa : key::family;
        return number<family_id>(k, no_family, max_node_id, "a node number (-1 is none)");
    }
    std::uint64_t time(key k) const { return number<std::uint64_t>(k, 0, event::never, "nanoseconds"); }

private:
    static std::size_t index(key k) noexcept { return static_cast<std::size_t>(k); }
    static std::string text_of(key k) { return std::string{ftrace_key_names[index(k)]} + '='; }
    bool has(key k) const noexcept { return values_[index(k)].data() != nullptr; }

    [[noreturn]] static void fail(std::string_view value, std::string expected) {
        throw input_error(std::string{value}, std::move(expected));
    }
    std::string_view value(key k) const {
        if (!has(k)) fail(all_, "the key " + text_of(k) + " in " + std::string{event_});
        return values_[index(k)];
    }
    template <class Number>
    Number number(key k, Number min, Number max, const char* what) const {
        const std::string_view text = value(k);
        if (const auto n = parse_number<Number>(text, min, max)) return *n;
        fail(text,
             text_of(k) + " with " + what + " from " + std::to_string(min) + " to " + std::to_string(max));
    }

    std::string_view event_;
    std::string_view all_;
    std::array<std::string_view, ftrace_key_count> values_{};
};

}  // namespace tmigr::detail

#endif
