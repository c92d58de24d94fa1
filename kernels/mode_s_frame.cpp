// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>

#include "penstock/kernels/mode_s_rules.hpp"
#include "penstock/mode_s.hpp"

namespace penstock {
namespace {

/// What a byte in front of 24 bits leaves of them.
constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte << 16U;
    for (int bit = 0; bit < 8; ++bit) value = value << 1U ^ ((value & 0x800000U) != 0 ? mode_s_generator : 0U);
    table[byte] = value & 0xFFFFFFU;
  }
  return table;
}

}  // namespace

std::uint32_t ModeSFrame::remainder() const noexcept {
  static constexpr std::array<std::uint32_t, 256> table = make_table();
  constexpr std::size_t parity_bytes = 3;
  if (length < parity_bytes) return 0;
  std::uint32_t value = 0;
  std::size_t const end = length - parity_bytes;
  for (std::size_t k = 0; k < end; ++k) value = (value << 8U ^ table[(value >> 16U ^ bytes[k]) & 0xFFU]) & 0xFFFFFFU;
  return value ^ (std::uint32_t{bytes[end]} << 16U | std::uint32_t{bytes[end + 1]} << 8U | bytes[end + 2]);
}

}  // namespace penstock
