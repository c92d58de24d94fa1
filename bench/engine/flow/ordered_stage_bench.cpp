// SPDX-License-Identifier: Apache-2.0
// Question: what does a stage that sees tiles in their sequence cost beside one that needs no order, by how many
// producers fill them? Budget: 1.05 of the time by key, with as many lanes; on one lane 1.05 of that of a plain stage
// on one lane. Every tile is looked at: one that is out of its sequence is an error.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ordered_sums.hpp"
#include <benchmark/benchmark.h>

#include "engine/machine/host_limits.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

/// Tiles of each run; `--tiles=10000000` makes it more.
std::uint64_t tiles_a_run = 20'000;
/// Device of the pipelines; `--device=model:h200@100` names a model.
std::string wish = "cpu";

enum class Order : std::uint8_t { none, all, by_key };

/// Fills tiles with numbers for a stage.
class Numbers final : public Source {
 public:
  bool next(Tile& tile) override {
    tile.tag = tile.sequence % keys;
    return tile.sequence < tiles_a_run;
  }
  std::size_t fill(Tile& tile) override {
    auto const numbers = elements<std::uint32_t>(tile.input());
    std::ranges::fill(numbers, static_cast<std::uint32_t>(tile.sequence));
    return tile.input().size();
  }
};

/// Sums each tile's numbers, and checks if the tiles of a key come in their sequence.
class SumStage final : public Stage {
 public:
  SumStage(Order order, StageContext const& context) : order_(order) {
#ifdef PENSTOCK_WITH_CUDA
    if (context.device.info().kind == DeviceKind::cuda) on_gpu_ = context.device.allocate(sizeof(OrderedSums));
#else
    static_cast<void>(context);
#endif
  }
  Promises promises() const noexcept override {
    return {.reads_once = true};
  }
  void prepare([[maybe_unused]] StreamRef stream) override {
#ifdef PENSTOCK_WITH_CUDA
    if (!on_gpu_.bytes().empty()) clear(sums_on_gpu(), stream.native());
#endif
  }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
#ifdef PENSTOCK_WITH_CUDA
    if (!on_gpu_.bytes().empty()) {
      auto const numbers = tile.input.as<std::uint32_t const>();
      if (!add_in_order(order_ == Order::none ? nullptr : sums_on_gpu(),
                        reinterpret_cast<std::uint32_t const*>(numbers.address()), numbers.size(), tile.tag,
                        tile.sequence, stream.native()))
        throw Error(ErrorKind::device_refused, "The kernel was refused.");
      return 0;
    }
#endif
    stream.launch(1, [this, input = tile.input.as<std::uint32_t const>(), key = tile.tag,
                      sequence = tile.sequence](KernelBlock block) {
      auto const numbers = input.in(block);
      std::uint64_t sum = std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
      benchmark::DoNotOptimize(sum);
      if (order_ == Order::none) return;
      sums_.out_of_order += std::exchange(sums_.next[key], sequence + 1) <= sequence ? 0U : 1U;
      sums_.sum[key] += sum;
    });
    return 0;
  }
  /// Number of tiles out of order. Call it once all tiles are done.
  std::uint64_t out_of_order() const {
#ifdef PENSTOCK_WITH_CUDA
    if (!on_gpu_.bytes().empty()) return ::out_of_order(sums_on_gpu());
#endif
    return sums_.out_of_order;
  }

 private:
#ifdef PENSTOCK_WITH_CUDA
  OrderedSums* sums_on_gpu() const {
    return reinterpret_cast<OrderedSums*>(on_gpu_.bytes().data());
  }

  DeviceMemory on_gpu_;
#endif
  OrderedSums sums_;
  Order const order_;
};

/// CPU seconds of the process, or wall seconds, in alternate runs; and whether all went well.
struct Took {
  double cpu = 0;
  double wall = 0;
  bool right = false;
};

Took run_once(Pipeline& pipeline, Order order) {
  std::uint64_t out_of_order = 0;
  Stages const plain{
      .make = [order](StageContext const& context) { return std::make_unique<SumStage>(order, context); },
      .merge = [&](Stage& stage) { out_of_order += static_cast<SumStage&>(stage).out_of_order(); }};
  Numbers source;
  double const cpu_before = cpu_seconds();
  auto const start = std::chrono::steady_clock::now();
  Report const report = pipeline.run(source,
                                     order == Order::none  ? plain
                                     : order == Order::all ? in_order(plain)
                                                           : in_order_by(&Tile::tag, plain),
                                     [](Completion&) {});
  return {.cpu = cpu_seconds() - cpu_before,
          .wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          .right = report.ok() && report.tiles_done == tiles_a_run && out_of_order == 0};
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// A plain and an ordered run alternate, so that other load of the machine is the same for both.
void beside_a_plain_one(benchmark::State& state, Order order) {
  auto const device = open_device(wish);
  Pipeline pipeline(*device,
                    {.tile = {.input_bytes = static_cast<std::size_t>(state.range(2))},
                     .producers = static_cast<unsigned>(state.range(0)),
                     .lanes = static_cast<unsigned>(state.range(1)),
                     .consumers = 1,
                     .tuning = {.tiles = 64, .streams = StreamMode::own, .sink_on_lanes = true, .bind = Bind::none}});
  std::vector<double> wall_ratios, cpu_ratios;
  for (auto _ : state) {
    Took const plain = run_once(pipeline, Order::none), ordered = run_once(pipeline, order);
    if (!plain.right || !ordered.right) return state.SkipWithError("a tile was lost, or out of its sequence");
    state.SetIterationTime(ordered.wall);
    wall_ratios.push_back(ordered.wall / plain.wall);
    cpu_ratios.push_back(ordered.cpu / plain.cpu);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(tiles_a_run) * state.iterations());
  state.counters["wall_of_plain"] = median(wall_ratios);
  state.counters["cpu_of_plain"] = median(cpu_ratios);
}

void add_cases() {
  for (auto const& [name, order, lanes] :
       {std::tuple{"by_key", Order::by_key, 2}, std::tuple{"all_on_one_lane", Order::all, 1}}) {
    auto* const cases = benchmark::RegisterBenchmark(
        name, [order = order](benchmark::State& state) { beside_a_plain_one(state, order); });
    cases->ArgNames({"producers", "lanes", "bytes"})->UseManualTime()->Unit(benchmark::kMillisecond);
    for (int const producers : {1, 2, 4, 8}) cases->Args({producers, lanes, 4096});
    cases->Args({2, lanes, 64 << 10});
  }
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  constexpr std::string_view tiles = "--tiles=", device = "--device=";
  for (int i = argc - 1; i > 0; --i) {
    std::string_view const argument = argv[i];
    if (argument.starts_with(tiles)) {
      penstock::tiles_a_run = std::strtoull(argv[i] + tiles.size(), nullptr, 10);
    } else if (argument.starts_with(device)) {
      penstock::wish = argument.substr(device.size());
    } else {
      continue;
    }
    std::swap(argv[i], argv[--argc]);
  }
  benchmark::Initialize(&argc, argv);
  penstock::add_cases();
  benchmark::RunSpecifiedBenchmarks();
}
