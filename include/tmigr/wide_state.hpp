// SPDX-License-Identifier: BSL-1.0
#ifndef TMIGR_WIDE_STATE_HPP
#define TMIGR_WIDE_STATE_HPP

#include <tmigr/expiry.hpp>
#include <tmigr/state.hpp>

namespace tmigr {

/// The compiler's 128-bit unsigned integer; 64-bit targets have it.
__extension__ typedef unsigned __int128 uint128;

/// 16 children, 64 bits of seq.
using state128x16 = basic_state<uint128, 16>;
/// 32 children, 64 bits of seq.
using state128x32 = basic_state<uint128, 32>;
/// 48 children, 32 bits of seq.
using state128x48 = basic_state<uint128, 48>;

/// 64 bits of due time, 64 of tag.
using slot128 = basic_slot<uint128, 64>;

static_assert(sizeof(state128x48) == 16 && state128x48::seq_bits == 32);

}  // namespace tmigr

#endif
