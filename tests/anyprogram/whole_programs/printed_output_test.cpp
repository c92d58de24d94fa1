// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/whole_programs/printed_output.hpp"

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

using testing::HasSubstr;

Heard heard(std::string_view text) {
  Heard all;
  all.add(text);
  return all;
}

LinePatterns const nothing;

/// Returns how another program's output differs from the first.
std::string difference(std::string_view first, std::string_view other) {
  PrintedOutput printed(heard(first), nothing);
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
  PrintedOutput printed(heard("pointer 0x7f00, seed 5, sum 9\n"), nothing);
  EXPECT_EQ(printed.widen(heard("pointer 0x7fa0, seed 61, sum 9\n")), "");
  EXPECT_EQ(printed.compare(heard("pointer 0x1234, seed 7, sum 9\n")), "");
  EXPECT_EQ(printed.left_out(), 2U);
  EXPECT_NE(printed.compare(heard("pointer 0x1234, seed 7, sum 8\n")), "");
  EXPECT_NE(printed.widen(heard("nothing\n")), "");
}

TEST(PrintedOutputs, AreComparedButForLinesThatAreOtherInEachRunOfTheProgram) {
  PrintedOutput printed(heard("begin\nMonday, Alice\nsum 9\nend\n"), nothing);
  EXPECT_EQ(printed.widen(heard("begin\nTuesday, Bob\nsum 9\nend\n")), "");
  EXPECT_EQ(printed.compare(heard("begin\nFriday, Eve\nsum 9\nend\n")), "");
  EXPECT_EQ(printed.compare(heard("begin\nsum 9\nend\n")), "");
  EXPECT_EQ(printed.compare(heard("begin\nFriday, Eve\nsum 8\nend\n")), "line 3: 'sum 9' and 'sum 8'");
  EXPECT_EQ(printed.compare(heard("begin\nsum 9\nend\nmore\n")), "line 4: '' and 'more'");
  EXPECT_EQ(printed.compare(heard("begin\nFriday, Eve\nsum 9\n")), "line 4: 'end' and ''");
  EXPECT_EQ(printed.stray_line(), "line 2: 'Monday, Alice' and 'Tuesday, Bob'");
}

TEST(PrintedOutputs, MayHaveLinesInAnotherOrderWhereRunsOfTheProgramHaveThem) {
  PrintedOutput printed(heard("begin\nthread a\nthread b\nall well\n"), nothing);
  EXPECT_EQ(printed.widen(heard("begin\nthread b\nthread a\nall well\n")), "");
  EXPECT_EQ(printed.compare(heard("begin\nthread a\nthread b\nall well\n")), "");
  EXPECT_EQ(printed.compare(heard("begin\nthread b\nthread a\nall well\n")), "");
  EXPECT_NE(printed.compare(heard("begin\nthread b\nthread a\nall lost\n")), "");
  EXPECT_NE(printed.compare(heard("thread a\nbegin\nthread b\nall well\n")), "");
}

TEST(PrintedOutputs, AreNotComparedIfNoLineIsTheSameInTwoRunsOfTheProgram) {
  PrintedOutput printed(heard("one\n\n"), nothing);
  EXPECT_EQ(printed.widen(heard("other\n\n")), "line 1: 'one' and 'other'");
  PrintedOutput silent(heard(""), nothing);
  EXPECT_EQ(silent.widen(heard("")), "");
  EXPECT_NE(silent.widen(heard("loud\n")), "");
}

TEST(PrintedOutputs, AreComparedWithoutLinesThatShallBeIgnored) {
  LinePatterns const ignored({"^seed", "loss|rate"});
  PrintedOutput printed(heard("seed x\nsum 9\nthe loss is small\n"), ignored);
  EXPECT_EQ(printed.compare(heard("seed y\nsum 9\n")), "");
  EXPECT_EQ(printed.compare(heard("sum 9\na good rate\nseed 1\n")), "");
  EXPECT_NE(printed.compare(heard("the seed\nsum 9\n")), "");
  EXPECT_THROW(LinePatterns({"(never closed"}), Error);
}

