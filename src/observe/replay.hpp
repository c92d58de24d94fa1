// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "engine/core/descriptor.hpp"
#include "observe/lost_tiles.hpp"
#include "penstock/device.hpp"
#include "penstock/options.hpp"
#include "penstock/stages.hpp"

namespace penstock {

/// Environment variable of a process that was started to run tiles again: the descriptors of the file with the tiles,
/// and of a pipe that ends with the starting process, as in "5,7".
inline constexpr char const* replay_variable = "PENSTOCK_ATTRIBUTE";

/// The tiles of another process's lost device, which this process was started to run again.
///
/// Threads: one.
class Replay {
 public:
  /// True if this process was started for that. Such a process starts no other.
  static bool is_for_this() noexcept { return std::getenv(replay_variable) != nullptr; }
  /// Claims the tiles of this shape. From now on this process is killed once the starting process has ended. Empty if
  /// this process was not started for that, or another pipeline has them already.
  static std::optional<Replay> claim(TileShape shape);

  /// Runs the tiles that were not tried, one at a time, waiting for the device after each step, until one fails. Notes
  /// the result of each, and ends the process without destructors.
  ///
  /// Blocks: until then.
  [[noreturn]] void run(std::vector<Device*> const& devices, PipelineOptions options, Stages const& stages) const;

 private:
  Replay(std::unique_ptr<LostTilesView> view, int claimed) noexcept : view_(std::move(view)), claimed_(claimed) {}

  std::unique_ptr<LostTilesView> view_;
  int claimed_;  ///< A descriptor that is locked until the process ends.
};

}  // namespace penstock
