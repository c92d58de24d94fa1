// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/radio/mode_s_rules.hpp"
#include "penstock/radio.hpp"

namespace penstock {
namespace {

/// Parity remainders: [bytes between the byte and the parity field][byte value].
using OfDistance = std::array<std::array<std::uint32_t, 256>, 11>;
constexpr OfDistance make_tables() {
  OfDistance tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte << 16U;
    for (auto& table : tables) {
      for (int bit = 0; bit < 8; ++bit) value = value << 1U ^ ((value & 0x800000U) != 0 ? mode_s_generator : 0U);
      table[byte] = value &= 0xFFFFFFU;
    }
  }
  return tables;
}

}  // namespace

std::uint32_t ModeSFrame::remainder() const noexcept {
  static constexpr OfDistance tables = make_tables();
  constexpr std::size_t parity_bytes = 3;
  if (length < parity_bytes || length > bytes.size()) return 0;
  std::size_t const end = length - parity_bytes;
  std::uint32_t value = std::uint32_t{bytes[end]} << 16U | std::uint32_t{bytes[end + 1]} << 8U | bytes[end + 2];
  // The look-ups do not depend on each other.
  for (std::size_t k = 0; k < end; ++k) value ^= tables[end - 1 - k][bytes[k]];
  return value;
}

}  // namespace penstock
