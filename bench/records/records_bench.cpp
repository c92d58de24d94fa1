// SPDX-License-Identifier: Apache-2.0
// Question: what does it cost to pack a record, and how many a second go through? Budget: 60 ns of the whole process's
// CPU time a record; 5 million records of 4 KiB a second, in and out, of eight writers on a GPU; one at a time, 12 us
// from append to reply.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/core/pool.hpp"
#include "engine/machine/host_limits.hpp"
#include "penstock/kernels.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/records.hpp"
#include "records/departures.hpp"
#include "records/packing.hpp"

namespace penstock {
namespace {

PipelineOptions options_for(std::size_t tile_bytes, unsigned writers, unsigned lanes) {
  return {.tile = {.input_bytes = tile_bytes, .output_bytes = tile_bytes, .in_place = true},
          .producers = writers,
          .lanes = lanes,
          .parallel_sink = true};
}

RecordStages nothing() {
  return on_device([](DeviceRecords const&, StreamRef) {});
}

/// The output differs from the input, so that no copy can be missed.
RecordStages transform_each() {
  return on_device(
      [](DeviceRecords const& records, StreamRef stream) {
        transform(records.input.as<float>(), 0, records.output.as<float>(), stream);
      },
      {.reads_once = true});
}

/// Measures packing alone, without tiles that travel: each pack that is full is begun anew.
void pack(benchmark::State& state) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  TileShape const shape{.input_bytes = std::size_t{1} << 20, .output_bytes = std::size_t{1} << 20, .in_place = true};
  std::vector<std::byte> slab(Pool::slab_bytes(shape, 1));
  Pool pool(slab, shape, 1);
  Packing const packing(shape, {.record_bytes = state.range(1) != 0 ? 0 : bytes});
  Departures departures({.hungry_below = 1, .linger = std::chrono::hours(1)}, [](Pack&, Departure) {});
  Pack busy;
  departures.send(busy, Departure::full);  // The lanes have enough to do.
  Pack ours;
  ours.open(pool.borrow());
  std::vector<std::byte> const mine(bytes);
  Desk& desk = departures.take_desk();
  departures.put_down(desk, &ours);
  for (auto _ : state) {
    Pack* taken = departures.take_up(desk).value_or(nullptr);
    if (!packing.has_room(*taken, bytes)) {
      packing.close(*taken);
      taken->open(std::move(taken->loan));
    }
    std::memcpy(packing.room(*taken, bytes).data(), mine.data(), bytes);
    packing.expect_more(*taken, 1);
    packing.add(*taken, bytes, {});
    departures.put_down(desk, taken);
  }
  departures.give_back(desk);
  ours.loan.give_back();
}
BENCHMARK(pack)->ArgNames({"bytes", "any_size"})->Args({16, 0})->Args({16, 1})->Args({4096, 0})->Args({4096, 1});

/// Each writer stamps its records with a number made of the tag. The device adds one to it (penstock/kernels.hpp), and
/// the sink checks it; with `work` 0 the device does nothing and the sink checks nothing, which shows the time of the
/// host's side.
void through(benchmark::State& state) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  auto const writers = static_cast<unsigned>(state.range(1));
  auto const tile_bytes = static_cast<std::size_t>(state.range(2)) << 10;
  auto const lanes = static_cast<unsigned>(state.range(3));
  bool const work = state.range(4) != 0;
  auto const device = open_device();
  // A round has about a gigabyte on a GPU; and enough records to be packed, if they are small.
  std::uint64_t const round = std::uint64_t{1} << (device->info().kind == DeviceKind::cuda ? 30 : 26);
  std::uint64_t const each = std::clamp<std::uint64_t>(round / bytes, 1000, 1'000'000) / writers;
  auto options = options_for(tile_bytes, writers, lanes);
  options.tile.in_place = false;
  Pipeline pipeline(*device, options);
  Records records(pipeline, {.record_bytes = bytes});
  auto const stamp_of = [](std::uint64_t tag) { return static_cast<float>(tag & 1023); };
  std::atomic<std::uint64_t> wrong{0};
  double cpu = 0;
  RecordReport report;
  for (auto _ : state) {
    records.start(work ? transform_each() : nothing(), [&](RecordCompletion const& done) {
      float result = 0;
      if (done.ok()) std::memcpy(&result, done.output.data(), sizeof result);
      bool const right = std::abs(result - stamp_of(done.tag) - 1) < 1e-2F;
      if (work && !right) wrong.fetch_add(1, std::memory_order_relaxed);
    });
    auto const start = std::chrono::steady_clock::now();
    double const cpu_before = cpu_seconds();
    {
      std::vector<std::jthread> threads;
      for (unsigned number = 0; number < writers; ++number) {
        threads.emplace_back([&, number] {
          std::vector<std::byte> mine(bytes);
          RecordWriter writer = records.writer();
          for (std::uint64_t tag = number * each; tag < (number + 1) * each; ++tag) {
            float const stamp = stamp_of(tag);
            std::memcpy(mine.data(), &stamp, sizeof stamp);
            writer.append(mine, tag);
          }
        });
      }
    }
    report = records.drain();
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    cpu += cpu_seconds() - cpu_before;
    if (!report.ok() || wrong > 0) return state.SkipWithError("a record was lost, or is wrong");
  }
  auto const count = static_cast<double>(state.iterations()) * static_cast<double>(each * writers);
  state.SetItemsProcessed(static_cast<std::int64_t>(count));
  state.SetBytesProcessed(static_cast<std::int64_t>(count * static_cast<double>(bytes)));
  state.counters["cpu_ns_a_record"] = 1e9 * cpu / count;
  state.counters["records_a_tile"] =
      static_cast<double>(each * writers) / static_cast<double>(std::max<std::uint64_t>(1, report.tiles.tiles()));
}
BENCHMARK(through)
    ->ArgNames({"bytes", "writers", "tile_kib", "lanes", "work"})
    ->Args({16, 1, 1024, 1, 0})
    ->Args({16, 8, 1024, 1, 0})
    ->Args({64, 8, 1024, 1, 0})
    ->Args({4096, 1, 1024, 1, 1})
    ->Args({4096, 8, 256, 1, 1})
    ->Args({4096, 8, 1024, 1, 1})
    ->Args({4096, 8, 1024, 2, 1})
    ->Args({4096, 8, 4096, 1, 1})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// One writer waits for each reply before it writes the next record, `apart` after it. The device adds one to it, and
