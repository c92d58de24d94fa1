// SPDX-License-Identifier: Apache-2.0
// Tests what becomes of a tile whose work throws on the CPU device, and of the others.
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/gate.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "engine/lane/lane_set.hpp"
#include "engine/machine/slab.hpp"
#include "models/faults.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// The first byte of a tile that is to throw.
constexpr std::byte bad{0xbd};

/// Throws for bad tiles, else adds one to the second byte.
constexpr auto compute = [](DeviceTile const& tile, StreamRef stream) {
  stream.launch(1, [part = tile.input](KernelBlock block) {
    std::span const input = part.in(block);
    if (input[0] == bad) throw Error(ErrorKind::bad_argument, "this one is bad");
    input[1] = static_cast<std::byte>(std::to_integer<unsigned>(input[1]) + 1);
  });
};

/// A CPU device and twelve pinned tiles, some of them bad. All come home, and the device is never lost unless a test
/// says so.
struct TilesOfWhichSomeThrow : testing::Test {
  static constexpr TileShape shape{.input_bytes = 256, .output_bytes = 256, .in_place = true};
  static constexpr std::size_t tiles = 12;
  Slab slab{4096, std::nullopt, 1};
  Pool pool{slab.bytes(), shape, tiles};
  cpu::FaultyCpuDevice device{{.compute_threads = 2}};
  Pinned pinned = device.pin(slab.bytes());
  bool lost = false;
  std::array<std::atomic<int>, tiles> completed{};
  std::array<std::shared_ptr<Failure const>, tiles> failures{};

  Lane::OnCompletion note() {
    return [this](Completion completion) {
      std::uint64_t const number = completion.loan->sequence;
      EXPECT_EQ(++completed[number], 1);
      failures[number] = completion.failure;
      if (completion.ok()) {
        EXPECT_EQ(completion.loan->output()[1], std::byte{1}) << "tile " << number;
      }
    };
  }
  void submit_all(LaneSet& lanes, std::vector<std::uint64_t> const& bad_ones) { submit_first(tiles, lanes, bad_ones); }
  void submit_first(std::uint64_t count, LaneSet& lanes, std::vector<std::uint64_t> const& bad_ones) {
    for (std::uint64_t i = 0; i < count; ++i) submit(i, lanes, std::ranges::count(bad_ones, i) > 0);
  }
  void submit(std::uint64_t number, LaneSet& lanes, bool is_bad) {
    Loan loan = pool.borrow();
    loan->sequence = number;
    loan->filled = shape.input_bytes;
    std::memset(loan->input().data(), 0, loan->input().size());
    if (is_bad) loan->input()[0] = bad;
    ASSERT_TRUE(lanes.submit(loan));
  }
  /// Runs all tiles through one lane, and expects each back once.
  std::vector<LaneSummary> run(Stages const& stages, std::vector<std::uint64_t> const& bad_ones,
                               LaneOptions const& options = {}) {
    LaneSet lanes({{&device, {}}}, shape, tiles, options, stages, note());
    submit_all(lanes, bad_ones);
    lanes.close();
    for (auto const& of_one : completed) EXPECT_EQ(of_one, 1);
    return lanes.summaries();
  }
  void expect_failed(std::vector<std::uint64_t> const& bad_ones) {
    for (std::uint64_t i = 0; i < tiles; ++i) {
      if (std::ranges::count(bad_ones, i) == 0) {
        EXPECT_EQ(failures[i], nullptr) << "tile " << i << ": " << failures[i]->reason;
        continue;
      }
      ASSERT_NE(failures[i], nullptr) << "tile " << i;
      EXPECT_EQ(failures[i]->stage, "stage");
      EXPECT_EQ(failures[i]->reason, "this one is bad");
      EXPECT_EQ(failures[i]->kind, ErrorKind::bad_argument);
    }
  }
  void TearDown() override {
    EXPECT_EQ(device.lost().has_value(), lost);
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
  }
};

