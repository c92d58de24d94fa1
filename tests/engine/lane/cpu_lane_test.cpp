// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "support/cpu_device_under_test.hpp"
#include "support/gate.hpp"
#include "support/thread_state.hpp"
#include <unistd.h>

#include "engine/lane/batch_contract.hpp"
#include "engine/lane/graphs_contract.hpp"
#include "engine/lane/lane_on_a_faulty_device.hpp"
#include "engine/lane/large_tiles_contract.hpp"
#include "engine/lane/many_tiles_contract.hpp"
#include "engine/lane/nap_contract.hpp"

namespace penstock {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, LaneContract, testing::ValuesIn(every_transport_on(support::cpu_device_under_test())),
                         name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cpu, LaneOfBatches, testing::ValuesIn(every_transport_on(support::cpu_device_under_test())),
                         name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cpu, LaneOfLargeTiles, testing::ValuesIn(every_transport_on(support::cpu_device_under_test())),
                         name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cpu, LaneOfLargeBatches,
                         testing::ValuesIn(one_lane_per_signal_on(support::cpu_device_under_test())), name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cpu, NappingLane, testing::ValuesIn(one_lane_per_signal_on(support::cpu_device_under_test())),
                         name_of_lane);
INSTANTIATE_TEST_SUITE_P(LegacyCpu, LaneContract,
                         testing::Values(LaneUnderTest{support::cpu_device_under_test(Flavour::legacy)},
                                         LaneUnderTest{.device = support::cpu_device_under_test(Flavour::legacy),
                                                       .transport = Transport::mapped}),
                         name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cpu, LaneOfGraphs, testing::ValuesIn(lanes_of_graphs_on(support::cpu_device_under_test())),
                         name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cpu, LaneOfGraphsAndCopies,
                         testing::ValuesIn(lanes_of_copies_on(support::cpu_device_under_test())), name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cpu, LaneOfManyTiles,
                         testing::ValuesIn(one_lane_per_signal_on(support::cpu_device_under_test())), name_of_lane);

TEST_P(LaneOnAFaultyDevice, FailsOnlyTheTileWhoseCallWasRefused) {
  for (auto const& [fault, stage] : {std::pair{cpu::Fault::refuse_upload, "upload"},
                                     {cpu::Fault::refuse_launch, "stage"},
                                     {cpu::Fault::refuse_download, "download"}}) {
    SCOPED_TRACE(stage);
    if (GetParam().transport != Transport::copies && fault != cpu::Fault::refuse_launch) continue;
    std::size_t const before = seen().size();
    open_lane(add_one(), watchful());
    cpu().inject(fault, 3);
    for (std::size_t i = 0; i < 20; ++i) submit(i);
    close_lane();
    auto const all = seen();
    ASSERT_EQ(all.size(), before + 20);
    for (std::size_t i = 0; i < 20; ++i) {
      Seen const& tile = all[before + i];
      EXPECT_EQ(tile.sequence, i);
      EXPECT_EQ(tile.outcome, i == 2 ? Outcome::failed : Outcome::done) << i << tile.reason;
      EXPECT_EQ(tile.stage, i == 2 ? stage : "");
      if (i != 2) {
        EXPECT_TRUE(tile.content_right) << "tile " << i;
      }
    }
  }
}

TEST_P(LaneOnAFaultyDevice, FailsAllThatIsInFlightAndAllThatComesOnceTheDeviceIsLost) {
  for (auto const fault : {cpu::Fault::break_upload, cpu::Fault::break_kernel, cpu::Fault::break_download}) {
    SCOPED_TRACE(static_cast<int>(fault));
    if (GetParam().transport != Transport::copies && fault != cpu::Fault::break_kernel) continue;
    renew();
    std::size_t const before = seen().size();
    int const losses_before = losses();
    open_lane(add_one(), watchful());
    cpu().inject(fault, 3);
    for (std::size_t i = 0; i < 20; ++i) submit(i);
    auto const all = await_seen(before + 20);
    ASSERT_EQ(all.size(), before + 20);
    bool failing = false;
    for (std::size_t i = 0; i < 20; ++i) {
      Seen const& tile = all[before + i];
      EXPECT_EQ(tile.sequence, i);
      failing = failing || tile.outcome == Outcome::failed;
      EXPECT_EQ(tile.outcome, failing ? Outcome::failed : Outcome::done) << "nothing is served after the loss";
      if (failing) {
        EXPECT_EQ(tile.stage, "device");
        EXPECT_FALSE(tile.reason.empty());
      } else {
        EXPECT_TRUE(tile.content_right);
      }
    }
    EXPECT_EQ(all[before + 2].outcome, Outcome::failed);
    EXPECT_TRUE(lane().lost());
    lane().close();
    EXPECT_EQ(lane().finished_stage(), nullptr);
    EXPECT_EQ(losses(), losses_before + 1);
  }
}

TEST_P(LaneOnAFaultyDevice, FailsTheTileWhoseStageMetARefusalAndDidNotLook) {
  open_lane(add_one(), watchful());
  cpu().inject(cpu::Fault::drop_launch, 3);
  for (std::size_t i = 0; i < 6; ++i) submit(i);
  close_lane();
  auto const all = seen();
  ASSERT_EQ(all.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(all[i].outcome, i == 2 ? Outcome::failed : Outcome::done) << i << all[i].reason;
    EXPECT_EQ(all[i].stage, i == 2 ? "stage" : "");
  }
}

