// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/whole_programs/printed_output.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>

namespace penstock::cli {
namespace {

using testing::HasSubstr;

Heard heard(std::string_view text) {
  Heard all;
  all.add(text);
  return all;
}

/// Returns how another program's output differs from the first.
std::string difference(std::string_view first, std::string_view other) {
  PrintedOutput printed(heard(first));
  return printed.compare(heard(other));
}

TEST(PrintedOutputs, DoNotDifferByTimesAndRates) {
  for (auto const& [first, other] :
       {std::pair("took 12 ms\n", "took 3.5 ms\n"), std::pair("12.5ms\n", "3ms\n"),
        std::pair("51.2 GB/s\n", " 9.75 GB/s\n"),
        std::pair("Measured time for sample = 0.109s\n", "Measured time for sample = 0.027s\n"),
        std::pair("Elapsed: 3.2\n", "Elapsed: 11.9\n"), std::pair("kernel_time=1e-3\n", "kernel_time=2.5e-4\n"),
        std::pair("Bandwidth (GB/s): 12\n", "Bandwidth (GB/s): 40\n"), std::pair("1.5 (msec)\n", "0.5 (msec)\n"),
        std::pair("900 GFLOPS\n", "1100 GFLOPS\n")})
    EXPECT_EQ(difference(first, other), "") << first;
}

TEST(PrintedOutputs, DifferByAllOtherNumbersAndWords) {
  for (auto const& [first, other] :
       {std::pair("sum 12\n", "sum 13\n"), std::pair("12 streams\n", "13 streams\n"),
        std::pair("took 12 ms, sum 5\n", "took 12 ms, sum 6\n"), std::pair("Elapsed\n12\n", "Elapsed\n13\n"),
        std::pair("GPU0 ready\n", "GPU1 ready\n"), std::pair("took 12 ms\nPASSED\n", "took 12 ms\nFAILED\n"),
        std::pair("the device's 5\n", "the device's 6\n"), std::pair("a\n", "a\n5\n")})
    EXPECT_NE(difference(first, other), "") << first;
  EXPECT_THAT(difference("a\nsum 12\n", "a\nsum 13\n"), HasSubstr("line 2: 'sum 12' and 'sum 13'"));
}

TEST(PrintedOutputs, DoNotDifferByWhatDiffersBetweenRunsOfTheProgram) {
  PrintedOutput printed(heard("pointer 0x7f00, seed 5, sum 9\n"));
  EXPECT_EQ(printed.widen(heard("pointer 0x7fa0, seed 61, sum 9\n")), "");
  EXPECT_EQ(printed.compare(heard("pointer 0x1234, seed 7, sum 9\n")), "");
  EXPECT_EQ(printed.left_out(), 2U);
  EXPECT_NE(printed.compare(heard("pointer 0x1234, seed 7, sum 8\n")), "");
  EXPECT_NE(printed.widen(heard("nothing\n")), "");
}

TEST(PrintedOutputs, AreNotKnownBehindWhatWasKept) {
  Heard first(8), other(8);
  first.add("took 5 ms");
  other.add("took 6 ms");
  PrintedOutput printed(std::move(first));
  EXPECT_NE(printed.compare(other), "");
}

}  // namespace
}  // namespace penstock::cli
