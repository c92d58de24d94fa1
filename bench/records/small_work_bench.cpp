// SPDX-License-Identifier: Apache-2.0
// Question: what does small work cost beside a plain program that does the same? Budget, of eight million packets of a
// capture in memory: at most 1.15 times the time of the best plain program on two threads; and of the whole process's
// CPU time, writer and sink together, at most 25 ns for a record of 64 to 1500 bytes that is written and claimed in
// groups.
//
// Each packet is one record. The work is that of a plain program: a look at its header, and a sum over its bytes.
// PENSTOCK_BENCH_MEBIBYTES is the memory of the packets.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "packets_in_memory.hpp"
#include <benchmark/benchmark.h>

#include "engine/machine/host_limits.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/records.hpp"

namespace penstock {
namespace {

/// Runs `body(pieces, number)` on `count` threads, which share the pieces.
template <class Body>
void on_threads(PacketsInMemory const& capture, unsigned count, Body const& body) {
  auto const pieces = capture.pieces();
  std::vector<std::jthread> threads;
  for (unsigned number = 0; number < count; ++number) {
    std::size_t const from = pieces.size() * number / count, to = pieces.size() * (number + 1) / count;
    threads.emplace_back([&body, number, own = pieces.subspan(from, to - from)] { body(own, number); });
  }
}

WordSums by_plain_program(PacketsInMemory const& capture, unsigned threads) {
  std::vector<WordSums> sums(threads);
  on_threads(capture, threads, [&](std::span<PacketsInMemory::Piece const> pieces, unsigned number) {
    WordSums own;
    for (auto const& piece : pieces) {
      for_each_packet(piece.bytes,
                      [&](std::uint32_t at, std::uint32_t bytes) { own.add(piece.bytes.subspan(at, bytes)); });
    }
    sums[number] = own;
  });
  for (unsigned number = 1; number < threads; ++number) sums[0].add(sums[number]);
  return sums[0];
}

/// Sums the packets of tiles, a part of them in each of several blocks; or does nothing, which shows the cost of
/// penstock.
class SumStage final : public RecordStage {
 public:
  static constexpr std::uint32_t blocks = 4;

  explicit SumStage(bool works) : works_(works) {}
  Promises promises() const noexcept override { return {.reads_once = true}; }
  void run(DeviceRecords const& records, StreamRef stream) override {
    if (!works_) return;
    stream.launch(blocks, [this, records](KernelBlock block) {
      auto const input = records.input.in(block);
      std::uint64_t const count = records.inputs.size(), own = block;
      WordSums& sums = sums_.at(block);
      for (auto number = count * own / blocks; number < count * (own + 1) / blocks; ++number) {
        RecordPlace const place = records.inputs.at(block, static_cast<std::uint32_t>(number));
        sums.add(input.subspan(place.offset, place.bytes));
      }
    });
  }
  void add_to(WordSums& all) const {
    for (WordSums const& own : sums_) all.add(own);
  }

