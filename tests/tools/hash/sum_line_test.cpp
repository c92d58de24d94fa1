// SPDX-License-Identifier: Apache-2.0
#include "tools/hash/sum_line.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

std::string const hex(64, 'a');

TEST(SumLine, PrintsHashTwoSpacesAndPath) {
  EXPECT_EQ(sum_line(hex, "a b"), hex + "  a b");
}

TEST(SumLine, MarksALineWhosePathNeedsEscaping) {
  EXPECT_EQ(sum_line(hex, "a\\b\nc"), "\\" + hex + "  a\\\\b\\nc");
}

TEST(SumLine, ReplacesBytesThatAreNoUtf8OncePerBrokenSequence) {
  EXPECT_EQ(printed("a\xff"
                    "b")
                .text,
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(printed("\xE2\x82").text, "\xEF\xBF\xBD") << "a sequence cut short is one";
  EXPECT_EQ(printed("\xC0\x80").text, "\xEF\xBF\xBD\xEF\xBF\xBD") << "an overlong one is two";
  EXPECT_EQ(printed("\xED\xA0\x80").text, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "a surrogate is three";
  EXPECT_EQ(printed("\xE2\x82\xAC\xF0\x9F\x98\x80").text, "\xE2\x82\xAC\xF0\x9F\x98\x80") << "what is right stays";
}

TEST(SumLine, ReadsWhatItPrints) {
  for (char const* path : {"plain", "two  spaces", "a\\b", "line\nbreak", "\\n", " "}) {
    auto const parsed = parse_sum_line(sum_line(hex, path));
    ASSERT_TRUE(std::holds_alternative<ExpectedSum>(parsed)) << std::get<std::string>(parsed);
    EXPECT_EQ(std::get<ExpectedSum>(parsed).hex, hex);
    EXPECT_EQ(std::get<ExpectedSum>(parsed).path, path);
  }
}

TEST(SumLine, KeepsAPathAsItsLineShowsIt) {
  for (auto const& [line, shown] :
       {std::pair(hex + "  new\\nline", "new\\nline"), std::pair("\\" + hex + "  new\\\\nline", "\\new\\\\nline"),
        std::pair(hex + "  a\xff", "a\xEF\xBF\xBD"), std::pair("\\" + hex + "  a", "\\a")}) {
    EXPECT_EQ(std::get<ExpectedSum>(parse_sum_line(line)).shown, shown);
  }
}

TEST(SumLine, KeepsACarriageReturnThatANameEndsWith) {
  EXPECT_EQ(std::get<ExpectedSum>(parse_sum_line(hex + "  a\r")).path, "a\r");
}

TEST(SumLine, SaysWhatIsWrongWithALine) {
  for (std::string const& line :
       {std::string(), hex, hex + "  ", hex + " a", hex.substr(1) + "  ab", std::string(64, 'X') + "  a",
        "\\" + hex + "  a\\x", "\\" + hex + "  a\\", hex + "  a\xEF\xBF\xBD", hex + std::string("  a\0b", 5)}) {
    EXPECT_TRUE(std::holds_alternative<std::string>(parse_sum_line(line))) << line;
  }
}

}  // namespace
}  // namespace penstock::cli
