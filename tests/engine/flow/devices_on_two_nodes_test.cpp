// SPDX-License-Identifier: Apache-2.0
// Devices on two NUMA nodes, where the system has as many as hwloc was told; flow/two_nodes_test has real ones.
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "support/mapped_file.hpp"
#include "support/says_it_is_a_gpu.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using support::SaysItIsAGpu;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// A machine of two nodes, as far as the pipeline is told. Each test ends with every tile home and nothing lent.
struct DevicesOnTwoNodes : testing::Test {
  cpu::FaultyCpuDevice first{{.ordinal = 0, .compute_threads = 1, .numa_node = 1}};
  cpu::FaultyCpuDevice second{{.ordinal = 1, .compute_threads = 1, .numa_node = 0}};
  std::optional<Pipeline> pipeline;

  void SetUp() override { setenv("HWLOC_SYNTHETIC", "numa:2 core:2 pu:1", 1); }
  void TearDown() override {
    unsetenv("HWLOC_SYNTHETIC");
    EXPECT_EQ(pipeline ? pipeline->pool().on_loan() : 0, 0u) << "a tile never came home";
    pipeline.reset();
    EXPECT_EQ(first.outstanding(), cpu::Outstanding{});
    EXPECT_EQ(second.outstanding(), cpu::Outstanding{});
  }
  static PipelineOptions options() {
    return {.tile = {.input_bytes = 64, .output_bytes = 64, .in_place = true},
            .producers = 2,
            .lanes = 2,
            .consumers = 1,
            .tuning = {.tiles = 16, .slots = 4}};
  }
};

TEST_F(DevicesOnTwoNodes, HaveAPartOfThePoolEach) {
  pipeline.emplace(std::vector<Device*>{&first, &second}, options());
  EXPECT_EQ(pipeline->pool().parts(), 2u);
  EXPECT_EQ(pipeline->pool().part_of(7), 0u);
  EXPECT_EQ(pipeline->pool().part_of(8), 1u);
  EXPECT_EQ(first.outstanding().pins, 2u) << "either may get any tile";
  EXPECT_EQ(second.outstanding().pins, 2u);
}

TEST_F(DevicesOnTwoNodes, HaveAPieceOfTheApplicationsMemoryEach) {
  std::vector<Device*> const devices{&first, &second};
  std::vector<MemoryNeeded> const needed = memory_needed(devices, options());
  ASSERT_EQ(needed.size(), 2u);
  EXPECT_EQ(needed[0].node, 1);
  EXPECT_EQ(needed[1].node, 0);
  EXPECT_EQ(needed[0].tiles, 8u);
  EXPECT_EQ(needed[0].bytes, 4096u) << "eight tiles take half a page";
  // Side by side, in the other order.
  support::MappedFile file(2 * 4096);
  PipelineOptions own = options();
  own.own_memory = {file.bytes().subspan(4096), file.bytes().first(4096)};
  pipeline.emplace(devices, own);
  EXPECT_EQ(pipeline->pool().parts(), 2u);
  EXPECT_EQ(pipeline->pool().tile(0).input().data(), file.bytes().data() + 4096);
  EXPECT_EQ(pipeline->pool().tile(8).input().data(), file.bytes().data());
  EXPECT_EQ(first.outstanding().pinned_bytes, 2u * 4096);
  own.own_memory = {file.bytes()};
  pipeline.reset();
  pipeline.emplace(devices, own);
  EXPECT_EQ(pipeline->pool().parts(), 1u) << "one piece is one part";
  pipeline.reset();
}

TEST_F(DevicesOnTwoNodes, ShareThePoolWhenNothingIsBound) {
  PipelineOptions unbound = options();
  unbound.tuning.bind = Bind::none;
  pipeline.emplace(std::vector<Device*>{&first, &second}, unbound);
  EXPECT_EQ(pipeline->pool().parts(), 1u);
}

TEST_F(DevicesOnTwoNodes, AreSaidToHaveThreadsThatAreNotBound) {
  PipelineOptions unbound = options();
  unbound.tuning.bind = Bind::none;
  pipeline.emplace(std::vector<Device*>{&first, &second}, unbound);
  auto const stage = on_device([](DeviceTile const& tile, StreamRef) { return tile.input.size(); });
  Report const pulled =
      pipeline->run(serial([](Tile&) { return std::optional<std::size_t>(); }), stage, [](Completion&) {});
  EXPECT_THAT(pulled.placement,
              testing::StartsWith("Threads: 2 producers, 2 lanes, 1 consumer not bound. Pages: 2 MiB"));
  EXPECT_THAT(describe(pulled), testing::HasSubstr("\n" + pulled.placement));
  pipeline->start(stage, [](Completion&) {});
  EXPECT_THAT(pipeline->drain().placement, testing::StartsWith("Threads: 2 lanes, 1 consumer not bound. Pages: 2 MiB"))
      << "producers are the application's";
}

