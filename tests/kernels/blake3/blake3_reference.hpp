// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penstock::support {

/// BLAKE3 as its paper words it, one block after the other, sharing nothing with what it checks.
///
/// Source: O'Connor, Aumasson, Neves, Wilcox-O'Hearn: BLAKE3, one function, fast everywhere (2020), section 2.
std::string blake3_reference(std::span<std::byte const> input);

/// `size` bytes that look random and are the same in each run.
std::vector<std::byte> noise(std::size_t size, std::uint64_t seed = 1);

}  // namespace penstock::support
