// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace penstock
