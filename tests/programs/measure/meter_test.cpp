// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/meter.hpp"

#include <ctime>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace penstock::measure {
namespace {

using std::chrono::milliseconds;

TEST(Meter, HasNothingToSayOfAWindowThatNeverClosed) {
  Meter meter(milliseconds(0), std::chrono::hours(1));
  for (int i = 0; i < 10; ++i) meter.count();
  EXPECT_FALSE(meter.over());
  EXPECT_FALSE(meter.metered());
}

TEST(Meter, LeavesOutTheWarmUpAndWhatComesAfter) {
  Meter meter(milliseconds(0), milliseconds(0));
  meter.count();  // Begins the warm-up, which is over at once.
  meter.count();  // Opens the window.
  EXPECT_FALSE(meter.over());
  meter.count();  // Closes it: one tile came in it.
  ASSERT_TRUE(meter.over());
  meter.count();
  EXPECT_EQ(meter.metered()->tiles, 1);
  EXPECT_GT(meter.metered()->seconds, 0);
}

TEST(Meter, WarmsUpLongerUntilSoManyTilesHaveCome) {
  Meter meter(milliseconds(0), milliseconds(0), 5, std::chrono::hours(1));
  for (int i = 0; i < 6; ++i) meter.count();  // The last opens the window.
  EXPECT_FALSE(meter.over());
  meter.count();
  EXPECT_TRUE(meter.over());
}

TEST(Meter, WarmsUpNoLongerThanItMay) {
  Meter meter(milliseconds(0), milliseconds(0), 1000, milliseconds(0));
  for (int i = 0; i < 3; ++i) meter.count();
  EXPECT_TRUE(meter.over());
}

TEST(Meter, CountsForSeveralThreadsAtOnce) {
  Meter meter(milliseconds(1), milliseconds(5));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      while (!meter.over()) meter.count();
    });
  }
  threads.clear();
  ASSERT_TRUE(meter.metered());
  EXPECT_GE(meter.metered()->seconds, 0.005);
  EXPECT_GT(meter.metered()->tiles_per_second(), 0);
  EXPECT_GE(meter.metered()->tiles, 1);
}

TEST(Meter, CountsTheCpuTimeOfTheProcess) {
  Meter meter(milliseconds(0), milliseconds(0));
  meter.count();
  meter.count();
  auto const used = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  for (auto const start = used(); used() - start < milliseconds(3);) {
  }
  meter.count();
  ASSERT_TRUE(meter.metered());
  EXPECT_GE(meter.metered()->cpu_seconds, 0.002);
}

TEST(Spread, IsTheMiddleOneAndTheEnds) {
  Spread const odd = spread_of({5, 1, 3});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.least, 1);
  EXPECT_EQ(odd.most, 5);
  EXPECT_EQ(spread_of({4, 2}).median, 3) << "between the two in the middle";
  EXPECT_EQ(spread_of({7}).relative(), 0);
  EXPECT_DOUBLE_EQ(spread_of({8, 10, 11}).relative(), 0.2) << "the farther end counts";
}

}  // namespace
}  // namespace penstock::measure
