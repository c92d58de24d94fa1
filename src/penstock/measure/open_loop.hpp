// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "penstock/measure/filler.hpp"
#include "penstock/measure/until_failed.hpp"

namespace penstock::measure {

/// Has a tile for each time at which one is due, whatever became of those before, and says when that was.
///
/// Who fills a tile waits for its time with the tile in hand and no lock: where several fill, none of them has to wake
/// another before it begins, which would take it as long as what is measured.
class OpenLoop final : public UntilFailed {
 public:
  using Clock = std::chrono::steady_clock;

  /// Has so many tiles; fewer, if `stop` is requested.
  OpenLoop(Filler& filler, double tiles_per_second, std::uint64_t tiles, std::stop_token stop)
      : UntilFailed(filler), nanoseconds_(1e9 / tiles_per_second), tiles_(tiles), stop_(std::move(stop)) {}
  void start(Clock::time_point at) { start_ = at; }
  /// When a tile is due, by its place in the order.
  Clock::time_point due(std::uint64_t number) const {
    return start_ + std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds_ * static_cast<double>(number)));
  }
  /// Blocks: never.
  bool next(Tile& tile) override { return tile.sequence < tiles_ && !failed() && !stop_.stop_requested(); }
  /// Blocks: until the tile is due, or `stop` is requested.
  std::size_t fill(Tile& tile) override;

 private:
  double const nanoseconds_;
  std::uint64_t const tiles_;
  std::stop_token const stop_;
  Clock::time_point start_;
};

/// What one thread mostly takes for a tile of so many bytes: nothing, if nothing is filled.
///
/// Blocks: while it fills four, or more for up to a millisecond.
/// Throws: Error, if the filler cannot fill one.
std::chrono::nanoseconds time_to_fill(Filler& filler, std::size_t bytes);
/// How many producers an open loop wants that fill tiles in such a time: one more than have to fill at once. Beside
/// each other, and beside a device's copies, they are taken to need twice as long. One, if nothing is filled.
unsigned producers_at(double tiles_per_second, std::chrono::nanoseconds to_fill);

}  // namespace penstock::measure
