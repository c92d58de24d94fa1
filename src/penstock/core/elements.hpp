// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "penstock/core/error.hpp"
#include "penstock/core/tile.hpp"

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

/// The types of the elements of a tile's inputs, where it has several: `Inputs<float, float>`.
template <class... In>
struct Inputs {
  static_assert(sizeof...(In) >= 1 && sizeof...(In) <= 1 + most_more_inputs, "a tile has one to four inputs");
};

/// `Inputs<...>` for one type or for several.
template <class In>
struct InputsOf {
  using Type = Inputs<In>;
};
template <class... In>
struct InputsOf<Inputs<In...>> {
  using Type = Inputs<In...>;
};

/// The bytes of so many elements; of `void`, none.
///
/// Throws: Error of kind bad_argument, if that is more than a process can address.
template <class Element>
std::size_t bytes_of_elements(std::size_t count) {
  if constexpr (std::is_void_v<Element>) {
    return 0;
  } else {
    static_assert(std::is_trivially_copyable_v<Element>, "only what may be copied byte by byte lies in a tile");
    if (count > (std::size_t{1} << 47) / sizeof(Element)) {
      throw Error(ErrorKind::bad_argument, "A tile of " + std::to_string(count) +
                                               " elements is more than a process can address: ask for fewer.");
    }
    return count * sizeof(Element);
  }
}

/// The shape of a tile that holds `count` elements of each input and `output_count` of the output: `tile_of<float>(n)`
/// for input and output alike, `tile_of<Inputs<float, float>, double>(n)`. `void` stands for a part that there is not:
/// `tile_of<float, void>(n)` brings nothing back.
///
/// Units:  elements.
/// Throws: Error of kind bad_argument, if that is more bytes than a process can address.
template <class In, class Out = In>
TileShape tile_of(std::size_t count, std::size_t output_count) {
  TileShape shape{.output_bytes = bytes_of_elements<Out>(output_count)};
  auto const add = [&]<class First, class... More>(Inputs<First, More...>) {
    shape.input_bytes = bytes_of_elements<First>(count);
    std::size_t which = 0;
    ((shape.more_input_bytes[which++] = bytes_of_elements<More>(count)), ...);
  };
  add(typename InputsOf<In>::Type());
  return shape;
}
/// The same with as many elements of the output.
template <class In, class Out = In>
TileShape tile_of(std::size_t count) {
  return tile_of<In, Out>(count, count);
}

}  // namespace penstock
