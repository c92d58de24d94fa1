// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "penstock/device.hpp"
#include "penstock/lane/graph_choice.hpp"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// What of a tile distinguishes the work on it from the work on other tiles in the same slot.
struct TileWork {
  std::size_t filled = 0;
  TileShape::MoreBytes more_filled = {};
  std::uint64_t variant = 0;  ///< As Stage::variant.

  bool operator==(TileWork const&) const = default;
};

/// What a stage enqueues in one slot for tiles of the same work.
struct SlotGraph {
  std::optional<Capture> captured = {};
  TileWork work = {};        ///< Of the tile for which it was captured,
  std::size_t produced = 0;  ///< and what the stage said of it.
  TileWork other = {};       ///< The work of the slot's last tiles, if that was another,
  unsigned others = 0;       ///< and how many there were in a row.
  unsigned captures = 0;     ///< How often it was captured.
};

/// Gives a stage's work on copied tiles to the device: tile by tile, or by graphs that it captured, one for each slot,
/// because a slot does not move.
///
/// Threads: the lane's.
class StageGraphs {
 public:
  /// After so many tiles of another work in a row a slot's graph is made anew: the first tiles of a run may be small.
  /// The next time it takes twice as many: a stage with sizes that change all the time should rather be run.
  static constexpr unsigned worth_another = 3;

  StageGraphs(Device& device, Graphs asked, StreamRef compute, int priority)
      : device_(device), asked_(asked), compute_(compute), priority_(priority), choice_(asked) {}

  /// Makes the stream in which this stage's work is captured, if captures are allowed. Once, before the first tile;
  /// without it no work is captured.
  ///
  /// Throws: Error, if the device refuses.
  void prepare(Stage const& stage);
  /// Enqueues the stage's work on a tile in `slot`, and says what the stage says of it. A capture that fails does not
  /// fail the tile: the stage is then run, now and for each later tile.
  ///
  /// Throws: what the stage throws when it is run, or Error.
  std::size_t run(Stage& stage, DeviceTile const& tile, SlotGraph& slot);
  /// How many tiles had their work launched as a graph.
  std::uint64_t launched() const noexcept { return launched_; }
  /// How often it captured, or tried to. A capture takes as long as some runs.
  std::uint64_t captures() const noexcept { return captures_; }
  /// Why the stage's work cannot be captured, though the stage promises so; null if it could, or was not to be.
  std::shared_ptr<Failure const> const& failure() const noexcept { return failure_; }

 private:
  bool wants_capture(SlotGraph& slot, TileWork work) const noexcept;
  std::size_t run_plainly(Stage& stage, DeviceTile const& tile);
  std::size_t launch(SlotGraph const& slot);
  std::optional<std::size_t> run_captured(Stage& stage, DeviceTile const& tile, TileWork work, SlotGraph& slot);
  std::optional<SlotGraph> capture(Stage& stage, DeviceTile const& tile, TileWork work);
  void drop_capture() noexcept;
  void give_up(std::shared_ptr<Failure const> why) noexcept;

  Device& device_;
  Graphs const asked_;
  StreamRef const compute_;
  int const priority_;
  GraphChoice choice_;
  /// Where it captures, if it may. Not the compute stream: while a default stream is captured code that names no stream
  /// fails.
  std::optional<Stream> stream_;
  std::uint64_t launched_ = 0;
  std::uint64_t captures_ = 0;
  std::shared_ptr<Failure const> failure_;
};

}  // namespace penstock
