// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/machine/topology.hpp"
#include "penstock/options.hpp"
#include "penstock/plan/spin_room.hpp"

namespace penstock {

/// The threads that resolved options keep awake.
Awake awake_of(PipelineOptions const& resolved);

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

  /// As the function `resolve`, with the room that other pipelines have left; what these options keep awake is counted
  /// from here on. To be called once.
  ///
  /// Throws: as `resolve`.
  PipelineOptions resolve(PipelineOptions options, std::vector<Device*> const& devices, Topology const& topology,
                          std::vector<std::string>& remarks);

 private:
  AwakeThreads mine_;
};

}  // namespace penstock