TEST(PrintedOutputs, OfIgnoredAndBlankLinesDoNotStray) {
  LinePatterns const ignored({"^time"});
  PrintedOutput printed(heard("time 3\n\n"), ignored);
  EXPECT_EQ(printed.widen(heard("time 4\n\n")), "");
  EXPECT_EQ(printed.compare(heard("time 5\n\n")), "");
  EXPECT_EQ(printed.ignored(), 1U);
  EXPECT_TRUE(printed.leaves_nothing());
  EXPECT_FALSE(PrintedOutput(heard("time 3\nsum 4\n"), ignored).leaves_nothing());
  EXPECT_FALSE(PrintedOutput(heard(""), ignored).leaves_nothing());
}

/// Lines "line K of V", each at its place; `wrong` has another word.
Heard long_output(int lines, int first, int last, int wrong) {
  std::string text;
  for (int i = 0; i < lines; ++i) {
    int const number = i == 0 ? first : i == lines - 1 ? last : 7;
    text += (i == wrong ? "lime " : "line ") + std::to_string(i) + " of " + std::to_string(number) + "\n";
  }
  return heard(text);
}

TEST(PrintedOutputs, OfManyLinesAreComparedAtTheirPlaces) {
  constexpr int lines = 3000, none = -1;
  PrintedOutput printed(long_output(lines, 1, 1, none), nothing);
  EXPECT_EQ(printed.widen(long_output(lines, 2, 2, none)), "");
  EXPECT_EQ(printed.compare(long_output(lines, 3, 3, none)), "");
  EXPECT_EQ(printed.compare(long_output(lines, 3, 3, 1500)), "line 1501: 'line 1500 of 7' and 'lime 1500 of 7'");
}

TEST(PrintedOutputs, OfFiftyThousandLinesAreComparedSoon) {
  std::string first = "took 3 ms\n", other = "took 4 ms\n";
  for (int i = 0; i < 50'000; ++i) first += "line\n", other += "line\n";
  PrintedOutput printed(heard(first), nothing);
  EXPECT_EQ(printed.compare(heard(other)), "");
  EXPECT_EQ(printed.widen(heard("Monday\n" + first)), "line 1: 'took 3 ms' and 'Monday'")
      << "and then nothing is compared";
}

/// By turns lines are taken away, doubled, changed and moved; what is allowed is known by how the output was made.
TEST(PrintedOutputs, OfManyLinesDifferOnlyWhereTheProgramDoesNot) {
  std::mt19937 random(20261129);
  for (int turn = 0; turn < 300; ++turn) {
    std::size_t const lines = 1 + random() % 12;
    std::vector<bool> strays;
    for (std::size_t i = 0; i < lines; ++i) strays.push_back(random() % 3 == 0);
    strays.push_back(false);
    auto const run = [&](std::size_t wrong) {
      std::string text;
      for (std::size_t i = 0; i <= lines; ++i) {
        std::string const word = "word" + std::string(i + 1, 'x');
        if (strays[i] && random() % 4 == 0) continue;
        text += strays[i]    ? "any" + std::string(1 + random() % 40, 'y') + "\n"
                : i == wrong ? word + " wrong\n"
                             : word + "\n";
      }
      return heard(text);
    };
    std::size_t const never = lines + 1;
    PrintedOutput printed(run(never), nothing);
    for (int i = 0; i < 12; ++i) EXPECT_EQ(printed.widen(run(never)), "");
    for (int i = 0; i < 4; ++i) EXPECT_EQ(printed.compare(run(never)), "") << turn;
    std::size_t const wrong = random() % (lines + 1);
    if (!strays[wrong]) {
      EXPECT_NE(printed.compare(run(wrong)), "") << turn;
    }
  }
}

TEST(PrintedOutputs, AreNotKnownBehindWhatWasKept) {
  Heard first(8), other(8);
  first.add("took 5 ms");
  other.add("took 6 ms");
  PrintedOutput printed(std::move(first), nothing);
  EXPECT_NE(printed.compare(other), "");
}

}  // namespace
}  // namespace penstock::cli
