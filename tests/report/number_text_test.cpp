// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/number_text.hpp"

#include <gtest/gtest.h>

#include "penstock/core/size_text.hpp"

namespace penstock {
namespace {

TEST(NumberText, ShowsTwoOrThreeDigitsAndAUnit) {
  EXPECT_EQ(percent_text(0.973), "97 %");
  EXPECT_EQ(rate_text(48.62e9), "48.6 GB/s");
  EXPECT_EQ(rate_text(930e6), "930 MB/s");
  EXPECT_EQ(rate_text(999.99e6), "1.0 GB/s");
  EXPECT_EQ(rate_text(0), "0.0 B/s");
  EXPECT_EQ(seconds_text(8.24e-6), "8.2 us");
  EXPECT_EQ(seconds_text(0.13), "130 ms");
  EXPECT_EQ(seconds_text(4), "4.0 s");
  EXPECT_EQ(factor_text(1.052), "1.05");
  EXPECT_EQ(factor_text(2.48), "2.5");
  EXPECT_EQ(factor_text(15.6), "16");
}

TEST(NumberText, OfASizeIsWhatAnOptionTakesAndNotRounded) {
  EXPECT_EQ(size_option(4 << 20), "4MiB");
  EXPECT_EQ(size_option(65536), "64KiB");
  EXPECT_EQ(size_option(1500), "1500");
  for (double const bytes : {1.0, 1023.0, 1024.0, 1025.0, 1048575.0, 3e9, 1610612736.0}) {
    EXPECT_EQ(static_cast<double>(parse_size(size_option(bytes))), bytes);
  }
}

}  // namespace
}  // namespace penstock
