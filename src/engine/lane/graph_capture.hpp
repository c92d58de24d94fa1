// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "penstock/device.hpp"
#include "penstock/options.hpp"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// Decides how a lane gives a stage's work to its device: by what it was told, or by what its own calls took.
///
/// If it is to find out, it compares the times of some runs, after a few that do not count, with those of some launches
/// of graphs, made in few slots. It keeps the way with the lesser median. A tie goes to runs, which take no memory.
class GraphChoice {
 public:
  static constexpr unsigned warm_up = 16;  ///< Runs that do not count: the first load what they launch.
  static constexpr unsigned samples = 32;  ///< Times of each way.
  /// Captures on trial: each takes as long as some runs.
  static constexpr unsigned on_trial = 8;

  explicit GraphChoice(Graphs asked) noexcept;

  /// True if an existing graph may be launched.
  bool launches() const noexcept { return phase_ == Phase::try_launches || phase_ == Phase::launch; }
  /// True if a slot that has no graph may get one.
  bool captures() const noexcept {
    return phase_ == Phase::launch || (phase_ == Phase::try_launches && captured_ < on_trial);
  }
  /// True if it wants the times of runs, or of launches.
  bool times_runs() const noexcept { return phase_ == Phase::warm_up || phase_ == Phase::try_runs; }
  bool times_launches() const noexcept { return phase_ == Phase::try_launches; }

  /// Tells it of a slot's first capture.
  void captured() noexcept { ++captured_; }
  /// Tells it the time of a run, or of a launch; it ignores a time that it does not want.
  void ran(std::chrono::nanoseconds took) noexcept;
  void launched(std::chrono::nanoseconds took) noexcept;
  /// From here on the stage is run for each tile.
  void give_up() noexcept { phase_ = Phase::run; }

 private:
  enum class Phase : std::uint8_t { warm_up, try_runs, try_launches, run, launch };
  using Times = std::array<std::chrono::nanoseconds, samples>;
  static std::chrono::nanoseconds median(Times& times) noexcept;
  void decide() noexcept;

  Phase phase_;
  unsigned seen_ = 0;  ///< Calls of this phase.
  unsigned captured_ = 0;
  Times runs_{};
  Times launches_{};
};

/// The properties of a tile that distinguish the work on it from the work on other tiles in the same slot.
struct TileWork {
  std::size_t filled = 0;
  TileShape::MoreBytes more_filled = {};
  std::uint64_t variant = 0;  ///< The result of Stage::variant.

  bool operator==(TileWork const&) const = default;
};

/// The work that a stage enqueues in one slot for tiles of the same work.
struct SlotGraph {
  std::optional<Capture> captured = {};
  TileWork work = {};        ///< Work of the tile for which it was captured,
  std::size_t produced = 0;  ///< and what the stage said of it.
  TileWork other = {};       ///< The work of the slot's last tiles, if that was another,
  unsigned others = 0;       ///< and how many there were in a row.
  unsigned captures = 0;     ///< Number of times that it was captured.
};

/// Gives a stage's work on copied tiles to the device: tile by tile, or by graphs that it captured, one for each slot,
/// because a slot does not move.
///
/// Invariant: a slot's graph is launched only for tiles of the work for which it was captured; after a capture that
/// failed no tile is captured or launched as a graph any more.
/// Threads:   the lane's.
class GraphCapture {
 public:
  /// After this many tiles of another work in a row a slot's graph is made anew: the first tiles of a run may be small.
  /// The next time it takes twice as many: a stage with sizes that change all the time should rather be run.
  static constexpr unsigned worth_another = 3;

  GraphCapture(Device& device, Graphs asked, StreamRef compute, int priority)
      : device_(device), asked_(asked), compute_(compute), priority_(priority), choice_(asked) {}

  /// Makes the stream in which this stage's work is captured, if captures are allowed. Call it once, before the first
  /// tile; without it no work is captured.
  ///
  /// Throws: Error, if the device refuses.
  void prepare(Stage const& stage);
  /// Enqueues the stage's work on a tile in `slot`, and says what the stage says of it. A capture that fails does not
  /// fail the tile: the stage is then run, now and for each later tile.
  ///
  /// Throws: what the stage throws when it is run, or Error.
  std::size_t run(Stage& stage, DeviceTile const& tile, SlotGraph& slot);
  /// Number of tiles whose work was launched as a graph.
  std::uint64_t launched() const noexcept { return launched_; }
  /// The reason why the work cannot be captured, though the stage promises so; null if it could, or was not to be.
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
  /// The stream in which it captures, if it may. It is not the compute stream: while a default stream is captured, code
  /// that names no stream fails.
  std::optional<Stream> stream_;
  std::uint64_t launched_ = 0;
  std::shared_ptr<Failure const> failure_;
};

}  // namespace penstock
