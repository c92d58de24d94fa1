// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/cpu_set.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(CpuSet, ForgetsOrderAndDoubles) {
  EXPECT_EQ((CpuSet{3, 1, 3, 2}), (CpuSet{1, 2, 3}));
  EXPECT_EQ((CpuSet{3, 1, 3, 2}).size(), 3u);
}

TEST(CpuSet, WritesRangesAsTasksetDoes) {
  EXPECT_EQ((CpuSet{0, 1, 2, 3, 8, 10, 11}).text(), "0-3,8,10-11");
  EXPECT_EQ(CpuSet().text(), "none");
}

TEST(CpuSet, KnowsWhatItSharesWithAnotherAndWhatNot) {
  CpuSet const a{0, 1, 2}, b{2, 3};
  EXPECT_EQ(a.intersected_with(b), CpuSet{2});
  EXPECT_EQ(a.without(b), (CpuSet{0, 1}));
  EXPECT_TRUE(a.contains(1));
  EXPECT_FALSE(a.contains(3));
}

}  // namespace
}  // namespace penstock
