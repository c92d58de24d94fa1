// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/stages.hpp"

namespace penstock::measure {

/// What one thread copies or computes with: streams, and places for batches in host and device memory.
///
/// Half of the places have an event together: each event is two calls more, and where copies are small the calls are
/// what takes the time. Meanwhile the other half is in flight.
///
/// Threads: the one that made it.
class PartBench {
 public:
  /// Shape:  `host` is pinned; half of it is copied up from and half of it down to, place by place, each of `batch`
  ///         tiles of `tile` bytes side by side.
  /// Throws: Error, if the device has no memory for as much.
  PartBench(Device& device, std::span<std::byte> host, std::size_t tile, std::size_t batch);

  /// Puts one more batch on the way, in each of these directions as one copy, after waiting for the oldest. Gives the
  /// tiles in it, as do the others.
  std::size_t copy(bool up, bool down);
  /// Computes one more batch, as a lane has its stage do it.
  std::size_t compute(Stage& stage, TileShape shape);
  /// All calls for a batch of tiles with next to nothing to do; with an event of its own, as lanes have it.
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
  std::size_t turn_length_;  ///< Places that have an event together.
  std::size_t turn_ = 0;
  DeviceMemory memory_;
  std::deque<Event> ends_;
  std::vector<DeviceTile> seen_;
  std::vector<std::size_t> produced_;
  Stream up_;  ///< After the memory and the events, so that it is waited for first.
  Stream down_;
};

}  // namespace penstock::measure
