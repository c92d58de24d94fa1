// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace penstock::support {

/// Number of inputs that a test makes by seeds: `usually`, or the number in the variable PENSTOCK_SEEDS.
inline std::uint64_t seeds(std::uint64_t usually) {
  char const* const wish = std::getenv("PENSTOCK_SEEDS");
  return wish == nullptr ? usually : std::stoull(wish);
}
/// The first of the seeds that a differential test takes: 1, or what the variable PENSTOCK_DIFFERENTIAL_SEED says.
inline std::uint64_t first_seed() {
  char const* const wish = std::getenv("PENSTOCK_DIFFERENTIAL_SEED");
  return wish == nullptr ? 1 : std::stoull(wish);
}

}  // namespace penstock::support
