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
  static constexpr unsigned until_known = LoneWays::warm_up + 2 * LoneWays::samples;
  LoneWays ways;
  std::map<BatchWay, nanoseconds> times{{BatchWay::mapped, nanoseconds(10)}, {BatchWay::copied, nanoseconds(30)}};

  BatchWay go(std::size_t bytes = 4096) {
    BatchWay const way = ways.choose(bytes);
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
  EXPECT_EQ(went.at(BatchWay::copied), LoneWays::samples);
}

/// Seen to fail, and the next one, if each round goes forth.
TEST_F(LoneBatches, TakeTurnsForthAndBack) {
  for (unsigned i = 0; i < LoneWays::warm_up; ++i) go();
  for (unsigned round = 0; round < LoneWays::samples; ++round) {
    std::array order{BatchWay::mapped, BatchWay::copied};
    if (round % 2 == 1) std::ranges::reverse(order);
    for (BatchWay const way : order) EXPECT_EQ(go(), way) << "in round " << round;
  }
}

TEST_F(LoneBatches, AreNotMisledWhereEveryOtherIsHeavy) {
  times = {{BatchWay::mapped, nanoseconds(10)}, {BatchWay::copied, nanoseconds(9)}};
  for (unsigned i = 0; i < until_known; ++i) {
    BatchWay const way = ways.choose(4096);
    ways.took(4096, way, times.at(way) * (i % 2 == 0 ? 1 : 100));
  }
  EXPECT_EQ(ways.choose(4096), BatchWay::copied);
}

TEST_F(LoneBatches, KeepToTheWayThatTookLeast) {
  for (BatchWay const best : {BatchWay::mapped, BatchWay::copied}) {
    ways = {};
    times = {{BatchWay::mapped, nanoseconds(30)}, {BatchWay::copied, nanoseconds(30)}};
    times[best] = nanoseconds(29);
    go_until_known();
    times[best] = nanoseconds(1000);
    for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(go(), best);
  }
}

TEST_F(LoneBatches, AreNotMisledByAFewThatWereHeldUp) {
  constexpr unsigned most_held_up = LoneWays::samples / 2 - 1;
  for (unsigned i = 0; i < until_known; ++i) {
    BatchWay const way = ways.choose(4096);
    bool const held_up = way == BatchWay::mapped && i < LoneWays::warm_up + 2 * most_held_up;
    ways.took(4096, way, held_up ? nanoseconds(10'000) : times.at(way));
  }
  EXPECT_EQ(go(), BatchWay::mapped);
}

/// Of two ways, the first of which is `mapped`, what remains if so many of each are joined by the next batch after
/// `gap`, and the others take 20 and 10.
struct LoneBatchesThatAreJoined : LoneBatches {
  BatchWay remains(unsigned mapped_joined, unsigned copied_joined, nanoseconds gap) {
    ways = {};
    std::map<BatchWay, unsigned> joined{{BatchWay::mapped, mapped_joined}, {BatchWay::copied, copied_joined}};
    for (unsigned i = 0; i < until_known; ++i) {
      BatchWay const way = ways.choose(4096);
      if (i >= LoneWays::warm_up && joined[way] > 0) {
        --joined[way];
        ways.took_longer(4096, way, gap);
      } else {
        ways.took(4096, way, way == BatchWay::mapped ? nanoseconds(20) : nanoseconds(10));
      }
    }
    return ways.choose(4096);
  }
  static constexpr unsigned all = LoneWays::samples, half = all / 2;
};

TEST_F(LoneBatchesThatAreJoined, LeaveAWayThatIsKnownToTakeLonger) {
  EXPECT_EQ(remains(0, 0, {}), BatchWay::copied);
  EXPECT_EQ(remains(all, 0, nanoseconds(15)), BatchWay::copied);
  EXPECT_EQ(remains(all, half - 1, nanoseconds(15)), BatchWay::copied);
}

/// Seen to fail if they count as for ever.
TEST_F(LoneBatchesThatAreJoined, LeaveNoWayOfWhichLittleWasSeen) {
  EXPECT_EQ(remains(all, 0, nanoseconds(5)), BatchWay::mapped);
  EXPECT_EQ(remains(half + 1, 0, nanoseconds(5)), BatchWay::mapped);
  EXPECT_EQ(remains(half, 0, nanoseconds(5)), BatchWay::copied);
}

/// Seen to fail if they count as what was seen of them.
TEST_F(LoneBatchesThatAreJoined, TakeNoWayOfWhichLittleWasSeen) {
  EXPECT_EQ(remains(0, all, nanoseconds(5)), BatchWay::mapped);
  EXPECT_EQ(remains(0, half, nanoseconds(5)), BatchWay::mapped);
  EXPECT_EQ(remains(all, all, nanoseconds(5)), BatchWay::mapped);
}

/// Seen to fail if what was not watched to its end counts as failed.
TEST_F(LoneBatches, LeaveAWayThatFailsAlsoForOneOfWhichLittleWasSeen) {
  for (unsigned i = 0; i < until_known; ++i) {
    BatchWay const way = ways.choose(4096);
    way == BatchWay::mapped ? ways.took(4096, way, nanoseconds::max()) : ways.took_longer(4096, way, nanoseconds(5));
  }
  EXPECT_EQ(ways.choose(4096), BatchWay::copied);
}

/// Seen to fail if they do not count among the first.
TEST_F(LoneBatches, TryOtherWaysThoughNoneIsWatchedToItsEnd) {
  std::map<BatchWay, unsigned> went;
  for (unsigned i = 0; i < until_known; ++i) {
    BatchWay const way = ways.choose(4096);
    ++went[way];
    ways.took_longer(4096, way, nanoseconds(200));
  }
  EXPECT_EQ(went.at(BatchWay::copied), LoneWays::samples);
  EXPECT_EQ(ways.choose(4096), BatchWay::mapped) << "nothing speaks against it";
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
  EXPECT_EQ(go(65'536), BatchWay::copied);
  EXPECT_EQ(go(4096), BatchWay::mapped);
  EXPECT_EQ(go(8191), BatchWay::mapped) << "about as large";
}

}  // namespace
}  // namespace penstock
