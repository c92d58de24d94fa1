// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watch/watch_timeline.hpp"

#include <string>

#include <gtest/gtest.h>

#include "anyprogram/watched/log_builder.hpp"

namespace penstock::cli {
namespace {

TEST(WatchTimeline, HasARowForEachThreadAndEachStreamAndCallsBesideTheirWorks) {
  LogBuilder one;
  one.stream(0x5).copy(0x5, 0x100, 0x200, 1000).did(WatchKind::copy, 100, 1100, 1, 1, 3);
  one.launch(0x5).did(WatchKind::kernel, 1100, 3100);
  one.thread(2).call(WatchCall::stream_sync, 0x5);
  nlohmann::ordered_json const timeline = timeline_as_json(one.log(), 100);
  ASSERT_EQ(timeline.at("rows").size(), 3u) << timeline;
  EXPECT_EQ(timeline.at("rows")[1].at("name"), "thread 2");
  EXPECT_EQ(timeline.at("rows")[2].at("kind"), "stream");
  // The stream is made, a copy and a launch are asked for and done, and a thread waits.
  ASSERT_EQ(timeline.at("passages").size(), 6u);
  auto const step = [&](std::size_t passage) {
    return timeline.at("steps")[timeline.at("passages")[passage][1].get<std::size_t>()].get<std::string>();
  };
  EXPECT_EQ(step(1), "call");
  EXPECT_EQ(step(3), "call that waits");
  EXPECT_EQ(step(4), "upload");
  EXPECT_EQ(step(5), "kernel");
  // The copy's call, and what the device did for it.
  EXPECT_EQ(timeline.at("passages")[1][2], timeline.at("passages")[4][2]);
  EXPECT_EQ(timeline.at("passages")[4][3], 100);
  EXPECT_EQ(timeline.at("passages")[4][4], 1100);
}

TEST(WatchTimeline, HasAStretchFromTheMiddleOfALongLog) {
  LogBuilder one;
  for (int i = 0; i < 100; ++i) one.launch(0x5);
  nlohmann::ordered_json const passages = timeline_as_json(one.log(), 10).at("passages");
  ASSERT_EQ(passages.size(), 10u);
  EXPECT_EQ(passages.front()[2], 46);
  EXPECT_EQ(passages.back()[2], 55);
}

}  // namespace
}  // namespace penstock::cli
