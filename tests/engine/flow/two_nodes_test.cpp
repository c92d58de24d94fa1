// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "engine/machine/bound_thread.hpp"
#include "engine/machine/slab.hpp"
#include "engine/machine/topology.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

/// A pipeline over two CPU devices that say they hang on the nodes of this machine, if it has two with CPUs;
/// tests/engine/machine/two_nodes emulates one that has.
struct PipelineOnTwoNodes : testing::Test {
  static constexpr std::size_t tile_bytes = std::size_t{64} << 10;
  Topology topology = Topology::detect();
  std::vector<NumaNode> nodes;
  std::optional<cpu::CpuDevice> first, second;
  std::optional<Pipeline> pipeline;
  /// Times that a tile of a part was filled on a node, and came to the device of one.
  std::array<std::array<std::atomic<std::uint64_t>, 2>, 2> filled{}, drained{};

  void SetUp() override {
    for (auto const& node : topology.nodes()) {
      if (!node.cpus.empty()) nodes.push_back(node);
    }
    if (nodes.size() < 2) GTEST_SKIP() << "this machine has " << topology.describe();
    // The second node comes first, lest it is right by chance.
    first.emplace(cpu::CpuOptions{.ordinal = 0, .compute_threads = 1, .numa_node = nodes[1].number});
    second.emplace(cpu::CpuOptions{.ordinal = 1, .compute_threads = 1, .numa_node = nodes[0].number});
    pipeline.emplace(std::vector<Device*>{&*first, &*second},
                     PipelineOptions{.tile = {.input_bytes = tile_bytes, .output_bytes = tile_bytes},
                                     .producers = 8,
                                     .lanes = 2,
                                     .consumers = 1,
                                     .tuning = {.tiles = 64, .slots = 8}});
  }
  int node_of(std::size_t part) const { return nodes[1 - part].number; }
  std::size_t part_here() const { return topology.node_of_cpu(sched_getcpu()) == node_of(0) ? 0 : 1; }
  Stages stages() {
    return {.make =
                [this](StageContext const& context) {
                  struct Counting final : Stage {
                    explicit Counting(PipelineOnTwoNodes& its_world, std::size_t its_part)
                        : world(its_world), part(its_part) {}
                    std::size_t run(DeviceTile const& tile, StreamRef) override {
                      ++world.drained.at(tile.tag).at(part);
                      return tile.input.size();
                    }
                    PipelineOnTwoNodes& world;
                    std::size_t const part;
                  };
                  return std::make_unique<Counting>(*this, &context.device == &*first ? 0 : 1);
                },
            .merge = {}};
  }
};

TEST_F(PipelineOnTwoNodes, HasThePagesOfEachPartOnItsNode) {
  Pool& pool = pipeline->pool();
  ASSERT_EQ(pool.parts(), 2u);
  for (std::size_t i = 0; i < pool.size(); ++i) {
    for (auto const bytes : {pool.tile(i).input(), pool.tile(i).output()}) {
      auto const residency = Residency::of(bytes);
      ASSERT_EQ(residency.refusal, std::nullopt);
      EXPECT_EQ(residency.fraction_on(node_of(pool.part_of(i))), 1.0) << "tile " << i << ": " << residency.describe();
    }
  }
}

TEST_F(PipelineOnTwoNodes, SaysWhereItsThreadsAndPagesCameToBe) {
  int left = 100;
  Report const report = pipeline->run(serial([&](Tile&) -> std::optional<std::size_t> {
                                        return left-- > 0 ? std::optional(tile_bytes) : std::nullopt;
                                      }),
                                      stages(), [](Completion&) {});
  EXPECT_TRUE(report.ok());
  auto const part = [&](NumaNode const& node) {
    return "4 producers, 1 lane on CPUs " + node.cpus.text() + " (node " + std::to_string(node.number) + "); ";
  };
  auto const pages = [&](NumaNode const& node) { return "6 MiB on node " + std::to_string(node.number) + ", "; };
  EXPECT_EQ(report.placement, "Threads: " + part(nodes[1]) + part(nodes[0]) + "1 consumer not bound. Pages: " +
                                  pages(nodes[0]) + pages(nodes[1]) + "by move_pages(2) of 512 pages.");
  EXPECT_THAT(describe(report), testing::HasSubstr("\n" + report.placement));
}

/// Most are, not all: no thread waits while any tile is home, and no lane while another has much more to do. 71 to 78
/// of 100 were filled next to a producer's node here, and 80 to 85 drained. Seen to fail if the pool serves sleepers in
/// order of arrival alone (51 to 55 of 100), and if all lanes are equally near.
TEST_F(PipelineOnTwoNodes, FillsAndDrainsMostTilesNextToThem) {
  constexpr std::uint64_t tiles = 4000;
  struct Counted final : Source {
    explicit Counted(PipelineOnTwoNodes& its_world) : world(its_world) {}
    bool next(Tile&) override { return read++ < tiles; }
    std::size_t fill(Tile& tile) override {
      tile.tag = tile.pool_part();
      ++world.filled.at(tile.tag).at(world.part_here());
      return tile_bytes;
    }
    PipelineOnTwoNodes& world;
    std::uint64_t read = 0;
  } source(*this);
  Report const report = pipeline->run(source, stages(), [](Completion&) {});
  EXPECT_EQ(report.tiles_done, tiles) << describe(report);
  for (auto const* some : {&filled, &drained}) {
    char const* const what = some == &filled ? "filled" : "drained";
    auto const& of = *some;
    EXPECT_EQ(of[0][0] + of[0][1] + of[1][0] + of[1][1], tiles) << what;
    EXPECT_GT(of[0][0] + of[1][1], tiles * 5 / 8)
        << what << ": " << of[0][0] << ' ' << of[0][1] << ", " << of[1][0] << ' ' << of[1][1];
  }
}

TEST_F(PipelineOnTwoNodes, LendsWhoFeedsItTilesOfThePartNextToIt) {
  pipeline->start(stages(), [](Completion&) {});
  for (std::size_t part = 0; part < 2; ++part) {
    std::vector<std::size_t> got;
    BoundThread feeder("ps-test", topology.node(node_of(part)).cpus, [&](std::stop_token const& stop) {
      auto feed = pipeline->feed();
      std::array const loans{feed.borrow(), std::move(*feed.borrow(stop)), std::move(*feed.try_borrow())};
      for (Loan const& loan : loans) got.push_back(loan->pool_part());
    });
    feeder.join();
    EXPECT_EQ(got, std::vector(3, part));
  }
  EXPECT_TRUE(pipeline->drain().ok());
}

}  // namespace
}  // namespace penstock
