// SPDX-License-Identifier: Apache-2.0
// How much sooner are 2^25 floats through a pipeline than through one upload, one kernel and one download after
// another? Budget: on a GPU at least 1.8 times as soon, with tiles of 4 MiB that are filled already.
//
// PENSTOCK_BENCH_MEBIBYTES is the size of the input, instead of the 128 MiB of 2^25 floats.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#ifdef PENSTOCK_WITH_CUDA
#include "textbook.hpp"
#endif
#include <benchmark/benchmark.h>

#include "engine/core/pool.hpp"
#include "engine/machine/slab.hpp"
#include "penstock/kernels.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/pipeline.hpp"

namespace {

using namespace penstock;

/// Bytes of the pieces that a whole run cuts the input into.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;

/// Bytes of whole pieces, at least two.
std::size_t bytes_asked_for() {
  char const* const mebibytes = std::getenv("PENSTOCK_BENCH_MEBIBYTES");
  std::size_t const bytes = static_cast<std::size_t>(mebibytes != nullptr ? std::max(8, std::atoi(mebibytes)) : 128)
                            << 20;
  return bytes / piece_bytes * piece_bytes;
}
std::size_t const total_bytes = bytes_asked_for();

Device& device() {
  static std::unique_ptr<Device> const opened = open_device();
  return *opened;
}

std::span<float> as_floats(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}
std::span<float const> as_floats(std::span<std::byte const> bytes) {
  return {reinterpret_cast<float const*>(bytes.data()), bytes.size() / sizeof(float)};
}

void fill(std::span<std::byte> bytes, std::uint64_t first) {
  for (float& value : as_floats(bytes)) value = static_cast<float>(first++ & 1023);
}

/// Pinned memory for all of it, and as much device memory.
struct Room {
  Slab input{total_bytes}, output{total_bytes};
  Pinned pinned_input = device().pin(input.bytes()), pinned_output = device().pin(output.bytes());
  DeviceMemory from = device().allocate(total_bytes), to = device().allocate(total_bytes);
  std::vector<Stream> streams;

