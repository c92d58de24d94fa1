// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/filler.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "penstock/error.hpp"

namespace penstock::measure {
namespace {

/// A file of two tiles and a bit, of the letters a, b and c.
struct AFile : testing::Test {
  std::string const path = testing::TempDir() + "penstock_filler_" + std::to_string(getpid());
  std::array<std::byte, 64> tile{};

  void SetUp() override { std::ofstream(path) << std::string(64, 'a') << std::string(64, 'b') << "c"; }
  void TearDown() override { std::filesystem::remove(path); }
  bool holds(char letter) const {
    return std::all_of(tile.begin(), tile.end(),
                       [&](std::byte byte) { return byte == static_cast<std::byte>(letter); });
  }
};

TEST_F(AFile, IsReadTileByTileRoundAndRound) {
  Filler filler(Fill::file, 64, path);
  for (char const letter : {'a', 'b', 'a'}) {
    EXPECT_EQ(filler.fill(tile), 64u);
    EXPECT_TRUE(holds(letter)) << letter;
  }
}

TEST_F(AFile, ThatBecomesShorterIsAnErrorAndNotALoop) {
  Filler filler(Fill::file, 64, path);
  std::filesystem::resize_file(path, 10);
  EXPECT_THROW(filler.fill(tile), Error);
}

TEST_F(AFile, ThatCannotServeIsRefusedWithItsName) {
  EXPECT_THROW(Filler(Fill::file, 64, ""), Error);
  EXPECT_THROW(Filler(Fill::file, 64, path + ".not"), Error);
  EXPECT_THROW(Filler(Fill::file, 4096, path), Error) << "shorter than a tile";
}

TEST(Filler, CopiesMemoryIntoAllOfTheTile) {
  Filler filler(Fill::memory, 100, "");
  std::array<std::byte, 100> tile{};
  EXPECT_EQ(filler.fill(tile), 100u);
  EXPECT_TRUE(std::all_of(tile.begin(), tile.end(), [](std::byte byte) { return byte == std::byte{1}; }));
}

TEST(Filler, ComputesForTheProcessorTimeThatATileTakes) {
  constexpr std::chrono::milliseconds each{3};
  Filler filler(Fill::busy, 100, "", nullptr, each);
  std::array<std::byte, 100> tile{};
  auto const processor_time = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  auto const before = processor_time();
  for (int k = 0; k < 3; ++k) EXPECT_EQ(filler.fill(tile), 100u);
  EXPECT_GE(processor_time() - before, 3 * each);
}

/// Seen to fail if it is made anew for each.
TEST(FillMemory, IsKeptForThoseWhoComeLaterUnlessTheirTilesAreLarger) {
  FillMemory memory;
  auto const first = memory.for_tiles_of(100);
  EXPECT_EQ(memory.for_tiles_of(4096), first);
  auto const larger = memory.for_tiles_of(first->size() + 1);
  EXPECT_GT(larger->size(), first->size());
  EXPECT_EQ(memory.for_tiles_of(100), larger);
}

TEST(Filler, LeavesTheTileAsItIsIfNothingIsToBeDone) {
  Filler filler(Fill::none, 8, "");
  std::array<std::byte, 8> tile{};
  EXPECT_EQ(filler.fill(tile), 8u);
  EXPECT_EQ(tile[0], std::byte{0});
}

}  // namespace
}  // namespace penstock::measure
