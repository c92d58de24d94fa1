// SPDX-License-Identifier: Apache-2.0
// Question: which signal, shape and number of lanes move most tiles, and what does a lane cost over the same calls by
// hand? Budget: callback at 0.97 of event_poll from 64 KiB on and 0.90 at 4 KiB; lanes at 0.95 of the loop by hand.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/core/number_text.hpp"
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

constexpr std::size_t kibibyte = 1024;

Device& device() {
  static std::unique_ptr<Device> const opened = open_device();
  return *opened;
}
bool on_gpu() {
  return device().info().kind == DeviceKind::cuda;
}

/// Pinned memory for all cases, allocated once.
std::span<std::byte> arena(std::size_t bytes) {
  static std::size_t const most = on_gpu() ? std::size_t{2} << 30 : std::size_t{64} << 20;
  static Slab const slab(most);
  static Pinned const pinned = device().pin(slab.bytes());
  return slab.bytes().first(bytes);
}

struct Case {
  unsigned lanes = 1;
  std::size_t bytes = 4 * kibibyte;
  unsigned depth = 128;
  LaneOptions lane = {};
  bool names_no_stream = false;  ///< The stage launches without naming a stream.
};

/// Number of tiles that take about a tenth of a second.
std::uint64_t tiles_of(Case const& what) {
  if (!on_gpu()) return std::uint64_t{2} * what.depth;
  std::uint64_t const by_link = (std::uint64_t{6} << 30) / what.bytes;
  return std::max<std::uint64_t>(what.lanes * std::uint64_t{what.depth} * 2, std::min<std::uint64_t>(by_link, 40'000));
}

Stages stages(Case const& what) {
  return on_device([no_stream = what.names_no_stream](DeviceTile const& tile, StreamRef stream) {
    DeviceSpan<float> const values = tile.input.as<float>();
#ifdef PENSTOCK_WITH_CUDA
    if (stream.kind() == DeviceKind::cuda) {
      no_stream ? scale_on_the_default_stream(values.address(), values.size())
                : scale(values.address(), values.size(), stream.native());
      return tile.input.size();
    }
#endif
    static_cast<void>(no_stream);
    stream.launch(1, [=](KernelBlock block) {
      for (float& x : values.in(block)) x = 2 * x + 1;
    });
    return tile.input.size();
  });
}

/// A tile that returns is submitted to its lane again at once, so that each lane always has `depth` of them.
class Circle {
 public:
  explicit Circle(Case const& what)
      : total_(tiles_of(what)), pool_(arena(Pool::slab_bytes(shape(what), tiles(what))), shape(what), tiles(what)) {
    for (unsigned i = 0; i < what.lanes; ++i) {
      LaneOptions options = what.lane;
      options.flight.slots = what.depth;
      options.name = "ps-lane-" + std::to_string(i);
      lanes_.push_back(std::make_unique<Lane>(device(), pool_.shape(), tiles(what), options, i, stages(what),
                                              [this, i](Completion done) { back(i, std::move(done)); }));
    }
    for (std::size_t t = 0; t < tiles(what); ++t) {
      Loan loan = pool_.borrow();
      loan->filled = what.bytes;
      static_cast<void>(lanes_[t % what.lanes]->submit(loan));
    }
    while (count_.load(std::memory_order_relaxed) < tiles(what)) benchmark::DoNotOptimize(count_);
  }
  /// Seconds for `total` tiles.
  double turn() {
    std::uint64_t const first = count_.load(std::memory_order_relaxed);
    auto const start = std::chrono::steady_clock::now();
    while (count_.load(std::memory_order_relaxed) < first + total_) relax_cpu();
    std::uint64_t const last = count_.load(std::memory_order_relaxed);
    double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return seconds * static_cast<double>(total_) / static_cast<double>(last - first);
  }
  std::uint64_t total() const { return total_; }
  bool end() {
    ending_.store(true, std::memory_order_relaxed);
    for (auto const& lane : lanes_) lane->close();
    return !failed_.load() && pool_.on_loan() == 0;
  }
  /// Summary of all lanes, once they have ended.
  LaneSummary summary() const {
    LaneSummary sum;
    for (auto const& lane : lanes_) {
      LaneSummary const own = lane->summary();
      sum.tiles += own.tiles;
      sum.tickets += own.tickets;
      sum.found += own.found;
    }
    return sum;
  }

 private:
  static TileShape shape(Case const& what) {
    return {.input_bytes = what.bytes, .output_bytes = what.bytes, .in_place = true};
  }
  static std::size_t tiles(Case const& what) { return std::size_t{what.lanes} * what.depth; }
  void back(unsigned lane, Completion done) {
    if (!done.ok()) failed_.store(true);
    count_.fetch_add(1, std::memory_order_relaxed);
    if (!ending_.load(std::memory_order_relaxed)) static_cast<void>(lanes_[lane]->submit(done.loan));
  }

  std::uint64_t const total_;
  Pool pool_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  alignas(64) std::atomic<std::uint64_t> count_{0};
  alignas(64) std::atomic<bool> ending_{false};
  std::atomic<bool> failed_{false};
};

void report(benchmark::State& state, Case const& what, std::uint64_t total, double cpu) {
  auto const tiles = static_cast<double>(state.iterations()) * static_cast<double>(total);
  state.SetItemsProcessed(static_cast<std::int64_t>(tiles));
  state.counters["GB/s"] =
      benchmark::Counter(tiles * static_cast<double>(what.bytes) / 1e9, benchmark::Counter::kIsRate);
  state.counters["cpu_us"] = cpu * 1e6 / tiles;
}

void through_lanes(benchmark::State& state, Case const& what) {
  device().attach();
  Circle circle(what);
  double const cpu = cpu_seconds();
  for (auto _ : state) state.SetIterationTime(circle.turn());
  report(state, what, circle.total(), cpu_seconds() - cpu);
  if (!circle.end()) state.SkipWithError("a tile failed");
  LaneSummary const sum = circle.summary();
  state.counters["watchdog"] = static_cast<double>(sum.found.by_watchdog);
  state.counters["tickets"] = static_cast<double>(sum.tickets) / static_cast<double>(sum.tiles);
}

#ifdef PENSTOCK_WITH_CUDA
void by_hand(benchmark::State& state, Case const& what) {
  if (!on_gpu()) return state.SkipWithError("there is no GPU");
  device().attach();
  std::span<std::byte> const host = arena(std::size_t{what.lanes} * what.depth * what.bytes);
  double const cpu = cpu_seconds();
  for (auto _ : state) {
    double const seconds = tiles_by_hand(host.data(), what.bytes, what.lanes, what.depth, tiles_of(what),
                                         what.lane.flight.shape == LaneShape::split,
                                         what.lane.flight.streams == StreamMode::thread_default);
    if (seconds < 0) return state.SkipWithError("CUDA refused");
    state.SetIterationTime(seconds);
  }
  report(state, what, tiles_of(what), cpu_seconds() - cpu);
}
#endif

void run_case(benchmark::State& state, Case const& what, bool hand) {
#ifdef PENSTOCK_WITH_CUDA
  if (hand) return by_hand(state, what);
#endif
  static_cast<void>(hand);
  through_lanes(state, what);
}

void add(std::string const& question, Case const& what, bool hand = false) {
  std::string const name = question + "/" + (hand ? "by_hand" : std::string(to_string(what.lane.signal))) + "/" +
                           std::string(to_string(what.lane.flight.shape)) + "/" +
                           (what.lane.flight.streams == StreamMode::own ? "own" : "default") +
                           "/spin:" + std::to_string(what.lane.spin.count() / 1000) +
                           "/depth:" + std::to_string(what.depth) + "/lanes:" + std::to_string(what.lanes) +
                           "/KiB:" + std::to_string(what.bytes / kibibyte);
  benchmark::RegisterBenchmark(name.c_str(), run_case, what, hand)->UseManualTime()->Unit(benchmark::kMillisecond);
}

constexpr std::chrono::microseconds short_spin{200};

void add_cases() {
  std::vector<std::size_t> const sizes =
      on_gpu() ? std::vector<std::size_t>{4, 64, 1024, 4096} : std::vector<std::size_t>{4};
  for (std::size_t const kib : sizes) {
    // Each signal is used as it works best, and lanes sleep whenever they can.
    for (SignalKind const signal : all_signal_kinds) {
      for (LaneShape const shape : {LaneShape::split, LaneShape::single}) {
        for (auto const spin : {std::chrono::microseconds(0), short_spin}) {
          Case what{.lanes = on_gpu() ? 4U : 1U, .bytes = kib * kibibyte, .depth = on_gpu() ? 128U : 8U};
          what.lane = {.flight = {.streams = StreamMode::own, .shape = shape}, .signal = signal, .spin = spin};
          add("signal", what);
        }
      }
    }
    if (!on_gpu()) continue;
    for (unsigned const lanes : {1U, 4U, 8U}) {
      if (kib == 4096 && lanes > 4) continue;
      for (LaneShape const shape : {LaneShape::split, LaneShape::single}) {
        Case what{.lanes = lanes, .bytes = kib * kibibyte};
        what.lane = {.flight = {.streams = StreamMode::own, .shape = shape},
                     .signal = SignalKind::event_poll,
                     .spin = short_spin};
        add("hand", what, true);
        add("hand", what);
        what.lane.signal = SignalKind::callback;
        add("hand", what);
        what.lane.signal = SignalKind::flag;
        add("hand", what);
      }
    }
    // These cases show if lanes that share a device out sleep too soon.
    for (auto const spin : {50, 200, 1000, 5000}) {
      Case what{.lanes = 8, .bytes = kib * kibibyte};
      what.lane = {.flight = {.streams = StreamMode::own, .shape = LaneShape::single},
                   .spin = std::chrono::microseconds(spin)};
      add("spin", what);
    }
    for (unsigned const depth : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U}) {
      for (LaneShape const shape : {LaneShape::split, LaneShape::single}) {
        for (unsigned const lanes : {1U, 2U, 4U}) {
          Case what{.lanes = lanes, .bytes = kib * kibibyte, .depth = depth};
          what.lane = {.flight = {.streams = StreamMode::own, .shape = shape}, .spin = short_spin};
          add("depth", what);
        }
      }
    }
  }
  if (!on_gpu()) return;
  for (unsigned const lanes : {1U, 2U, 4U, 8U, 16U}) {
    for (std::size_t const kib : {4UL, 1024UL}) {
      for (LaneShape const shape : {LaneShape::split, LaneShape::single}) {
        Case what{.lanes = lanes, .bytes = kib * kibibyte, .names_no_stream = true};
        what.depth = kib == 4 ? 128 : 64;
        what.lane = {.flight = {.shape = shape}, .spin = short_spin};
        add("no_stream", what);
        what.names_no_stream = false;
        what.lane.flight.streams = StreamMode::own;
        add("own_stream", what);
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
