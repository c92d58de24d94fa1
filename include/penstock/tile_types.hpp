// SPDX-License-Identifier: Apache-2.0
// Element types of a tile, as far as known, so that a stage for other tiles is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace penstock {

/// Maximum number of inputs in addition to the first.
inline constexpr std::size_t most_more_inputs = 3;

/// Type of an element. Bytes and structures are `any`: they are compatible with every other type.
struct PartType {
  enum class Kind : std::uint8_t { any, integer, real };
  Kind kind = Kind::any;
  std::uint8_t bytes = 0;  ///< 0 for any.

  /// False if both are numbers, and of different kinds or sizes; otherwise true.
  constexpr bool goes_with(PartType other) const noexcept {
    return kind == Kind::any || other.kind == Kind::any || *this == other;
  }
  constexpr bool operator==(PartType const&) const = default;
};

/// The PartType of a C++ type; `any` for `void` and for types that stand for a missing part.
template <class Element>
constexpr PartType part_type() noexcept {
  using Kind = PartType::Kind;
  if constexpr (std::is_arithmetic_v<Element> || std::is_enum_v<Element>) {
    // A byte does not tell what it is a part of.
    if constexpr (sizeof(Element) > 1) {
      return {std::is_floating_point_v<Element> ? Kind::real : Kind::integer, sizeof(Element)};
    }
  }
  return {};
}

/// Types of the parts of a tile.
struct TileTypes {
  std::size_t inputs = 0;  ///< Number of inputs; 0 if not known.
  std::array<PartType, 1 + most_more_inputs> input = {};
  PartType output = {};
};

}  // namespace penstock
