// SPDX-License-Identifier: Apache-2.0
// Question: what does a tile of 64 KiB cost whose stage launches 1, 4 or 16 small kernels, one by one, as a graph, or
// as the lane chooses? Budget: the choice within 3 % of the better of the two, in tiles a second and in CPU.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

#include "engine/core/event_count.hpp"
#include "engine/core/pool.hpp"
#include "engine/lane/lane.hpp"
#include "engine/machine/host_limits.hpp"
#include "engine/machine/slab.hpp"
#include "penstock/models/devices.hpp"
#ifdef PENSTOCK_WITH_CUDA
#include "scale.hpp"
#endif

namespace penstock {
namespace {

constexpr TileShape shape{
    .input_bytes = std::size_t{64} << 10, .output_bytes = std::size_t{64} << 10, .in_place = true};

Device& device() {
  static std::unique_ptr<Device> const opened = open_device();
  return *opened;
}
bool on_gpu() {
  return device().info().kind == DeviceKind::cuda;
}

struct Case {
  Graphs graphs = Graphs::automatic;
  unsigned kernels = 1;
  unsigned batch = 1;
};

/// Each kernel works on its part of the tile, so that the total work does not depend on the number of kernels.
Stages stages(unsigned kernels) {
  return on_device(
      [kernels](DeviceTile const& tile, StreamRef stream) {
        std::size_t const part = tile.input.size() / kernels;
        for (unsigned i = 0; i < kernels; ++i) {
          DeviceSpan<float> const values = tile.input.subspan(i * part, part).as<float>();
#ifdef PENSTOCK_WITH_CUDA
          if (stream.kind() == DeviceKind::cuda) {
            scale(values.address(), values.size(), stream.native());
            continue;
          }
#endif
          stream.launch(1, [=](KernelBlock block) {
            for (float& x : values.in(block)) x = 2 * x + 1;
          });
        }
        return tile.input.size();
      },
      {.capturable = true});
}

/// A lane that always has all its tiles: each that returns is submitted again. The waiting thread sleeps, so that CPU
/// time is that of the lane and its device.
class Circle {
 public:
  explicit Circle(Case const& what)
      : slots_(std::max(32U, 4 * what.batch)),
        slab_(Pool::slab_bytes(shape, std::size_t{2} * slots_)),
        pinned_(device().pin(slab_.bytes())),
        pool_(slab_.bytes(), shape, std::size_t{2} * slots_),
        lane_(device(), shape, pool_.size(),
              {.flight = {.slots = slots_, .transport = Transport::copies, .graphs = what.graphs},
               .batch = what.batch,
               .spin = std::chrono::microseconds(on_gpu() ? 200 : 0)},
              0, stages(what.kernels), [this](Completion done) { back(std::move(done)); }) {
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      Loan loan = pool_.borrow();
      loan->filled = shape.input_bytes;
      static_cast<void>(lane_.submit(loan));
    }
    // The warm-up lasts until the lane has chosen.
    run(on_gpu() ? 20'000 : 2 * pool_.size());
  }
  /// Seconds for `tiles` more tiles.
  double run(std::uint64_t tiles) {
    auto const start = std::chrono::steady_clock::now();
    std::uint64_t const first = count_.load(std::memory_order_relaxed);
    goal_.store(first + tiles, std::memory_order_relaxed);
    bell_.await([this] { return count_.load(std::memory_order_relaxed) >= goal_.load(std::memory_order_relaxed); },
                std::chrono::nanoseconds(0), std::chrono::hours(1));
    std::uint64_t const ran = count_.load(std::memory_order_relaxed) - first;
    double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return seconds * static_cast<double>(tiles) / static_cast<double>(ran);
  }
  /// Summary of the lane.
  LaneSummary end() {
    ending_.store(true, std::memory_order_relaxed);
    lane_.close();
    return lane_.summary();
  }

 private:
  void back(Completion done) {
    std::uint64_t const count = count_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (!ending_.load(std::memory_order_relaxed)) static_cast<void>(lane_.submit(done.loan));
    if (count >= goal_.load(std::memory_order_relaxed)) bell_.notify();
  }

  unsigned const slots_;
  Slab slab_;
  Pinned pinned_;
  Pool pool_;
  EventCount bell_;
  std::atomic<std::uint64_t> count_{0}, goal_{0};
  std::atomic<bool> ending_{false};
  Lane lane_;
};

void tiles_in_a_circle(benchmark::State& state, Case const& what) {
  device().attach();
  std::uint64_t const tiles = on_gpu() ? 20'000 : 128;
  Circle circle(what);
  double const cpu = cpu_seconds();
  double wall = 0;
  for (auto _ : state) {
    double const seconds = circle.run(tiles);
    state.SetIterationTime(seconds);
    wall += seconds;
  }
  auto const all = static_cast<double>(state.iterations()) * static_cast<double>(tiles);
  state.counters["cpu_us"] = (cpu_seconds() - cpu) * 1e6 / all;
  state.counters["wall_us"] = wall * 1e6 / all;
  LaneSummary const did = circle.end();
  if (did.failed > 0) return state.SkipWithError("a tile failed");
  if (did.not_captured != nullptr) return state.SkipWithError(did.not_captured->reason.c_str());
  state.counters["graphs"] = static_cast<double>(did.graphs) / static_cast<double>(did.tiles);
}

void add_cases() {
  for (unsigned const batch : {1U, 128U}) {
    if (batch > 1 && !on_gpu()) continue;
    for (unsigned const kernels : {1U, 4U, 16U}) {
      for (auto const& [graphs, word] :
           {std::pair{Graphs::never, "never"}, {Graphs::always, "always"}, {Graphs::automatic, "automatic"}}) {
        std::string const name = "tiles_in_a_circle/" + std::string(word) + "/kernels:" + std::to_string(kernels) +
                                 "/batch:" + std::to_string(batch);
        benchmark::RegisterBenchmark(name.c_str(), tiles_in_a_circle, Case{graphs, kernels, batch})
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
      }
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