/// the writer checks it; without `work` the device does nothing, to records that are copied. A reply is watched for
/// `spin` before its writer sleeps.
void one_by_one(benchmark::State& state, PipelineOptions const& options, std::size_t bytes, bool work,
                std::chrono::microseconds spin, std::chrono::microseconds apart) {
  auto const device = open_device();
  Pipeline pipeline(*device, options);
  Records records(pipeline, {.record_bytes = bytes});
  records.start(work ? transform_each() : nothing(), {});
  std::vector<double> times;
  {
    std::vector<std::byte> const mine(bytes);
    RecordWriter writer = records.writer();
    RecordReply reply(records);
    char const* wrong = nullptr;
    auto const send_one = [&] {
      for (auto const from = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - from < apart;) {
      }
      auto const start = std::chrono::steady_clock::now();
      writer.append(mine, reply);
      Outcome const outcome = reply.wait(spin);
      std::chrono::duration<double, std::micro> const time = std::chrono::steady_clock::now() - start;
      float result = 1;
      if (work && outcome == Outcome::done) std::memcpy(&result, reply.output().data(), sizeof result);
      if (outcome != Outcome::done) wrong = "a record was lost";
      if (std::abs(result - 1) > 1e-2F) wrong = "a record is wrong";
      return time.count();
    };
    // The lane is through with trials and captures by then.
    constexpr unsigned warm_up = 100;
    for (unsigned sent = 0; sent < warm_up && wrong == nullptr; ++sent) send_one();
    for (auto _ : state) {
      times.push_back(send_one());
      if (wrong != nullptr) return state.SkipWithError(wrong);
    }
  }
  RecordReport const report = records.drain();
  if (!report.ok()) return state.SkipWithError("a record was lost");
  std::sort(times.begin(), times.end());
  auto const quantile = [&](double part) {
    return times.empty() ? 0 : times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
  };
  std::uint64_t mapped = 0;
  for (LaneSummary const& lane : report.tiles.lanes) mapped += lane.mapped;
  state.counters["p50_us"] = quantile(0.5);
  state.counters["p99_us"] = quantile(0.99);
  state.counters["mapped"] =
      static_cast<double>(mapped) / static_cast<double>(std::max<std::uint64_t>(1, report.tiles.tiles()));
}

