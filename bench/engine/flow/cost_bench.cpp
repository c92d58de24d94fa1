// SPDX-License-Identifier: Apache-2.0
// Question: what does the framework itself spend on a tile, from borrow to the tile's home, on a device that takes
// nothing; and how does that grow with lanes, tiles and producers? Budget: 1 us of the whole process's CPU time, 2 us
// with sixteen lanes or producers.
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "../lane/free_device.hpp"
#include "instruction_count.hpp"
#include <benchmark/benchmark.h>

#include "engine/machine/host_limits.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

InstructionCount& instructions() {
  static InstructionCount count;  // It is made before any thread that it is to count.
  return count;
}

/// Says that a tile is full without looking at it, for a number of tiles.
class Nothing final : public Source {
 public:
  explicit Nothing(std::uint64_t tiles) : left_(tiles) {}
  bool next(Tile&) override {
    if (left_ == 0) return false;
    --left_;
    return true;
  }
  std::size_t fill(Tile& tile) override { return tile.input().size(); }

 private:
  std::uint64_t left_;
};

constexpr std::uint64_t tiles_a_run = 200'000;

/// The pipeline's own producers bring the tiles.
Report pull(Pipeline& pipeline, Sink const& sink, Stages const& stages) {
  Nothing source(tiles_a_run);
  return pipeline.run(source, stages, sink);
}

/// Pushes the tiles from as many threads of the application as there are producers.
Report push(Pipeline& pipeline, Sink const& sink, Stages const& stages) {
  unsigned const threads = pipeline.options().producers;
  pipeline.start(stages, sink);
  {
    std::vector<std::jthread> sessions;
    for (unsigned k = 0; k < threads; ++k) {
      sessions.emplace_back([&, tiles = tiles_a_run / threads] {
        for (std::uint64_t i = 0; i < tiles; ++i) {
          Loan loan = pipeline.feed().borrow();
          loan->filled = loan->input().size();
          pipeline.feed().submit(std::move(loan));
        }
      });
    }
  }
  return pipeline.drain();
}

using Bring = Report (*)(Pipeline&, Sink const&, Stages const&);

void whole_way(benchmark::State& state, bool sink_on_lanes, Bring bring) {
  FreeDevice device;
  Pipeline pipeline(device, {.tile = {.input_bytes = 256, .output_bytes = 256, .in_place = true},
                             .producers = static_cast<unsigned>(state.range(2)),
                             .lanes = static_cast<unsigned>(state.range(0)),
                             .consumers = 1,
                             .tuning = {.tiles = static_cast<std::size_t>(state.range(1)),
                                        .slots = 32,
                                        .streams = StreamMode::own,
                                        .signal = SignalKind::event_poll,
                                        .sink_on_lanes = sink_on_lanes,
                                        .bind = Bind::none}});
  std::atomic<std::uint64_t> sunk{0};
  double cpu = 0;
  double executed = 0;
  for (auto _ : state) {
    double const cpu_before = cpu_seconds();
    std::optional<std::uint64_t> const before = instructions().so_far();
    auto const start = std::chrono::steady_clock::now();
    Report const report = bring(
        pipeline, [&](Completion&) { sunk.fetch_add(1, std::memory_order_relaxed); },
        on_device([](DeviceTile const& tile, StreamRef) { return tile.output.size(); }));
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    cpu += cpu_seconds() - cpu_before;
    if (before) executed += static_cast<double>(instructions().so_far().value_or(*before) - *before);
    if (!report.ok()) return state.SkipWithError("a tile was lost");
  }
  auto const tiles = static_cast<double>(sunk.load());
  state.SetItemsProcessed(static_cast<std::int64_t>(tiles));
  state.counters["cpu_ns_a_tile"] = 1e9 * cpu / tiles;
  if (executed > 0) state.counters["instructions_a_tile"] = executed / tiles;
}

void add_cases() {
  struct Case {
    char const* name;
    bool sink_on_lanes;
    Bring bring;
  };
  for (Case const one : {Case{"sink_in_graph", false, pull}, Case{"sink_on_lanes", true, pull},
                         Case{"pushed_sink_on_lanes", true, push}}) {
    auto* const cases = benchmark::RegisterBenchmark(
        one.name, [=](benchmark::State& state) { whole_way(state, one.sink_on_lanes, one.bring); });
    cases->ArgNames({"lanes", "tiles", "producers"})->UseManualTime()->Unit(benchmark::kMillisecond);
    cases->Args({1, 256, 1});
    for (int const lanes : {2, 4, 16}) cases->Args({lanes, 256, 1});
    for (int const tiles : {16, 4096, 32768}) cases->Args({1, tiles, 1});
    for (int const producers : {2, 4, 16}) cases->Args({1, 256, producers});
  }
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  static_cast<void>(penstock::instructions());
  benchmark::Initialize(&argc, argv);
  penstock::add_cases();
  benchmark::RunSpecifiedBenchmarks();
}
