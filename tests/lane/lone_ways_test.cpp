// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/lone_ways.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

#include <gtest/gtest.h>

namespace penstock {
namespace {

using std::chrono::nanoseconds;

/// Batches of one size, one after the other, of which each way takes what it is said to.
struct LoneBatches : testing::Test {
  static constexpr unsigned until_known = LoneWays::warm_up + 3 * LoneWays::samples;
  LoneWays ways;
  std::map<BatchWay, nanoseconds> times{{BatchWay::mapped, nanoseconds(10)},
                                        {BatchWay::one_stream, nanoseconds(20)},
                                        {BatchWay::copied, nanoseconds(30)}};
  bool may_map = true, may_take_one_stream = true;

  BatchWay go(std::size_t bytes = 4096) {
    BatchWay const way = ways.choose(bytes, may_map, may_take_one_stream);
    ways.took(bytes, way, times.at(way));
    return way;
  }
  std::map<BatchWay, unsigned> go_until_known(std::size_t bytes = 4096) {
    std::map<BatchWay, unsigned> went;
    for (unsigned i = 0; i < until_known; ++i) ++went[go(bytes)];
    return went;
  }
};

TEST_F(LoneBatches, TryEachWayAsOften) {
  auto const went = go_until_known();
  EXPECT_EQ(went.at(BatchWay::mapped), LoneWays::warm_up + LoneWays::samples);
  EXPECT_EQ(went.at(BatchWay::one_stream), LoneWays::samples);
  EXPECT_EQ(went.at(BatchWay::copied), LoneWays::samples);
}

/// Seen to fail, and the next one, if each round goes forth.
TEST_F(LoneBatches, TakeTurnsForthAndBack) {
  for (unsigned i = 0; i < LoneWays::warm_up; ++i) go();
  for (unsigned round = 0; round < LoneWays::samples; ++round) {
    std::array order{BatchWay::mapped, BatchWay::one_stream, BatchWay::copied};
    if (round % 2 == 1) std::ranges::reverse(order);
    for (BatchWay const way : order) EXPECT_EQ(go(), way) << "in round " << round;
  }
}

TEST_F(LoneBatches, AreNotMisledWhereEveryOtherIsHeavy) {
  times = {{BatchWay::mapped, nanoseconds(10)}, {BatchWay::copied, nanoseconds(9)}};
  for (unsigned i = 0; i < until_known; ++i) {
    BatchWay const way = ways.choose(4096, true, false);
    ways.took(4096, way, times.at(way) * (i % 2 == 0 ? 1 : 100));
  }
  EXPECT_EQ(ways.choose(4096, true, false), BatchWay::copied);
}

TEST_F(LoneBatches, KeepToTheWayThatTookLeast) {
  for (BatchWay const best : {BatchWay::mapped, BatchWay::one_stream, BatchWay::copied}) {
    ways = {};
    times = {{BatchWay::mapped, nanoseconds(30)},
             {BatchWay::one_stream, nanoseconds(30)},
             {BatchWay::copied, nanoseconds(30)}};
    times[best] = nanoseconds(29);
    go_until_known();
    times[best] = nanoseconds(1000);
    for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(go(), best);
  }
}

TEST_F(LoneBatches, AreNotMisledByAFewThatWereHeldUp) {
  for (unsigned i = 0; i < until_known; ++i) {
    BatchWay const way = ways.choose(4096, true, true);
    bool const held_up = way == BatchWay::mapped && i < LoneWays::warm_up + LoneWays::samples;
    ways.took(4096, way, held_up ? nanoseconds(10'000) : times.at(way));
  }
  EXPECT_EQ(go(), BatchWay::mapped);
}

TEST_F(LoneBatches, CountNotWhatTheFirstTook) {
  times[BatchWay::mapped] = nanoseconds(1'000'000);
  for (unsigned i = 0; i < LoneWays::warm_up; ++i) EXPECT_EQ(go(), BatchWay::mapped);
  times[BatchWay::mapped] = nanoseconds(10);
  go_until_known();
  EXPECT_EQ(go(), BatchWay::mapped);
}

TEST_F(LoneBatches, OfAnotherSizeMayGoAnotherWay) {
  go_until_known(4096);
  times[BatchWay::mapped] = nanoseconds(1000);
  go_until_known(65'536);
  EXPECT_EQ(go(65'536), BatchWay::one_stream);
  EXPECT_EQ(go(4096), BatchWay::mapped);
  EXPECT_EQ(go(8191), BatchWay::mapped) << "about as large";
}

TEST_F(LoneBatches, NeverGoAWayThatMayNotBe) {
  may_map = false;
  EXPECT_FALSE(go_until_known().contains(BatchWay::mapped));
  EXPECT_EQ(go(), BatchWay::one_stream);
  may_take_one_stream = false;
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(go(), BatchWay::copied);
  may_take_one_stream = true;
  EXPECT_EQ(go(), BatchWay::one_stream);
  may_map = true;
  EXPECT_EQ(go(), BatchWay::one_stream) << "it was never found out what the other takes";
  may_take_one_stream = false;
  for (unsigned i = 0; i < 100; ++i) EXPECT_NE(go(), BatchWay::one_stream);
}

}  // namespace
}  // namespace penstock
