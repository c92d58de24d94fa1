// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/ingest/files.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;

/// Two tiles of a page, of which each begins with the last 96 bytes of the one before. The test is producer and sink in
/// one, and must leave with all tiles home.
struct TilesThatOverlap : support::FolderOfFiles {
  static constexpr std::size_t tile_bytes = 4096, overlap = 96, step = tile_bytes - overlap;
  static constexpr TileShape shape{.input_bytes = tile_bytes};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 2));
  Pool pool{slab, shape, 2};
  FileSourceOptions options{.overlap = overlap};
  std::unique_ptr<FileSource> source;

  void TearDown() override {
    source = nullptr;
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    FolderOfFiles::TearDown();
  }
  void read(std::vector<std::string> const& paths) { source = std::make_unique<FileSource>(paths, pool, options); }
  /// "FILE@OFFSET+BYTES" of the next tile, or what is wrong with it; empty at the end.
  std::string next() {
    Loan const loan = pool.borrow();
    if (!source->next(*loan)) return "";
    loan->filled = source->fill(*loan);
    auto const place = source->place_of(*loan);
    for (std::size_t k = 0; k < loan->filled; ++k) {
      if (loan->input()[k] != support::byte_at(place.offset + k)) return "another byte at " + std::to_string(k);
    }
    return std::to_string(place.file) + "@" + std::to_string(place.offset) + "+" + std::to_string(loan->filled);
  }
  std::vector<std::string> all() {
    std::vector<std::string> tiles;
    for (std::string tile = next(); !tile.empty(); tile = next()) tiles.push_back(tile);
    return tiles;
  }
};

/// The bytes of a file from `begin` on, but before `end`.
std::string text_of_file(std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t k = begin; k < end; ++k) text += static_cast<char>(support::byte_at(k));
  return text;
}

TEST_F(TilesThatOverlap, AreCutFromFilesOfAnySize) {
  read({file("a", 2 * step + 1), file("b", tile_bytes), file("c", tile_bytes + 1), file("d", 10), file("e", 0),
        file("f", 2 * step + overlap)});
  EXPECT_THAT(all(), ElementsAre("0@0+4096", "0@4000+4001", "1@0+4096", "2@0+4096", "2@4000+97", "3@0+10", "4@0+0",
                                 "5@0+4096", "5@4000+4096"));
}

TEST_F(TilesThatOverlap, AreCutFromAPipe) {
  read({path("pipe"), path("other")});
  support::PipeWriter writer(path("pipe")), other(path("other"));
  writer.write(text_of_file(0, 50));
  EXPECT_EQ(next(), "0@0+50");
  writer.write(text_of_file(50, 60));
  EXPECT_EQ(next(), "0@0+60") << "all that is before, as there is less than is to be there again";
  writer.write(text_of_file(60, 1000));
  EXPECT_EQ(next(), "0@0+1000");
  writer.write(text_of_file(1000, 1001));
  EXPECT_EQ(next(), "0@904+97");
  writer.write(text_of_file(1001, 1001 + step));
  EXPECT_EQ(next(), "0@905+4096");
  writer.end();
  other.write(text_of_file(0, 5));
  EXPECT_EQ(next(), "1@0+5") << "no tile without a byte of its own, and nothing of another file";
  other.end();
  EXPECT_EQ(next(), "");
}

TEST_F(TilesThatOverlap, HaveWholeRecordsOfAPipe) {
  options.framing = equal_records(32);
  read({path("pipe")});
  support::PipeWriter writer(path("pipe"));
  writer.write(text_of_file(0, 130));
  EXPECT_EQ(next(), "0@0+128");
  writer.write(text_of_file(130, 193));
  EXPECT_EQ(next(), "0@32+160");
  writer.end();
  EXPECT_EQ(next(), "");
  EXPECT_EQ(source->loss(), RecordLoss{.unfinished = 1});
}

TEST_F(TilesThatOverlap, HaveWholeRecordsOfAFile) {
  options.framing = equal_records(24);
  read({file("a", 4080 + 3984 + 23), file("b", 4080), file("c", 4080 + 24)});
  EXPECT_THAT(all(), ElementsAre("0@0+4080", "0@3984+4080", "0@7968+96", "1@0+4080", "2@0+4080", "2@3984+120"));
  EXPECT_EQ(source->loss(), RecordLoss{.unfinished = 1});
}

TEST_F(TilesThatOverlap, AreReadByManyProducers) {
  cpu::CpuDevice device;
  Pipeline pipeline(device, {.tile = shape, .producers = 4, .ordered = true, .tuning = {.tiles = 8}});
  constexpr std::size_t bytes = 300'001;
  FileSource files({file("a", bytes)}, pipeline.pool(), options);
  std::size_t next = 0;
  auto const report = pipeline.run(files, on_device([](DeviceTile const&, StreamRef) {}), [&](Completion& completion) {
    auto const place = files.place_of(*completion.loan);
    auto const got = completion.loan->filled_input();
    EXPECT_EQ(place.offset, next == 0 ? 0 : next - overlap);
    for (std::size_t k = 0; k < got.size(); ++k) ASSERT_EQ(got[k], support::byte_at(place.offset + k));
    next = place.offset + got.size();
  });
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(next, bytes);
}

TEST_F(TilesThatOverlap, AreRefusedWhereTheyCannot) {
  auto const refused = [&](FileSourceOptions const& wrong) { EXPECT_THROW(FileSource({"a"}, pool, wrong), Error); };
  refused({.overlap = tile_bytes / 2 + 1});
  refused({.framing = lines(), .overlap = overlap});
  refused({.framing = length_prefixed(), .overlap = overlap});
  refused({.framing = equal_records(100), .overlap = overlap});
  refused({.framing = equal_records(2100), .overlap = 2100});
  refused({.framing = equal_records(2048), .overlap = 2048 + 2048});
  FileSource({"a"}, pool, {.framing = equal_records(2048), .overlap = 2048});
}

}  // namespace
}  // namespace penstock
