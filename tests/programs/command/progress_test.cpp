// SPDX-License-Identifier: Apache-2.0
#include "programs/command/progress.hpp"

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

using namespace std::chrono_literals;

TEST(Progress, ShowsBytesSpeedAndTimeLeft) {
  std::string const line = progress_line(1u << 30, 4ull << 30, 1s, 100);
  EXPECT_EQ(line, "[##########..............................]  1 GiB of 4 GiB  1.07 GB/s  0:03 left");
}

TEST(Progress, ShowsNoBarBeforeTheTotalIsKnown) {
  EXPECT_EQ(progress_line(1u << 20, std::nullopt, 1s, 80), "1 MiB  0.00 GB/s");
}

TEST(Progress, NeverFillsTheTerminalsLastColumn) {
  for (unsigned width = 1; width < 200; ++width)
    EXPECT_LE(progress_line(1u << 30, 4ull << 30, 1s, width).size(), width);
}

TEST(Progress, EndsWithAFullBarWhenMoreCameThanWasCounted) {
  EXPECT_TRUE(progress_line(2000, 1000, 1s, 100).starts_with("[" + std::string(40, '#') + "]"));
}

TEST(RunProgress, IsHandedOnToAnotherProcessAsOneWord) {
  ProgressBegun const begun =
      ProgressBegun::from(ProgressBegun{.on = "/proc/7/fd/2", .done = 3, .total = 12, .elapsed = 1500ms}.option());
  EXPECT_EQ(begun.on, "/proc/7/fd/2");
  EXPECT_EQ(begun.done, 3u);
  EXPECT_EQ(begun.total, 12u);
  EXPECT_EQ(begun.elapsed, 1500ms);
  for (char const* wrong : {"", "3", "3,12", "3,12,x,/dev/null"}) EXPECT_THROW(ProgressBegun::from(wrong), Error);
  EXPECT_FALSE(RunProgress(false).handed_on(1, 2)) << "nothing is drawn";
}

}  // namespace
}  // namespace penstock::cli
