// SPDX-License-Identifier: Apache-2.0
#include "penstock/kernels/mode_s_rules.hpp"
#include "penstock/mode_s.hpp"

namespace penstock {

std::uint32_t ModeSFrame::remainder() const noexcept {
  static constexpr ModeSSyndromes syndromes = make_mode_s_syndromes();
  std::uint32_t value = 0;
  unsigned const bits = 8U * length;
  for (unsigned bit = 0; bit < bits; ++bit) {
    if ((std::uint32_t{bytes[bit / 8]} >> (7U - bit % 8) & 1U) != 0)
      value ^= syndromes.of[mode_s_long_bits - bits + bit];
  }
  return value;
}

}  // namespace penstock
