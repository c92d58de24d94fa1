// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/patience.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace penstock {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

/// Ten seconds of patience, looked at every 50 ms, by a clock that the test moves.
struct TenSecondsOfPatience : testing::Test {
  Patience::Clock::time_point now{hours(5)};
  Patience patience{seconds(10), milliseconds(50), now};

  bool look_after(nanoseconds time) { return patience.runs_out(now += time); }
  /// Returns how often it is looked at until it runs out; at most a thousand times.
  unsigned looks_of(nanoseconds time) {
    unsigned looks = 1;
    while (!look_after(time) && looks < 1000) ++looks;
    return looks;
  }
};

TEST_F(TenSecondsOfPatience, RunOutAfterTenSeconds) {
  EXPECT_EQ(looks_of(milliseconds(50)), 200u);
}
TEST_F(TenSecondsOfPatience, StayThroughAStopThatIsLonger) {
  EXPECT_FALSE(look_after(seconds(63))) << "no other look saw any of it";
}
TEST_F(TenSecondsOfPatience, AreGivenOnceMoreAfterAStop) {
  for (int i = 0; i < 199; ++i) ASSERT_FALSE(look_after(milliseconds(50)));
  EXPECT_FALSE(look_after(hours(24)));
  EXPECT_EQ(looks_of(milliseconds(50)), 200u) << "the device stood still, too";
}
TEST_F(TenSecondsOfPatience, LoseLittleByFurtherStops) {
  EXPECT_FALSE(look_after(hours(1)));
  EXPECT_FALSE(look_after(hours(1)));
  EXPECT_EQ(looks_of(milliseconds(50)), 196u) << "the second stop counts as 200 ms";
}
/// Seen to fail if each gap lets the count start again.
TEST_F(TenSecondsOfPatience, EndThoughTheThreadIsHeldUpBeforeEachLook) {
  EXPECT_EQ(looks_of(seconds(3)), 51u) << "one starts again, and fifty count as 200 ms each";
}
TEST_F(TenSecondsOfPatience, StartAgainWhenTheDeviceFinishesSomething) {
  for (int i = 0; i < 199; ++i) ASSERT_FALSE(look_after(milliseconds(50)));
  patience.renew(now);
  EXPECT_EQ(looks_of(milliseconds(50)), 200u);
}
TEST_F(TenSecondsOfPatience, OutliveAStopAfterEachProgress) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(look_after(hours(1)));
    patience.renew(now);
  }
  EXPECT_EQ(looks_of(milliseconds(50)), 200u);
}
TEST(ShortPatience, EndsThoughEachLookComesLate) {
  Patience::Clock::time_point now{};
  Patience patience(milliseconds(20), milliseconds(50), now);
  unsigned looks = 1;
  while (!patience.runs_out(now += milliseconds(50)) && looks < 1000) ++looks;
  EXPECT_EQ(looks, 5u) << "one starts again, and each of four counts as a quarter";
}
TEST(PatienceForEver, NeverRunsOut) {
  Patience::Clock::time_point now{};
  Patience patience(nanoseconds::max(), nanoseconds::max(), now);
  EXPECT_FALSE(patience.runs_out(now += hours(1)));
  EXPECT_FALSE(patience.runs_out(now += hours(100000)));
}

}  // namespace
}  // namespace penstock
