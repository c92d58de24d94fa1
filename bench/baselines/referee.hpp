// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "work.hpp"

#include "programs/measure/meter.hpp"

namespace baselines {

/// Content of tiles: `position` counts floats from the first tile's first. No two tiles are alike.
inline float input_at(std::uint32_t position) noexcept {
  return static_cast<float>((position * 2654435761U) >> 8);
}
void fill(std::span<float> inputs, std::uint32_t first_position) noexcept;
/// Writes values to outputs that are no result.
void spoil(std::span<float> outputs) noexcept;

/// Durations of a run.
struct Times {
  std::chrono::nanoseconds warm_up;
  std::chrono::nanoseconds window;
};

/// Counts and checks results, in the same way for all contestants.
///
/// The first tiles, 16 MiB of them or 16, are compared in all bits and spoilt again. Then the time begins to run:
/// warm-up, window. From then on it looks at three floats of each tile and spoils them again, which has hardly any
/// cost, and finds every tile that was not copied or not computed since the last look.
///
/// Threads: any; each tile is one thread's at a time.
class Referee final : public Work {
 public:
  Referee(float const* inputs, float* outputs, std::size_t bytes, std::size_t tiles, Times times);
  bool more() const noexcept override { return !meter_.over() && !wrong_.load(std::memory_order_relaxed); }
  void done(std::size_t tile) override { came(tile, {output(tile), floats()}); }
  /// The same for a contestant with its own tiles.
  void came(std::size_t tile, std::span<float> output);
  /// Ends the run.
  ///
  /// Blocks: never.
  void object(std::string const& complaint);

  /// Counts of the window.
  ///
  /// Threads: one, once no other is at work any more.
  /// Throws: std::runtime_error, if a tile was not what it should be or the run ended early.
  penstock::Metered result() const;

 private:
  std::uint64_t const proven_;  ///< Tiles to be compared in all bits.
  penstock::measure::Meter meter_;
  std::atomic<std::uint64_t> came_{0};
  std::atomic<bool> proving_{true};
  std::atomic<bool> wrong_{false};
  std::mutex complaint_mutex_;
  std::string complaint_;
};

}  // namespace baselines
