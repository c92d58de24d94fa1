// SPDX-License-Identifier: Apache-2.0
// Question: how long from the moment that a tile's kernel has ended to the moment that its sink runs? Budget: with
// event_poll and flag 1.2 times a bare loop's time, measured beside it; with callback 20 us in the median. And what
// does a pipeline cost that has nothing to do? Budget: 0.05 core per lane.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/core/event_count.hpp"
#include "engine/machine/host_limits.hpp"
#include "engine/machine/slab.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/pipeline.hpp"
#ifdef PENSTOCK_WITH_CUDA
#include "../lane/scale.hpp"
#endif

namespace penstock {
namespace {

constexpr std::size_t tile_bytes = 4096;

Device& device() {
  static std::unique_ptr<Device> const opened = open_device();
  return *opened;
}
bool on_gpu() {
  return device().info().kind == DeviceKind::cuda;
}
std::int64_t host_now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// Place where kernels note the time: pinned, and seen by host and device.
std::uint64_t* stamp() {
  static Slab const slab(Slab::alignment);
  static Pinned const pinned = device().pin(slab.bytes());
  return reinterpret_cast<std::uint64_t*>(slab.bytes().data());
}
std::int64_t stamped() {
  return static_cast<std::int64_t>(std::atomic_ref<std::uint64_t>(*stamp()).load(std::memory_order_acquire));
}
/// Nanoseconds by which the host's clock is ahead of that of the stamps.
std::int64_t ahead(benchmark::State& state) {
#ifdef PENSTOCK_WITH_CUDA
  if (on_gpu()) {
    ClockOffset const offset = clock_offset();
    state.counters["clock_us"] = 1e-3 * static_cast<double>(offset.uncertain);
    return offset.ahead;
  }
#endif
  state.counters["clock_us"] = 0;
  return 0;
}

void tell(benchmark::State& state, std::vector<std::int64_t>& latencies) {
  if (latencies.size() > 100) latencies.erase(latencies.begin(), latencies.begin() + 50);
  std::sort(latencies.begin(), latencies.end());
  auto const at = [&](std::size_t permille) {
    return 1e-3 * static_cast<double>(latencies[(latencies.size() - 1) * permille / 1000]);
  };
  state.counters["p50_us"] = at(500);
  state.counters["p99_us"] = at(990);
  state.counters["most_us"] = at(1000);
}

Stages stamp_only() {
  return on_device([](DeviceTile const&, StreamRef stream) {
#ifdef PENSTOCK_WITH_CUDA
    if (stream.kind() == DeviceKind::cuda) {
      note_time(stamp(), stream.native());
      return std::size_t{0};
    }
#endif
    stream.launch(1, [](std::uint32_t) {
      std::atomic_ref<std::uint64_t>(*stamp()).store(static_cast<std::uint64_t>(host_now()), std::memory_order_release);
    });
    return std::size_t{0};
  });
}

#ifdef PENSTOCK_WITH_CUDA
void bare_loop(benchmark::State& state, bool by_flag) {
  if (!on_gpu()) return state.SkipWithError("there is no GPU");
  device().attach();
  std::int64_t const offset = ahead(state);
  std::vector<std::int64_t> latencies;
  Stream const stream = device().make_stream();
  Flag const flag = device().make_flag();
  BareLoop loop(stamp(), stream.native());
  std::uint64_t number = 0;
  std::function<void()> write;
  if (by_flag) write = [&] { stream.write(flag, ++number); };
  for (auto _ : state) latencies.push_back(loop.next(write, [&] { return flag.read() == number; }) - offset);
  tell(state, latencies);
}
#endif

/// One tile at a time, each submitted `pause` after the sink had the one before.
void to_sink(benchmark::State& state, SignalKind signal, std::chrono::microseconds spin,
             std::chrono::microseconds pause, bool on_lane) {
  device().attach();
  std::int64_t const offset = ahead(state);
  Pipeline pipeline(device(), {.tile = {.input_bytes = tile_bytes},
                               .lanes = 1,
                               .consumers = 1,
                               .tuning = {.tiles = 4,
                                          .spin = spin,
                                          .streams = StreamMode::own,
                                          .shape = LaneShape::single,
                                          .signal = signal,
                                          .sink_on_lanes = on_lane}});
  std::atomic<std::uint64_t> sunk{0};
  std::vector<std::int64_t> latencies;
  pipeline.start(stamp_only(), [&](Completion&) {
    latencies.push_back(host_now() - offset - stamped());
    sunk.fetch_add(1, std::memory_order_release);
  });
  Feed feed = pipeline.feed();
  std::uint64_t submitted = 0;
  for (auto _ : state) {
    Loan loan = feed.borrow();
    loan->filled = 0;
    feed.submit(std::move(loan));
    ++submitted;
    while (sunk.load(std::memory_order_acquire) < submitted) relax_cpu();
    auto const until = std::chrono::steady_clock::now() + pause;
    while (std::chrono::steady_clock::now() < until) relax_cpu();
  }
  if (!pipeline.drain().ok()) state.SkipWithError("a tile failed");
  tell(state, latencies);
}

/// Measures the cost of a started pipeline without work: cores per lane, over a second.
void idle(benchmark::State& state, SignalKind signal) {
  constexpr unsigned lanes = 4;
  device().attach();
  Pipeline pipeline(device(),
                    {.tile = {.input_bytes = tile_bytes}, .lanes = lanes, .tuning = {.tiles = 16, .signal = signal}});
  pipeline.start(stamp_only(), [](Completion&) {});
  EventCount nobody_notifies;
  for (auto _ : state) {
    double const cpu = cpu_seconds();
    nobody_notifies.await([] { return false; }, std::chrono::nanoseconds(0), std::chrono::seconds(1));
    state.counters["cores_per_lane"] = (cpu_seconds() - cpu) / lanes;
  }
  static_cast<void>(pipeline.drain());
}

void add_cases() {
  using std::chrono::microseconds;
  std::int64_t const count = on_gpu() ? 3000 : 100;
#ifdef PENSTOCK_WITH_CUDA
  benchmark::RegisterBenchmark("bare_loop/event", bare_loop, false)->Iterations(count);
  benchmark::RegisterBenchmark("bare_loop/flag", bare_loop, true)->Iterations(count);
#endif
  for (SignalKind const signal : {SignalKind::callback, SignalKind::event_block, SignalKind::event_poll}) {
    std::string const name = "idle/" + std::string(to_string(signal));
    benchmark::RegisterBenchmark(name.c_str(), idle, signal)->Iterations(1)->Unit(benchmark::kMillisecond);
  }
  for (SignalKind const signal : all_signal_kinds) {
    for (auto const spin : {microseconds(0), microseconds(200)}) {
      for (auto const pause : {microseconds(0), microseconds(1000)}) {
        for (bool const on_lane : {false, true}) {
          std::string const name = std::string(on_lane ? "to_sink_on_lane/" : "to_sink/") +
                                   std::string(to_string(signal)) + "/spin:" + std::to_string(spin.count()) +
                                   "/pause:" + std::to_string(pause.count());
          benchmark::RegisterBenchmark(name.c_str(), to_sink, signal, spin, pause, on_lane)->Iterations(count);
        }
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
