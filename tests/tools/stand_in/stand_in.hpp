// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

/// How the stand-in for the driver tells the stand-in for CUPTI of what it does, as the real two do by ways of their
/// own.
struct StandIn {
  /// At the begin (false) and at the end (true) of a call; `result` at the end.
  void (*call)(std::uint32_t number, bool at_end, void const* parameters, int const* result, std::uint64_t* own,
               std::uint32_t correlation) = nullptr;
  /// What the device does from now on for so many nanoseconds. `kind`: CUPTI's; `way`, `from`, `to`: of a copy.
  void (*work)(std::uint32_t kind, std::uint32_t correlation, std::uint32_t stream, std::uint64_t begin,
               std::uint64_t end, std::uint64_t bytes, int way, int from, int to) = nullptr;
  std::uint64_t (*now)() = nullptr;
};

/// In the stand-in for the driver: that for CUPTI, if it is loaded, and how many calls there were.
inline StandIn* cupti = nullptr;
inline std::atomic<std::uint32_t> calls{0};

/// A call with its number among CUPTI's, and with its parameters as the real driver has them. `body` does it.
template <class Parameters, class Body>
int told(std::uint32_t number, Parameters const& parameters, Body const& body) {
  std::uint32_t const correlation = ++calls;
  std::uint64_t mine = 0;
  if (cupti != nullptr) cupti->call(number, false, &parameters, nullptr, &mine, correlation);
  int const result = body(correlation);
  if (cupti != nullptr) cupti->call(number, true, &parameters, &result, &mine, correlation);
  return result;
}
