// SPDX-License-Identifier: Apache-2.0
#include "penstock/measure/figures.hpp"

#include <array>

#include <gtest/gtest.h>

namespace penstock::measure {
namespace {

TEST(Ceilings, AreTheGreatestOfTheirTries) {
  std::array const tries{Ceilings{.upload = 10, .both = 8, .link_up = 3}, Ceilings{.upload = 12, .kernel = 5},
                         Ceilings{.upload = 11, .both = 7, .link_up = 4}};
  Ceilings const most = greatest(tries);
  EXPECT_EQ(most.upload, 12);
  EXPECT_EQ(most.both, 8);
  EXPECT_EQ(most.kernel, 5) << "that it could not be had in the other tries";
  EXPECT_EQ(most.link_up, 4);
  EXPECT_EQ(most.download, std::nullopt);
  EXPECT_EQ(greatest({}).upload, std::nullopt);
}

}  // namespace
}  // namespace penstock::measure
