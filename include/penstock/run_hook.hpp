// SPDX-License-Identifier: Apache-2.0
// Observers of a pipeline's runs (Watching::hooks).
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
  PipelineOptions const& options;  ///< The pipeline's options, as from Pipeline::options.
  Stages const& stages;
  bool one_lane = false;         ///< True if its stage gets all tiles in their sequence, so there is one lane.
  std::stop_token stopped = {};  ///< Requested once the run is stopped.
};

/// Observes the runs of one pipeline, one after the other. None of its functions is called for a tile that succeeds.
///
/// Threads: `lost` the lanes'; the rest those that start and end runs.
class RunHook {
 public:
  RunHook() = default;
  RunHook(RunHook const&) = delete;
  RunHook& operator=(RunHook const&) = delete;
  virtual ~RunHook() = default;

  /// Called before a run begins: there are no lanes and no stages yet. Pipeline::run passes its exceptions on.
  virtual void before_run(HookedRun const& /*run*/) {}
  /// Called when a lane gives up this tile, because its device was lost. The tile does not change meanwhile.
  virtual void lost(Tile const& /*tile*/, unsigned /*lane*/) noexcept {}
  /// Called after all tiles are done. It may add to the report. An exception becomes a message, and the report is
  /// returned all the same.
  virtual void after_run(Report& /*report*/, HookedRun const& /*run*/) {}
};

}  // namespace penstock
