// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/machine/cpu_set.hpp"
#include "engine/machine/topology.hpp"
#include "engine/plan/places.hpp"
#include "engine/plan/pool_layout.hpp"
#include "engine/plan/spin_room.hpp"
#include "penstock/device.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// The sizes and places of a pipeline.
struct Plan {
  PipelineOptions options;               ///< Options that were asked for, with nothing left to the pipeline.
  PoolLayout layout;                     ///< Layout of its pool.
  std::vector<LanePlace> lanes;          ///< Places of lanes, dealt out to the devices in turn, each next to its own.
  std::vector<ProducerPlace> producers;  ///< Places of producers; with run_to_completion the lanes are the producers.
  std::vector<CpuSet> consumers;         ///< The CPUs of each; empty for any.
  std::size_t reserve = 0;               ///< Tiles of the pool that are lent only while many producers are at work.
  unsigned cpus = 1;                     ///< Threads that can be busy at once.
  AwakeThreads awake;                    ///< Its threads that stay awake though they may have nothing to do.
  std::vector<std::string> remarks;      ///< Sentences on options that the machine could not grant.
  /// Sentences on what stands in the way of a better placement, or makes it needless.
  std::vector<std::string> place_remarks;
};

/// Returns the plan of a pipeline with these options on these devices of this machine. Threads of other pipelines that
/// stay awake are `elsewhere`.
///
/// Shape:   one device or more.
/// Threads: any. It makes no thread and no memory, and depends on nothing but what it is given.
/// Throws:  Error of kind bad_argument, if the options contradict themselves or ask for what cannot be.
Plan plan(PipelineOptions const& asked, std::vector<Device*> const& devices, Topology const& topology,
          AwakeThreads const& elsewhere = {});

}  // namespace penstock
