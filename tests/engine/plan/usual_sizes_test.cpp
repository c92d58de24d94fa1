// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/usual_sizes.hpp"

#include <gtest/gtest.h>

#include "engine/core/pool.hpp"

namespace penstock {
namespace {

TEST(UsualTiles, AreOneForEachSlotAndConsumerAndTwoForEachProducer) {
  EXPECT_EQ(usual_tiles({.lanes = 2, .slots = 4, .batch = 1, .producers = 3, .consumers = 1}), 15u);
  EXPECT_EQ(usual_tiles({.lanes = 2, .slots = 4, .batch = 0, .producers = 3, .consumers = 1}), 15u);
}

/// Seen to fail without the rest of the last.
TEST(UsualTiles, AreWholeBatches) {
  EXPECT_EQ(usual_tiles({.lanes = 1, .slots = 128, .batch = 32, .producers = 1, .consumers = 1}), 160u);
  EXPECT_EQ(usual_tiles({.lanes = 1, .slots = 128, .batch = 32, .producers = 0, .consumers = 0}), 128u);
  // A lane puts no more than half of its slots at once.
  EXPECT_EQ(usual_tiles({.lanes = 1, .slots = 8, .batch = 32, .producers = 1, .consumers = 1}), 12u);
  EXPECT_EQ(usual_tiles({.lanes = 1, .slots = 1, .batch = 32, .producers = 1, .consumers = 1}), 4u);
}

/// Seen to fail without the bound, and without what is needed.
TEST(UsualTiles, LieInTheLastCacheIfThatIsEnough) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  TileHolders holders{.lanes = 1, .slots = 32, .batch = 8, .producers = 12, .consumers = 1, .tile_bytes = 4 * mib};
  EXPECT_EQ(usual_tiles(holders), 40u);
  // Half of the slots and one for each producer are more.
  holders.tile_bytes = 16 * mib;
  EXPECT_EQ(usual_tiles(holders), 32u);
  // All that were wanted are fewer.
  holders.tile_bytes = mib;
  EXPECT_EQ(usual_tiles(holders), 64u);
  holders.tile_bytes = 0;
  EXPECT_EQ(usual_tiles(holders), 64u);
}

TEST(UsualTiles, AreNoMoreThanAPoolHolds) {
  EXPECT_EQ(usual_tiles({.lanes = 1000, .slots = 1000, .batch = 500, .producers = 1, .consumers = 1}), Pool::max_tiles);
}

/// Seen to fail without the bound of 32 MiB, and without the two of each lane.
TEST(TilesOfSeveralDevices, AreFewEnoughForTheCache) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  TileHolders holders{.lanes = 2, .slots = 8, .batch = 2, .producers = 1, .consumers = 1, .tile_bytes = 4 * mib};
  EXPECT_EQ(tiles_of_several(holders), 8u);
  EXPECT_EQ(tiles_of_several({.lanes = 4, .slots = 16, .batch = 4, .producers = 1, .consumers = 1, .tile_bytes = mib}),
            32u)
      << "four devices have one cache";
  EXPECT_EQ(
      tiles_of_several({.lanes = 8, .slots = 8, .batch = 2, .producers = 1, .consumers = 1, .tile_bytes = 4 * mib}),
      16u)
      << "two for each lane";
  holders.producers = 12;
  EXPECT_EQ(tiles_of_several(holders), 20u) << "19, but whole";
  holders.consumers = 3;
  EXPECT_EQ(tiles_of_several(holders), 22u) << "21, but whole";
  holders.consumers = 1;
  holders.tile_bytes = 64 * mib;
  EXPECT_EQ(tiles_of_several(holders), 16u) << "two for each lane, and 11 for the other producers, but whole";
  holders = {.lanes = 2, .slots = 16, .batch = 4, .producers = 1, .consumers = 1, .tile_bytes = mib};
  EXPECT_EQ(tiles_of_several(holders), 32u);
  holders.producers = holders.consumers = 0;
  EXPECT_EQ(tiles_of_several(holders), 32u) << "an application that pushes and takes by itself";
  EXPECT_EQ(
      tiles_of_several({.lanes = 4, .slots = 128, .batch = 32, .producers = 1, .consumers = 1, .tile_bytes = mib / 16}),
      512u)
      << "small ones have no more of it";
}

