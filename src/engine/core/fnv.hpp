// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock {

/// FNV-1a, 64 bits, of no bytes.
inline constexpr std::uint64_t fnv_of_nothing = 0xcbf29ce484222325;

/// FNV-1a of `bytes` behind those that `before` is of. It does not depend on how bytes are cut into pieces.
///
/// Threads: any.
/// Source:  FNV-1a, 64 bits, by Fowler, Noll and Vo.
constexpr std::uint64_t fnv(std::span<std::byte const> bytes, std::uint64_t before = fnv_of_nothing) noexcept {
  for (std::byte const byte : bytes) before = (before ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  return before;
}

}  // namespace penstock
