// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "penstock/core/error.hpp"

namespace penstock {

/// A tile's bytes as elements of a type: as many whole ones as there are.
///
/// Units:   elements.
/// Threads: any.
/// Throws:  Error of kind bad_argument, if the bytes do not begin where such an element may; those of a tile do.
template <class Element>
std::span<Element const> elements(std::span<std::byte const> bytes) {
  static_assert(std::is_trivially_copyable_v<Element>, "only what may be copied byte by byte lies in a tile");
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(Element) != 0) {
    throw Error(ErrorKind::bad_argument,
                "These bytes do not begin where such an element may: begin at a multiple of its alignment.");
  }
  return {reinterpret_cast<Element const*>(bytes.data()), bytes.size() / sizeof(Element)};
}
template <class Element>
std::span<Element> elements(std::span<std::byte> bytes) {
  auto const all = elements<Element>(std::span<std::byte const>(bytes));
  return {const_cast<Element*>(all.data()), all.size()};
}

}  // namespace penstock
