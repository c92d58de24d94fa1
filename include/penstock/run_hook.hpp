// SPDX-License-Identifier: Apache-2.0
// What looks at the runs of a pipeline from outside (Watching::hooks).
#pragma once

#include <span>
#include <stop_token>

#include "penstock/device.hpp"
#include "penstock/options.hpp"
#include "penstock/report.hpp"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// A run as its hooks see it.
struct HookedRun {
  std::span<Device* const> devices;
  PipelineOptions const& options;  ///< As Pipeline::options.
  Stages const& stages;
  bool one_lane = false;         ///< Its stage sees all tiles in their sequence, so there is one.
  std::stop_token stopped = {};  ///< Requested once the run is stopped.
};

/// Looks at the runs of one pipeline, one after the other. Nothing of it is called for a tile that goes well.
///
/// Threads: `lost` the lanes'; the rest those that start and end runs.
class RunHook {
 public:
  RunHook() = default;
  RunHook(RunHook const&) = delete;
  RunHook& operator=(RunHook const&) = delete;
  virtual ~RunHook() = default;

  /// A run is about to begin: there are no lanes and no stages yet. What it throws is thrown by Pipeline::run.
  virtual void before_run(HookedRun const& /*run*/) {}
  /// A lane gives up this tile, because its device was lost. The tile is not changed meanwhile.
  virtual void lost(Tile const& /*tile*/, unsigned /*lane*/) noexcept {}
  /// All tiles are through. It may add to the report. What it throws is a message, and the report is given all the
  /// same.
  virtual void after_run(Report& /*report*/, HookedRun const& /*run*/) {}
};

}  // namespace penstock
