// SPDX-License-Identifier: Apache-2.0
#include "tools/hash/hash_output.hpp"

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

/// A run in which a tile failed first.
struct HashOutputOfAFailedTile : testing::Test {
  Report report;
  void SetUp() override {
    report.tiles_failed = 1;
    report.first_failure = FirstFailure{{"source", "the tile's"}, 0, 0};
  }
};

TEST_F(HashOutputOfAFailedTile, DoesNotSayThatTheRunBrokeOff) {
  EXPECT_EQ(broken_off(report), std::nullopt);
}

TEST_F(HashOutputOfAFailedTile, SaysOfTheInputThatBrokeOffWhyAndNotWhyTheTileFailed) {
  report.run_failures = {{"source", "the input's"}};
  EXPECT_EQ(broken_off(report), "the input's");
}

TEST_F(HashOutputOfAFailedTile, SaysOfTheSinkThatFailedWhyAndNotWhyTheTileFailed) {
  report.sink_failures = 1;
  report.first_sink_failure = FirstFailure{{"sink", "the sink's"}, 3, 0};
  EXPECT_EQ(broken_off(report), "the sink's");
}

}  // namespace
}  // namespace penstock::cli