  explicit Room(std::int64_t stream_count) {
    device().attach();
    for (std::int64_t i = 0; i < stream_count; ++i) streams.push_back(device().make_stream());
    if (!streams.empty()) transform_prepare(streams[0]);
    fill(input.bytes(), 0);
  }
  void upload(std::size_t at, std::size_t bytes, StreamRef stream) const {
    stream.upload(from.bytes().subspan(at, bytes), input.bytes().subspan(at, bytes));
  }
  void compute(std::size_t at, std::size_t bytes, StreamRef stream) const {
    transform(as_floats(from.bytes().subspan(at, bytes)), at / sizeof(float), as_floats(to.bytes().subspan(at, bytes)),
              stream);
  }
  void download(std::size_t at, std::size_t bytes, StreamRef stream) const {
    stream.download(output.bytes().subspan(at, bytes), to.bytes().subspan(at, bytes));
  }
  void synchronize() const {
    for (StreamRef const stream : streams) stream.synchronize();
  }
  void check(benchmark::State& state) const {
    if (transform_error(as_floats(input.bytes()), 0, as_floats(output.bytes())) > 1e-4)
      state.SkipWithError("wrong result");
  }
};

/// Calls `body(at, bytes)` for each piece of `kibibytes` KiB.
template <class Body>
void for_each_piece(std::int64_t kibibytes, Body body) {
  std::size_t const bytes = static_cast<std::size_t>(kibibytes) << 10;
  for (std::size_t at = 0; at < total_bytes; at += bytes) body(at, std::min(bytes, total_bytes - at));
}

void one_after_another(benchmark::State& state) {
  Room const room(1);
  for (auto _ : state) {
    room.upload(0, total_bytes, room.streams[0]);
    room.compute(0, total_bytes, room.streams[0]);
    room.download(0, total_bytes, room.streams[0]);
    room.synchronize();
  }
  room.check(state);
}

#ifdef PENSTOCK_WITH_CUDA
/// The same as a textbook would write it, with the textbook's kernel.
void as_in_a_textbook(benchmark::State& state) {
  if (device().info().kind != DeviceKind::cuda) return state.SkipWithError("there is no GPU");
  Room const room(0);
  for (auto _ : state) {
    if (!textbook_transform(as_floats(room.output.bytes()).data(), as_floats(room.input.bytes()).data(),
                            as_floats(room.to.bytes()).data(), as_floats(room.from.bytes()).data(),
                            static_cast<unsigned>(total_bytes / sizeof(float)))) {
      return state.SkipWithError("CUDA refused");
    }
  }
  room.check(state);
}
BENCHMARK(as_in_a_textbook)->UseRealTime()->Unit(benchmark::kMillisecond);
#endif

/// Copies and kernels of pieces by hand, on several streams cyclically, as textbooks do it: the framework must compete
/// with this.
void by_hand(benchmark::State& state) {
  Room const room(state.range(0));
  for (auto _ : state) {
    for_each_piece(state.range(1), [&, turn = std::size_t{0}](std::size_t at, std::size_t bytes) mutable {
      StreamRef const stream = room.streams[turn++ % room.streams.size()];
      room.upload(at, bytes, stream);
      room.compute(at, bytes, stream);
      room.download(at, bytes, stream);
    });
    room.synchronize();
  }
  room.check(state);
}

/// The same with a stream for each direction and one for the kernels, and all of it enqueued at once: the fastest
/// known. No pipeline can do that, which learns of one tile after the other.
void by_hand_split(benchmark::State& state) {
  Room const room(3);
  std::vector<Event> events;
  for_each_piece(state.range(0), [&](std::size_t, std::size_t) {
    events.push_back(device().make_event());
    events.push_back(device().make_event());
  });
  for (auto _ : state) {
    for_each_piece(state.range(0), [&, next = events.begin()](std::size_t at, std::size_t bytes) mutable {
      Event const& uploaded = *next++;
      Event const& computed = *next++;
      room.upload(at, bytes, room.streams[0]);
      room.streams[0].record(uploaded);
      room.streams[1].wait(uploaded);
      room.compute(at, bytes, room.streams[1]);
      room.streams[1].record(computed);
      room.streams[2].wait(computed);
      room.download(at, bytes, room.streams[2]);
    });
    room.synchronize();
  }
  room.check(state);
}

/// Copies both ways at once, which do not wait for each other: the least time for copies in such pieces.
void copies_alone(benchmark::State& state) {
  Room const room(2);
  for (auto _ : state) {
    for_each_piece(state.range(0), [&](std::size_t at, std::size_t bytes) {
      room.upload(at, bytes, room.streams[0]);
      room.download(at, bytes, room.streams[1]);
    });
    room.synchronize();
  }
}

/// The pipeline chooses for 0 lanes, 0 slots, -1 us. Timed from the first tile submitted to the last in the sink; the
/// pipeline is started, its tiles are borrowed and filled.
void through_a_started_pipeline(benchmark::State& state) {
  auto const lanes = static_cast<unsigned>(state.range(0));
  auto const slots = static_cast<unsigned>(state.range(1));
  auto const tile_bytes = static_cast<std::size_t>(state.range(2)) << 10;
  std::optional<std::chrono::microseconds> spin;
  if (state.range(3) >= 0) spin = std::chrono::microseconds(state.range(3));
  std::size_t const tiles = total_bytes / tile_bytes;
  Pipeline pipeline(device(), {.tile = {.input_bytes = tile_bytes, .output_bytes = tile_bytes},
                               .lanes = lanes,
                               .consumers = 1,
                               .tuning = {.tiles = tiles, .slots = slots, .spin = spin}});
  // The place of a tile in the pool fixes the part of the input that it holds.
  auto const first_of = [&](std::size_t index) { return index * tile_bytes / sizeof(float); };
  for (std::size_t i = 0; i < tiles; ++i) fill(pipeline.pool().tile(i).input(), first_of(i));

  auto const stage = on_device([](DeviceTile const& tile, StreamRef stream) {
    transform(tile.input.as<float>(), tile.tag, tile.output.first(tile.input.size()).as<float>(), stream);
    return tile.input.size();
  });
  std::atomic<std::size_t> back{0};
  std::atomic<double> worst{0};
  std::atomic<bool> checking{false};
  pipeline.start(stage, [&](Completion& done) {
    if (checking) {
      Tile const& tile = *done.loan;
      worst = std::max(worst.load(),
                       transform_error(as_floats(tile.filled_input()), tile.tag, as_floats(tile.produced_output())));
    }
    back.fetch_add(1, std::memory_order_release);
  });
  Feed feed = pipeline.feed();
  std::vector<Loan> loans(tiles);
  auto const one_pass = [&] {
    back = 0;
    for (std::size_t i = 0; i < tiles; ++i) {
      Loan loan = feed.borrow();
      loan->filled = tile_bytes;
      loan->tag = first_of(loan->index());
      loans[loan->index()] = std::move(loan);
    }
    auto const began = std::chrono::steady_clock::now();
    for (Loan& loan : loans) feed.submit(std::move(loan));
    while (back.load(std::memory_order_acquire) < tiles) std::this_thread::yield();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  one_pass();
  std::vector<double> passes;
  for (auto _ : state) {
    double const seconds = one_pass();
    state.SetIterationTime(seconds);
    passes.push_back(1e3 * seconds);
  }
  std::sort(passes.begin(), passes.end());
  state.counters["median_ms"] = passes[passes.size() / 2];
  state.counters["worst_ms"] = passes.back();
  checking = true;
  one_pass();
  Report const report = pipeline.drain();
  for (LaneSummary const& lane : report.lanes) {
    state.counters["by_watchdog"] += static_cast<double>(lane.found.by_watchdog);
  }
  if (!report.ok() || worst > 1e-4) state.SkipWithError("wrong result");
}

/// A whole `run`, in which lanes, streams and device memory are made and released, too.
void through_a_whole_run(benchmark::State& state) {
  std::size_t const tiles = total_bytes / piece_bytes;
  Pipeline pipeline(
      device(),
      {.tile = {.input_bytes = piece_bytes, .output_bytes = piece_bytes}, .producers = 1, .tuning = {.tiles = tiles}});
  auto const stage = on_device([](DeviceTile const& tile, StreamRef stream) {
    transform(tile.input.as<float>(), tile.sequence * (piece_bytes / sizeof(float)), tile.output.as<float>(), stream);
  });
  for (auto _ : state) {
    Report const report = pipeline.run(
        generate(tiles, [](TilePlace, std::span<std::byte> input) { return input.size(); }), stage, [](Completion&) {});
    if (!report.ok()) state.SkipWithError("a tile failed");
  }
}

BENCHMARK(one_after_another)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(by_hand)
    ->ArgNames({"streams", "KiB"})
    ->ArgsProduct({{2, 4, 8}, {4096}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(by_hand_split)
    ->ArgName("KiB")
    ->Arg(1024)
    ->Arg(2048)
    ->Arg(4096)
    ->Arg(8192)
    ->Arg(16384)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(copies_alone)
    ->ArgName("KiB")
    ->Arg(4096)
    ->Arg(static_cast<std::int64_t>(total_bytes >> 10))
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(through_a_started_pipeline)
    ->ArgNames({"lanes", "slots", "KiB", "spin_us"})
    ->ArgsProduct({{0}, {0}, {4096}, {-1}})  // The defaults.
    ->ArgsProduct({{1, 2}, {4, 8}, {1024, 4096}, {0, 50, 200}})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(through_a_whole_run)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
