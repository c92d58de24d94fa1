// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/lookout.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using std::chrono::microseconds;

TEST(ServiceRate, IsNothingBeforeATileIsThrough) {
  EXPECT_EQ(ServiceRate().of(100), microseconds(0));
}

TEST(ServiceRate, IsTimeOverTilesHoweverManyCameAtOnce) {
  ServiceRate rate;
  for (int i = 0; i < 50; ++i) {
    // Found late, and then early, each by one look.
    rate.add(microseconds(900), 6);
    rate.add(microseconds(100), 4);
  }
  EXPECT_NEAR(static_cast<double>(rate.of(10).count()), 1e6, 1e5);
}

/// Seen to fail if all counts for ever.
TEST(ServiceRate, FollowsADeviceThatGetsFaster) {
  ServiceRate rate;
  for (int i = 0; i < 1000; ++i) rate.add(microseconds(1000), 1);
  for (int i = 0; i < 50; ++i) rate.add(microseconds(10), 1);
  EXPECT_LT(rate.of(1), microseconds(20));
}

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// A lane of eight slots, whose device takes 100 us for a tile, at the moment at which it has finished four.
struct LookoutBesideABusyDevice : testing::Test {
  Lookout::Clock::time_point now{};
  LaneOptions const options{
      .flight = {.slots = 8, .patience = milliseconds(1000)}, .spin = microseconds(200), .watchdog = milliseconds(50)};
  Lookout lookout = busy(options);

  Lookout busy(LaneOptions const& of, std::size_t in_flight = 8, nanoseconds tile = microseconds(100),
               bool called = true) {
    now = {};
    Lookout made(of, called, now);
    made.began(now, 0);
    now += 4 * tile;
    made.progressed(now);
    made.looked(4, in_flight);
    return made;
  }
};

TEST_F(LookoutBesideABusyDevice, SleepsUntilAQuarterIsThrough) {
  EXPECT_EQ(lookout.idle_budget(8, now), microseconds(200));
}

/// Seen to fail where time that has passed since then is not taken off.
TEST_F(LookoutBesideABusyDevice, SleepsOnlyWhileTheDeviceHasMoreToDoThanHalfOfTheSlotsHold) {
  EXPECT_EQ(lookout.idle_budget(4, now), nanoseconds(0));
  EXPECT_EQ(lookout.idle_budget(8, now + microseconds(350)), microseconds(50));
  EXPECT_EQ(lookout.idle_budget(8, now + microseconds(351)), nanoseconds(0));
}

TEST_F(LookoutBesideABusyDevice, SleepsNotIfItNeverSpinsOrSpinsForEver) {
  LaneOptions other = options;
  for (nanoseconds const spin : {nanoseconds(0), spin_for_ever}) {
    other.spin = spin;
    EXPECT_EQ(busy(other).idle_budget(8, now), nanoseconds(0));
  }
}

TEST_F(LookoutBesideABusyDevice, SleepsNoLongerThanAMillisecondOrLessThanTheWatchdog) {
  EXPECT_EQ(busy(options, 8, microseconds(900)).idle_budget(8, now), milliseconds(1));
  EXPECT_EQ(busy(options, 8, milliseconds(40)).idle_budget(8, now), milliseconds(5)) << "an eighth of a tile";
  EXPECT_EQ(busy(options, 8, milliseconds(4000)).idle_budget(8, now), options.watchdog);
}

/// Seen to fail where that counts.
TEST_F(LookoutBesideABusyDevice, KnowsNoRateOfADeviceThatRanDry) {
  EXPECT_EQ(busy(options, 0).idle_budget(8, now), nanoseconds(0));
}

TEST_F(LookoutBesideABusyDevice, WantsCallsUnlessItHearsOftenBetweenTwoSleeps) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(lookout.wants_calls());
    lookout.heard();
  }
  EXPECT_FALSE(lookout.wants_calls());
  lookout.rests();
  EXPECT_TRUE(lookout.wants_calls());
}

TEST_F(LookoutBesideABusyDevice, IsAwakeForAsLongAsItMaySpin) {
  EXPECT_TRUE(lookout.stays_awake(1, now, now + microseconds(199)));
  EXPECT_FALSE(lookout.stays_awake(1, now, now + microseconds(200)));
  Lookout const uncalled = busy(options, 8, microseconds(100), false);
  EXPECT_TRUE(uncalled.stays_awake(1, now, now + milliseconds(200))) << "no ticket would wake it";
  EXPECT_FALSE(uncalled.stays_awake(0, now, now + milliseconds(200)));
}

TEST_F(LookoutBesideABusyDevice, SleepsUntilItsWatchdogsTurnOnlyWithTilesInFlight) {
  EXPECT_EQ(lookout.longest_sleep(1), options.watchdog);
  EXPECT_GT(lookout.longest_sleep(0), std::chrono::minutes(1));
  EXPECT_EQ(busy(options, 8, microseconds(100), false).longest_sleep(1), microseconds(50));
}

TEST_F(LookoutBesideABusyDevice, IsOverdueOnceTheWatchdogsTimeHasPassed) {
  EXPECT_FALSE(lookout.overdue(now + milliseconds(49)));
  EXPECT_TRUE(lookout.overdue(now + milliseconds(50)));
  lookout.asked(now + milliseconds(50));
  EXPECT_FALSE(lookout.overdue(now + milliseconds(51)));
}

/// Seen to fail where what was finished gives no new patience.
TEST_F(LookoutBesideABusyDevice, LosesPatienceWithADeviceThatFinishesNothing) {
  auto const out_within = [&](int looks) {
    for (int i = 0; i < looks; ++i) {
      lookout.asked(now += milliseconds(50));
      if (lookout.out_of_patience()) return true;
    }
    return false;
  };
  EXPECT_FALSE(out_within(19));
  lookout.progressed(now);
  EXPECT_FALSE(out_within(19));
  EXPECT_TRUE(out_within(1));
}

TEST_F(LookoutBesideABusyDevice, HasNewPatienceWithADeviceThatHadNothingToDo) {
  now += milliseconds(5000);
  lookout.began(now, 8);
  EXPECT_FALSE(lookout.overdue(now + milliseconds(49)));
  EXPECT_FALSE(lookout.out_of_patience());
}

}  // namespace
}  // namespace penstock
