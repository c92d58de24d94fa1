// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "engine/lane/lane_contract.hpp"

namespace penstock {

/// The callback lanes of every mode, shape and transport: by what signal tiles are found done changes nothing here.
std::vector<LaneUnderTest> lanes_of_graphs_on(DeviceUnderTest const& device);
/// Those of them that copy.
std::vector<LaneUnderTest> lanes_of_copies_on(DeviceUnderTest const& device);

/// A lane whose stage adds one to each byte by two kernels, each for a half of the tile, and may be captured.
struct LaneOfGraphs : LaneContract {
  Stages add_one_in_halves(std::function<void(DeviceTile const&, StreamRef)> also = {}) {
    return on_device(
        [this, also = std::move(also)](DeviceTile const& tile, StreamRef stream) {
          ++runs;
          enqueue(tile, stream);
          if (also) also(tile, stream);
          return tile.input.size();
        },
        {.reads_once = true, .capturable = true});
  }
  void enqueue(DeviceTile const& tile, StreamRef stream) const {
    if (tile.input.empty()) return;
    auto const half = tile.input.size() / 2;
    kernels().add_one(stream, tile.input.first(half));
    kernels().add_one(stream, tile.input.subspan(half));
  }
  /// Runs `count` whole tiles, and returns what the lane did.
  LaneSummary run(Stages const& stages, std::size_t count, LaneOptions options) {
    std::size_t const before = seen().size();
    open_lane(stages, std::move(options));
    for (std::size_t i = 0; i < count; ++i) submit(i);
    lane().close();
    expect_all_done(seen(), count, before);
    return lane().summary();
  }
  static LaneOptions with(Graphs graphs, unsigned slots = 4) { return {.flight = {.slots = slots, .graphs = graphs}}; }
  /// Number of the `tiles` that were not mapped.
  static std::uint64_t copied(LaneSummary const& summary, std::uint64_t tiles) { return tiles - summary.mapped; }

  std::atomic<unsigned> runs{0};
};

/// Lanes that only copy, which is all that graphs are for.
struct LaneOfGraphsAndCopies : LaneOfGraphs {};

}  // namespace penstock
