// SPDX-License-Identifier: Apache-2.0
// Promises of a lane to its stage.
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/thread_state.hpp"
#include <unistd.h>

#include "engine/lane/lane_contract.hpp"

namespace penstock {
namespace {

TEST_P(LaneContract, ComputesOnTheStreamThatItsModeNames) {
  std::atomic<bool> default_stream{false};
  open_lane(add_one([&](DeviceTile const&, StreamRef stream) {
    // Asked on the lane's thread, whose it is.
    default_stream = stream == device().thread_default_stream();
  }));
  submit(0);
  close_lane();
  EXPECT_EQ(default_stream, GetParam().streams == StreamMode::thread_default);
}

TEST_P(LaneContract, FailsOnlyTheTileThatItsStageThrewOn) {
  open_lane(add_one([](DeviceTile const& tile, StreamRef) {
    if (tile.sequence == 2) throw std::runtime_error("no twos");
    if (tile.sequence == 4) throw 4;
  }));
  for (std::size_t i = 0; i < 6; ++i) submit(i);
  close_lane();
  auto const all = seen();
  ASSERT_EQ(all.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_EQ(all[i].outcome, i == 2 || i == 4 ? Outcome::failed : Outcome::done);
    EXPECT_EQ(all[i].stage, i == 2 || i == 4 ? "stage" : "");
  }
  EXPECT_EQ(all[2].reason, "no twos");
}

TEST_P(LaneContract, LosesNoDeviceBecauseItsStageMetTheLossOfAnother) {
  struct Unlucky final : Stage {
    Promises promises() const noexcept override { return {.reads_once = true}; }
    std::size_t run(DeviceTile const& tile, StreamRef) override {
      if (tile.sequence == 1) throw Error(ErrorKind::device_lost, "The other device is lost.");
      return 0;
    }
    void finish(StreamRef) override { throw Error(ErrorKind::device_lost, "The other device is still lost."); }
  };
  open_lane({.make = [](StageContext const&) { return std::make_unique<Unlucky>(); }, .merge = {}});
  for (std::uint64_t i = 0; i < 4; ++i) submit(i);
  lane().close();
  auto const all = seen();
  ASSERT_EQ(all.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(all[i].stage, i == 1 ? "stage" : "") << all[i].reason;
  EXPECT_FALSE(device().lost());
  EXPECT_FALSE(lane().lost());
  ASSERT_NE(lane().finish_failure(), nullptr);
  EXPECT_EQ(lane().finish_failure()->reason, "The other device is still lost.");
}

TEST_P(LaneContract, KeepsATileWhoseStageThrewUntilWhatItLaunchedHasRun) {
  std::optional<support::Hold> held;
  std::atomic<pid_t> thread{0};
  open_lane(add_one([&](DeviceTile const& tile, StreamRef stream) {
    if (tile.sequence != 0) return;
    held.emplace(kernels().hold(stream));
    kernels().add_one(stream, tile.input);
    thread = gettid();
    throw std::runtime_error("halfway");
  }));
  submit(0);
  while (thread == 0) std::this_thread::yield();
  held->await_reached();
  support::await_asleep(thread);
  EXPECT_TRUE(seen().empty()) << "the device still works on it";
  held->open();
  for (std::uint64_t i = 1; i < 6; ++i) submit(i);
  auto const all = await_seen(6);
  EXPECT_EQ(all[0].reason, "halfway");
  for (std::size_t i = 1; i < 6; ++i) EXPECT_TRUE(all[i].content_right) << "tile " << i;
}

TEST_P(LaneContract, FailsATileWhoseStageClaimsMoreThanTheOutputHolds) {
  open_lane(on_device([this](DeviceTile const&, StreamRef) { return tile_bytes + 1; }, {.reads_once = true}));
  submit(0);
  close_lane();
  ASSERT_EQ(seen().size(), 1u);
  EXPECT_EQ(seen()[0].outcome, Outcome::failed);
  EXPECT_NE(seen()[0].reason.find("4097"), std::string::npos) << seen()[0].reason;
  EXPECT_NE(seen()[0].reason.find("return fewer bytes"), std::string::npos) << seen()[0].reason;
}

/// Counts its tiles, and adds one to what it counted on the device, too, once it is finished.
class Counting final : public Stage {
 public:
  Counting(StageContext const& context, support::Kernels const& kernels)
      : kernels_(kernels), total_(context.device.allocate(256)) {}
  Promises promises() const noexcept override { return {.reads_once = true}; }
  void prepare(StreamRef stream) override { kernels_.fill(stream, total_.bytes().first(1), std::byte{0}); }
  std::size_t run(DeviceTile const&, StreamRef stream) override {
    kernels_.add_one(stream, total_.bytes().first(1));
    return 0;
  }
  void finish(StreamRef stream) override { stream.download(std::span(&result, 1), total_.bytes().first(1)); }
  std::byte result{};

 private:
  support::Kernels const& kernels_;
  DeviceMemory total_;
};

TEST_P(LaneContract, FinishesItsStageAfterTheLastTileAndWaitsForIt) {
  open_lane({.make = [this](StageContext const& context) { return std::make_unique<Counting>(context, kernels()); },
             .merge = {}});
  for (std::size_t i = 0; i < 20; ++i) submit(i);
  lane().close();
  ASSERT_NE(lane().finished_stage(), nullptr);
  EXPECT_EQ(static_cast<Counting*>(lane().finished_stage())->result, std::byte{20});
}

/// Adds one to each byte of an array of its own for each tile. The array is larger than one copy of zeros, and lies
/// where other bytes were.
class CountingInAnArray final : public Stage {
 public:
  static constexpr std::size_t count = 140'000;
  CountingInAnArray(StageContext const& context, support::Kernels const& kernels) : kernels_(kernels) {
    {
      DeviceMemory const before = context.device.allocate(count * sizeof(std::uint64_t));
      kernels.fill(context.stream, before.bytes(), std::byte{0xff});
      context.stream.synchronize();
    }
    totals_ = DeviceArray<std::uint64_t>(context, count);
  }
  Promises promises() const noexcept override { return {.reads_once = true}; }
  std::size_t run(DeviceTile const&, StreamRef stream) override {
    kernels_.add_one(stream, totals_.span().as<std::byte>());
    return 0;
  }
  void finish(StreamRef stream) override { totals_.download(result, stream); }
  std::vector<std::uint64_t> result = std::vector<std::uint64_t>(count);

 private:
  support::Kernels const& kernels_;
  DeviceArray<std::uint64_t> totals_;
};

/// Seen to fail where only the first part of the array is made zero.
TEST_P(LaneContract, GivesItsStageArraysThatAreZeroAtFirst) {
  open_lane(
      {.make = [this](StageContext const& context) { return std::make_unique<CountingInAnArray>(context, kernels()); },
       .merge = {}});
  for (std::size_t i = 0; i < 3; ++i) submit(i);
  lane().close();
  ASSERT_NE(lane().finished_stage(), nullptr);
  auto const& result = static_cast<CountingInAnArray*>(lane().finished_stage())->result;
  EXPECT_EQ(std::ranges::count(result, 0x0303'0303'0303'0303U), std::ptrdiff_t{CountingInAnArray::count});
}

TEST_P(LaneContract, SaysWhyItsStageDidNotFinish) {
  struct Stubborn final : Stage {
    Promises promises() const noexcept override { return {.reads_once = true}; }
    std::size_t run(DeviceTile const&, StreamRef) override { return 0; }
    void finish(StreamRef) override { throw std::runtime_error("not yet"); }
  };
  open_lane({.make = [](StageContext const&) { return std::make_unique<Stubborn>(); }, .merge = {}});
  submit(0);
  lane().close();
  EXPECT_EQ(lane().finished_stage(), nullptr);
  ASSERT_NE(lane().finish_failure(), nullptr);
  EXPECT_EQ(lane().finish_failure()->stage, "finish");
  EXPECT_EQ(lane().finish_failure()->reason, "not yet");
}

TEST_P(LaneContract, SaysInItsConstructorWhyAStageCannotBeMade) {
  EXPECT_THROW(open_lane({.make = [](StageContext const&) -> std::unique_ptr<Stage> { throw std::runtime_error("no"); },
                          .merge = {}}),
               std::runtime_error);
  EXPECT_THROW(open_lane({.make = [](StageContext const&) { return std::unique_ptr<Stage>(); }, .merge = {}}), Error);
}

}  // namespace
}  // namespace penstock
