// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/machine/topology.hpp"
#include "engine/plan/plan.hpp"
#include "penstock/device.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// The threads that one pipeline may keep awake, for as long as it lives, among those of all pipelines of the process:
/// they have the same CPUs.
///
/// Threads: any.
class KeptAwake {
 public:
  KeptAwake() = default;
  KeptAwake(KeptAwake const&) = delete;
  KeptAwake& operator=(KeptAwake const&) = delete;
  ~KeptAwake();

  /// Calls the function `plan`, with the room that other pipelines have left; what the plan keeps awake is counted from
  /// here on. Call it once.
  ///
  /// Throws: as `plan`.
  Plan plan(PipelineOptions const& options, std::vector<Device*> const& devices, Topology const& topology);

 private:
  AwakeThreads mine_;
};

}  // namespace penstock
