// SPDX-License-Identifier: Apache-2.0
// Tests when a lane that watches its device lets its core go.
#include "engine/lane/nap_contract.hpp"

namespace penstock {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NappingLane);

namespace {

/// Longer than any of these tests takes.
constexpr std::chrono::seconds long_spin{60};

/// Seen to fail without naps.
TEST_P(NappingLane, SleepsThoughItMaySpinWhileItsDeviceHasEnoughToDo) {
  open_with(4, long_spin);
  pass(std::chrono::milliseconds(150));
  EXPECT_GT(naps_at_the_end(), 0u);
  expect_all_done(seen(), 5);
}

/// Seen to fail if a second tile in flight is enough.
TEST_P(NappingLane, WatchesADeviceThatHasHalfOfItsSlots) {
  open_with(2, long_spin);
  pass(std::chrono::milliseconds(50));
  EXPECT_EQ(naps_at_the_end(), 0u);
  expect_all_done(seen(), 3);
}

/// Seen to fail if it is not asked how long it may spin.
TEST_P(NappingLane, NeverSleepsIfItMaySpinForEver) {
  open_with(4, spin_for_ever);
  pass(std::chrono::milliseconds(50));
  EXPECT_EQ(naps_at_the_end(), 0u);
  expect_all_done(seen(), 5);
}

/// A tile that comes alone takes its whole way through, not the device's time for each of many. Seen to fail if that
/// time counts.
TEST_P(NappingLane, LearnsNoPaceFromATileThatCameAlone) {
  open_lane(add_one_and_hold(held), {.flight = {.slots = 4}, .spin = long_spin});
  held.at = {0, 1};
  submit(0);
  held.await_came(1);
  pass(std::chrono::milliseconds(100));
  held.hold->open();
  await_seen(1);
  for (std::uint64_t i = 1; i <= 4; ++i) submit(i);
  held.await_came(5);
  pass(std::chrono::milliseconds(50));
  EXPECT_EQ(naps_at_the_end(), 0u);
  expect_all_done(seen(), 5);
}

}  // namespace
}  // namespace penstock
