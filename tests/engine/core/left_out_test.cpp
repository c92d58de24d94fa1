// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

TEST(LeftOut, IsOneLineWithEachReasonAndItsRemedy) {
  std::array const all{
      LeftOut{
          .unit = "record", .reason = "too long for a tile", .count = 2, .bytes = 3072, .remedy = "make tiles larger"},
      LeftOut{.unit = "file", .reason = "of another format", .count = 0},
      LeftOut{.unit = "file", .reason = "without permission to read it", .count = 1}};
  EXPECT_EQ(
      describe(all),
      "Left out: 2 records (3 KiB), too long for a tile: make tiles larger; 1 file, without permission to read it.");
  EXPECT_EQ(describe(std::vector<LeftOut>{}), "");
}

TEST(LeftOut, IsAddedUpByReason) {
  std::vector<LeftOut> all;
  LeftOut const record{.unit = "record", .reason = "too long", .count = 2, .bytes = 10};
  LeftOut const unused{.unit = "record", .reason = "too long", .count = 1, .lost = false};
  LeftOut const none{.unit = "record", .reason = "torn"};
  add_left_out(all, std::array{record, unused, none});
  add_left_out(all, std::array{record});
  EXPECT_THAT(all,
              testing::ElementsAre(LeftOut{.unit = "record", .reason = "too long", .count = 4, .bytes = 20}, unused));
}

TEST(LeftOut, IsLostUnlessTheResultsCountIt) {
  EXPECT_FALSE(
      any_lost(std::array{LeftOut{.unit = "line", .reason = "in the row `other`", .count = 1, .lost = false}}));
  EXPECT_FALSE(any_lost(std::array{LeftOut{.unit = "line", .reason = "too long", .count = 0}}));
  EXPECT_TRUE(any_lost(std::array{LeftOut{.unit = "line", .reason = "too long", .count = 1}}));
}

}  // namespace
}  // namespace penstock