TEST_F(DevicesOnTwoNodes, DoNotSayWhatThereIsOneOf) {
  setenv("HWLOC_SYNTHETIC", "numa:1 core:2 pu:1", 1);
  pipeline.emplace(std::vector<Device*>{&first, &second}, options());
  Report const report =
      pipeline->run(serial([](Tile&) { return std::optional<std::size_t>(); }),
                    on_device([](DeviceTile const& tile, StreamRef) { return tile.input.size(); }), [](Completion&) {});
  EXPECT_THAT(report.placement, testing::StartsWith("Threads: "));
  EXPECT_THAT(describe(report), testing::Not(testing::HasSubstr("Threads: ")));
}

TEST_F(DevicesOnTwoNodes, DrainTheTilesOfBothParts) {
  pipeline.emplace(std::vector<Device*>{&first, &second}, options());
  int left = 500;
  std::vector<std::uint64_t> seen(16, 0);
  Report const report = pipeline->run(serial([&](Tile&) -> std::optional<std::size_t> {
                                        if (left-- == 0) return std::nullopt;
                                        return 64;
                                      }),
                                      on_device([](DeviceTile const& tile, StreamRef) { return tile.input.size(); }),
                                      [&](Completion& completion) { ++seen.at(completion.loan->index()); });
  EXPECT_EQ(report.tiles_done, 500u) << describe(report);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_GT(seen[i], 0u) << "tile " << i;
}

TEST_F(DevicesOnTwoNodes, GoOnWithTheTilesOfOneThatIsLost) {
  first.inject(cpu::Fault::break_kernel, 1);
  pipeline.emplace(std::vector<Device*>{&first, &second}, options());
  std::uint64_t tiles = 0, of_the_lost = 0;
  Report const report = pipeline->run(serial([&](Tile& tile) -> std::optional<std::size_t> {
                                        if (tiles == 500) {
                                          while (!first.lost()) std::this_thread::yield();
                                        }
                                        // The producer that borrows the tiles of its part may come to it late.
                                        if (tiles == 1'000'000 || (tiles >= 1000 && of_the_lost > 0))
                                          return std::nullopt;
                                        if (first.lost() && tile.pool_part() == 0) ++of_the_lost;
                                        ++tiles;
                                        return 64;
                                      }),
                                      on_device([](DeviceTile const& tile, StreamRef stream) {
                                        stream.launch(1, [](std::uint32_t) {});
                                        return tile.input.size();
                                      }),
                                      [](Completion&) {});
  EXPECT_EQ(report.tiles(), tiles) << describe(report);
  EXPECT_LE(report.tiles_failed, 16u) << "those that it held, and those on their way to it";
  EXPECT_GT(of_the_lost, 0u) << "they lie next to no device any more, and are tiles all the same";
}

/// Copies of neighbours as one must not take the last tile of one slab and the first of another for such. Seen to fail
/// if a slab is no larger than its tiles: the system lays the second right before the first.
TEST_F(DevicesOnTwoNodes, HaveTilesThatAreNoNeighboursOfTheOthers) {
  PipelineOptions large = options();
  large.tile = {.input_bytes = mebibyte, .output_bytes = mebibyte, .in_place = true};
  large.tuning.tiles = 8;
  pipeline.emplace(std::vector<Device*>{&first, &second}, large);
  auto const tile = [&](std::size_t index) { return pipeline->pool().tile(index).input(); };
  EXPECT_NE(tile(3).data() + mebibyte, tile(4).data());
  EXPECT_NE(tile(7).data() + mebibyte, tile(0).data());
}

TEST_F(DevicesOnTwoNodes, LeaveAllSlabsToAGpuThatWasAbandoned) {
  SaysItIsAGpu one(0, 0), other(1, 1);
  pipeline.emplace(std::vector<Device*>{&one, &other, &first}, options());
  EXPECT_EQ(one.pins(), 2u);
  EXPECT_EQ(other.pins(), 0u);
  EXPECT_EQ(first.outstanding().pins, 2u);
  other.abandon(Error(ErrorKind::device_lost, "It was given up."));
  pipeline.reset();
  EXPECT_EQ(one.pins(), 2u) << "to unpin would wait for all GPUs";
  EXPECT_EQ(first.outstanding().pins, 0u);
}

}  // namespace
}  // namespace penstock