/// Seen to fail if a slot keeps the failure for its next tile.
TEST_F(TilesOfWhichSomeThrow, FailAloneWhereverTheyAreWorkedOn) {
  for (Transport const transport : {Transport::copies, Transport::mapped}) {
    for (LaneShape const lane : {LaneShape::split, LaneShape::single}) {
      for (StreamMode const streams : {StreamMode::own, StreamMode::thread_default}) {
        for (auto& of_one : completed) of_one = 0;
        auto const did = run(on_device(compute, {.reads_once = true}), {0, 5, 11},
                             {.flight = {.slots = 3, .streams = streams, .shape = lane, .transport = transport}});
        expect_failed({0, 5, 11});
        EXPECT_EQ(did[0].failed, 3u);
        EXPECT_EQ(did[0].tiles, 9u);
      }
    }
  }
}

TEST_F(TilesOfWhichSomeThrow, DoNotRunWhatTheirStageLaunchedBehind) {
  std::atomic<int> ran{0};
  run(on_device([&](DeviceTile const& tile, StreamRef stream) {
        compute(tile, stream);
        stream.launch(3, [&](std::uint32_t) { ++ran; });
      }),
      {4});
  expect_failed({4});
  EXPECT_EQ(ran, 3 * 11);
}

TEST_F(TilesOfWhichSomeThrow, FailOnceThoughManyBlocksThrow) {
  std::atomic<unsigned> ran{0};
  run(on_device([&](DeviceTile const& tile, StreamRef stream) {
        stream.launch(1000000, [&, input = tile.input](KernelBlock block) {
          if (input.in(block)[0] != bad) return;
          ++ran;
          throw Error(ErrorKind::bad_argument, "this one is bad");
        });
        compute(tile, stream);
      }),
      {2, 3});
  expect_failed({2, 3});
  EXPECT_LE(ran, 2u * 2u) << "one block for each thread, since the first ends the kernel";
}

/// Works on a batch by one launch. At a tile that comes alone it keeps the lane until the gate is open.
struct Together final : Stage {
  explicit Together(support::Gate& all_came) : gate(all_came) {}
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    gate.pass();
    compute(tile, stream);
    return tile.output.size();
  }
  bool run_batch(std::span<DeviceTile const> batch, std::span<std::size_t> produced, StreamRef stream) override {
    stream.launch(static_cast<std::uint32_t>(batch.size()),
                  [all = std::vector<DeviceTile>(batch.begin(), batch.end())](KernelBlock block) {
                    if (all[block].input.in(block)[0] == bad) throw Error(ErrorKind::bad_argument, "this one is bad");
                  });
    for (DeviceTile const& tile : batch) {
      stream.launch(1, [input = tile.input](KernelBlock block) { input.in(block)[1] = std::byte{1}; });
    }
    std::ranges::fill(produced, 256);
    return true;
  }
  support::Gate& gate;
};

/// The first tile goes alone, and keeps the lane until all have come; then come whole blocks of four.
struct BatchesOfWhichSomeThrow : TilesOfWhichSomeThrow {
  support::Gate gate;
  LaneSet lanes{{{&device, {}}},
                shape,
                tiles,
                {.flight = {.slots = 8, .transport = Transport::copies}, .batch = 4},
                {.make = [this](StageContext const&) { return std::make_unique<Together>(gate); }, .merge = {}},
                note()};

  void submit_batches(std::vector<std::uint64_t> const& bad_ones) {
    submit_all(lanes, bad_ones);
    gate.open();
  }
};

TEST_F(BatchesOfWhichSomeThrow, FailAsAWhole) {
  submit_batches({9});
  lanes.close();
  ASSERT_NE(failures[9], nullptr);
  EXPECT_EQ(failures[9]->reason, "this one is bad");
  std::size_t failed = 0;
  for (auto const& failure : failures) failed += failure != nullptr ? 1U : 0U;
  EXPECT_LE(failed, 4u) << "no more than its batch";
}

