// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock {

/// The checksum of lz4: XXH32 with the seed 0, of bytes that come one after the other.
///
/// Threads: one at a time.
/// Source:  xxHash fast digest algorithm, version 0.1.1, "XXH32 algorithm description".
class Xxhash32 {
 public:
  void add(std::span<std::byte const> bytes) noexcept;
  /// Hash of all bytes so far.
  std::uint32_t value() const noexcept;

 private:
  static constexpr std::uint32_t prime_1 = 0x9E3779B1, prime_2 = 0x85EBCA77, prime_3 = 0xC2B2AE3D, prime_4 = 0x27D4EB2F,
                                 prime_5 = 0x165667B1;
  static constexpr std::size_t stripe_bytes = 16;

  void add_stripes(std::span<std::byte const> bytes) noexcept;

  std::array<std::uint32_t, 4> lanes_{prime_1 + prime_2, prime_2, 0, 0 - prime_1};
  std::uint64_t bytes_ = 0;
  std::array<std::byte, stripe_bytes> rest_{};  ///< Bytes that do not fill a stripe yet.
};

}  // namespace penstock
