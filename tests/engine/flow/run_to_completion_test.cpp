// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/gate.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// Three lanes that do all for their tiles, and a source that notes which thread fills which.
struct LanesThatRunToCompletion : testing::Test, Source {
  static constexpr std::size_t tile_bytes = 4096;

  void TearDown() override {
    if (pipeline) {
      EXPECT_EQ(pipeline->pool().on_loan(), 0u) << "a tile never came home";
    }
    pipeline.reset();
    EXPECT_EQ(device.outstanding(), cpu::Outstanding{});
  }
  static PipelineOptions options() {
    return {.tile = {.input_bytes = tile_bytes, .output_bytes = tile_bytes, .in_place = true},
            .lanes = 3,
            .tuning = {.sink_on_lanes = true, .run_to_completion = true}};
  }
  Pipeline& open(PipelineOptions with = options()) { return pipeline.emplace(device, std::move(with)); }

  bool next(Tile&) override { return given++ < tiles; }
  std::size_t fill(Tile& tile) override {
    note(tile.sequence);
    while (tile.sequence >= waits_for_loss && !device.lost()) std::this_thread::yield();
    if (tile.sequence == fails) throw std::runtime_error("cannot be read");
    tile.input()[0] = static_cast<std::byte>(tile.sequence);
    return tile_bytes;
  }
  /// The thread that is at a tile.
  void note(std::uint64_t sequence) {
    std::scoped_lock const lock(mutex);
    threads[sequence].insert(std::this_thread::get_id());
  }
  Stages stage() {
    return on_device(
        [this](DeviceTile const& tile, StreamRef stream) {
          stream.launch(1, [this, bytes = tile.input, sequence = tile.sequence](KernelBlock block) {
            note(sequence);
            if (sequence == throws) throw std::runtime_error("cannot be computed");
            bytes.in(block)[0] ^= std::byte{0xFF};
          });
          return tile_bytes;
        },
        {.reads_once = true});
  }
  Sink sink() {
    return [this](Completion& completion) {
      note(completion.loan->sequence);
      if (!completion.ok()) return;
      auto const expected = static_cast<std::byte>(completion.loan->sequence) ^ std::byte{0xFF};
      right += completion.loan->produced_output()[0] == expected ? 1 : 0;
    };
  }

  cpu::FaultyCpuDevice device{{.compute_threads = 4}};
  std::optional<Pipeline> pipeline;
  std::uint64_t tiles = 500, given = 0;
  std::uint64_t fails = UINT64_MAX, throws = UINT64_MAX;  ///< The tile whose filling does, and whose kernel.
  std::uint64_t waits_for_loss = UINT64_MAX;  ///< The first tile that is not filled before the device is lost.
  std::atomic<std::uint64_t> right{0};
  std::mutex mutex;
  std::map<std::uint64_t, std::set<std::thread::id>> threads;  ///< Keyed by the tile's sequence.
};

TEST_F(LanesThatRunToCompletion, DoAllForATileOnOneThread) {
  Report const report = open().run(*this, stage(), sink());
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(right, tiles);
  ASSERT_EQ(threads.size(), tiles);
  for (auto const& [sequence, of_tile] : threads) EXPECT_EQ(of_tile.size(), 1u) << sequence;
  EXPECT_EQ(pipeline->pool().size(), 3u) << "one for each lane will do";
}

TEST_F(LanesThatRunToCompletion, GiveAConsumerTilesInTheirOrderIfAsked) {
  PipelineOptions with = options();
  with.ordered = true;
  with.tuning.sink_on_lanes = false;
  std::vector<std::uint64_t> order;
  Report const report = open(with).run(*this, stage(), [&](Completion& c) { order.push_back(c.loan->sequence); });
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(order.size(), tiles);
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST_F(LanesThatRunToCompletion, GoOnAfterATileThatFails) {
  fails = 7;
  throws = 11;
  Report const report = open().run(*this, stage(), sink());
  EXPECT_EQ(report.tiles_failed, 2u);
  EXPECT_EQ(right, tiles - 2);
}

TEST_F(LanesThatRunToCompletion, EndWithWhyTheSourceFailed) {
  struct Broken final : Source {
    explicit Broken(Source& of) : whole(of) {}
    bool next(Tile& tile) override {
      if (given++ == 20) throw std::runtime_error("gone");
      return whole.next(tile);
    }
    std::size_t fill(Tile& tile) override { return whole.fill(tile); }
    Source& whole;
    int given = 0;
  } broken(*this);
  Report const report = open().run(broken, stage(), sink());
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(right, 20u);
}

TEST_F(LanesThatRunToCompletion, StopWhileTheyWaitForATile) {
  std::vector<Loan> kept;
  std::stop_source stop;
  auto const keep = [&](Completion& completion) {
    std::scoped_lock const lock(mutex);
    kept.push_back(std::move(completion.loan));
    if (kept.size() == 3) stop.request_stop();
  };
  Report const report = open().run(*this, stage(), keep, stop.get_token());
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(kept.size(), 3u);
  kept.clear();
}

TEST_F(LanesThatRunToCompletion, StopWhileTheSourceWaits) {
  struct Waiting final : Source {
    bool next(Tile&) override {
      std::unique_lock lock(of_next);
      if (given++ == 0) return true;
      waits = true;
      waits.notify_all();
      changed.wait(lock, stop.get_token(), [] { return false; });
      return false;
    }
    std::size_t fill(Tile&) override { return 1; }
    std::mutex of_next;
    std::condition_variable_any changed;
    std::stop_source stop;
    std::atomic<bool> waits{false};
    int given = 0;
  } waiting;
  std::jthread const stopper([&] {
    waiting.waits.wait(false);
    std::scoped_lock const it_waits(waiting.of_next);
    waiting.stop.request_stop();
  });
  Report const report = open().run(waiting, stage(), sink(), waiting.stop.get_token());
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.tiles(), 1u);
}

