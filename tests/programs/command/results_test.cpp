// SPDX-License-Identifier: Apache-2.0
#include "programs/command/results.hpp"

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

/// A verdict with what a tile takes of the device.
struct AFullVerdict : testing::Test {
  Verdict verdict;
  AFullVerdict() {
    verdict.bound = Bound::upload;
    verdict.evidence = {"One.", "Two."};
    verdict.device_times = DeviceTimes{.upload = 20e-6, .kernel = 10e-6, .overlap = 0.5, .speedup = 1.2};
    verdict.device_times->possible_speedup = 1.5;
  }
};

TEST_F(AFullVerdict, HasALineOnTheDeviceBelow) {
  std::string const text = as_text(verdict);
  EXPECT_TRUE(text.starts_with(describe(verdict))) << text;
  EXPECT_TRUE(
      text.ends_with("\n  A tile takes upload 20.0 us, kernel 10.0 us; overlap is 50 %, which is 1.20 x of one "
                     "after the other (1 - measured / one after the other: 17 %), and 1.50 x is possible.\n"))
      << text;
}

TEST(AnEmptyVerdict, IsOneLine) {
  EXPECT_EQ(as_text(Verdict{}), "bound: nothing measured\n");
}

TEST(Text, BreaksLinesBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 2, 9), "  one two\n  three\n");
  EXPECT_EQ(wrapped("unbreakable", 2, 5), "  unbreakable\n");
  EXPECT_EQ(wrapped("  a   b ", 0, 80), "a b\n");
  EXPECT_EQ(wrapped("", 2, 80), "");
}

}  // namespace
}  // namespace penstock::cli
