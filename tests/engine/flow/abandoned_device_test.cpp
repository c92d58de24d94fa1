// SPDX-License-Identifier: Apache-2.0
// Tests what a pipeline makes of a device whose kernel does not end.
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>

#include "support/gate.hpp"
#include "support/mapped_file.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// Two CPU devices, the second of which is stuck in the kernel of the first tile that it gets. The pipeline ends before
/// that kernel does.
struct AStuckDevice : testing::Test {
  support::MappedFile file{4096};  ///< It outlives the devices.
  support::Gate gate;
  cpu::CpuDevice healthy{{.ordinal = 0, .compute_threads = 1}};
  cpu::CpuDevice stuck{{.ordinal = 1, .compute_threads = 1}};
  std::optional<Pipeline> pipeline;
  std::atomic<int> left{300};
  std::atomic<int> asked{0};               ///< Times that the one producer wanted a tile filled.
  bool two_in_flight = false;              ///< The stuck device, then the only one, has two when it is given up.
  bool own_memory = false;                 ///< Tiles lie in the file.
  std::optional<std::uint64_t> throws_at;  ///< The tile at which the stage of the stuck device throws.
  std::set<std::uint64_t> seen;
  std::mutex mutex;
  std::set<std::uint64_t> at_the_stuck;  ///< Tiles that its kernels have, by index.
  std::set<std::uint64_t> stranded;      ///< Those of them that came back and may be written to.

  void make_pipeline(std::vector<Device*> devices, std::size_t tiles,
                     std::chrono::seconds patience = std::chrono::seconds(1)) {
    auto const lanes = static_cast<unsigned>(devices.size());
    pipeline.emplace(
        std::move(devices),
        PipelineOptions{.tile = {.input_bytes = 64, .output_bytes = 64, .in_place = true},
                        .producers = 1,
                        .lanes = lanes,
                        .consumers = 1,
                        .own_memory = own_memory ? std::vector{file.bytes()} : std::vector<std::span<std::byte>>(),
                        .tuning = {.tiles = tiles, .slots = 2, .patience = patience}});
  }
  Report run() {
    return pipeline->run(serial([this](Tile& tile) -> std::optional<std::size_t> {
                           tile.tag = tile.index();
                           asked.fetch_add(1);
                           {
                             std::scoped_lock const lock(mutex);
                             EXPECT_FALSE(stranded.contains(tile.tag)) << "the stuck device may write to it";
                           }
                           if (left.fetch_sub(1) <= 0 && stuck.abandoned()) return std::nullopt;
                           return 64;
                         }),
                         stages(), sink());
  }
  Stages stages() {
    return {.make =
                [this](StageContext const& context) {
                  struct Stuck final : Stage {
                    Stuck(AStuckDevice& its_world, bool stuck)
                        : world(its_world), gate(stuck ? &world.gate : nullptr) {}
                    std::size_t run(DeviceTile const& tile, StreamRef stream) override {
                      if (gate != nullptr && tile.sequence == world.throws_at) throw std::runtime_error("not this one");
                      if (gate != nullptr) {
                        std::scoped_lock const lock(world.mutex);
                        world.at_the_stuck.insert(tile.tag);
                      }
                      stream.launch(1, [at = gate](std::uint32_t) {
                        if (at != nullptr) at->pass();
                      });
                      if (gate != nullptr && world.two_in_flight && tile.sequence == 0) world.await_the_second();
                      return tile.input.size();
                    }
                    AStuckDevice& world;
                    support::Gate* gate;
                  };
                  return std::make_unique<Stuck>(*this, &context.device == &stuck);
                },
            .merge = {}};
  }
  /// Keeps a lane in its first stage until the kernel is stuck, and until a second tile is on its way to the lane:
  /// patience runs out with both in flight, however slow other threads are.
  void await_the_second() {
    gate.await_reached();
    while (asked < 3 && pipeline->pool().waiting() == 0) std::this_thread::yield();
  }
  Sink sink() {
    return [this](Completion& completion) {
      EXPECT_TRUE(seen.insert(completion.loan->sequence).second) << "it came twice";
      if (completion.outcome == Outcome::failed && completion.failure->stage != "sink") {
        bool const thrown = completion.loan->sequence == throws_at;
        std::scoped_lock const lock(mutex);
        if (at_the_stuck.contains(completion.loan->tag)) stranded.insert(completion.loan->tag);
        EXPECT_EQ(completion.failure->kind, thrown ? ErrorKind::device_refused : ErrorKind::device_lost);
      }
    };
  }
  void TearDown() override {
    EXPECT_EQ(pipeline->pool().on_loan(), 0u) << "a tile never came home";
    pipeline.reset();
    gate.open();
    EXPECT_EQ(healthy.outstanding(), cpu::Outstanding{});
  }
};

