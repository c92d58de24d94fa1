// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/lane/lane_streams.hpp"
#include "engine/lane/path_chooser.hpp"
#include "penstock/steps.hpp"
#include "penstock/stream.hpp"

namespace penstock {

/// The flight whose steps are timed.
struct StepTimerOptions {
  unsigned lane = 0;  ///< Its number, for the names of rows.
  std::size_t slots = 1;
  bool split = true;            ///< Each step has a stream of its own.
  std::size_t more_inputs = 0;  ///< Inputs beside the first, each uploaded in a stream of its own if split.
  bool shared = false;          ///< Others compute in the stream of the stage as well.
};

/// Takes the times of the steps of a flight's batches, which say when its tiles were uploaded, computed and downloaded.
/// A StepLog makes it; a flight that nothing records has none.
///
/// Threads: the lane's.
class StepTimer {
 public:
  StepTimer() = default;
  StepTimer(StepTimer const&) = delete;
  StepTimer& operator=(StepTimer const&) = delete;
  virtual ~StepTimer() = default;

  /// True if times of this tile are wanted.
  virtual bool wants(std::uint64_t sequence) const noexcept = 0;
  /// Begins a batch with wanted times, tiles `oldest` to `youngest` of the flight, in the slot of the youngest. Its
  /// order is made with these events; those between the steps are used only if it goes by three streams.
  virtual FlightEvents& open(std::size_t slot, std::uint64_t oldest, std::uint64_t youngest,
                             TransferPath path) noexcept = 0;
  /// Must be called before each step, in their order. A mark that is refused costs the tile its times and nothing else.
  ///
  /// Throws: a sticky Error.
  virtual void begin(std::size_t slot, Step step, StreamRef stream) = 0;
  /// Must be called before the upload of further input `which`, 0 for the second.
  virtual void begin_more(std::size_t slot, std::size_t which, StreamRef stream) = 0;
  /// Notes the times of a batch that the device has passed, and since when the host might have known.
  ///
  /// Shape:  the sequence of each tile of the batch, in its order; empty for one of which nothing is to be noted.
  /// Throws: Error, if the device does not say.
  virtual void note(std::size_t slot, std::span<std::optional<std::uint64_t> const> sequences) = 0;
  /// Notes nothing of a batch: only the next one may be behind it.
  virtual void pass(std::size_t slot) = 0;
};

}  // namespace penstock
