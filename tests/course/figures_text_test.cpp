// SPDX-License-Identifier: Apache-2.0
#include "course/figures_text.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace penstock::lab {
namespace {

TEST(FiguresText, HasThreeDigitsAndAllThoseBeforeThePoint) {
  std::vector<Figure> const figures{{"small", 0.01234, "ms"}, {"large", 5872.4, "MB"}, {"nearly", 999.7, "us"}};
  EXPECT_EQ(figures_text(figures, 0, 80), "small: 0.0123 ms\nlarge: 5872 MB\nnearly: 1000 us\n");
}

TEST(FiguresText, LeavesACellEmptyForWhatIsNotKnown) {
  std::vector<Figure> const figures{{.what = "one", .value = 2, .unit = "ms", .text = 3, .possible = 1},
                                    {.what = "two", .value = 5, .unit = "ms", .text = 4}};
  EXPECT_EQ(figures_text(figures, 0, 80),
            "     text  possible  measured\n"
            "one  3 ms      1 ms      2 ms\n"
            "two  4 ms                5 ms\n");
}

TEST(FiguresText, HasFurtherColumnsBehindTheValueOrInItsLine) {
  std::vector<Figure> const figures{
      {.what = "wait", .value = 20, .unit = "ms", .beside = {{"done", "yes"}}, .heading = "kept"},
      {.what = "ask", .value = 1, .unit = "us", .beside = {{"done", "no"}}, .heading = "kept"}};
  EXPECT_EQ(figures_text(figures, 0, 80),
            "       kept  done\n"
            "wait  20 ms   yes\n"
            "ask    1 us    no\n");
  EXPECT_EQ(figures_text(figures, 0, 16), "wait: 20 ms,\ndone yes\nask: 1 us, done\nno\n");
}

}  // namespace
}  // namespace penstock::lab
