// SPDX-License-Identifier: Apache-2.0
// Question: how much of a link of 51 GB/s each way does a lane use, and how much of a core? A device that only takes
// the time stands for the GPU, and nothing is filled. Budget: 0.96 of the link in tiles of 1 MiB and 0.98 in tiles of 4
// MiB, 8 and 10 us of CPU a tile, all included.
#include <chrono>
#include <memory>

#include "linked_device.hpp"
#include <benchmark/benchmark.h>

#include "engine/core/pool.hpp"
#include "engine/lane/lane.hpp"
#include "engine/machine/slab.hpp"
#include "engine/plan/usual_sizes.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;

class BatchesOfNothing final : public Stage {
 public:
  std::size_t run(DeviceTile const& tile, StreamRef /*stream*/) override { return tile.output.size(); }
  bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t> produced, StreamRef /*stream*/) override {
    for (std::size_t i = 0; i < tiles.size(); ++i) produced[i] = tiles[i].output.size();
    return true;
  }
};

/// Runs with as many slots as four batches take, and a batch more of tiles. A batch of 0 is the usual one.
void through_a_link(benchmark::State& state) {
  auto const tile_bytes = static_cast<std::size_t>(state.range(0)) << 10;
  auto const batch = state.range(1) > 0 ? static_cast<unsigned>(state.range(1)) : usual_batch(Driven::gpu, tile_bytes);
  TileShape const shape{.input_bytes = tile_bytes, .output_bytes = tile_bytes, .in_place = true};
  unsigned const slots = batches_in_flight * batch;
  std::size_t const tiles = slots + batch + static_cast<std::size_t>(state.range(2));
  std::size_t const room = (Pool::slab_bytes(shape, tiles) + Slab::alignment - 1) / Slab::alignment * Slab::alignment;
  Slab const slab(room);
  Pool pool(slab.bytes(), shape, tiles, 5us);
  LinkedDevice device;
  Lane lane(device, shape, tiles,
            {.flight = {.slots = slots, .streams = StreamMode::own},
             .batch = batch,
             .signal = SignalKind::event_poll,
             .spin = 200us},
            0, {.make = [](StageContext const&) { return std::make_unique<BatchesOfNothing>(); }, .merge = {}},
            [](Completion completion) { completion.loan.give_back(); });
  for (auto _ : state) {
    Loan loan = pool.borrow();
    loan->filled = tile_bytes;
    static_cast<void>(lane.submit(loan));
  }
  lane.close();
  LaneSummary const did = lane.summary();
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(tile_bytes));
  state.counters["batch"] = static_cast<double>(did.tiles) / static_cast<double>(did.batches);
  state.counters["copies"] = static_cast<double>(did.copies) / 2 / static_cast<double>(did.batches);
  state.counters["naps"] = static_cast<double>(did.naps) / static_cast<double>(did.batches);
}

BENCHMARK(through_a_link)
    ->ArgNames({"KiB", "batch", "more_tiles"})
    ->ArgsProduct({{64, 1024, 4096}, {0}, {0}})
    ->ArgsProduct({{1024}, {1, 8, 16}, {0}})
    ->Args({1024, 0, 3})  // These are not whole batches.
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
