// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "observe/cupti/stand_in.hpp"

/// Used by the stand-in for the driver: that for CUPTI, if it is loaded, and how many calls there were.
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
