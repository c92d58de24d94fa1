// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace penstock::support {

/// How many inputs a test makes by seeds from 1 on: so many, or what the variable PENSTOCK_SEEDS says.
inline std::uint64_t seeds(std::uint64_t usually) {
  char const* const wish = std::getenv("PENSTOCK_SEEDS");
  return wish == nullptr ? usually : std::stoull(wish);
}

}  // namespace penstock::support