TEST_P(LaneOnAFaultyDevice, DoesNotBlameTheNextTileForARefusalThatTheStageThrewFor) {
  open_lane(add_one([&](DeviceTile const& tile, StreamRef stream) {
              if (tile.sequence != 1) return;
              cpu().inject(cpu::Fault::drop_launch);
              stream.launch(1, [](std::uint32_t) {});
              throw std::runtime_error("the stage looked");
            }),
            watchful());
  for (std::size_t i = 0; i < 4; ++i) submit(i);
  close_lane();
  auto const all = seen();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].reason, "the stage looked");
  EXPECT_EQ(all[2].outcome, Outcome::done) << all[2].reason;
}

TEST_P(LaneOnAFaultyDevice, DoesNotMergeAStageWhoseFinishMetARefusalAndDidNotLook) {
  struct Careless final : Stage {
    explicit Careless(cpu::FaultyCpuDevice& device) : faulty(device) {}
    Promises promises() const noexcept override { return {.reads_once = true}; }
    std::size_t run(DeviceTile const&, StreamRef) override { return 0; }
    void finish(StreamRef stream) override {
      faulty.inject(cpu::Fault::drop_launch);
      stream.launch(1, [](std::uint32_t) {});
    }
    cpu::FaultyCpuDevice& faulty;
  };
  open_lane({.make = [this](StageContext const&) { return std::make_unique<Careless>(cpu()); }, .merge = {}});
  submit(0);
  lane().close();
  EXPECT_EQ(lane().finished_stage(), nullptr);
  ASSERT_NE(lane().finish_failure(), nullptr);
  EXPECT_EQ(lane().finish_failure()->stage, "finish");
}

/// Launches a kernel on memory of its own, and then thinks better of it.
class Unprepared final : public Stage {
 public:
  Unprepared(StageContext const& context, support::Kernels const& kernels, std::optional<support::Hold>& hold,
             std::atomic<bool>& prepared, std::atomic<bool>& gone)
      : kernels_(kernels), hold_(hold), prepared_(prepared), gone_(gone), own_(context.device.allocate(4096)) {}
  ~Unprepared() override { gone_ = true; }
  Promises promises() const noexcept override { return {.reads_once = true}; }
  void prepare(StreamRef stream) override {
    hold_.emplace(kernels_.hold(stream));
    for (int i = 0; i < 8; ++i) kernels_.add_one(stream, own_.bytes());
    prepared_ = true;
    throw std::runtime_error("not like this");
  }
  std::size_t run(DeviceTile const&, StreamRef) override { return 0; }

 private:
  support::Kernels const& kernels_;
  std::optional<support::Hold>& hold_;
  std::atomic<bool>& prepared_;
  std::atomic<bool>& gone_;
  DeviceMemory own_;
};

TEST_P(LaneOnAFaultyDevice, KeepsAStageThatCouldNotBePreparedUntilItsKernelsHaveRun) {
  std::optional<support::Hold> hold;
  std::atomic<bool> prepared{false}, gone{false};
  cpu().inject(cpu::Fault::refuse_query);
  std::jthread opener([&] {
    while (!prepared) std::this_thread::yield();
    // It has asked for the kernels' end, which is refused and asked for again, or has let go of their memory.
    while (cpu().armed_faults() != 0 && !gone) std::this_thread::yield();
    hold->open();
  });
  EXPECT_THROW(open_lane({.make =
                              [&](StageContext const& context) {
                                return std::make_unique<Unprepared>(context, kernels(), hold, prepared, gone);
                              },
                          .merge = {}}),
               std::runtime_error);
}

TEST_P(LaneOnAFaultyDevice, KeepsATileUntilNothingRunsOnTheLostDeviceThatMayTouchIt) {
  support::Gate gate;
  std::atomic<pid_t> thread{0};
  std::atomic<std::uint64_t> enqueued{0};
  open_lane(on_device(
                [&](DeviceTile const& tile, StreamRef stream) {
                  thread = gettid();
                  if (tile.sequence == 0) stream.launch(1, [&](std::uint32_t) { gate.pass(); });
                  enqueued.fetch_add(1);
                  return std::size_t{0};
                },
                {.reads_once = true}),
            watchful());
  submit(0);
  gate.await_reached();
  submit(1);
  while (enqueued < 2) std::this_thread::yield();  // The fault must not hit its upload.
  {
    DeviceMemory const elsewhere = device().allocate(256);
    Stream const other = device().make_stream();
    cpu().inject(cpu::Fault::break_upload);
    other.upload(elsewhere.bytes(), elsewhere.bytes());
  }
  while (!lane().lost()) std::this_thread::yield();
  support::await_asleep(thread);
  EXPECT_TRUE(seen().empty()) << "the kernel of tile 0 still runs";
  gate.open();
  for (Seen const& tile : await_seen(2)) EXPECT_EQ(tile.outcome, Outcome::failed);
}

TEST_P(LaneOnAFaultyDevice, SaysInItsConstructorThatTheDeviceHasTooLittleMemory) {
  if (GetParam().transport == Transport::mapped) GTEST_SKIP() << "It needs none.";
  cpu().inject(cpu::Fault::fail_allocation);
  try {
    open_lane(add_one(), {.flight = {.slots = 4}});
    ADD_FAILURE() << "the lane started without its slots";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_device_memory);
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, LaneOnAFaultyDevice,
                         testing::ValuesIn(every_transport_on(support::cpu_device_under_test())), name_of_lane);

}  // namespace
}  // namespace penstock
