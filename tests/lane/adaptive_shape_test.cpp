// SPDX-License-Identifier: Apache-2.0
// A lane of three streams that needs but one for a tile which nothing could overlap with.
#include "lane/lane_on_a_faulty_device.hpp"
#include "support/cpu_device_under_test.hpp"

namespace penstock {
namespace {

/// One that asks events, so that whatever waits between streams is for the order of a tile's steps. The first such wait
/// is refused, and fails its tile.
struct ALaneOfAdaptiveShape : LaneOnAFaultyDevice {
  void SetUp() override {
    LaneOnAFaultyDevice::SetUp();
    cpu().inject(cpu::Fault::refuse_wait, 1);
  }
  bool waited() { return cpu().armed_faults() == 0; }
};

TEST_P(ALaneOfAdaptiveShape, WaitsForNoStreamWithATileThatFindsNothing) {
  open_lane(add_one());
  for (std::uint64_t i = 0; i < 20; ++i) {
    submit(i);
    await_seen(i + 1);
  }
  close_lane();
  expect_all_done(seen(), 20);
  EXPECT_FALSE(waited());
}

TEST_P(ALaneOfAdaptiveShape, HasItsStreamsWaitForEachOtherWithATileThatFindsAnother) {
  Holding held;
  open_lane(add_one_and_hold(held), {.flight = {.slots = 2}});
  submit(0);
  held.await_came(1);
  held.hold->await_reached();
  EXPECT_FALSE(waited());
  submit(1);
  held.hold->open();
  await_seen(2);
  close_lane();
  EXPECT_TRUE(waited());
  EXPECT_EQ(seen()[0].outcome, Outcome::done);
  EXPECT_EQ(seen()[1].outcome, Outcome::failed) << "its wait was refused";
}

INSTANTIATE_TEST_SUITE_P(Cpu, ALaneOfAdaptiveShape,
                         testing::Values(LaneUnderTest{support::cpu_device_under_test(), SignalKind::event_poll,
                                                       StreamMode::own, LaneShape::adaptive}),
                         name_of_lane);

}  // namespace
}  // namespace penstock
