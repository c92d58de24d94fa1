// SPDX-License-Identifier: Apache-2.0
// When a lane that watches its device lets its core go.
#include "lane/nap_contract.hpp"

namespace penstock {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NappingLane);

namespace {

/// Seen to fail without naps.
TEST_P(NappingLane, SleepsThoughItMaySpinWhileItsDeviceHasEnoughToDo) {
  open_with(4, before_sleep(std::chrono::seconds(10)) + std::chrono::seconds(1));
  held.await_asleep();
  EXPECT_GT(naps_at_the_end(), 0u);
  expect_all_done(seen(), 5);
}

/// Seen to fail if a second tile in flight is enough.
TEST_P(NappingLane, WatchesADeviceThatHasHalfOfItsSlots) {
  open_with(2, before_sleep(std::chrono::milliseconds(20)));
  held.await_asleep();
  EXPECT_EQ(naps_at_the_end(), 0u);
  expect_all_done(seen(), 3);
}

/// Seen to fail if nobody asks how long it may spin.
TEST_P(NappingLane, NeverSleepsIfItMaySpinForEver) {
  open_with(4, spin_for_ever);
  EXPECT_EQ(naps_at_the_end(), 0u);
  expect_all_done(seen(), 5);
}

}  // namespace
}  // namespace penstock
