// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/tile_count.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "support/mapped_file.hpp"
#include "support/says_it_is_a_gpu.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/plan/pool_layout.hpp"
#include "engine/plan/resolve_options.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using support::MappedFile;
using support::SaysItIsAGpu;
using testing::HasSubstr;

constexpr std::size_t mib = std::size_t{1} << 20;

/// Tiles of a MiB, two producers, two lanes of eight slots, which usually have 21 tiles, and a machine of two nodes.
struct ABudgetOfMemory : testing::Test {
  Topology const topology = Topology::from_synthetic("numa:2 core:4 pu:1");
  SaysItIsAGpu first{0, 0}, second{1, 1};
  std::vector<Device*> devices{&first};
  PipelineOptions wanted{
      .tile = {.input_bytes = mib}, .producers = 2, .lanes = 2, .consumers = 1, .tuning = {.batch = 1, .slots = 8}};
  std::vector<std::string> remarks;

  PipelineOptions resolved() {
    remarks.clear();
    return resolve(wanted, devices, topology, remarks);
  }
  /// Each part is a slab of whole huge pages, in which the tiles keep away from those of the next one.
  std::size_t pinned(PipelineOptions const& options) {
    PoolLayout const layout = lay_out(place_devices(devices, options, topology), options, topology);
    std::size_t sum = 0;
    for (std::size_t part = 0; part < layout.parts(); ++part) {
      std::size_t const bytes = layout.tiles(part) * options.tile.input_bytes + (layout.parts() > 1 ? 256 : 0);
      sum += (bytes + 2 * mib - 1) / (2 * mib) * 2 * mib;
    }
    return sum;
  }
  std::string refusal() {
    try {
      static_cast<void>(resolved());
      return "";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      return error.what();
    }
  }
};

TEST_F(ABudgetOfMemory, ChangesNothingWhereTheUsualTilesFit) {
  PipelineOptions const usual = resolved();
  EXPECT_THAT(remarks, testing::IsEmpty());
  wanted.tuning.memory = 1000 * mib;
  PipelineOptions const bounded = resolved();
  EXPECT_EQ(bounded.tuning.tiles, usual.tuning.tiles);
  EXPECT_EQ(bounded.tuning.slots, usual.tuning.slots);
  EXPECT_EQ(bounded.tuning.batch, usual.tuning.batch);
  EXPECT_EQ(bounded.tuning.memory, 1000 * mib) << "options say what was asked";
  EXPECT_THAT(remarks, testing::ElementsAre("The pool has " + std::to_string(usual.tuning.tiles) +
                                            " tiles, which pin " + "22 MiB; `memory` allows 1000 MiB."));
}

TEST_F(ABudgetOfMemory, HasAsManyTilesAsFitAndNoMoreSlotsThanTiles) {
  wanted.tuning.memory = 7 * mib;
  PipelineOptions const bounded = resolved();
  EXPECT_EQ(bounded.tuning.tiles, 6u) << "a slab is whole huge pages of 2 MiB";
  EXPECT_EQ(bounded.tuning.slots, 6u);
  EXPECT_EQ(pinned(bounded), 6 * mib);
  EXPECT_THAT(remarks, testing::Contains("The pool has 6 tiles and not the usual 21, which pin 6 MiB; `memory` allows "
                                         "7 MiB."));
}

/// Seen to fail where the budget was divided by the bytes of a tile: each part is rounded up.
TEST_F(ABudgetOfMemory, CountsEachPartOfThePoolAsItIsPinned) {
  devices = {&first, &second};
  for (std::size_t tile : {std::size_t{4096}, 3 * mib / 4, mib, 3 * mib}) {
    wanted.tile.input_bytes = tile;
    for (std::size_t memory = 4 * mib; memory < 64 * mib; memory += mib) {
      wanted.tuning.memory = memory;
      if (tile > mib && memory < 8 * mib) continue;  // A part of 3 MiB takes two huge pages.
      PipelineOptions const bounded = resolved();
      EXPECT_LE(pinned(bounded), memory);
      EXPECT_GE(bounded.tuning.tiles, bounded.lanes);
      wanted.tuning.tiles = bounded.tuning.tiles;
      EXPECT_EQ(resolved().tuning.tiles, bounded.tuning.tiles) << "what was chosen may be asked for";
      wanted.tuning.tiles = 0;
    }
  }
}

