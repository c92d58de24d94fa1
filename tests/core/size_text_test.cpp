// SPDX-License-Identifier: Apache-2.0
#include "penstock/core/size_text.hpp"

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

}  // namespace
}  // namespace penstock
