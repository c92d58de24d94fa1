// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <gmock/gmock.h>

#include "egress/sink/folder_of_sinks.hpp"
#include "egress/sink/little_files.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/egress/sinks.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// A pipeline of four tiles that get a letter each, and a sink that writes them to a pipe or a file, in their order.
/// Every test must leave with all tiles at home.
struct ASinkInAPipeline : support::FolderOfSinks {
  static constexpr std::size_t tiles = 4, tile_bytes = 1 << 17;
  cpu::CpuDevice device;
  Pipeline pipeline{device, {.tile = {.input_bytes = tile_bytes}, .ordered = true, .tuning = {.tiles = 4}}};
  std::stop_source stop;
  std::atomic<std::uint64_t> filled = 0;
  std::uint64_t most = 30;

  void TearDown() override {
    EXPECT_EQ(pipeline.snapshot().pool.lent, 0U);
    FolderOfSinks::TearDown();
  }
  static std::string tile_text(std::uint64_t sequence) {
    return std::string(tile_bytes, static_cast<char>('a' + sequence % 26));
  }
  Report run(FileSink& file) {
    auto const fill = [this](Tile& tile) -> std::optional<std::size_t> {
      if (tile.sequence == most) return std::nullopt;
      std::memset(tile.input().data(), static_cast<int>('a' + tile.sequence % 26), tile_bytes);
      ++filled;
      return tile_bytes;
    };
    auto const stage = on_device([](DeviceTile const&, StreamRef) {});
    auto const sink = [&](TileResult<> result) {
      if (result) file.append(result.input());
    };
    return pipeline.run(serial(fill), stage, sink, stop.get_token());
  }
};

/// A pipeline whose sink writes to a pipe that takes less than one tile.
struct APipeBehindAPipeline : ASinkInAPipeline {
  int reader = -1, writer = -1;
  void SetUp() override {
    ASinkInAPipeline::SetUp();
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    reader = ends[0];
    writer = ends[1];
    ASSERT_LT(fcntl(writer, F_GETPIPE_SZ), static_cast<int>(tile_bytes));
  }
  void TearDown() override {
    close(reader);
    close(writer);
    ASinkInAPipeline::TearDown();
  }
  /// Waits until the first tile waits in the sink, as the pipe is full, and all others are out.
  void await_held() const {
    for (int held = 0; held < fcntl(writer, F_GETPIPE_SZ) || pipeline.snapshot().pool.lent < tiles;
         std::this_thread::yield()) {
      ASSERT_EQ(ioctl(reader, FIONREAD, &held), 0);
    }
  }
  FileSinkOptions options() const {
    return {.writing = {.piece_bytes = 0, .stop = stop.get_token(), .patience = std::chrono::milliseconds(0)}};
  }
};

TEST_F(APipeBehindAPipeline, HoldsTheSourceWhileItsReaderIsSlow) {
  FileSink file(writer, "the pipe", options());
  Report report;
  std::jthread runs([&] { report = run(file); });
  await_held();
  EXPECT_LE(filled, tiles);
  std::string expected, text, piece(tile_bytes, ' ');
  for (std::uint64_t k = 0; k < most; ++k) expected += tile_text(k);
  while (text.size() < expected.size()) {
    ssize_t const got = read(reader, piece.data(), piece.size());
    ASSERT_GT(got, 0);
    text.append(piece, 0, static_cast<std::size_t>(got));
  }
  EXPECT_TRUE(text == expected);
  runs.join();
  EXPECT_TRUE(report.ok());
}

TEST_F(APipeBehindAPipeline, LetsTheRunEndAtAStop) {
  FileSink file(writer, "the pipe", options());
  Report report;
  std::jthread runs([&] { report = run(file); });
  await_held();
  stop.request_stop();
  runs.join();
  ASSERT_TRUE(report.first_sink_failure);
  EXPECT_THAT(report.first_sink_failure->failure.reason, HasSubstr("the pipe took less than all records: a stop"));
  EXPECT_TRUE(report.stopped);
}

TEST_F(ASinkInAPipeline, LetsTheRunGoOnWhereADiskTakesNoMore) {
  support::FilesOfAtMost const limit(5 * tile_bytes + 5);
  FileSink file(path("out"));
  Report const report = run(file);
  EXPECT_EQ(report.tiles_done, most);
  // A piece of a MiB has 8 tiles; it is written with the tile that it has no room for.
  EXPECT_EQ(report.sink_failures, most - 8);
  ASSERT_TRUE(report.first_sink_failure);
  EXPECT_THAT(report.first_sink_failure->failure.reason, HasSubstr("(File too large), and got 655360 bytes"));
  std::string expected;
  for (std::uint64_t k = 0; k < 5; ++k) expected += tile_text(k);
  EXPECT_TRUE(content("out") == expected);
}

}  // namespace
}  // namespace penstock
