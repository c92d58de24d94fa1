// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
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
  /// Puts the bytes into `tile.input()` and says how many.
  ///
  /// Threads: the producers, several at a time.
  /// Throws:  anything; this tile then fails with stage "source" and keeps its place, the others go on.
  virtual std::size_t fill(Tile& tile) = 0;
  /// What the report says of how the source did its work, a sentence each.
  ///
  /// Threads: the one that waits for the run, once all is filled.
  virtual std::vector<std::string> remarks() const { return {}; }
};

/// A source from one function that fills a tile and says how many bytes, or nothing at the end of the input.
///
/// Threads: the function is called by one producer at a time.
/// Throws:  what the function throws ends the input, as Source::next.
template <class Function>
class FunctionSource final : public Source {
 public:
  explicit FunctionSource(Function function) : function_(std::move(function)) {}
  bool next(Tile& tile) override {
    std::optional<std::size_t> const filled = function_(tile);
    tile.filled = filled.value_or(0);
    return filled.has_value();
  }
  std::size_t fill(Tile& tile) override { return tile.filled; }

 private:
  Function function_;
};

/// A source of `count` tiles from one function, of which several are filled at once: `fill(index, room)` puts elements
/// into `room`, all of a tile's input, and says how many. `index` is the tile's place, 0, 1, 2 ...
///
/// Units:   elements.
/// Threads: the function is called by all producers at once.
/// Throws:  what the function throws fails the tile with stage "source", as Source::fill.
template <class Element, class Fill>
class Generated final : public Source {
 public:
  Generated(std::uint64_t count, Fill fill) : count_(count), fill_(std::move(fill)) {}
  bool next(Tile& tile) override { return tile.sequence < count_; }
  std::size_t fill(Tile& tile) override {
    return sizeof(Element) * static_cast<std::size_t>(fill_(tile.sequence, elements<Element>(tile.input())));
  }

 private:
  std::uint64_t const count_;
  Fill fill_;
};

/// `pipeline.run(generate<float>(64, fill), stage, sink)`: see Generated.
template <class Element = std::byte, class Fill>
requires std::is_invocable_r_v<std::size_t, Fill&, std::uint64_t, std::span<Element>> Generated<Element, Fill> generate(
    std::uint64_t count, Fill fill) {
  return Generated<Element, Fill>(count, std::move(fill));
}

}  // namespace penstock
