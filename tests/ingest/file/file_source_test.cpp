// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/folder_of_files.hpp"
#include "support/thread_state.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/ingest/files.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

constexpr std::size_t tile_bytes = 4096;

/// Four tiles of a page, and a folder of files. The test is producer and sink in one. It must leave with all tiles home
/// and no descriptor more than there were.
struct FilesForFourTiles : support::FolderOfFiles {
  static constexpr TileShape shape{.input_bytes = tile_bytes};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 4));
  Pool pool{slab, shape, 4};
  std::stop_source stop;
  std::vector<std::string> paths;
  std::unique_ptr<FileSource> made;
  std::size_t descriptors = 0;

  void SetUp() override {
    FolderOfFiles::SetUp();
    descriptors = support::open_descriptors();
  }
  void TearDown() override {
    made = nullptr;
    EXPECT_EQ(support::open_descriptors(), descriptors) << "a file stayed open";
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    FolderOfFiles::TearDown();
  }

  FileSource& source() {
    if (made == nullptr) made = std::make_unique<FileSource>(paths, pool, FileSourceOptions{.stop = stop.get_token()});
    return *made;
  }
  std::optional<Loan> next() {
    Loan loan = pool.borrow();
    if (!source().next(*loan)) return std::nullopt;
    return loan;
  }
  /// "FILE@OFFSET+BYTES" of a tile that was filled with what `file` wrote there, or why not.
  std::string filled(Loan const& loan) {
    try {
      loan->filled = source().fill(*loan);
    } catch (FileProblem const& problem) {
      return problem.what();
    }
    auto const place = source().place_of(*loan);
    for (std::size_t k = 0; k < loan->filled; ++k) {
      if (loan->input()[k] != support::byte_at(place.offset + k)) return "another byte at " + std::to_string(k);
    }
    return std::to_string(place.file) + "@" + std::to_string(place.offset) + "+" + std::to_string(loan->filled);
  }
  std::vector<std::string> all() {
    std::vector<std::string> tiles;
    while (auto loan = next()) tiles.push_back(filled(*loan));
    return tiles;
  }
};

TEST_F(FilesForFourTiles, AreCutIntoTilesOfWhichTheLastIsShort) {
  paths = {file("a", 2 * tile_bytes + 1), file("b", tile_bytes), file("c", 1)};
  EXPECT_THAT(all(), testing::ElementsAre("0@0+4096", "0@4096+4096", "0@8192+1", "1@0+4096", "2@0+1"));
}

TEST_F(FilesForFourTiles, AreTheTagOfTheirTiles) {
  paths = {file("a", 1), file("b", 1)};
  EXPECT_EQ((*next())->tag, 0u);
  EXPECT_EQ((*next())->tag, 1u);
}

TEST_F(FilesForFourTiles, ThatAreEmptyAreOneEmptyTile) {
  paths = {file("a", 0), file("b", 0)};
  EXPECT_THAT(all(), testing::ElementsAre("0@0+0", "1@0+0"));
}

TEST_F(FilesForFourTiles, ThatCannotBeOpenedFailInTheirPlace) {
  paths = {file("a", 1), path("nowhere"), file("c", 1)};
  EXPECT_THAT(all(),
              testing::ElementsAre("0@0+1", path("nowhere") + ": No such file or directory (os error 2)", "2@0+1"));
}

TEST_F(FilesForFourTiles, ThatAreDirectoriesFailInTheirPlace) {
  paths = {folder, file("b", 1)};
  EXPECT_THAT(all(), testing::ElementsAre(folder + ": Is a directory (os error 21)", "1@0+1"));
}

TEST_F(FilesForFourTiles, ThatShrinkFailWhereTheyEnd) {
  paths = {file("a", 3 * tile_bytes), file("b", 1)};
  EXPECT_EQ(filled(*next()), "0@0+4096");
  std::filesystem::resize_file(path("a"), tile_bytes + 1);
  auto const rest = all();
  ASSERT_EQ(rest.size(), 3u);
  EXPECT_THAT(rest[0], testing::AllOf(testing::StartsWith(path("a") + ": "), testing::HasSubstr("shrank")));
  EXPECT_THAT(rest[1], testing::HasSubstr("shrank"));
  EXPECT_EQ(rest[2], "1@0+1");
}

