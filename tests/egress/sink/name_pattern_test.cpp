// SPDX-License-Identifier: Apache-2.0
#include "egress/sink/name_pattern.hpp"

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::chrono::system_clock::time_point in_2026 =
    std::chrono::sys_days(std::chrono::year(2026) / 1 / 31) + std::chrono::hours(23) + std::chrono::seconds(59);

TEST(ANamePattern, MakesNamesThatItKnowsAgain) {
  NamePattern const pattern("log-{number}-{time}.txt");
  EXPECT_EQ(pattern.name(7, in_2026), "log-000007-20260131T230059Z.txt");
  EXPECT_EQ(pattern.number_of("log-000007-20260131T230059Z.txt"), 7U);
  EXPECT_EQ(NamePattern("{number}").name(12'345'678, in_2026), "12345678");
  EXPECT_EQ(NamePattern("{number}").number_of("12345678"), 12'345'678U);
}

TEST(ANamePattern, KnowsNoOtherName) {
  NamePattern const pattern("log-{number}-{time}.txt");
  for (char const* const name :
       {"log-7-20260131T230059Z.txt", "log-000007-20260131T230059Z.txt.gz", "log-000007-20260131 230059Z.txt",
        "log-000007.txt", "a-log-000007-20260131T230059Z.txt", "log--20260131T230059Z.txt", "", "log-",
        "log-99999999999999999999-20260131T230059Z.txt"}) {
    EXPECT_FALSE(pattern.number_of(name)) << name;
  }
}

TEST(ANamePattern, NeedsANumberThatCanBeFound) {
  for (char const* const text : {"log", "", "{time}", "{number}{time}", "{number}-{number}", "{time}-{number}-{time}",
                                 "log-{number}2026.txt", "{time}-{number}0"}) {
    EXPECT_THROW(NamePattern{text}, Error) << text;
  }
}

}  // namespace
}  // namespace penstock
