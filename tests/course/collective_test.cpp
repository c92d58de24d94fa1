// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "course/experiment.hpp"
#include "engine/cpu/cpu_device.hpp"

namespace penstock::lab {
namespace {

/// Times are told on CPU devices, not judged: two CPUs do the work of all of them.
TEST(Collective, HasRightSumsInEachOfItsWays) {
  cpu::CpuDevice first{{.ordinal = 0, .compute_threads = 4}}, second{{.ordinal = 1, .compute_threads = 4}};
  Observation const seen = observe(DeviceGroup{&first, &second}, collective());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_THAT(seen.verdict.fact, testing::StartsWith("all sums are right; "));
  ASSERT_GE(seen.figures.size(), 6u);
  EXPECT_NEAR(seen.figures[0].value, *seen.figures[1].text / 45, 1e-9) << "by it the times of the text are multiplied";
  std::vector<Figure> const ways(seen.figures.begin() + 1, seen.figures.begin() + 5);
  for (std::size_t i = 0; i < 4; ++i) {
    Figure const& way = ways[i];
    EXPECT_GT(way.value, 0) << way.what;
    // Nothing says how long it takes without room for the collective.
    EXPECT_EQ(way.possible.has_value(), i != 1) << way.what;
    EXPECT_FALSE(way.bound.empty()) << way.what;
    ASSERT_EQ(way.beside.size(), 1u);
    EXPECT_THAT(way.beside[0].second, testing::MatchesRegex("(100|[0-9]?[0-9]) % \\(.*")) << "of the collective";
    EXPECT_THAT(way.beside[0].second, testing::EndsWith(std::array{" (0 %)", " (7 %)", " (67 %)", " (100 %)"}[i]));
    if (i > 0) {
      EXPECT_LT(way.text, ways[i - 1].text);
    }
  }
  EXPECT_EQ(ways[0].beside[0].second, "0 % (0 %)") << "nothing ran beside it";
  Figure const& urgent = seen.figures[5];
  EXPECT_EQ(urgent.what, "no multiprocessor free, urgent");
  EXPECT_GT(urgent.value, 0);
  EXPECT_FALSE(urgent.text.has_value()) << "the text has no time for priority alone";
  ASSERT_EQ(urgent.beside.size(), 1u);
  EXPECT_THAT(urgent.beside[0].second, testing::MatchesRegex("(100|[0-9]?[0-9]) %")) << "of the collective";
  EXPECT_EQ(first.outstanding(), cpu::Outstanding{});
  EXPECT_EQ(second.outstanding(), cpu::Outstanding{});
}

}  // namespace
}  // namespace penstock::lab
