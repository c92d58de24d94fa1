// SPDX-License-Identifier: Apache-2.0
#include "tools/command/number_check.hpp"

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

/// What is said of `text`; nothing, if it will do.
std::string said(CLI::Validator const& check, std::string text) {
  return check(text);
}

TEST(NumberCheck, TakesBothEndsOfARange) {
  for (char const* const text : {"0", "0.7", "1", "1.0", "1e-3"})
    EXPECT_EQ(said(number_between(0, 1, "a part"), text), "");
  for (char const* const text : {"1", "100"}) EXPECT_EQ(said(whole_number(1, 100), text), "");
}

TEST(NumberCheck, SaysARangeInPlainNumbers) {
  EXPECT_EQ(said(number_between(0, 3600, "a number of seconds"), "3600.5"),
            "'3600.5' is not a number of seconds from 0 to 3600");
  EXPECT_EQ(said(number_between(0.5, 1e5, "a part"), "0.4"), "'0.4' is not a part from 0.5 to 100000");
  EXPECT_EQ(said(whole_number(10, 60'000), "9"), "'9' is not a whole number from 10 to 60000");
  EXPECT_EQ(said(whole_number(10, 60'000), "60001"), "'60001' is not a whole number from 10 to 60000");
}

TEST(NumberCheck, SaysWhatWouldDoWhereThereIsNoMost) {
  auto const check = number_above_zero("a number of times", "1.5");
  EXPECT_EQ(said(check, "1e-9"), "");
  for (char const* const text : {"0", "-1", "nan", "inf", "1e400", "x", ""})
    EXPECT_EQ(said(check, text), "'" + std::string(text) + "' is not a number of times above 0, as in 1.5");
}

TEST(NumberCheck, RefusesWhatIsNoNumber) {
  for (char const* const text : {"nan", "-0.1", "1.1", "inf", "x", "", "1x"})
    EXPECT_NE(said(number_between(0, 1, "a part"), text), "") << text;
  for (char const* const text : {"-1", "1.5", "nan", "0x10", "", "5s", "99999999999999999999"})
    EXPECT_NE(said(whole_number(0, 100), text), "") << text;
}

}  // namespace
}  // namespace penstock::cli
