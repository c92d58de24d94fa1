// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "penstock/clock.hpp"
#include "penstock/options.hpp"
#include "penstock/pipeline.hpp"
#include "programs/measure/figures.hpp"
#include "programs/measure/meter.hpp"
#include "programs/measure/repeated_source.hpp"

namespace penstock::measure {

/// Number of tiles until all lanes of such a pipeline have found out whether graphs pay, and have captured in all
/// slots, if they capture.
///
/// Shape:  as a pipeline has made them.
/// Source: docs/decisions/stages.md.
std::uint64_t settling_tiles(PipelineOptions const& made) noexcept;

/// Returns a meter for such a pipeline. Its window opens `warm_up` after the first tile, but not before as many tiles
/// came as the pipeline has: threads that their start held up hand on at once all that was in flight. It waits for
/// these as long as a window, and `settling` for settling_tiles, if that is not 0.
Meter meter_of(PipelineOptions const& made, std::chrono::nanoseconds warm_up, std::chrono::nanoseconds window,
               std::chrono::nanoseconds settling);

/// Fills tiles as `input` does, until `fail` is called. `input` must outlive it.
class UntilFailed : public Source {
 public:
  explicit UntilFailed(Source& input) : input_(input) {}
  /// Ends the input: more tiles are of no use.
  void fail() noexcept { failed_.store(true, std::memory_order_relaxed); }
  bool next(Tile& tile) override { return !failed() && input_.next(tile); }
  std::size_t fill(Tile& tile) override { return input_.fill(tile); }
  std::vector<std::string> remarks() const override { return input_.remarks(); }
  TileTypes types() const noexcept override { return input_.types(); }
  std::vector<LeftOut> left_out() const override { return input_.left_out(); }

 protected:
  bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

 private:
  Source& input_;
  std::atomic<bool> failed_{false};
};

/// Number and rate of tiles.
struct Load {
  double tiles_per_second = 1;
  std::uint64_t warm_up = 0;  ///< Tiles that come first, and do not count.
  std::uint64_t counted = 1;
  /// The input ends once a tile is later than this, and than the time in which a hundred come; 0: it never ends for
  /// that.
  std::chrono::nanoseconds most_late{0};
};

/// The load for a pipeline with these options. The warm-up lasts until the pipeline has settled, or less where tiles
/// are so rare that this took seconds, but at least `warm_up`. Then as many tiles count as quantiles need, or as come
/// in `window`.
///
/// Shape: `made` are options as a pipeline has made them.
Load load_at(double tiles_per_second, PipelineOptions const& made, std::chrono::nanoseconds warm_up,
             std::chrono::nanoseconds window);

/// Gives a tile at each time at which one is due, independently of earlier tiles, and notes how much later it was done.
/// The first is due when it is asked for: by then lanes and stages are made.
///
/// A thread that fills a tile waits for its time with the tile in hand and no lock. So if several fill, none has to
/// wake another before it begins, which would take as long as the times that are measured.
class OpenLoop final : public UntilFailed {
 public:
  using Clock = penstock::Clock;

  /// Gives fewer tiles if `stop` is requested.
  OpenLoop(Source& input, Load const& load, std::stop_token stop)
      : UntilFailed(input), load_(load), stop_(std::move(stop)), microseconds_(load.counted) {}
  /// The time when a tile is due, by its place in the order.
  Clock::time_point due(std::uint64_t number) const {
    double const nanoseconds = 1e9 / load_.tiles_per_second * static_cast<double>(number);
    return start_ + std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds));
  }
  /// Blocks: as the input does.
  bool next(Tile& tile) override {
    if (tile.sequence == 0) start_ = Clock::now();
    return tile.sequence < load_.warm_up + load_.counted && !stop_.stop_requested() && UntilFailed::next(tile);
  }
  /// Blocks: until the tile is due, or `stop` is requested.
  std::size_t fill(Tile& tile) override;
  /// False if a tile was too late.
  bool kept_up() const noexcept { return !too_late_.load(std::memory_order_relaxed); }
  /// Notes when the tile of that place was done.
  ///
  /// Threads: any, for different tiles.
  void arrived(std::uint64_t number, Clock::time_point at);
  /// Latency of all tiles that count.
  ///
  /// Shape: once all have arrived, and none was too late.
  Latency latency();

 private:
  Load const load_;
  std::stop_token const stop_;
  Clock::time_point start_;
  std::atomic<bool> too_late_{false};
  std::vector<double> microseconds_;  ///< Latencies of the tiles that count, by their place in the order.
};

/// Usual time of one thread to fill a tile of this shape.
///
/// Blocks: while it fills four, or more for up to a millisecond.
/// Throws: Error, if the source cannot be made or cannot fill one.
std::chrono::nanoseconds time_to_fill(RepeatedSource::Make const& make, TileShape const& shape);
/// Number of producers for an open loop, if each takes `to_fill` for a tile: one more than have to fill at once. Beside
/// each other, and beside a device's copies, they are taken to need twice as long. One, if nothing is filled.
unsigned producers_at(double tiles_per_second, std::chrono::nanoseconds to_fill);

}  // namespace penstock::measure
