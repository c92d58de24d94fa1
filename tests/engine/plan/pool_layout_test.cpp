// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/pool_layout.hpp"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock {
namespace {

using testing::ElementsAre;

/// Four nodes of two CPUs each.
struct PoolLayoutOnFourNodes : testing::Test {
  Topology topology = Topology::from_synthetic("numa:4 core:2 pu:1");

  static PipelineOptions options(std::size_t tiles, unsigned lanes, unsigned batch = 1) {
    PipelineOptions options;
    options.tuning.tiles = tiles;
    options.lanes = lanes;
    options.tuning.batch = batch;
    return options;
  }
  static std::vector<std::size_t> tiles_of(PoolLayout const& layout) {
    std::vector<std::size_t> tiles;
    for (std::size_t part = 0; part < layout.parts(); ++part) tiles.push_back(layout.tiles(part));
    return tiles;
  }
};

TEST_F(PoolLayoutOnFourNodes, HasAPartForEachNodeWithDevices) {
  PoolLayout const layout({2, 0, 2, 0}, options(40, 4), topology);
  ASSERT_EQ(layout.parts(), 2u);
  EXPECT_EQ(layout.node(0), 2);
  EXPECT_EQ(layout.node(1), 0);
  EXPECT_THAT(tiles_of(layout), ElementsAre(20, 20));
  EXPECT_EQ(layout.part_of_device(0), 0u);
  EXPECT_EQ(layout.part_of_device(1), 1u);
  EXPECT_EQ(layout.part_of_device(3), 1u);
  for (std::size_t producer = 0; producer < 4; ++producer) EXPECT_EQ(layout.part_of_producer(producer), producer % 2);
}

TEST_F(PoolLayoutOnFourNodes, SharesTilesOutByLanesInWholeBatches) {
  EXPECT_THAT(tiles_of(PoolLayout({0, 1, 0}, options(100, 3, 8), topology)), ElementsAre(64, 36));
  EXPECT_THAT(tiles_of(PoolLayout({0, 1}, options(100, 5, 1), topology)), ElementsAre(60, 40));
}

/// Seen to fail without a least for each part.
TEST_F(PoolLayoutOnFourNodes, LeavesNoPartWithoutATile) {
  for (std::size_t tiles = 3; tiles < 12; ++tiles) {
    auto const each = tiles_of(PoolLayout({0, 1, 2, 2, 2, 2, 2, 2}, options(tiles, 8), topology));
    EXPECT_EQ(each.size(), 3u);
    EXPECT_EQ(std::accumulate(each.begin(), each.end(), std::size_t{0}), tiles);
    EXPECT_THAT(each, testing::Each(testing::Ge(1u)));
  }
}

TEST_F(PoolLayoutOnFourNodes, HasOnePartForFewerTilesThanNodes) {
  PoolLayout const layout({0, 1, 2}, options(2, 3), topology);
  EXPECT_THAT(tiles_of(layout), ElementsAre(2));
  EXPECT_EQ(layout.node(0), 0);
  for (std::size_t device = 0; device < 3; ++device) EXPECT_EQ(layout.part_of_device(device), 0u);
}

TEST_F(PoolLayoutOnFourNodes, CountsADeviceWithoutANodeToTheFirst) {
  PoolLayout const layout({1, std::nullopt, 3}, options(12, 3), topology);
  EXPECT_THAT(tiles_of(layout), ElementsAre(8, 4));
  EXPECT_EQ(layout.part_of_device(1), 0u);
  EXPECT_EQ(layout.part_of_device(2), 1u);
}

TEST_F(PoolLayoutOnFourNodes, HasOnePartIfTheFirstDevicesNodeIsUnknown) {
  PoolLayout const layout({std::nullopt, 3}, options(12, 2), topology);
  EXPECT_THAT(tiles_of(layout), ElementsAre(12));
  EXPECT_EQ(layout.node(0), std::nullopt);
  EXPECT_EQ(layout.part_of_device(1), 0u);
}

TEST_F(PoolLayoutOnFourNodes, KnowsThePartNextToEachCpu) {
  PoolLayout const layout({3, 1}, options(12, 2), topology);
  std::vector<std::size_t> parts;
  for (int cpu = 0; cpu < 8; ++cpu) parts.push_back(layout.part_of_cpu(cpu));
  EXPECT_THAT(parts, ElementsAre(0, 0, 1, 1, 1, 1, 0, 0)) << "nodes 0 and 2 have none, and share those of the others";
  EXPECT_EQ(layout.part_of_cpu(-1), 0u) << "the system does not say";
  EXPECT_EQ(layout.part_of_cpu(8), 0u) << "there was no such CPU";
}

}  // namespace
}  // namespace penstock
