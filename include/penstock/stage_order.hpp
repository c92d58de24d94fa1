// SPDX-License-Identifier: Apache-2.0
// Stages that see tiles in their sequence: in_order, in_order_by.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "penstock/tile.hpp"

namespace penstock {

/// The order in which the lanes' stages get tiles. `in_order` and `in_order_by` set it.
struct StageOrder {
  /// Stages get tiles in their sequence, 0, 1, 2 ..., not in the order in which producers and lanes come.
  bool in_sequence = false;
  /// Key of a tile: tiles of one key go to one lane, `key % lanes`. Empty: all go to one lane. Only if `in_sequence` is
  /// set.
  ///
  /// Threads: those that fill tiles, or do the last host stage; several at a time.
  /// Throws:  anything; this tile then fails with stage "stage" and keeps its place.
  std::function<std::uint64_t(Tile const&)> key = {};
};

/// Returns the same stages, which then get all tiles in their sequence: for stages with state from tile to tile, such
/// as a filter, an average or a decoder. `pipeline.run(source, in_order(on_device(body)), sink)`.
///
/// The run has one lane, on the first device. Its stage is called for tiles 0, 1, 2 ... (DeviceTile::sequence), by
/// `run` or for neighbours by `run_batch`, and the device works on them in that order, since all calls get one stream.
/// Host stages do not change the order. A tile that fails before the stage, or is cancelled, keeps its place: the stage
/// is not called for it, so the sequence has a gap there.
///
/// A tile waits until all before it are filled. The state that a tile leaves when it fails in the stage is the stage's
/// own matter. The order in which the sink gets tiles is another one: PipelineOptions::ordered.
template <class AnyStages>
AnyStages in_order(AnyStages stages) {
  stages.order = {.in_sequence = true, .key = {}};
  return stages;
}

/// The same for tiles of one key: the run has all of its lanes, and tiles of one key go to one of them, lane `key %
/// lanes`, in their sequence. `key` is a function of the tile, as its source and the host stages left it:
/// `in_order_by(&Tile::tag, stages)`. A lane may have several keys, so a stage with state for each key distinguishes
/// them, by DeviceTile::tag for instance.
///
/// If a lane loses its device, its tiles fail, including those to come: the state of their keys is lost with it.
///
/// Throws: what it throws fails the tile, as StageOrder::key.
template <class Key, class AnyStages>
AnyStages in_order_by(Key key, AnyStages stages) {
  static_assert(std::is_invocable_r_v<std::uint64_t, Key&, Tile const&>,
                "the key of a tile is a function of it that gives a number: key(Tile const&), or &Tile::tag");
  stages.order = {.in_sequence = true, .key = std::move(key)};
  return stages;
}

}  // namespace penstock