TEST_F(ABudgetOfMemory, IsRefusedIfItContradictsTheTiles) {
  wanted.tuning.memory = 16 * mib;
  wanted.tuning.tiles = 16;
  EXPECT_EQ(refusal(), "");
  wanted.tuning.tiles = 17;
  EXPECT_EQ(refusal(),
            "`tiles` and `memory` contradict each other: 17 tiles pin 18MiB, and `memory` allows 16MiB; ask for 16 at "
            "most, leave `tiles` to the pipeline, or allow more.");
  wanted.lanes = 3;
  wanted.tuning.memory = 2 * mib;
  EXPECT_THAT(refusal(), HasSubstr("; ask for 2 at most, ")) << "though there are more lanes";
  wanted.tuning.memory = mib;
  EXPECT_EQ(refusal(),
            "`tiles` and `memory` contradict each other: 17 tiles pin 18MiB, and `memory` allows 1MiB; take smaller "
            "tiles, leave `tiles` to the pipeline, or allow more.")
      << "not even one fits";
}

TEST_F(ABudgetOfMemory, IsRefusedIfThereIsNoTileForEachLane) {
  wanted.tuning.memory = 2 * mib;
  EXPECT_EQ(refusal(), "");
  wanted.tuning.memory = 2 * mib - 1;
  EXPECT_EQ(
      refusal(),
      "`memory` allows 2097151, and a tile for each lane, 2 tiles, needs 2MiB of pinned memory: allow as much, or "
      "take smaller tiles or fewer lanes.");
}

/// A file of 16 pages, for tiles of a page.
struct OwnMemory : ABudgetOfMemory {
  MappedFile file{16 * 4096};
  void SetUp() override {
    wanted.tile = {.input_bytes = 4096};
    wanted.own_memory = {file.bytes()};
  }
};

TEST_F(OwnMemory, HasAsManyTilesAsFit) {
  PipelineOptions const bounded = resolved();
  EXPECT_EQ(bounded.tuning.tiles, 16u);
  EXPECT_THAT(remarks, testing::ElementsAre("The pool has 16 tiles and not the usual 21, which pin 64 KiB of memory of "
                                            "the application's own."));
  wanted.tuning.memory = 12 * 4096;
  EXPECT_EQ(resolved().tuning.tiles, 12u) << "it is pinned in whole pages, not in huge ones";
}

TEST_F(OwnMemory, IsRefusedIfItIsTooSmall) {
  wanted.tuning.tiles = 17;
  EXPECT_EQ(
      refusal(),
      "`own_memory` is too small for 17 tiles: 68KiB are needed where there are 64KiB; ask for 16 at most, or give "
      "more memory.");
  wanted.tuning.tiles = 0;
  wanted.own_memory = {file.bytes().first(4096)};
  EXPECT_EQ(refusal(),
            "`own_memory` is too small for 2 tiles: 8KiB are needed where there are 4KiB; give more memory, or take "
            "smaller tiles or fewer lanes.");
}

TEST_F(OwnMemory, IsSaidToLackSomethingInEachPart) {
  devices = {&first, &second};
  wanted.own_memory = {file.bytes().first(32768), file.bytes().subspan(32768)};
  wanted.tuning.tiles = 17;
  EXPECT_EQ(
      refusal(),
      "`own_memory` is too small for 17 tiles: 36KiB are needed where there are 32KiB, and 40KiB are needed where "
      "there are 32KiB; ask for 14 at most, or give more memory.");
}

TEST_F(OwnMemory, IsRefusedIfItIsNullOrBeginsWithinAPageOrOverlaps) {
  wanted.own_memory = {{}};
  EXPECT_THAT(refusal(), HasSubstr("is empty: give memory that is mapped"));
  wanted.own_memory = {std::span(static_cast<std::byte*>(nullptr), 16 * 4096)};
  EXPECT_THAT(refusal(), HasSubstr("is empty"));
  wanted.own_memory = {file.bytes().subspan(256)};
  EXPECT_THAT(refusal(), HasSubstr("begins within a page"));
  wanted.own_memory = {file.bytes().subspan(4096), file.bytes().first(8192)};
  EXPECT_THAT(refusal(), HasSubstr("overlap"));
}

TEST_F(OwnMemory, ComesInOnePieceOrInOneForEachPart) {
  wanted.own_memory = {file.bytes().first(32768), file.bytes().subspan(32768)};
  EXPECT_EQ(refusal(), "The pool has 1 part, and `own_memory` 2 pieces: give one, or as many as memory_needed() says.");
  devices = {&first, &second};
  PipelineOptions const bounded = resolved();
  // A part has 256 bytes more than its tiles, since the next one may begin right behind it.
  EXPECT_EQ(bounded.tuning.tiles, 14u);
  wanted.own_memory = {file.bytes()};
  EXPECT_EQ(resolved().tuning.tiles, 16u);
}

}  // namespace
}  // namespace penstock
