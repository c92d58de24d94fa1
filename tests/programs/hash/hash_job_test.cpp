// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/hash_job.hpp"

#include <array>

#include "support/folder_of_files.hpp"
#include <fcntl.h>
#include <unistd.h>

namespace penstock::cli {
namespace {

constexpr std::size_t kibibyte = 1024, mebibyte = kibibyte * kibibyte;

/// Files that say how large they are, and options that ask for nine tiles of 1 GiB.
struct TilePlanForFiles : support::FolderOfFiles {
  PipelineOptions options{.tile = {.input_bytes = 1024 * mebibyte}, .tuning = {.tiles = 9}};

  /// A sparse file: its size is what counts.
  std::string sized(std::string const& name, std::size_t bytes) const {
    std::ofstream(path(name)).put('x');
    std::filesystem::resize_file(path(name), bytes);
    return path(name);
  }
  void expect(std::size_t tiles, std::size_t tile_bytes) const {
    EXPECT_EQ(options.tuning.tiles, tiles);
    EXPECT_EQ(options.tile.input_bytes, tile_bytes);
  }
};

TEST_F(TilePlanForFiles, GivesATinyFileOneSmallTile) {
  fit_tiles(options, {sized("a", 5)});
  expect(1, 64 * kibibyte);
}

TEST_F(TilePlanForFiles, GivesATileForEachOfAFewFilesOfTheSizeOfTheLargest) {
  fit_tiles(options, {sized("a", 5), sized("b", 3 * mebibyte), path("nowhere"), sized("empty", 0)});
  expect(3, 4 * mebibyte);
}

TEST_F(TilePlanForFiles, LeavesALargeFileWhatWasAskedFor) {
  options.tile.input_bytes = 4 * mebibyte;
  fit_tiles(options, {sized("a", 1024 * mebibyte), sized("b", 5)});
  expect(9, 4 * mebibyte);
}

TEST_F(TilePlanForFiles, LeavesTheNumberOfTilesToThePipelineIfThereIsABudget) {
  options.tuning.memory = 2 * mebibyte;
  options.tuning.tiles = 0;
  fit_tiles(options, {sized("a", 3 * mebibyte), sized("b", 5)});
  EXPECT_EQ(options.tuning.tiles, 0u) << "two tiles of 4 MiB would not fit, and were not asked for";
  options.tuning.tiles = 9;
  fit_tiles(options, {sized("a", 3 * mebibyte), sized("b", 5)});
  EXPECT_EQ(options.tuning.tiles, 2u);
}

TEST_F(TilePlanForFiles, MakesNoTileLarger) {
  options.tile.input_bytes = kibibyte;
  fit_tiles(options, {sized("a", 5)});
  expect(1, kibibyte);
  fit_tiles(options, {sized("b", mebibyte)});
  expect(1, kibibyte);
}

TEST_F(TilePlanForFiles, LeavesTheNumberOfTilesToThePipelineIfAllOfThemAreOfUse) {
  options.tuning.tiles = 0;
  fit_tiles(options, {sized("a", 8 * 1024 * mebibyte)});
  expect(0, 1024 * mebibyte);
  fit_tiles(options, {sized("b", 2 * 1024 * mebibyte)});
  expect(2, 1024 * mebibyte);
}

TEST_F(TilePlanForFiles, GivesStandardInputThatIsAFileWhatIsLeftOfIt) {
  int const input = open(sized("a", 64 * mebibyte).c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(lseek(input, 63 * mebibyte, SEEK_SET), off_t{63 * mebibyte});
  fit_tiles(options, {"-"}, input);
  expect(1, mebibyte);
  close(input);
}

TEST_F(TilePlanForFiles, GivesAPipeThatWasWrittenToItsEndWhatItHolds) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  close(ends[1]);
  fit_tiles(options, {"-"}, ends[0]);
  expect(1, 64 * kibibyte);
  close(ends[0]);
}

TEST_F(TilePlanForFiles, GivesAPipeThatGoesOnLittleMemoryUnlessItIsToldHowManyTiles) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  PipelineOptions const asked{.tile = {.input_bytes = 1024 * mebibyte}};
  options = asked;
  fit_tiles(options, {"-"}, ends[0]);
  expect(4, 64 * mebibyte);
  for (int const end : ends) close(end);
  support::PipeWriter const writer(path("pipe"));
  options = asked;
  fit_tiles(options, {path("pipe"), sized("a", 5)});
  expect(5, 64 * mebibyte);
  options = asked;
  fit_tiles(options, {path("pipe"), sized("b", 4096 * mebibyte)});
  expect(4, 1024 * mebibyte);
  options.tuning.tiles = 0;
  options.tile.input_bytes = 4 * mebibyte;
  fit_tiles(options, {path("pipe")});
  expect(0, 4 * mebibyte);
}

TEST_F(TilePlanForFiles, LeavesInputOfUnknownSizeTheTilesThatWereAskedFor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  fit_tiles(options, {sized("a", 5), "-"}, ends[0]);
  expect(9, 1024 * mebibyte);
  for (int const end : ends) close(end);
  fit_tiles(options, {sized("a", 5), folder});
  expect(9, 1024 * mebibyte);
  support::PipeWriter const writer(path("pipe"));
  fit_tiles(options, {path("pipe")});
  expect(9, 1024 * mebibyte);
}

}  // namespace
}  // namespace penstock::cli