TEST_F(FilesForFourTiles, ThatGrowFailAtTheirLastTile) {
  paths = {file("a", tile_bytes + 1)};
  EXPECT_EQ(filled(*next()), "0@0+4096");
  auto const last = next();
  std::ofstream(path("a"), std::ios::app) << 'x';
  EXPECT_THAT(filled(*last), testing::HasSubstr("grew"));
}

TEST_F(FilesForFourTiles, MayBeOpenAlreadyAndStayOpen) {
  int const open_one = open(file("a", 5000).c_str(), O_RDONLY | O_CLOEXEC);
  bool given = false;
  made = std::make_unique<FileSource>(
      [&]() -> std::optional<InputFile> {
        if (std::exchange(given, true)) return std::nullopt;
        return InputFile{.path = "the one", .descriptor = open_one};
      },
      pool);
  EXPECT_THAT(all(), testing::ElementsAre("0@0+4096", "0@4096+904"));
  EXPECT_EQ(close(open_one), 0);
}

TEST_F(FilesForFourTiles, MayBePipes) {
  paths = {path("pipe"), file("b", 1)};
  support::PipeWriter writer(path("pipe"));
  std::string text;
  for (std::size_t k = 0; k < tile_bytes; ++k) text += static_cast<char>(support::byte_at(k));
  writer.write(text);
  EXPECT_EQ(filled(*next()), "0@0+4096");
  writer.end();
  EXPECT_EQ(filled(*next()), "1@0+1");
  EXPECT_FALSE(next());
}

TEST_F(FilesForFourTiles, MayBeCutIntoFullTilesThoughTheyArePipes) {
  paths = {path("pipe")};
  made = std::make_unique<FileSource>(paths, pool, FileSourceOptions{.linger = {}});
  support::PipeWriter writer(path("pipe"));
  std::string text;
  for (std::size_t k = 0; k <= tile_bytes; ++k) text += static_cast<char>(support::byte_at(k));
  std::optional<Loan> loan;
  std::jthread producer([&] { loan = next(); });
  for (std::size_t k = 0; k < tile_bytes; k += 512) {
    writer.write(text.substr(k, 512));
    writer.await_read();
  }
  producer.join();
  EXPECT_EQ(filled(*loan), "0@0+4096");
  writer.write(text.substr(tile_bytes));
  writer.end();
  EXPECT_EQ(filled(*next()), "0@4096+1");
  EXPECT_FALSE(next());
}

TEST_F(FilesForFourTiles, GiveWhatAPipeHasAtOnceAndSayWhereItStands) {
  paths = {path("pipe")};
  support::PipeWriter writer(path("pipe"));
  for (std::size_t k = 0; k < 5; ++k) {
    writer.write({static_cast<char>(support::byte_at(2 * k)), static_cast<char>(support::byte_at(2 * k + 1))});
    EXPECT_EQ(filled(*next()), "0@" + std::to_string(2 * k) + "+2");
  }
  writer.end();
  EXPECT_FALSE(next());
}

TEST_F(FilesForFourTiles, HaveALineOfAPipeInTheSinkBeforeTheNextIsWritten) {
  support::PipeWriter writer(path("pipe"));
  cpu::CpuDevice device;
  Pipeline pipeline(device, {.tile = {.input_bytes = tile_bytes}, .tuning = {.tiles = 4}});
  FileSource lines({path("pipe")}, pipeline.pool());
  std::string got;
  writer.write("line 0\n");
  auto const report = pipeline.run(lines, on_device([](DeviceTile const&, StreamRef) {}), [&](Completion& completion) {
    auto const bytes = completion.loan->filled_input();
    got.append(reinterpret_cast<char const*>(bytes.data()), bytes.size());
    if (got == "line 0\nline 1\nline 2\n") return writer.end();
    if (got == "line 0\n") return writer.write("line 1\n");
    if (got == "line 0\nline 1\n") return writer.write("line 2\n");
  });
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(got, "line 0\nline 1\nline 2\n");
}

TEST_F(FilesForFourTiles, AreNotWaitedForOnceItIsStopped) {
  paths = {path("pipe"), file("b", 1)};
  support::PipeWriter const writer(path("pipe"));
  writer.write("abc");
  EXPECT_TRUE(next());
  std::atomic<pid_t> producer_id{0};
  std::jthread producer([&] {
    producer_id = gettid();
    EXPECT_FALSE(next());
  });
  while (producer_id == 0) std::this_thread::yield();
  support::await_asleep(producer_id);
  stop.request_stop();
}