/// Seen to fail without the batch, the 2 MiB, and the 64 MiB of all.
TEST(TilesOfSeveralDevices, AreMoreForProducersThatFillTilesOfOneBatch) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  TileHolders holders{.lanes = 4, .slots = 32, .batch = 8, .producers = 16, .consumers = 1, .tile_bytes = mib / 4};
  EXPECT_EQ(tiles_of_several(holders), 128u + 15 * 8);
  holders.producers = 60;
  EXPECT_EQ(tiles_of_several(holders), 128u + 256) << "64 MiB for all of them";
  holders = {.lanes = 2, .slots = 64, .batch = 16, .producers = 3, .consumers = 1, .tile_bytes = mib / 4};
  EXPECT_EQ(tiles_of_several(holders), 128u + 16) << "2 MiB each, also where a batch has 4";
  holders = {.lanes = 4, .slots = 512, .batch = 128, .producers = 3, .consumers = 1, .tile_bytes = mib / 256};
  EXPECT_EQ(tiles_of_several(holders), 2048u + 2 * 128) << "a batch each, also where 2 MiB are more";
}

/// Seen to fail without the bound of two producers.
TEST(TilesOfSeveralDevices, AreAReserveBeyondThoseOfTwoProducers) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  TileHolders holders{.lanes = 4, .slots = 32, .batch = 8, .producers = 16, .consumers = 1, .tile_bytes = mib / 4};
  EXPECT_EQ(reserve_of_several(tiles_of_several(holders), holders), 14U * 8);
  EXPECT_EQ(reserve_of_several(100, holders), 0U) << "fewer, since there is no memory for more";
  holders.producers = 2;
  EXPECT_EQ(reserve_of_several(tiles_of_several(holders), holders), 0U);
}

TEST(TilesOfSeveralDevices, AreNoMoreThanSlotsButTwoForEachLane) {
  EXPECT_EQ(
      tiles_of_several({.lanes = 2, .slots = 1, .batch = 1, .producers = 1, .consumers = 1, .tile_bytes = 1 << 20}),
      4u);
}

TEST(FewTiles, AreOneForEachWhoHoldsAny) {
  EXPECT_EQ(few_tiles({.lanes = 1, .slots = 16, .batch = 4, .producers = 14, .consumers = 1}), 32u) << "31, but whole";
  EXPECT_EQ(few_tiles({.lanes = 8, .slots = 16, .batch = 4, .producers = 0, .consumers = 0}), 128u);
}

TEST(FewTiles, AreNoMoreThanUsual) {
  TileHolders const large{.lanes = 1, .slots = 16, .batch = 4, .producers = 14, .consumers = 1, .tile_bytes = 8 << 20};
  EXPECT_EQ(usual_tiles(large), 24u);
  EXPECT_EQ(few_tiles(large), 24u);
}

TEST(UsualBatch, IsWhatALinkNeedsAtASize) {
  EXPECT_EQ(usual_batch(Driven::gpu, 0), 128u);
  EXPECT_EQ(usual_batch(Driven::gpu, std::size_t{4} << 10), 128u);
  EXPECT_EQ(usual_batch(Driven::gpu, std::size_t{256} << 10), 32u);
  EXPECT_EQ(usual_batch(Driven::gpu, std::size_t{1} << 20), 32u);
  EXPECT_EQ(usual_batch(Driven::gpu, std::size_t{4} << 20), 8u);
  EXPECT_EQ(usual_batch(Driven::gpu, std::size_t{1} << 30), 1u);
}

/// Seen to fail if the number of devices does not count, and without the two and the usual batch.
TEST(UsualBatchOfSeveralDevices, IsAFourthOfWhatADeviceHasOfTheCache) {
  constexpr std::size_t kib = std::size_t{1} << 10;
  EXPECT_EQ(usual_batch_of_several(1024 * kib, 2), 4u);
  EXPECT_EQ(usual_batch_of_several(1024 * kib, 4), 2u);
  EXPECT_EQ(usual_batch_of_several(64 * kib, 2), 64u);
  EXPECT_EQ(usual_batch_of_several(64 * kib, 4), 32u);
  EXPECT_EQ(usual_batch_of_several(64 * kib, 8), 16u);
  EXPECT_EQ(usual_batch_of_several(4096 * kib, 2), 2u) << "two at least";
  EXPECT_EQ(usual_batch_of_several(4096 * kib, 4), 1u) << "two would leave no second batch";
  EXPECT_EQ(usual_batch_of_several(std::size_t{1} << 30, 2), 1u);
  EXPECT_EQ(usual_batch_of_several(4 * kib, 2), 128u) << "no more than usual";
}

}  // namespace
}  // namespace penstock
