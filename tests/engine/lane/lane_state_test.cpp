// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/lane_state.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

/// The state of a lane that serves, and its bell.
struct StateOfALane : testing::Test {
  EventCount bell;
  LaneState state{bell};
};

/// Seen to fail where only the end of the input counts.
TEST_F(StateOfALane, HasServedAllOnceItIsClosedAndTheLastTileIsOut) {
  EXPECT_FALSE(state.served_all());
  state.count_in();
  state.close();
  EXPECT_FALSE(state.served_all()) << "a tile found it open";
  state.count_out();
  EXPECT_TRUE(state.served_all());
}

TEST_F(StateOfALane, IsEndingOnceItIsFlushedOrClosed) {
  LaneState other(bell);
  EXPECT_FALSE(state.ending());
  state.flush();
  EXPECT_TRUE(state.ending());
  EXPECT_FALSE(state.closed());
  other.close();
  EXPECT_TRUE(other.ending());
}

/// Blocks for an hour where a nap ends by its time alone.
TEST_F(StateOfALane, NapsNotOnceItIsCancelledOrClosed) {
  LaneState other(bell);
  state.cancel();
  state.nap(std::chrono::hours(1));
  other.close();
  other.nap(std::chrono::hours(1));
}

TEST_F(StateOfALane, IsAtEachAgeUpToItsOwn) {
  state.grow(LaneAge::idle);
  state.await(LaneAge::serves);
  state.await(LaneAge::idle);
}

}  // namespace
}  // namespace penstock
