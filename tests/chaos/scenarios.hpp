// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "chaos/chaos_case.hpp"

namespace penstock::chaos {

struct Scenario {
  std::string_view name;
  void (*run)(Case&);
  unsigned weight;  ///< Seeds that draw it, of as many as the sum of all weights.
};

/// The scenario of this name, or if that is "all" the one that the seed draws; null if there is none.
inline Scenario const* choose(std::span<Scenario const> scenarios, std::string_view name, std::uint64_t seed) {
  unsigned sum = 0;
  for (Scenario const& scenario : scenarios) sum += scenario.weight;
  std::uint64_t drawn = Draw(seed).below(sum);
  for (Scenario const& scenario : scenarios) {
    if (name == "all" ? drawn < scenario.weight : name == scenario.name) return &scenario;
    drawn -= scenario.weight;
  }
  return nullptr;
}

/// The value of an option; empty if it is no number.
inline std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace penstock::chaos
