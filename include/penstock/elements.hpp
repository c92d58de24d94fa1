// SPDX-License-Identifier: Apache-2.0
// The bytes of a tile as elements of a type: `tile_of`, `elements`, and `TileResult` for sinks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "penstock/error.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// A tile's bytes as elements of a type: as many whole elements as fit.
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

/// The types of the elements of a tile's inputs, if it has several: `Inputs<float, float>`.
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

/// The size in bytes of `count` elements; 0 for `void`.
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
/// for input and output alike, `tile_of<Inputs<float, float>, double>(n)`. `void` stands for a missing part:
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
    shape.types = {
        .inputs = 1 + sizeof...(More), .input = {part_type<First>(), part_type<More>()...}, .output = part_type<Out>()};
  };
  add(typename InputsOf<In>::Type());
  return shape;
}
/// The same with as many elements of the output.
template <class In, class Out = In>
TileShape tile_of(std::size_t count) {
  return tile_of<In, Out>(count, count);
}

/// The result of one tile as a sink gets it, as elements: the output of a tile that is done, or the failure. A sink
/// takes it instead of Completion: `[&](TileResult<float> result) { ... }`. The output's type comes first, since many
/// sinks read nothing else: the result of a `tile_of<In, Out>` is a `TileResult<Out, In>`.
///
/// Threads: the sink's, while it is called. A sink that keeps the tile takes a Completion&, which has the loan.
template <class Out = std::byte, class In = Out>
class TileResult {
 public:
  TileResult(Completion& completion) noexcept  // NOLINT(google-explicit-constructor): a view of the same tile.
      : completion_(&completion) {}

  /// True if the tile is done; only then does it have an output.
  explicit operator bool() const noexcept { return completion_->ok(); }
  bool ok() const noexcept { return completion_->ok(); }
  /// The output that the stage produced.
  ///
  /// Units:  elements, as many whole ones as there are.
  /// Throws: Error of kind bad_argument, if the tile is not done; the text says why it is not.
  std::span<Out const> output() const {
    expect_done();
    return elements<Out>(completion_->loan->produced_output());
  }
  /// The input that the source filled; `which` selects another input: 1 is the second. With TileShape::in_place it is
  /// the output.
  ///
  /// Units:  elements, as many whole ones as there are.
  /// Throws: as output.
  std::span<In const> input() const { return input_as<In>(0); }
  template <class Element>
  std::span<Element const> input_as(std::size_t which) const {
    expect_done();
    return elements<Element>(completion_->loan->filled_input(which));
  }

  Outcome outcome() const noexcept { return completion_->outcome; }
  /// The place and reason of the failure; null unless the tile failed.
  Failure const* failure() const noexcept { return completion_->failure.get(); }
  /// The reason why there is no output, as a sentence; empty if there is one.
  std::string problem() const {
    if (ok()) return {};
    if (Failure const* const failed = failure()) return failed->stage + ": " + failed->reason;
    return "The tile was cancelled before a device had started it.";
  }
  /// Its place in the source's order.
  std::uint64_t sequence() const noexcept { return completion_->loan->sequence; }
  /// The source's own number.
  std::uint64_t tag() const noexcept { return completion_->loan->tag; }

 private:
  void expect_done() const {
    if (ok()) return;
    throw Error(ErrorKind::bad_argument, "Tile " + std::to_string(sequence()) +
                                             " has no output: ask whether the result is ok before you read it. " +
                                             problem());
  }

  Completion const* completion_;
};

}  // namespace penstock
