// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "observe/judge.hpp"
#include "penstock/clock.hpp"
#include "penstock/device.hpp"
#include "penstock/stages.hpp"

namespace penstock::measure {

/// Streams, and places for batches in host and device memory, with which one thread copies or computes.
///
/// Half of the places share an event: each event takes two more calls, and where copies are small the calls dominate.
/// Meanwhile the other half is in flight.
///
/// Threads: the one that made it.
class PartBench {
 public:
  /// Shape:  `host` is pinned; half of it is copied up from and half of it down to, place by place, each of `batch`
  ///         tiles of `tile` bytes side by side.
  /// Throws: Error, if the device has no memory for as much.
  PartBench(Device& device, std::span<std::byte> host, std::size_t tile, std::size_t batch);

  /// Starts one more batch, in each of these directions as one copy, after waiting for the oldest. Returns the number
  /// of its tiles, as the other functions do.
  std::size_t copy(bool up, bool down);
  /// Computes one more batch, in the way in which a lane uses its stage.
  std::size_t compute(Stage& stage, TileShape shape);
  /// Makes all calls for a batch of tiles with next to no work; with an event of its own, as lanes do.
  std::size_t pass(Stage& stage, TileShape shape);
  StreamRef stream() const { return up_; }

 private:
  std::size_t first_of_turn(std::size_t at) const { return at - at % turn_length_; }
  bool ends_turn(std::size_t at) const { return (at + 1) % turn_length_ == 0 || at + 1 == depth_; }
  std::span<std::byte> on_host(std::size_t at) const { return host_.subspan(at * place_, place_); }
  std::span<std::byte> on_device(std::size_t at) const { return memory_.bytes().subspan(at * place_, place_); }
  void run(Stage& stage);

  Device& device_;
  std::span<std::byte> host_;
  std::size_t tile_;
  std::size_t batch_;
  std::size_t place_;  ///< Bytes of a batch.
  std::size_t depth_;
  std::size_t turn_length_;  ///< Places that share an event.
  std::size_t turn_ = 0;
  DeviceMemory memory_;
  std::deque<Event> ends_;
  std::vector<DeviceTile> seen_;
  std::vector<std::size_t> produced_;
  Stream up_;  ///< It is declared after the memory and the events, so that it is waited for first.
  Stream down_;
};

/// Counts tiles as they leave the pipeline, and takes time and CPU time from one of them to another: neither the start
/// of a run nor its end is in the window.
///
/// Threads: any.
/// Blocks:  never.
class Meter {
 public:
  using Clock = penstock::Clock;

  /// The window opens `warm_up` after the first tile, or up to `longer` later if there were not `settling` tiles by
  /// then; it closes with the first tile that comes `window` later.
  Meter(std::chrono::nanoseconds warm_up, std::chrono::nanoseconds window, std::uint64_t settling = 0,
        std::chrono::nanoseconds longer = {})
      : warm_up_(warm_up), window_(window), settling_(settling), longer_(longer) {}
  /// Returns: true for the tile with which the window opens.
  bool count();
  /// True once the window is closed: more tiles are of no use.
  bool over() const noexcept { return state_.load(std::memory_order_acquire) == State::closed; }
  /// Counts of the window; empty if the run ended before it closed.
  std::optional<Metered> metered() const;

 private:
  enum class State : std::uint8_t { before, opening, warming, marking, open, closing, closed };
  /// True for the one thread that takes the state from one to the next.
  bool take(State from, State to) noexcept {
    return state_.compare_exchange_strong(from, to, std::memory_order_acq_rel);
  }

  std::chrono::nanoseconds const warm_up_;
  std::chrono::nanoseconds const window_;
  std::uint64_t const settling_;
  std::chrono::nanoseconds const longer_;
  std::atomic<State> state_{State::before};
  // Each is written by the thread that advances the state, and read in the states after.
  Clock::time_point warm_from_{};
  Clock::time_point opened_{};
  std::uint64_t count_opened_ = 0;
  double cpu_opened_ = 0;
  Metered metered_;
  alignas(64) std::atomic<std::uint64_t> count_{0};
};

/// Result of repeated measurements of one thing.
struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;

  /// Greatest distance of a measurement from the median, as a part of it; 0 for a single one.
  double relative() const noexcept;
};

/// Shape: at least one, in any order.
Spread spread_of(std::vector<double> values);

}  // namespace penstock::measure

namespace penstock::cli {

/// Median, least and most of measurements, times `factor`, in the form of docs/results.md; null without any.
nlohmann::ordered_json as_spread(std::vector<double> const& values, double factor);

}  // namespace penstock::cli
