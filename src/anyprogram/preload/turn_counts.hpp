// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace penstock::preload {

/// The environment variable that says what the library does: "look:FILE" or "turn:FILE". FILE has the size of
/// TurnCounts, and gets the counts. Without the variable the library changes nothing.
inline constexpr char const* mode_variable = "PENSTOCK_TURN";

/// The variant of an entry point: which default stream its stream 0 is.
enum class Variant : std::uint8_t { legacy, per_thread };

/// A call names a default stream by 0, or by the handle of one of the two default streams, or it names another one.
inline constexpr std::size_t ways_to_name_a_stream = 4;
inline constexpr std::size_t by_zero = 0, by_legacy_handle = 1, by_per_thread_handle = 2, by_own_handle = 3;

/// The counts of all processes of a run, in a file that they share. The file starts as zeros.
struct TurnCounts {
  using Count = std::atomic<std::uint64_t>;
  Count processes;         ///< Processes that looked up an entry point of the driver.
  Count look_ups;          ///< Look-ups of entry points of the driver.
  Count turned;            ///< Look-ups that returned the per-thread entry point instead of the legacy one.
  Count asked_per_thread;  ///< Look-ups by which the program itself asked for the per-thread entry point.
  /// Calls in streams, by variant and by how they name the stream. Counted for "look" only.
  std::array<std::array<Count, ways_to_name_a_stream>, 2> calls;
  Count not_counted;  ///< Entry points whose calls are not counted, because there was no room for a trampoline.
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace penstock::preload