 private:
  bool const works_;
  std::array<WordSums, blocks> sums_;
};

enum class Writing { one_by_one, many, in_place };

void write(RecordWriter& writer, PacketsInMemory::Piece const& piece, Writing how) {
  if (how == Writing::in_place) {
    static thread_local std::vector<RecordPlace> places;
    places.clear();
    RecordRoom room = writer.claim(piece.bytes.size(), piece.packets);
    std::memcpy(room.bytes().data(), piece.bytes.data(), piece.bytes.size());
    for_each_packet(room.bytes(), [](std::uint32_t at, std::uint32_t bytes) { places.push_back({at, bytes}); });
    return room.commit(places);
  }
  if (how == Writing::one_by_one) {
    return for_each_packet(
        piece.bytes, [&](std::uint32_t at, std::uint32_t bytes) { writer.append(piece.bytes.subspan(at, bytes)); });
  }
  static thread_local std::vector<std::span<std::byte const>> packets;
  packets.clear();
  for_each_packet(piece.bytes,
                  [&](std::uint32_t at, std::uint32_t bytes) { packets.push_back(piece.bytes.subspan(at, bytes)); });
  writer.append_many(packets);
}

struct Settings {
  unsigned writers = 1;
  std::size_t tile_bytes = std::size_t{256} << 10;
  std::size_t least_bytes = 0;
  unsigned lanes = 1;
  Writing how = Writing::one_by_one;
  bool works = true;
};

RecordReport through(PacketsInMemory const& capture, Settings const& settings, WordSums& sums) {
  bool const by_tiles = settings.how != Writing::one_by_one;
  auto const device = open_device("cpu");
  Pipeline pipeline(*device, {.tile = {.input_bytes = settings.tile_bytes, .output_bytes = 0},
                              .producers = settings.writers,
                              .lanes = settings.lanes});
  Records records(pipeline, {.output_bytes = 0, .alignment = 1, .least_bytes = settings.least_bytes});
  RecordStages stages{.make = [&](StageContext const&) { return std::make_unique<SumStage>(settings.works); },
                      .merge = [&](RecordStage& lane) { static_cast<SumStage&>(lane).add_to(sums); }};
  std::uint64_t told = 0;
  if (by_tiles) {
    records.start_by_tiles(std::move(stages), [&](RecordCompletions const& all) { told += all.size(); });
  } else {
    records.start(std::move(stages), [&](RecordCompletion const&) { ++told; });
  }
  on_threads(capture, settings.writers, [&](std::span<PacketsInMemory::Piece const> pieces, unsigned) {
    RecordWriter writer = records.writer();
    for (auto const& piece : pieces) write(writer, piece, settings.how);
  });
  RecordReport report = records.drain();
  if (told != capture.packets()) report.failed += 1;
  return report;
}

/// The plain program on one thread and on two, and penstock with one writer and with two, one after the other in each
/// iteration.
void packets(benchmark::State& state) {
  PacketsInMemory const capture(static_cast<std::uint32_t>(state.range(0)), static_cast<std::uint32_t>(state.range(1)));
  Settings settings{.tile_bytes = static_cast<std::size_t>(state.range(3)) << 10,
                    .least_bytes = static_cast<std::size_t>(state.range(4)) << 10,
                    .lanes = static_cast<unsigned>(state.range(5)),
                    .how = static_cast<Writing>(state.range(2))};
  auto const seconds = [&](auto const& body) {
    auto const start = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  auto constexpr none = std::numeric_limits<double>::max();
  std::array<double, 2> plain{none, none}, ours{none, none};
  for (auto _ : state) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
      WordSums expected, got;
      bool right = true;
      plain.at(threads - 1) =
          std::min(plain.at(threads - 1), seconds([&] { expected = by_plain_program(capture, threads); }));
      ours.at(threads - 1) = std::min(ours.at(threads - 1), seconds([&] {
                                        settings.writers = threads;
                                        right = through(capture, settings, got).ok();
                                      }));
      if (!right || !(got == expected)) return state.SkipWithError("a record was lost, or is wrong");
    }
  }
  state.counters["packets"] = static_cast<double>(capture.packets());
  state.counters["plain_1_s"] = plain[0];
  state.counters["plain_2_s"] = plain[1];
  state.counters["writers_1_s"] = ours[0];
  state.counters["writers_2_s"] = ours[1];
  state.counters["times_plain"] = std::min(ours[0], ours[1]) / std::min(plain[0], plain[1]);
}
BENCHMARK(packets)
    ->ArgNames({"least", "most", "way", "tile_kib", "least_kib", "lanes"})
    ->Args({64, 160, 0, 256, 0, 1})
    ->Args({64, 160, 1, 256, 0, 1})
    ->Args({64, 160, 2, 256, 0, 1})
    ->Args({64, 160, 2, 256, 0, 2})
    ->Args({64, 160, 2, 256, 128, 1})
    ->Args({64, 160, 2, 256, 128, 2})
    ->Args({64, 160, 2, 1024, 0, 1})
    ->Args({64, 160, 2, 1024, 512, 1})
    ->Args({64, 160, 2, 1024, 512, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// Measures the CPU time of a record without work, with packets that the caches have.
void record(benchmark::State& state) {
  auto const bytes = static_cast<std::uint32_t>(state.range(0));
  PacketsInMemory capture(bytes, bytes);
  capture.repeat_the_first();
  std::size_t const tile_bytes = static_cast<std::size_t>(state.range(2)) << 10;
  double cpu = 0;
  for (auto _ : state) {
    WordSums sums;
    double const before = cpu_seconds();
    Settings const settings{.tile_bytes = tile_bytes,
                            .least_bytes = tile_bytes / 2,
                            .how = static_cast<Writing>(state.range(1)),
                            .works = false};
    if (!through(capture, settings, sums).ok()) {
      return state.SkipWithError("a record was lost");
    }
    cpu += cpu_seconds() - before;
  }
  // This is the cost of copying alone, which no way of packing spares.
  std::vector<std::byte> room(PacketsInMemory::piece_bytes);
  double const before = cpu_seconds();
  for (auto const& piece : capture.pieces()) {
    std::memcpy(room.data(), piece.bytes.data(), piece.bytes.size());
    benchmark::DoNotOptimize(room.data());
  }
  auto const count = static_cast<double>(capture.packets());
  state.counters["copy_ns"] = 1e9 * (cpu_seconds() - before) / count;
  state.counters["cpu_ns_a_record"] = 1e9 * cpu / (static_cast<double>(state.iterations()) * count);
}
BENCHMARK(record)
    ->ArgNames({"bytes", "way", "tile_kib"})
    ->ArgsProduct({{64, 256, 1500}, {0, 1, 2}, {256, 1024}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
