// SPDX-License-Identifier: Apache-2.0
// Question: what does a lane itself take for a tile, on a device that takes nothing? Budget: 1 us of CPU, a tenth of
// what ten calls of a GPU's driver take; 20 us for a tile that comes alone, for which two threads have to wake.
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "free_device.hpp"
#include <benchmark/benchmark.h>

#include "engine/core/event_count.hpp"
#include "engine/core/pool.hpp"
#include "engine/lane/lane.hpp"

namespace penstock {
namespace {

constexpr TileShape shape{.input_bytes = 256, .output_bytes = 256, .in_place = true};

/// A lane that sleeps when it has nothing to do, and so does the thread that waits for it: all CPU time is work, or
/// waking up.
struct World {
  World(SignalKind signal, LaneShape streams, std::size_t tiles)
      : slab(Pool::slab_bytes(shape, tiles)),
        pool(slab, shape, tiles),
        lane(device, shape, tiles,
             {.flight = {.slots = 32, .streams = StreamMode::own, .shape = streams}, .signal = signal}, 0,
             on_device([](DeviceTile const& tile, StreamRef) { return tile.output.size(); }),
             [this](Completion completion) {
               completion.loan.give_back();
               if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) bell.notify();
             }) {}
  /// Sends all tiles through.
  void turn() {
    left.store(pool.size(), std::memory_order_release);
    for (std::size_t i = 0; i < pool.size(); ++i) {
      Loan loan = pool.borrow();
      loan->filled = shape.input_bytes;
      static_cast<void>(lane.submit(loan));
    }
    bell.await([this] { return left.load(std::memory_order_acquire) == 0; }, std::chrono::nanoseconds(0),
               std::chrono::hours(1));
  }

  FreeDevice device;
  std::vector<std::byte> slab;
  Pool pool;
  EventCount bell;
  std::atomic<std::size_t> left{0};
  Lane lane;
};

void submit_and_retire(benchmark::State& state, SignalKind signal, LaneShape streams) {
  World world(signal, streams, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) world.turn();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void add_cases() {
  for (SignalKind const signal : {SignalKind::callback, SignalKind::event_poll}) {
    for (LaneShape const streams : {LaneShape::split, LaneShape::single}) {
      std::string const name =
          "submit_and_retire/" + std::string(to_string(signal)) + "/" + std::string(to_string(streams));
      benchmark::RegisterBenchmark(name.c_str(), submit_and_retire, signal, streams)
          ->ArgName("tiles")
          ->Arg(1)
          ->Arg(256)
          ->MeasureProcessCPUTime();
    }
  }
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  penstock::add_cases();
  benchmark::RunSpecifiedBenchmarks();
}
