// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "penstock/core/tile.hpp"
#include "penstock/flow/graph.hpp"
#include "penstock/lane/lane.hpp"

namespace penstock {

/// How a pipeline is built. A 0 means: what suits this machine.
struct PipelineOptions {
  TileShape tile = {};
  /// Tiles in the pool: the most work in progress, and all the pinned memory there is. 0: enough for all lanes and
  /// producers to be busy.
  std::size_t tiles = 0;
  unsigned producers = 0;  ///< Threads that fill, in `run`. 0: the CPUs that lanes and consumers leave free.
  unsigned lanes = 0;      ///< Threads that drive the devices. 0: two per GPU, one for the CPU device.
  unsigned consumers = 0;  ///< Threads in host stages and sink. 0: one, or as many as CPUs if they have parallel work.
  unsigned slots = 0;      ///< Tiles in flight per lane. 0: four.
  /// How long an idle lane spins before it sleeps: results sooner, for part of a core. Ignored where the lanes would
  /// leave fewer than two CPUs to others.
  std::chrono::microseconds spin{0};
  StreamMode streams = StreamMode::thread_default;
  bool ordered = false;  ///< The sink sees tiles in the source's order, failed and cancelled ones in their places.
  bool parallel_sink = false;  ///< The sink is called by several consumers at once.
  bool bind = true;            ///< Keep threads and tiles next to the device.
  std::vector<HostStage> host_stages = {};
};

}  // namespace penstock