/// Tiles that come alone, one after the other, to each of the eight slots.
TEST_F(BatchesOfWhichSomeThrow, LeaveNothingBehindForTheNextTileOfASlot) {
  submit_batches({});
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(pool.wait_until_home(std::chrono::minutes(1)));
    completed[i] = 0;
    submit(i, lanes, true);
  }
  lanes.close();
  expect_failed({0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_F(TilesOfWhichSomeThrow, FailAloneIfTheirWorkWasCaptured) {
  for (std::vector<std::uint64_t> const& bad_ones : {std::vector<std::uint64_t>{0}, {7, 8}}) {
    for (auto& of_one : completed) of_one = 0;
    auto const did = run(on_device(compute, Promises{.capturable = true}), bad_ones,
                         {.flight = {.slots = 2, .transport = Transport::copies, .graphs = Graphs::always}});
    expect_failed(bad_ones);
    EXPECT_EQ(did[0].graphs, tiles);
  }
}

/// Lanes of the legacy flavour share one stream. Seen to fail if the stream has one attribution for all threads.
TEST_F(TilesOfWhichSomeThrow, FailAloneInAStreamThatLanesShare) {
  pinned = {};
  cpu::FaultyCpuDevice legacy({.compute_threads = 2, .flavour = Flavour::legacy});
  // Each lane launches while the other is inside its stage, too.
  std::barrier both(2);
  auto const stages = on_device([&](DeviceTile const& tile, StreamRef stream) {
    both.arrive_and_wait();
    compute(tile, stream);
    both.arrive_and_wait();
    return tile.output.size();
  });
  for (int round = 0; round < 20; ++round) {
    for (auto& of_one : completed) of_one = 0;
    failures = {};
    std::uint64_t const bad_one = round % 2 == 0 ? 0 : 1;
    {
      LaneSet lanes({{&legacy, {}}, {&legacy, {}}}, shape, tiles, {}, stages, note());
      submit_first(2, lanes, {bad_one});
      lanes.close();
    }
    ASSERT_EQ(completed[0] + completed[1], 2);
    expect_failed({bad_one});
  }
  EXPECT_FALSE(legacy.lost());
}

TEST_F(TilesOfWhichSomeThrow, LoseTheDeviceByAStreamOfTheStagesOwn) {
  Stream const own = device.make_stream();
  run(on_device(
          [&](DeviceTile const& tile, StreamRef) {
            compute(tile, own);
            own.synchronize();
          },
          {.reads_once = true}),  // The tile is mapped: a stream of its own does not wait for an upload.
      {3}, {.flight = {.transport = Transport::mapped}});
  lost = true;
  ASSERT_NE(failures[3], nullptr);
  EXPECT_THAT(failures[3]->reason, HasSubstr("a kernel threw \"this one is bad\""));
  EXPECT_EQ(failures[3]->stage, "device");
  EXPECT_NE(failures[11], nullptr) << "nothing is served any more";
}

/// A stage whose finish throws on the device.
TEST_F(TilesOfWhichSomeThrow, DoNotHarmALaneWhoseFinishThrows) {
  struct Unfinished final : Stage {
    std::size_t run(DeviceTile const& tile, StreamRef stream) override {
      compute(tile, stream);
      return tile.output.size();
    }
    void finish(StreamRef stream) override {
      stream.launch(1, [](std::uint32_t) { throw std::runtime_error("no end"); });
    }
  };
  Stages const stages{.make = [](StageContext const&) { return std::make_unique<Unfinished>(); }, .merge = {}};
  LaneSet lanes({{&device, {}}}, shape, tiles, {}, stages, note());
  submit_all(lanes, {2});
  lanes.close();
  expect_failed({2});
  auto const unmerged = lanes.merge(stages);
  ASSERT_EQ(unmerged.size(), 1u);
  EXPECT_EQ(unmerged[0]->stage, "finish");
  EXPECT_EQ(unmerged[0]->reason, "no end");
}

/// A fault that is the device's ends it as ever.
TEST_F(TilesOfWhichSomeThrow, AreNotTheOnesThatAnInjectedFaultFails) {
  device.inject(cpu::Fault::break_kernel, 4);
  run(on_device(compute), {});
  lost = true;
  ASSERT_NE(failures[3], nullptr);
  EXPECT_EQ(failures[3]->stage, "device");
}

}  // namespace
}  // namespace penstock
