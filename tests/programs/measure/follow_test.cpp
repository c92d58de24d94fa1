// SPDX-License-Identifier: Apache-2.0
#include "follow.hpp"

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock::measure {
namespace {

Advice to(std::string change) {
  return {.change = std::move(change), .gain = 2, .why = {}};
}

TEST(Follow, SetsTheOptionsThatAreNamed) {
  Setting const before{.pipeline = {.producers = 1, .lanes = 3}};
  EXPECT_EQ(follow(before, to("--producers 4"))->pipeline.producers, 4u);
  EXPECT_EQ(follow(before, to("--producers 4"))->pipeline.lanes, 3u) << "all else stays";
  auto const slots = follow(before, to("--slots 8 --tiles 30"));
  ASSERT_TRUE(slots);
  EXPECT_EQ(slots->pipeline.tuning.slots, 8u);
  EXPECT_EQ(slots->pipeline.tuning.tiles, 30u);
  EXPECT_EQ(follow(before, to("--tile 4MiB"))->tile, std::size_t{4} << 20);
  EXPECT_EQ(follow(before, to("--streams own"))->pipeline.tuning.streams, StreamMode::own);
  EXPECT_EQ(follow(before, to("--shape single"))->pipeline.tuning.shape, LaneShape::single);
  EXPECT_EQ(follow(before, to("--signal event_poll"))->pipeline.tuning.signal, SignalKind::event_poll);
  EXPECT_EQ(follow(before, to("--graphs never"))->pipeline.tuning.graphs, Graphs::never);
}

TEST(Follow, ReadsNoFurtherThanTheOptions) {
  auto const followed = follow({}, to("--consumers 2 and a sink that they may call at once (parallel_sink)"));
  ASSERT_TRUE(followed);
  EXPECT_EQ(followed->pipeline.consumers, 2u);
}

TEST(Follow, CannotChangeTheWork) {
  EXPECT_FALSE(follow({}, to("a kernel that takes half the time")));
  EXPECT_FALSE(follow({}, to("penstock instead of penstock-legacy")));
  EXPECT_FALSE(follow({}, to("--patience 4")));
  EXPECT_FALSE(follow({}, to("")));
}

TEST(Follow, RefusesWhatAnOptionDoesNotTake) {
  EXPECT_THROW(static_cast<void>(follow({}, to("--lanes many"))), Error);
}

}  // namespace
}  // namespace penstock::measure