TEST_F(FilesForFourTiles, AreSharedOutToTilesOfOtherPools) {
  std::vector<std::byte> more(Pool::slab_bytes(shape, 2));
  Pool others(more, shape, 2);
  paths = {file("a", 2 * tile_bytes + 1), file("b", 1)};
  EXPECT_EQ(filled(*next()), "0@0+4096");
  source().serve(others);
  Loan here = pool.borrow(), there = others.borrow();
  ASSERT_TRUE(source().next(*there));
  ASSERT_TRUE(source().next(*here));
  EXPECT_EQ(filled(here), "0@8192+1");
  EXPECT_EQ(filled(there), "0@4096+4096");
  ASSERT_TRUE(source().next(*there));
  EXPECT_EQ(filled(there), "1@0+1");
  EXPECT_FALSE(source().next(*here));
  there = {};
  EXPECT_EQ(others.on_loan(), 0U);
}

TEST_F(FilesForFourTiles, AreNotForTilesThatNobodySpokeOf) {
  std::vector<std::byte> more(Pool::slab_bytes({.input_bytes = 2 * tile_bytes}, 1));
  paths = {file("a", 1)};
  Pool others(more, shape, 1);
  Loan const stranger = others.borrow();
  EXPECT_THROW(source().next(*stranger), Error);
  Pool const larger(more, {.input_bytes = 2 * tile_bytes}, 1);
  EXPECT_THROW(source().serve(larger), Error);
  for (std::size_t pools = 1; pools < FileSource::most_pools; ++pools) source().serve(others);
  EXPECT_THROW(source().serve(others), Error);
}

TEST_F(FilesForFourTiles, NeedTilesWithAnInput) {
  Pool const without({slab.data(), 1024}, {.output_bytes = 256}, 4);
  EXPECT_THROW(FileSource(paths, without), Error);
}

TEST_F(FilesForFourTiles, FeedAPipelineByManyProducers) {
  std::map<std::uint64_t, std::uint64_t> wanted, got;
  for (std::size_t k = 0; k < 300; ++k) {
    std::size_t const bytes = k * 97 % 20000;
    paths.push_back(file("many" + std::to_string(k), bytes));
    wanted[k] = bytes;
  }
  cpu::CpuDevice device;
  Pipeline pipeline(device, {.tile = {.input_bytes = tile_bytes}, .producers = 4, .tuning = {.tiles = 8}});
  FileSource many(paths, pipeline.pool());
  auto const report = pipeline.run(many, on_device([](DeviceTile const&, StreamRef) {}), [&](Completion& completion) {
    auto const place = many.place_of(*completion.loan);
    auto const bytes = completion.loan->filled_input();
    got[place.file] += bytes.size();
    for (std::size_t k = 0; k < bytes.size(); ++k) ASSERT_EQ(bytes[k], support::byte_at(place.offset + k));
  });
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(got, wanted);
  EXPECT_THAT(report.remarks, testing::Contains(testing::HasSubstr("through the page cache")));
}

TEST_F(FilesForFourTiles, AreReadBySeveralProducersPieceByPieceInEveryWay) {
  constexpr std::size_t tiles = 64, large_tile = 16384;
  std::string const one = file("a", tiles * large_tile + 1);
  for (FileReadingOptions const& reading :
       {FileReadingOptions{}, FileReadingOptions{.direct_from = 1}, FileReadingOptions{.reading = FileReading::plain},
        FileReadingOptions{.reading = FileReading::direct}}) {
    cpu::CpuDevice device;
    Pipeline pipeline(device, {.tile = {.input_bytes = large_tile}, .producers = 3, .tuning = {.tiles = 6}});
    FileSource source({one}, pipeline.pool(), {.reading = reading});
    std::size_t wrong = 0;
    std::set<std::uint64_t> offsets;
    auto const report =
        pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}), [&](Completion& completion) {
          auto const place = source.place_of(*completion.loan);
          auto const bytes = completion.loan->filled_input();
          offsets.insert(place.offset);
          for (std::size_t k = 0; k < bytes.size(); ++k) wrong += bytes[k] != support::byte_at(place.offset + k);
        });
    EXPECT_TRUE(report.ok()) << describe(report);
    EXPECT_EQ(report.bytes_in, tiles * large_tile + 1);
    EXPECT_EQ(offsets.size(), tiles + 1);
    EXPECT_EQ(wrong, 0u);
  }
}

}  // namespace
}  // namespace penstock
