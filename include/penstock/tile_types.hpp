// SPDX-License-Identifier: Apache-2.0
// What the elements of a tile are, as far as that is known: so that a stage for other tiles is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace penstock {

/// Of inputs beside the first.
inline constexpr std::size_t most_more_inputs = 3;

/// What an element is. Bytes and structures are `any`: they go with every other type.
struct PartType {
  enum class Kind : std::uint8_t { any, integer, real };
  Kind kind = Kind::any;
  std::uint8_t bytes = 0;  ///< 0 for any.

  /// True unless both are numbers, and of different kinds or sizes.
  constexpr bool goes_with(PartType other) const noexcept {
    return kind == Kind::any || other.kind == Kind::any || *this == other;
  }
  constexpr bool operator==(PartType const&) const = default;
};

/// Of `void`, or of a type that stands for a part that is not there, it is any.
template <class Element>
constexpr PartType part_type() noexcept {
  using Kind = PartType::Kind;
  if constexpr (std::is_arithmetic_v<Element> || std::is_enum_v<Element>) {
    // A byte says nothing of what it is a part of.
    if constexpr (sizeof(Element) > 1) {
      return {std::is_floating_point_v<Element> ? Kind::real : Kind::integer, sizeof(Element)};
    }
  }
  return {};
}

/// What the parts of a tile are.
struct TileTypes {
  std::size_t inputs = 0;  ///< How many there are; 0 if that is not known.
  std::array<PartType, 1 + most_more_inputs> input = {};
  PartType output = {};
};

}  // namespace penstock
