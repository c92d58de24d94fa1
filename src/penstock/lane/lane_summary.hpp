// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "penstock/core/completion.hpp"

namespace penstock {

/// What a lane did.
struct LaneSummary {
  std::uint64_t tiles = 0;
  std::uint64_t batches = 0;  ///< In which tiles were put on the device.
  std::uint64_t copies = 0;   ///< That the device was asked for, both ways: neighbours in the pool are one.
  std::uint64_t mapped = 0;   ///< Tiles that their stage worked on in the host's memory.
  std::uint64_t graphs = 0;   ///< Tiles for which the stage was launched as a captured graph.
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t tickets = 0;  ///< That its signal brought.
  std::uint64_t naps = 0;     ///< How often it slept because its device had enough to do.
  /// Tiles that the lane found done when its watchdog woke it: their signal was lost, or late.
  std::uint64_t found_by_watchdog = 0;
  std::chrono::nanoseconds served{0};   ///< From the first tile that it took to its end.
  std::chrono::nanoseconds idle{0};     ///< Of these, with nothing to do but to watch its device or to sleep.
  std::uint64_t failed = 0;             ///< Tiles that it got and that failed, for any reason.
  std::shared_ptr<Failure const> loss;  ///< Why it gave its device up; null if it did not.
  /// Why its stage could not be captured, though it promises so: it was run for each tile from then on. Null if it
  /// could be captured, or was not to be.
  std::shared_ptr<Failure const> not_captured;
};

}  // namespace penstock
