// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/spread_points.hpp"

#include <set>

#include <gtest/gtest.h>

namespace penstock::measure {
namespace {

TEST(SpreadPoints, HaveAPartOfEachAxisToThemselves) {
  std::mt19937 random{7};
  std::vector<SearchAxis> const axes{{.count = 12}, {.count = 24}, {.count = 3}, {.count = 1}};
  auto const points = spread_points(axes, 12, random);
  ASSERT_EQ(points.size(), 12u);
  std::set<std::size_t> first;
  std::set<std::size_t> second;
  std::vector<int> third(3);
  for (Levels const& levels : points) {
    ASSERT_EQ(levels.size(), 4u);
    first.insert(levels[0]);
    second.insert(levels[1] / 2);
    ++third.at(levels[2]);
    EXPECT_EQ(levels[3], 0u);
  }
  EXPECT_EQ(first.size(), 12u);
  EXPECT_EQ(second.size(), 12u);
  EXPECT_EQ(third, (std::vector<int>{4, 4, 4}));
}

TEST(SpreadPoints, AreOthersEachTime) {
  std::mt19937 random{7};
  std::vector<SearchAxis> const axes{{.count = 12}, {.count = 12}};
  EXPECT_NE(spread_points(axes, 12, random), spread_points(axes, 12, random));
}

}  // namespace
}  // namespace penstock::measure