/// `transport`, `signal` and `shape` are numbers of all_transports, all_signal_kinds and all_lane_shapes.
void one_at_a_time(benchmark::State& state) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  auto options = options_for(std::max(std::size_t{1} << 20, bytes), 1, 1);
  options.tuning.sink_on_lanes = state.range(1) != 0;
  options.tuning.transport = all_transports.at(static_cast<std::size_t>(state.range(3)));
  options.tuning.signal = all_signal_kinds.at(static_cast<std::size_t>(state.range(5)));
  options.tuning.shape = all_lane_shapes.at(static_cast<std::size_t>(state.range(6)));
  one_by_one(state, options, bytes, state.range(4) != 0, std::chrono::microseconds(state.range(2)), {});
}
/// Measures, by each aim, a program that sends a record of 4 KiB at a fixed interval, and by each shape where it is
/// copied.
void now_and_then(benchmark::State& state) {
  auto options = options_for(std::size_t{1} << 20, 1, 0);
  options.aim = all_aims.at(static_cast<std::size_t>(state.range(1)));
  options.tuning.transport = all_transports.at(static_cast<std::size_t>(state.range(2)));
  options.tuning.shape = all_lane_shapes.at(static_cast<std::size_t>(state.range(3)));
  options.parallel_sink = false;
  one_by_one(state, options, 4096, true, std::chrono::milliseconds(1), std::chrono::microseconds(state.range(0)));
}
constexpr auto number_of = [](auto const& all, auto one) {
  return static_cast<std::int64_t>(std::find(all.begin(), all.end(), one) - all.begin());
};
void ways_of_one_at_a_time(benchmark::internal::Benchmark* bench) {
  auto const callback = number_of(all_signal_kinds, SignalKind::callback);
  auto const copies = number_of(all_transports, Transport::copies);
  auto const split = number_of(all_lane_shapes, LaneShape::split);
  bench->Args({4096, 0, 0, copies, 0, callback, split});
  bench->Args({4096, 0, 100, copies, 0, callback, split});
  bench->Args({4096, 1, 100, copies, 0, callback, split});
  for (Transport const transport : all_transports) {
    auto const number = number_of(all_transports, transport);
    for (SignalKind const signal : {SignalKind::callback, SignalKind::event_poll, SignalKind::flag}) {
      bench->Args({4096, 1, 100, number, 1, number_of(all_signal_kinds, signal), split});
    }
  }
  bench->Args({4096, 1, 100, copies, 1, callback, number_of(all_lane_shapes, LaneShape::single)});
  // These sizes show where copies overtake.
  for (std::int64_t const bytes : {16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20}) {
    for (Transport const transport : {Transport::copies, Transport::mapped}) {
      bench->Args({bytes, 1, 100, number_of(all_transports, transport), 1, callback, split});
    }
  }
}
BENCHMARK(one_at_a_time)
    ->ArgNames({"bytes", "sink_on_lanes", "spin_us", "transport", "work", "signal", "shape"})
    ->Apply(ways_of_one_at_a_time)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
void ways_of_now_and_then(benchmark::internal::Benchmark* bench) {
  for (std::int64_t const apart : {10, 1000}) {
    for (Aim const aim : all_aims) {
      auto const number = number_of(all_aims, aim);
      bench->Args({apart, number, number_of(all_transports, Transport::automatic), 0});
      for (LaneShape const shape : all_lane_shapes) {
        bench->Args({apart, number, number_of(all_transports, Transport::copies), number_of(all_lane_shapes, shape)});
      }
    }
  }
}
BENCHMARK(now_and_then)
    ->ArgNames({"apart_us", "aim", "transport", "shape"})
    ->Apply(ways_of_now_and_then)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
