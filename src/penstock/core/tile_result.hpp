// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "penstock/core/completion.hpp"
#include "penstock/core/elements.hpp"

namespace penstock {

/// What a sink gets of one tile, as elements: the output of a tile that is done, or what went wrong with it. A sink
/// names it instead of Completion: `[&](TileResult<float> result) { ... }`.
///
/// Threads: the sink's, while it is called. A sink that keeps the tile takes a Completion&, which has the loan.
template <class Out = std::byte, class In = Out>
class TileResult {
 public:
  TileResult(Completion& completion) noexcept  // NOLINT(google-explicit-constructor): a view of the same tile.
      : completion_(&completion) {}

  /// True if the tile is done: only then it has an output.
  explicit operator bool() const noexcept { return completion_->ok(); }
  bool ok() const noexcept { return completion_->ok(); }
  /// What the stage produced.
  ///
  /// Units:  elements, as many whole ones as there are.
  /// Throws: Error of kind bad_argument, if the tile is not done; the text says why it is not.
  std::span<Out const> output() const {
    expect_done();
    return elements<Out>(completion_->loan->produced_output());
  }
  /// What the source filled; of an input beside the first, say which. With TileShape::in_place it is the output.
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
  /// Where it failed and why; null unless it failed.
  Failure const* failure() const noexcept { return completion_->failure.get(); }
  /// Why there is no output, as a sentence; empty if there is one.
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
