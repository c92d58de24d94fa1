// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Calls by which the stand-in for the driver tells the stand-in for CUPTI of what it does, as the real two do by ways
/// of their own.
struct StandIn {
  /// Is called at the begin (false) and at the end (true) of a call; `result` is there at the end.
  void (*call)(std::uint32_t number, bool at_end, void const* parameters, int const* result, std::uint64_t* own,
               std::uint32_t correlation) = nullptr;
  /// Tells what the device does from now on for so many nanoseconds. `kind`: CUPTI's; `way`, `from`, `to`: of a copy.
  void (*work)(std::uint32_t kind, std::uint32_t correlation, std::uint32_t stream, std::uint64_t begin,
               std::uint64_t end, std::uint64_t bytes, int way, int from, int to) = nullptr;
  std::uint64_t (*now)() = nullptr;
};
