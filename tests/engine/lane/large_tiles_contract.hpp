// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <set>

#include "engine/lane/lane_contract.hpp"

namespace penstock {

/// Eight tiles, each larger than what a lane maps by itself beside others, and a stage that notes which tiles it was
/// given themselves.
struct LaneOfLargeTiles : LaneContract {
  static constexpr std::size_t small = 4096;
  /// Three tiles of this size, up and down, may be mapped at once.
  static constexpr std::size_t third = most_mapped_bytes / 6 / 8 * 8;

  LaneOfLargeTiles() : LaneContract(most_mapped_bytes, 8) {}

  /// Adds one to each byte; and holds the device at some tiles, if asked.
  Stages add_one_and_note(Holding* holding = nullptr);
  /// Sequence numbers of the tiles that the stage worked on where they are.
  std::set<std::uint64_t> mapped() {
    std::scoped_lock const lock(noted_mutex_);
    return mapped_;
  }

 private:
  std::mutex noted_mutex_;
  std::set<std::uint64_t> mapped_;
};

}  // namespace penstock