TEST_F(LanesThatRunToCompletion, EndTheRunWhenTheirDeviceIsLost) {
  device.inject(cpu::Fault::break_kernel, 50);
  // Where the lane of that kernel is off its CPU, the others would take all tiles meanwhile.
  waits_for_loss = 400;
  Report const report = open().run(*this, stage(), sink());
  EXPECT_FALSE(report.ok());
  EXPECT_GT(report.tiles_failed, 0u);
  EXPECT_GE(right, 40u);
  EXPECT_LT(report.tiles(), tiles);
}

TEST_F(LanesThatRunToCompletion, LeaveTheirInputToTheLanesOfOtherDevices) {
  cpu::FaultyCpuDevice other{{.compute_threads = 2}};
  PipelineOptions with = options();
  with.lanes = 2;
  Pipeline both(DeviceGroup({&device, &other}), with);
  device.inject(cpu::Fault::break_kernel, 5);
  // The lane of the other device is held until this one is lost.
  Stages const held{.make = [&](StageContext const& context) {
    bool const waits = &context.device == &other;
    return on_device(
               [this, waits](DeviceTile const& tile, StreamRef stream) {
                 while (waits && !device.lost()) std::this_thread::yield();
                 stream.launch(1, [bytes = tile.input](KernelBlock block) { bytes.in(block)[0] ^= std::byte{0xFF}; });
                 return tile_bytes;
               },
               {.reads_once = true})
        .make(context);
  }};
  Report const report = both.run(*this, held, sink());
  EXPECT_EQ(report.tiles(), tiles) << "each tile has a completion";
  EXPECT_EQ(report.tiles_failed, 1u) << "the one that the lost lane had";
  EXPECT_EQ(right, tiles - 1);
}

/// A lane that waits for the device is no thread that computes.
TEST_F(LanesThatRunToCompletion, LeaveKernelsOfLaterRunsToTheDevice) {
  EXPECT_TRUE(open().run(*this, stage(), sink()).ok());
  pipeline.reset();
  given = 0;
  threads.clear();
  std::set<std::thread::id> lanes;
  Stages const apart = on_device(
      [&](DeviceTile const&, StreamRef stream) {
        {
          std::scoped_lock const lock(mutex);
          lanes.insert(std::this_thread::get_id());
        }
        stream.launch(1, [&](KernelBlock) { note(0); });
        return std::size_t{0};
      },
      {.reads_once = true});
  Pipeline usual(device, {.tile = {.input_bytes = tile_bytes}, .producers = 1, .lanes = 3});
  struct Empty final : Source {
    bool next(Tile&) override { return left-- > 0; }
    std::size_t fill(Tile&) override { return 1; }
    int left = 100;
  } empty;
  EXPECT_TRUE(usual.run(empty, apart, [](Completion&) {}).ok());
  for (auto const& lane : lanes) EXPECT_FALSE(threads[0].contains(lane));
}

TEST_F(LanesThatRunToCompletion, RunWhatIsCapturedToo) {
  PipelineOptions with = options();
  with.tuning.transport = Transport::copies;
  with.tuning.graphs = Graphs::always;
  std::set<std::thread::id> lanes, computing;
  Stages const capturable = on_device(
      [&](DeviceTile const&, StreamRef stream) {
        {
          std::scoped_lock const lock(mutex);
          lanes.insert(std::this_thread::get_id());
        }
        stream.launch(1, [&](KernelBlock) {
          std::scoped_lock const lock(mutex);
          computing.insert(std::this_thread::get_id());
        });
        return tile_bytes;
      },
      {.capturable = true});
  Report const report = open(with).run(*this, capturable, [](Completion&) {});
  EXPECT_TRUE(report.ok());
  EXPECT_GT(report.lanes.at(0).graphs + report.lanes.at(1).graphs + report.lanes.at(2).graphs, 0u);
}

TEST_F(LanesThatRunToCompletion, TakeTilesThatAnApplicationFeeds) {
  open();
  for (int run = 0; run < 2; ++run) {
    right = 0;
    pipeline->start(stage(), sink());
    for (std::uint64_t k = 0; k < 20; ++k) {
      Loan loan = pipeline->feed().borrow();
      loan->filled = tile_bytes;
      loan->input()[0] = static_cast<std::byte>(k);
      pipeline->feed().submit(std::move(loan));
    }
    EXPECT_TRUE(pipeline->drain().ok());
    EXPECT_EQ(right, 20u);
  }
  EXPECT_TRUE(pipeline->run(*this, stage(), sink()).ok());
}

TEST_F(LanesThatRunToCompletion, AreTheProducers) {
  PipelineOptions with = options();
  with.producers = 2;
  EXPECT_THROW(open(with), Error);
  with.producers = 0;
  with.tuning.slots = 2;
  EXPECT_THROW(open(with), Error);
}

TEST_F(LanesThatRunToCompletion, HaveNoThreadForHostStages) {
  PipelineOptions with = options();
  with.host_stages.push_back({.body = [](Tile&) {}});
  try {
    open(with);
    ADD_FAILURE() << "it was not refused";
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), HasSubstr("in the source's `fill`"));
  }
}

}  // namespace
}  // namespace penstock
