// SPDX-License-Identifier: Apache-2.0
// Question: what do packets of a capture in memory cost where tiles stand for parts of it (Tile::use_memory), and
// nothing is copied? Budget: at most 1.15 times the time of the best plain program on two threads.
//
// Two ways are compared: the source finds each packet and says where it lies, as a framing does (RecordPlace), or the
// kernel's blocks do so, each in its piece. PENSTOCK_BENCH_MEBIBYTES is the memory of the packets.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "packets_in_memory.hpp"
#include <benchmark/benchmark.h>

#include "engine/core/pool.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/records/record_stages.hpp"

namespace penstock {
namespace {

WordSums by_plain_program(PacketsInMemory const& capture, unsigned threads) {
  std::vector<WordSums> sums(threads);
  {
    std::vector<std::jthread> all;
    for (unsigned number = 0; number < threads; ++number) {
      all.emplace_back([&, number] {
        auto const pieces = capture.pieces();
        std::size_t const from = pieces.size() * number / threads, to = pieces.size() * (number + 1) / threads;
        WordSums own;
        for (auto const& piece : pieces.subspan(from, to - from)) {
          for_each_packet(piece.bytes,
                          [&](std::uint32_t at, std::uint32_t bytes) { own.add(piece.bytes.subspan(at, bytes)); });
        }
        sums[number] = own;
      });
    }
  }
  for (unsigned number = 1; number < threads; ++number) sums[0].add(sums[number]);
  return sums[0];
}

constexpr std::size_t most_pieces = 64;
constexpr std::size_t packets_of(std::size_t pieces) {
  return pieces * PacketsInMemory::piece_bytes / 64;
}

/// Tiles that stand for some pieces of the capture. The second input has the begins of packets, or of pieces.
class CaptureInPlace final : public Source {
 public:
  CaptureInPlace(PacketsInMemory const& capture, bool finds_packets, std::size_t pieces)
      : capture_(capture), finds_packets_(finds_packets), pieces_(pieces) {}
  bool next(Tile& /*tile*/) override { return pieces_ * given_++ < capture_.pieces().size(); }
  std::size_t fill(Tile& tile) override {
    auto const all = capture_.pieces();
    std::size_t const first = pieces_ * tile.sequence;
    auto const own = all.subspan(first, std::min(pieces_, all.size() - first));
    std::byte const* const begin = own.front().bytes.data();
    auto const size = static_cast<std::size_t>(own.back().bytes.data() + own.back().bytes.size() - begin);
    // It is only read.
    tile.use_memory({const_cast<std::byte*>(begin), size});
    std::size_t places = 0;
    auto const note = [&](std::size_t offset, std::size_t bytes) {
      RecordPlace const place{static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)};
      std::memcpy(&tile.input(1)[sizeof(place) * places++], &place, sizeof(place));
    };
    for (auto const& piece : own) {
      auto const offset = static_cast<std::size_t>(piece.bytes.data() - begin);
      if (finds_packets_) {
        for_each_packet(piece.bytes, [&](std::uint32_t at, std::uint32_t bytes) { note(offset + at, bytes); });
      } else {
        note(offset, piece.bytes.size());
      }
    }
    tile.more_filled[0] = sizeof(RecordPlace) * places;
    return size;
  }

 private:
  PacketsInMemory const& capture_;
  bool const finds_packets_;
  std::size_t const pieces_;  ///< Pieces of a tile.
  std::uint64_t given_ = 0;
};

class SumInPlace final : public Stage {
 public:
  SumInPlace(bool finds_packets, std::size_t blocks)
      : finds_packets_(finds_packets), blocks_(static_cast<std::uint32_t>(blocks)) {}
  Promises promises() const noexcept override { return {.reads_once = true, .any_alignment = true}; }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    stream.launch(blocks_, [this, input = tile.input, where = tile.more_inputs[0]](KernelBlock block) {
      auto const bytes = input.in(block);
      auto const places = where.as<RecordPlace const>().in(block);
      WordSums& sums = sums_.at(block);
      std::size_t const own = block;
      for (auto i = places.size() * own / blocks_; i < places.size() * (own + 1) / blocks_; ++i) {
        auto const part = bytes.subspan(places[i].offset, places[i].bytes);
        if (!finds_packets_) {
          sums.add(part);
          continue;
        }
        for_each_packet(part, [&](std::uint32_t at, std::uint32_t size) { sums.add(part.subspan(at, size)); });
      }
    });
    return 0;
  }
  void add_to(WordSums& all) const {
    for (WordSums const& own : sums_) all.add(own);
  }

 private:
  bool const finds_packets_;
  std::uint32_t const blocks_;
  std::array<WordSums, most_pieces> sums_;
};

/// If there are no producers, two lanes fill and run to completion.
bool through(PacketsInMemory const& capture, bool found_by_source, unsigned producers, std::size_t pieces,
             WordSums& sums) {
  auto const device = open_device("cpu");
  std::span<std::byte const> const memory = capture.pages();
  Pinned const pinned = device->pin({const_cast<std::byte*>(memory.data()), memory.size()});
  TileShape shape{.input_bytes = pieces * PacketsInMemory::piece_bytes, .output_bytes = 0};
  shape.more_input_bytes[0] = sizeof(RecordPlace) * packets_of(pieces);
  bool const alone = producers == 0;
  Pipeline pipeline(*device,
                    {.tile = shape,
                     .producers = producers,
                     .lanes = alone ? 2U : 1U,
                     .tuning = {.tiles = alone ? 2U : 4U, .sink_on_lanes = alone, .run_to_completion = alone}});
  CaptureInPlace source(capture, found_by_source, pieces);
  sums = {};
  Stages const stages{
      .make = [&](StageContext const&) { return std::make_unique<SumInPlace>(!found_by_source, pieces); },
      .merge = [&](Stage& lane) { static_cast<SumInPlace&>(lane).add_to(sums); }};
  return pipeline.run(source, stages, [](Completion&) {}).ok();
}

void packets_in_place(benchmark::State& state) {
  static PacketsInMemory const capture(64, 160);
  bool const found_by_source = state.range(0) == 0;
  auto const producers = static_cast<unsigned>(state.range(1));
  auto const pieces = static_cast<std::size_t>(state.range(2));
  auto const seconds = [](double& least, auto const& body) {
    auto const start = std::chrono::steady_clock::now();
    body();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  };
  double plain = std::numeric_limits<double>::max(), ours = plain;
  for (auto _ : state) {
    WordSums expected, got;
    bool right = true;
    seconds(plain, [&] { expected = by_plain_program(capture, 2); });
    seconds(ours, [&] { right = through(capture, found_by_source, producers, pieces, got); });
    if (!right || !(got == expected)) return state.SkipWithError("a packet was lost, or is wrong");
  }
  state.counters["packets"] = static_cast<double>(capture.packets());
  state.counters["plain_s"] = plain;
  state.counters["penstock_s"] = ours;
  state.counters["times_plain"] = ours / plain;
}
BENCHMARK(packets_in_place)
    ->ArgNames({"found_by_kernel", "producers", "pieces"})
    ->ArgsProduct({{0, 1}, {1, 2}, {64}})
    ->ArgsProduct({{0, 1}, {0}, {4, 8, 64}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
