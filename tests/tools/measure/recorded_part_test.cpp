// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/recorded_part.hpp"

#include <gtest/gtest.h>

namespace penstock::measure {
namespace {

/// A window of 100 ns from 50 on, in which 10 tiles took a second of CPU time.
struct ARecordedWindow : testing::Test {
  Traced traced{.recording = {}, .opened = 50, .closed = 150};
  Metered metered{.tiles = 10, .seconds = 100e-9, .cpu_seconds = 1};

  void record(std::int64_t begin, std::int64_t end, Step step = Step::fill) {
    traced.recording.passages.push_back({.tile = 0, .row = 0, .step = step, .begin = begin, .end = end});
  }
};

TEST_F(ARecordedWindow, StaysWholeIfNothingWasMissed) {
  record(0, 75);
  EXPECT_TRUE(cut_to_recorded(traced, metered));
  EXPECT_EQ(traced.closed, 150);
  EXPECT_EQ(metered.tiles, 10);
}

TEST_F(ARecordedWindow, EndsWhereTheRecorderWasFull) {
  traced.recording.missed = 1;
  record(70, 75);
  record(40, 60);
  EXPECT_TRUE(cut_to_recorded(traced, metered));
  EXPECT_EQ(traced.closed, 75);
  EXPECT_DOUBLE_EQ(metered.tiles, 2.5);
  EXPECT_DOUBLE_EQ(metered.seconds, 25e-9);
  EXPECT_DOUBLE_EQ(metered.cpu_seconds, 0.25);
}

TEST_F(ARecordedWindow, EndsWithTheLastThatWasHeardOfTheDevice) {
  traced.recording.missed = 1;
  record(70, 75);
  record(50, 60, Step::stage);
  EXPECT_TRUE(cut_to_recorded(traced, metered));
  EXPECT_EQ(traced.closed, 60);
  EXPECT_DOUBLE_EQ(metered.tiles, 1);
}

TEST_F(ARecordedWindow, StaysWholeIfTheRecorderWasFullOnlyAfterIt) {
  traced.recording.missed = 1;
  record(140, 160);
  EXPECT_TRUE(cut_to_recorded(traced, metered));
  EXPECT_EQ(traced.closed, 150);
  EXPECT_EQ(metered.tiles, 10);
}

TEST_F(ARecordedWindow, IsNoneIfTheRecorderWasFullBeforeIt) {
  traced.recording.missed = 1;
  record(0, 30);
  EXPECT_FALSE(cut_to_recorded(traced, metered));
}

}  // namespace
}  // namespace penstock::measure
