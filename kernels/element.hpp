// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "penstock/device/build_flavour.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// What the elements of an array are, where the array itself is bytes.
enum class ElementType : std::uint8_t { u32, i32, u64, i64, f32, f64 };

/// What is made of two elements. Sums of integers wrap around.
enum class ReduceOperation : std::uint8_t { sum, min, max };

constexpr std::size_t element_bytes(ElementType type) {
  return type == ElementType::u32 || type == ElementType::i32 || type == ElementType::f32 ? 4 : 8;
}

/// The ElementType of a C++ type.
template <class Element>
constexpr ElementType element_type_of() {
  static_assert(std::is_arithmetic_v<Element> && (sizeof(Element) == 4 || sizeof(Element) == 8),
                "Elements are integers or floating-point numbers of 4 or 8 bytes.");
  constexpr bool large = sizeof(Element) == 8;
  if constexpr (std::is_floating_point_v<Element>) return large ? ElementType::f64 : ElementType::f32;
  if constexpr (std::is_signed_v<Element>) return large ? ElementType::i64 : ElementType::i32;
  return large ? ElementType::u64 : ElementType::u32;
}

/// Calls `body(Element{})` with the C++ type.
template <class Body>
void with_element_type(ElementType type, Body body) {
  switch (type) {
    case ElementType::u32:
      return body(std::uint32_t{});
    case ElementType::i32:
      return body(std::int32_t{});
    case ElementType::u64:
      return body(std::uint64_t{});
    case ElementType::i64:
      return body(std::int64_t{});
    case ElementType::f32:
      return body(float{});
    case ElementType::f64:
      return body(double{});
  }
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
