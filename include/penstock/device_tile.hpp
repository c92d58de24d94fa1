// SPDX-License-Identifier: Apache-2.0
// A tile as a device sees it, as bytes and as elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "penstock/device_memory.hpp"
#include "penstock/elements.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// One tile as a stage sees it: in device memory or, for a stage that reads once, in host memory at the device's
/// address. Kernels read and write it. The host cannot, since the device may still be copying when the stage is called.
///
/// Shape: input and more_inputs hold what the source filled, output is the whole output part; with in_place output and
/// input start at the same byte.
struct DeviceTile {
  DeviceSpan<std::byte> input = {};
  DeviceSpan<std::byte> output = {};
  std::uint64_t sequence = 0;
  std::uint64_t tag = 0;
  /// The second, third and fourth input; empty for a tile that has none (TileShape::more_input_bytes).
  std::array<DeviceSpan<std::byte>, most_more_inputs> more_inputs = {};
  /// Number of the tile in its pool, from 0: memory that a stage keeps for each tile has this place.
  std::uint32_t index = 0;

  bool has_more_inputs() const noexcept {
    return !(more_inputs[0].empty() && more_inputs[1].empty() && more_inputs[2].empty());
  }
};

/// Calls `body(DeviceTile const& stretch, std::size_t count)` for the tiles of a batch, with those that are consecutive
/// as one stretch: it has the bytes of all `count` of them, and sequence and tag of the first. A tile with several
/// inputs is a stretch of its own.
template <class Body>
void for_each_stretch(std::span<DeviceTile const> tiles, Body body) {
  auto const behind = [](DeviceSpan<std::byte> one, DeviceSpan<std::byte> next) {
    return (one.empty() && next.empty()) || one.address() + one.size() == next.address();
  };
  auto const joined = [](DeviceSpan<std::byte> one, DeviceSpan<std::byte> next) {
    return DeviceSpan(one.address(), one.size() + next.size());
  };
  for (std::size_t from = 0; from < tiles.size();) {
    DeviceTile stretch = tiles[from];
    std::size_t count = 1;
    for (; from + count < tiles.size() && !stretch.has_more_inputs(); ++count) {
      DeviceTile const& next = tiles[from + count];
      if (next.has_more_inputs()) break;
      if (!behind(stretch.input, next.input) || !behind(stretch.output, next.output)) break;
      stretch.input = joined(stretch.input, next.input);
      stretch.output = joined(stretch.output, next.output);
    }
    body(std::as_const(stretch), count);
    from += count;
  }
}

/// A tile's parts as elements. Stage functions name it instead of DeviceTile: `DeviceTileOf<float>` if input and output
/// have the same type, `DeviceTileOf<float, double>`, and `DeviceTileOf<Inputs<float, float>, double>`, where `inputs`
/// has the elements of each input: `auto const [a, b] = tile.inputs;`.
///
/// Shape:  as many whole elements as the source filled, and as the output part holds.
/// Units:  elements.
template <class In, class Out = In>
struct DeviceTileOf {
  DeviceTileOf(DeviceTile const& tile)  // NOLINT(google-explicit-constructor): a view of the same tile.
      : input(tile.input.as<In const>()), output(tile.output.as<Out>()), sequence(tile.sequence), tag(tile.tag) {}

  DeviceSpan<In const> input;
  DeviceSpan<Out> output;
  std::uint64_t sequence;
  std::uint64_t tag;
};

template <class In, class Out>
requires std::is_void_v<Out>
struct DeviceTileOf<In, Out> {
  DeviceTileOf(DeviceTile const& tile)  // NOLINT(google-explicit-constructor): a view of the same tile.
      : input(tile.input.as<In const>()), sequence(tile.sequence), tag(tile.tag) {}

  DeviceSpan<In const> input;
  std::uint64_t sequence;
  std::uint64_t tag;
};

template <class First, class... More, class Out>
struct DeviceTileOf<Inputs<First, More...>, Out> {
  DeviceTileOf(DeviceTile const& tile)  // NOLINT(google-explicit-constructor): a view of the same tile.
      : DeviceTileOf(tile, std::index_sequence_for<More...>()) {}

  std::tuple<DeviceSpan<First const>, DeviceSpan<More const>...> inputs;
  DeviceSpan<Out> output;
  std::uint64_t sequence;
  std::uint64_t tag;

 private:
  template <std::size_t... Which>
  DeviceTileOf(DeviceTile const& tile, std::index_sequence<Which...>)
      : inputs(tile.input.as<First const>(), tile.more_inputs[Which].template as<More const>()...),
        output(tile.output.as<Out>()),
        sequence(tile.sequence),
        tag(tile.tag) {}
};

/// Element types that a function's tile parameter states: none for DeviceTile, all for DeviceTileOf.
template <class Tile>
struct TypesOfParameter {
  static constexpr TileTypes value = {};
};
template <class First, class... More, class Out>
struct TypesOfParameter<DeviceTileOf<Inputs<First, More...>, Out>> {
  static constexpr TileTypes value = {
      .inputs = 1 + sizeof...(More), .input = {part_type<First>(), part_type<More>()...}, .output = part_type<Out>()};
};
template <class In, class Out>
struct TypesOfParameter<DeviceTileOf<In, Out>> {
  static constexpr TileTypes value = {.inputs = 1, .input = {part_type<In>()}, .output = part_type<Out>()};
};

template <class Function>
struct FirstParameter;
template <class Result, class First, class... Others>
struct FirstParameter<std::function<Result(First, Others...)>> {
  using Type = std::remove_cvref_t<First>;
};

/// Element types that a class of stages states by a public `using Takes = DeviceTileOf<...>`; unknown if it
/// states none.
template <class Own>
constexpr TileTypes types_of_stage() noexcept {
  if constexpr (requires { typename Own::Takes; }) {
    return TypesOfParameter<typename Own::Takes>::value;
  } else {
    return {};
  }
}

/// Element types that a stage function expects of the tile's parts; unknown if it is a template.
template <class Body>
constexpr TileTypes types_of_function() noexcept {
  if constexpr (requires(Body body) { std::function(body); }) {
    using Function = decltype(std::function(std::declval<Body&>()));
    return TypesOfParameter<typename FirstParameter<Function>::Type>::value;
  } else {
    return {};
  }
}

}  // namespace penstock
