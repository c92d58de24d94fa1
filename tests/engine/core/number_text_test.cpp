// SPDX-License-Identifier: Apache-2.0
#include "engine/core/number_text.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

TEST(SizeText, ReadsBytesAndBothFamiliesOfUnits) {
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("64KiB"), 65536u);
  EXPECT_EQ(parse_size("64k"), 65536u);
  EXPECT_EQ(parse_size("4 MiB"), 4u << 20);
  EXPECT_EQ(parse_size("1gb"), 1'000'000'000u);
  EXPECT_EQ(parse_size("1GiB"), 1u << 30);
  EXPECT_EQ(parse_size("0"), 0u);
}

TEST(SizeText, ReadsEachUnitThatItKnows) {
  EXPECT_EQ(parse_size("7B"), 7u);
  std::uint64_t binary = 1, decimal = 1;
  for (std::string const prefix : {"k", "M", "G", "T"}) {
    binary *= 1024;
    decimal *= 1000;
    EXPECT_EQ(parse_size("7" + prefix), 7 * binary);
    EXPECT_EQ(parse_size("7" + prefix + "iB"), 7 * binary);
    EXPECT_EQ(parse_size("7" + prefix + "B"), 7 * decimal);
  }
}

TEST(SizeText, RefusesWhatIsNoSizeAndShowsOneThatIs) {
  for (char const* text : {"", "MiB", "4XB", "-1", "1.5MiB", "99999999999TiB", "4MiBs"}) {
    try {
      parse_size(text);
      ADD_FAILURE() << text << " was taken for a size";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      EXPECT_NE(std::string(error.what()).find("4MiB"), std::string::npos);
    }
  }
}

TEST(SizeText, WritesTheLargestUnitThatFits) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(4u << 20), "4 MiB");
  EXPECT_EQ(size_text(3u << 19), "1.5 MiB");
  EXPECT_EQ(size_text(std::uint64_t{1} << 50), "1 PiB");
  EXPECT_EQ(size_text(std::uint64_t{1} << 63), "8 EiB");
}

TEST(SizeText, NeverWritesAThousandAndTwentyFourOfAUnit) {
  EXPECT_EQ(size_text((1u << 20) - 1), "1.0 MiB");
  EXPECT_EQ(size_text((1u << 30) - (1u << 20)), "1023 MiB");
}

TEST(WholeNumber, IsNothingButDigitsAndNoneBeyondTheMost) {
  EXPECT_EQ(whole_number_of("064"), 64U);
  EXPECT_EQ(whole_number_of("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(whole_number_of("7", 7), 7U);
  for (char const* const none : {"", "-1", "+1", " 4", "4 ", "4x", "0x4", "18446744073709551616"})
    EXPECT_FALSE(whole_number_of(none)) << none;
  EXPECT_FALSE(whole_number_of("8", 7));
}

TEST(NumberText, ShowsTwoOrThreeDigitsAndAUnit) {
  EXPECT_EQ(percent_text(0.973), "97 %");
  EXPECT_EQ(rate_text(48.62e9), "48.6 GB/s");
  EXPECT_EQ(rate_text(930e6), "930 MB/s");
  EXPECT_EQ(rate_text(999.99e6), "1.0 GB/s");
  EXPECT_EQ(rate_text(0), "0.0 B/s");
  EXPECT_EQ(seconds_text(8.24e-6), "8.2 us");
  EXPECT_EQ(seconds_text(25e-9), "25.0 ns");
  EXPECT_EQ(seconds_text(0.13), "130 ms");
  EXPECT_EQ(seconds_text(4), "4.0 s");
  EXPECT_EQ(factor_text(1.052), "1.05");
  EXPECT_EQ(factor_text(2.48), "2.5");
  EXPECT_EQ(factor_text(15.6), "16");
}

TEST(NumberText, OfACountHasOneOrMany) {
  EXPECT_EQ(count_text(0, "tile"), "0 tiles");
  EXPECT_EQ(count_text(1, "tile"), "1 tile");
  EXPECT_EQ(count_text(2, "tile"), "2 tiles");
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
