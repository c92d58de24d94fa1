// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock {

/// Which of the two default streams is meant by "0".
enum class Flavour : std::uint8_t {
  per_thread,  ///< Each thread's own.
  legacy,      ///< One for the whole process.
};

/// "per-thread" or "legacy".
constexpr std::string_view flavour_name(Flavour flavour) noexcept {
  return flavour == Flavour::legacy ? "legacy" : "per-thread";
}

}  // namespace penstock