TEST_F(AStuckDevice, FailsTheTilesOfItsPipelineAndEndsTheRun) {
  two_in_flight = true;
  make_pipeline({&stuck}, 8);
  Report const report = run();
  EXPECT_EQ(report.tiles_failed, seen.size()) << describe(report);
  EXPECT_GE(report.tiles_failed, 2u);
  ASSERT_TRUE(report.first_failure);
  EXPECT_EQ(report.first_failure->failure.stage, "stage");
  EXPECT_EQ(report.first_failure->sequence, 0u);
  EXPECT_THAT(report.first_failure->failure.reason, HasSubstr("finished none of a lane's tiles for 1000 ms"));
  EXPECT_EQ(pipeline->pool().stranded(), 2u);
}

/// The device has the file's memory beyond the pipeline's life, which unmaps nothing.
TEST_F(AStuckDevice, LeavesTheApplicationsMemoryToTheApplicationAndSaysForHowLong) {
  own_memory = true;
  make_pipeline({&stuck}, 2);
  Report const report = run();
  EXPECT_GE(report.tiles_failed, 1u) << describe(report);
  EXPECT_THAT(report.remarks, testing::Contains(HasSubstr("keep it mapped, and use it for nothing else, until that")));
}

TEST_F(AStuckDevice, LeavesTheRestToTheOther) {
  // Patience is long, so that a machine which stands still for a moment does not cost the healthy device its lane, too.
  make_pipeline({&healthy, &stuck}, 8, std::chrono::seconds(5));
  Report const report = run();
  EXPECT_EQ(report.tiles(), seen.size()) << describe(report);
  EXPECT_GT(report.tiles_done, 200u);
  EXPECT_FALSE(healthy.lost());
  EXPECT_GE(at_the_stuck.size(), 1u);
  EXPECT_EQ(pipeline->pool().stranded(), at_the_stuck.size());
}

TEST_F(AStuckDevice, EndsTheRunIfItHasEveryTile) {
  make_pipeline({&stuck, &healthy}, 1);
  Report const report = run();
  EXPECT_EQ(report.tiles_failed, 1u) << describe(report);
  EXPECT_EQ(pipeline->pool().stranded(), 1u);
}

TEST_F(AStuckDevice, EndsTheRunIfItHasEveryTileAndTheLastFailsForAReasonOfItsOwn) {
  throws_at = 1;
  two_in_flight = true;
  make_pipeline({&stuck}, 2);
  Report const report = run();
  EXPECT_EQ(report.tiles_failed, 2u) << describe(report);
  EXPECT_EQ(pipeline->pool().stranded(), 2u);
}

TEST_F(AStuckDevice, LetsGoWhoeverWaitsForATileWhenItIsGivenUp) {
  make_pipeline({&stuck}, 2);
  pipeline->start(stages(), sink());
  Feed feed = pipeline->feed();
  Loan held = feed.borrow();
  {
    Loan loan = feed.borrow();
    loan->filled = 64;
    feed.submit(std::move(loan));
  }
  EXPECT_FALSE(feed.borrow(std::stop_token{})) << "one is stranded, the other held here";
  held.give_back();
  EXPECT_EQ(pipeline->drain().tiles_failed, 1u);
}

}  // namespace
}  // namespace penstock
