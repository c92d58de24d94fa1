// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace penstock::preload {

/// What the library is to do, and where it counts: "look:FILE" or "turn:FILE", where FILE has room for TurnCounts.
inline constexpr char const* order_variable = "PENSTOCK_TURN";

/// Which default stream a call that names none means, by the entry point that it came through.
enum class Variant : std::uint8_t { legacy, per_thread };

/// How a call names its stream: by 0, which is the default stream, or by the handle of one of the two default streams.
inline constexpr std::size_t names_of_default_streams = 3;
inline constexpr std::size_t by_zero = 0, by_legacy_handle = 1, by_per_thread_handle = 2;

/// Counted by all processes of a run, in a file that they share. It starts as zeros.
struct TurnCounts {
  using Count = std::atomic<std::uint64_t>;
  Count processes;         ///< That looked a driver's entry point up.
  Count look_ups;          ///< Of entry points of the driver.
  Count turned;            ///< Answered with the per-thread entry point in place of the legacy one.
  Count asked_per_thread;  ///< Asked for the per-thread entry point by themselves.
  /// Calls in default streams, by variant and by how they name them. Only of "look".
  std::array<std::array<Count, names_of_default_streams>, 2> calls;
  Count not_counted;  ///< Entry points whose calls could not be counted, for want of room.
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace penstock::preload
