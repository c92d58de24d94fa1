// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/core/elements.hpp"
#include "penstock/core/tile.hpp"

namespace penstock {

/// The input of a pipeline, by the user: it says what comes next, one at a time, and fills it in, many at a time.
class Source {
 public:
  virtual ~Source() = default;
  /// Decides what the tile will hold and notes it (in `tile.tag`, or by `tile.sequence`); false at the end of the
  /// input, for good.
  ///
  /// The order of these calls is the source's order: `tile.sequence` is 0, 1, 2 ...
  /// Threads: the producers, one at a time.
  /// Blocks:  as it likes, but no stop and no loss of a device wakes it, and the run cannot end before it returns.
  /// Throws:  anything; the input then ends here, and the report says why.
  virtual bool next(Tile& tile) = 0;
  /// Puts the bytes into `tile.input()` and says how many; what it puts into other inputs, it says in
  /// `tile.more_filled`.
  ///
  /// Threads: the producers, several at a time.
  /// Throws:  anything; this tile then fails with stage "source" and keeps its place, the others go on.
  virtual std::size_t fill(Tile& tile) = 0;
  /// What the report says of how the source did its work, a sentence each.
  ///
  /// Threads: the one that waits for the run, once all is filled.
  virtual std::vector<std::string> remarks() const { return {}; }
};

/// A source from one function that fills a tile and says how many bytes, or nothing at the end of the input; `serial`
/// makes it.
///
/// Threads: the function is called by one producer at a time.
/// Throws:  what the function throws ends the input, as Source::next.
template <class Function>
class SerialSource final : public Source {
 public:
  /// Throws: Error of kind bad_argument, if the function is empty.
  explicit SerialSource(Function function) : function_(std::move(function)) {
    if constexpr (std::is_constructible_v<Function, std::nullptr_t>) {
      if (function_ == nullptr) {
        throw Error(ErrorKind::bad_argument, "There is no source: the function is empty.");
      }
    }
  }
  bool next(Tile& tile) override {
    std::optional<std::size_t> const filled = function_(tile);
    tile.filled = filled.value_or(0);
    return filled.has_value();
  }
  std::size_t fill(Tile& tile) override { return tile.filled; }

 private:
  Function function_;
};

/// A source whose function knows only when it is called where the input ends, or what comes next:
/// `pipeline.run(serial(read), stage, sink)`. `read(Tile&)` fills the tile and says how many bytes, or nothing at the
/// end. One producer at a time calls it, so the work of filling is done by one thread. Where a function can fill any
/// tile by its place, `generate` lets all producers fill at once.
template <class Function>
requires std::is_invocable_r_v<std::optional<std::size_t>, Function&, Tile&> SerialSource<Function> serial(
    Function function) {
  return SerialSource<Function>(std::move(function));
}

/// Where a tile lies in the input of a generated source. It stands for its index where a number is wanted.
struct TilePlace {
  std::uint64_t index = 0;   ///< 0, 1, 2 ...
  std::uint64_t offset = 0;  ///< Elements before the tile, if all tiles before it are full.
  constexpr operator std::uint64_t() const noexcept { return index; }  // NOLINT(google-explicit-constructor)
};

/// A source of `count` tiles from one function, which all producers call at once, each for a tile of its own;
/// `generate` makes it.
///
/// Units:   elements.
/// Threads: the function is called by all producers at once.
/// Throws:  what the function throws fails the tile with stage "source", as Source::fill.
template <class Fill, class First, class... More>
class GeneratedSource final : public Source {
 public:
  GeneratedSource(std::uint64_t count, Fill fill) : count_(count), fill_(std::move(fill)) {}
  bool next(Tile& tile) override { return tile.sequence < count_; }
  std::size_t fill(Tile& tile) override { return fill(tile, std::index_sequence_for<More...>()); }

 private:
  template <std::size_t... Which>
  std::size_t fill(Tile& tile, std::index_sequence<Which...>) {
    auto const first = elements<First>(tile.input());
    TilePlace const place{tile.sequence, tile.sequence * first.size()};
    auto const filled = static_cast<std::size_t>(fill_(place, first, elements<More>(tile.input(Which + 1))...));
    ((tile.more_filled[Which] = filled * sizeof(More)), ...);
    return filled * sizeof(First);
  }

  std::uint64_t const count_;
  Fill fill_;
};

/// The elements that a function fills: those of its parameters behind the first.
template <class Function>
struct FilledElements;
template <class Result, class Place, class... Element>
struct FilledElements<std::function<Result(Place, std::span<Element>...)>> {
  template <class Fill>
  using Source = GeneratedSource<Fill, Element...>;
};

/// A source of `count` tiles, filled by all producers at once: `pipeline.run(generate(64, fill), stage, sink)`, where
/// `fill(TilePlace, std::span<float> input)` puts elements into the input, all of a tile's, and says how many. With
/// several inputs it gets a span for each, and says how many elements of each it filled, the same number for all.
///
/// Units:   tiles; elements.
/// Threads: all producers call the function at once. `serial` is for a function that cannot bear that.
/// Throws:  what the function throws fails the tile with stage "source", as Source::fill.
template <class Fill>
auto generate(std::uint64_t count, Fill fill) {
  using Filled = FilledElements<decltype(std::function(fill))>;
  return typename Filled::template Source<Fill>(count, std::move(fill));
}
/// The same for a function whose parameters are not known before it is called: `generate<float>(64, fill)`.
template <class First, class... More, class Fill>
GeneratedSource<Fill, First, More...> generate(std::uint64_t count, Fill fill) {
  return GeneratedSource<Fill, First, More...>(count, std::move(fill));
}

}  // namespace penstock
