// SPDX-License-Identifier: Apache-2.0
// Tests what becomes of tiles when graphs meet faults.
#include <set>
#include <stdexcept>
#include <thread>

#include "support/cpu_device_under_test.hpp"
#include <gmock/gmock.h>

#include "engine/cpu/cpu_device.hpp"
#include "engine/lane/graphs_contract.hpp"
#include "models/faults.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

struct GraphsOnAFaultyDevice : LaneOfGraphs {
  cpu::FaultyCpuDevice& cpu() { return dynamic_cast<cpu::FaultyCpuDevice&>(device()); }
};

TEST_P(GraphsOnAFaultyDevice, FailNoTileIfACaptureIsRefused) {
  for (std::uint64_t const nth : {1U, 3U}) {
    SCOPED_TRACE(nth);
    cpu().inject(cpu::Fault::refuse_capture, nth);
    auto const did = run(add_one_in_halves(), 20, with(Graphs::always));
    EXPECT_EQ(did.graphs, nth - 1) << "from then on the stage is run";
    ASSERT_NE(did.not_captured, nullptr);
    EXPECT_THAT(did.not_captured->reason, HasSubstr("a capture"));
  }
}

TEST_P(GraphsOnAFaultyDevice, FailNoTileIfALaunchIsDroppedWhileItIsCaptured) {
  cpu().inject(cpu::Fault::drop_launch, 2);
  auto const did = run(add_one_in_halves(), 20, with(Graphs::always));
  EXPECT_EQ(did.graphs, 0u);
  EXPECT_NE(did.not_captured, nullptr);
}

TEST_P(GraphsOnAFaultyDevice, FailNoTileForARefusalThatTheStageThrewForWhileItWasCaptured) {
  auto const did = run(add_one_in_halves([this](DeviceTile const&, StreamRef stream) {
                         if (runs != 1) return;
                         cpu().inject(cpu::Fault::drop_launch);
                         stream.launch(1, [](std::uint32_t) {});
                         throw std::runtime_error("the stage looked");
                       }),
                       4, with(Graphs::always));
  ASSERT_NE(did.not_captured, nullptr);
  EXPECT_EQ(did.not_captured->reason, "the stage looked");
}

TEST_P(GraphsOnAFaultyDevice, CallNoStageAgainThatWasCapturedWhileTheDeviceWasLost) {
  DeviceMemory const elsewhere = device().allocate(256);
  open_lane(add_one_in_halves([&](DeviceTile const&, StreamRef) {
              Stream const other = device().make_stream();
              cpu().inject(cpu::Fault::break_upload);
              other.upload(elsewhere.bytes(), elsewhere.bytes());
              while (!device().lost()) std::this_thread::yield();
            }),
            with(Graphs::always));
  submit(0);
  EXPECT_EQ(await_seen(1)[0].outcome, Outcome::failed);
  lane().close();
  EXPECT_EQ(runs, 1u);
  EXPECT_EQ(lane().summary().not_captured, nullptr) << "it was no fault of the stage's";
}

TEST_P(GraphsOnAFaultyDevice, FailOnlyTheTileWhoseLaunchWasRefused) {
  for (cpu::Fault const fault : {cpu::Fault::refuse_launch, cpu::Fault::drop_launch}) {
    SCOPED_TRACE(static_cast<int>(fault));
    std::size_t const before = seen().size();
    open_lane(add_one_in_halves(), with(Graphs::always, 1));
    submit(0);
    await_seen(before + 1);
    cpu().inject(fault, 2);
    for (std::size_t i = 1; i < 6; ++i) submit(i);
    lane().close();
    auto const all = seen();
    for (std::size_t i = 0; i < 6; ++i) {
      Seen const& tile = all[before + i];
      EXPECT_EQ(tile.outcome, i == 2 ? Outcome::failed : Outcome::done) << i << tile.reason;
      EXPECT_EQ(tile.stage, i == 2 ? "stage" : "");
      EXPECT_TRUE(i == 2 || tile.content_right) << "tile " << i;
    }
    EXPECT_EQ(lane().summary().not_captured, nullptr) << "that was no capture";
  }
}

TEST_P(GraphsOnAFaultyDevice, FailAllThatIsInFlightOnceAKernelBreaks) {
  open_lane(add_one_in_halves(), with(Graphs::always, 1));
  submit(0);
  await_seen(1);
  cpu().inject(cpu::Fault::break_kernel, 2);
  for (std::size_t i = 1; i < 6; ++i) submit(i);
  auto const all = await_seen(6);
  EXPECT_TRUE(all[1].content_right);
  for (std::size_t i = 2; i < 6; ++i) EXPECT_EQ(all[i].outcome, Outcome::failed) << "tile " << i;
  EXPECT_TRUE(lane().lost());
}

/// Seen to fail if the first capture makes a stream, if a stage that promises nothing gets one, and if one is made
/// where there are to be no graphs.
TEST_P(GraphsOnAFaultyDevice, TakeNoStreamThatTheLaneHadNotFromTheStart) {
  constexpr std::size_t count = GraphChoice::warm_up + GraphChoice::samples + 8;
  std::set<std::size_t> with_none;
  std::size_t before = 0;
  for (bool const promised : {false, true}) {
    for (Graphs const graphs : {Graphs::never, Graphs::automatic, Graphs::always}) {
      open_lane(promised ? add_one_in_halves() : add_one(), with(graphs));
      auto const streams = cpu().outstanding().streams;
      for (std::size_t i = 0; i < count; ++i) submit(i);
      await_seen(before + count);
      EXPECT_EQ(cpu().outstanding().streams, streams) << to_string(graphs);
      bool const captures = promised && graphs != Graphs::never;
      with_none.insert(captures ? streams - 1 : streams);
      close_lane();
      expect_all_done(seen(), count, before);
      before += count;
    }
  }
  EXPECT_EQ(with_none.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Cpu, GraphsOnAFaultyDevice,
                         testing::ValuesIn(lanes_of_copies_on(support::cpu_device_under_test())), name_of_lane);

}  // namespace
}  // namespace penstock
