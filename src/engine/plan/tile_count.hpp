// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/machine/topology.hpp"
#include "engine/plan/usual_sizes.hpp"
#include "penstock/device.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// The sizes that are known before there are tiles.
struct TileWish {
  std::size_t usual = 0;     ///< Tiles that keep all threads busy.
  unsigned asked_batch = 0;  ///< 0, if it is left to the pipeline.
  unsigned asked_slots = 0;  ///< 0, if it is left to the pipeline.
};

/// Returns the options with `tiles` tiles, and with no more slots and no larger batches than these can fill.
PipelineOptions with_tiles(PipelineOptions options, std::size_t tiles, TileWish const& wish);

/// The options with as many tiles as they ask for; else with the usual ones, or as many as fit into `memory` and
/// `own_memory`.
///
/// Shape:  all else is resolved; one device or more.
/// Throws: Error of kind bad_argument, if there is no room for the tiles that are asked for, or for one for each lane;
///         if own memory does not begin at a page, or its pieces overlap or are not as many as the pool's parts.
PipelineOptions choose_tiles(PipelineOptions options, TileWish const& wish, std::vector<Device*> const& devices,
                             Topology const& topology, std::vector<std::string>& remarks);

/// True where several GPUs share the host's memory, as far as the user leaves that to the pipeline
/// (docs/decisions/several-devices.md).
bool have_few_tiles(PipelineOptions const& asked, std::vector<Device*> const& devices);
/// The parts of a pipeline that hold tiles, for options that are resolved but for the tiles.
TileHolders holders_of(PipelineOptions const& options);
/// Number of the tiles chosen for several GPUs that are lent only while many producers are at work. It depends on the
/// options as they were `asked` and as they were `resolved`.
std::size_t reserve_tiles(PipelineOptions const& asked, PipelineOptions const& resolved,
                          std::vector<Device*> const& devices);

}  // namespace penstock
