// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/whole_programs/whole_comparison.hpp"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Runs of two programs of which one writes a file.
struct WholeProgramsThatAreCompared : testing::Test {
  WholeComparison compared{"as it is", "otherwise", {"file"}};

  static WholeRun run(std::chrono::milliseconds wall, std::string const& output = "out\n", std::uint64_t file = 1) {
    WholeRun one;
    one.end.wall = wall;
    one.end.cpu = wall / 2;
    one.end.output.add(output);
    one.results = {{.written = true, .files = 1, .bytes = 8, .sum = file}};
    return one;
  }
  void add(std::vector<int> const& baseline, std::vector<int> const& candidate) {
    for (std::size_t i = 0; i < baseline.size(); ++i) {
      compared.add(Contender::baseline, run(std::chrono::milliseconds(baseline[i])), true);
      compared.add(Contender::candidate, run(std::chrono::milliseconds(candidate[i])), true);
    }
  }
};

TEST_F(WholeProgramsThatAreCompared, GainAsManyTimesAsTheMedianOfTheRounds) {
  add({400, 410, 390, 400, 400}, {100, 102, 98, 100, 1000});
  EXPECT_EQ(compared.effect(), Effect::gains);
  EXPECT_EQ(compared.effect_sentence(), "It gains: it is 4.000 times as fast otherwise (0.400 to 4.020 in 5 rounds).");
}

TEST_F(WholeProgramsThatAreCompared, DifferIfTheirTimesLieFarApartThoughThreeRoundsStray) {
  // Student's t for two degrees of freedom would want more.
  add({535, 512, 556}, {268, 240, 232});
  EXPECT_EQ(compared.effect(), Effect::gains);
}

TEST_F(WholeProgramsThatAreCompared, DoNotDifferIfTheirTimesLieApartByLessThanTheyStray) {
  add({150, 120, 130}, {115, 110, 90});
  EXPECT_EQ(compared.effect(), Effect::no_difference);
}

TEST_F(WholeProgramsThatAreCompared, Lose) {
  add({100, 100, 100, 100, 100}, {120, 121, 119, 120, 122});
  EXPECT_EQ(compared.effect(), Effect::loses);
  EXPECT_THAT(compared.effect_sentence(), HasSubstr("It loses: it is 0.833 times as fast"));
}

TEST_F(WholeProgramsThatAreCompared, DoNotDifferByLessThanTheyStray) {
  add({100, 130, 90, 110, 140}, {95, 100, 110, 100, 105});
  EXPECT_EQ(compared.effect(), Effect::no_difference);
  EXPECT_THAT(compared.effect_sentence(), HasSubstr("No difference beyond noise: it is 1.100 times as fast"));
}

TEST_F(WholeProgramsThatAreCompared, DoNotDifferByTwoPercentHoweverSteadyTheyAre) {
  add({1019, 1019, 1019, 1019}, {1000, 1000, 1000, 1000});
  EXPECT_EQ(compared.effect(), Effect::no_difference);
}

TEST_F(WholeProgramsThatAreCompared, AreNotToldApartByTwoRoundsOrByThreeThatStray) {
  add({100, 100}, {93, 92});
  EXPECT_EQ(compared.effect(), Effect::no_difference);
  EXPECT_THAT(compared.effect_sentence(), HasSubstr("Too few rounds to tell: "));
  add({105}, {100});
  EXPECT_EQ(compared.effect(), Effect::no_difference);
  EXPECT_THAT(compared.effect_sentence(), HasSubstr("No difference beyond noise: "));
}

TEST_F(WholeProgramsThatAreCompared, CountAWarmUpForWhatItLeftAndNotForItsTime) {
  compared.add(Contender::baseline, run(900ms), false);
  compared.add(Contender::candidate, run(900ms, "other\n"), false);
  add({100}, {100});
  EXPECT_EQ(compared.rounds(), 1u);
  EXPECT_EQ(compared.right(), false);
  EXPECT_EQ(compared.right_sentence(),
            "It is not right otherwise: standard output differs from what it is as it is (line 1: 'out' and 'other').");
}

TEST_F(WholeProgramsThatAreCompared, AreRightIfAllThatTheyLeaveIsTheSame) {
  add({100, 100}, {50, 50});
  EXPECT_EQ(compared.right(), true);
  EXPECT_EQ(compared.right_sentence(),
            "It is right: the exit code, standard output and the result file were the same in all 4 runs.");
}

TEST_F(WholeProgramsThatAreCompared, AreNotRightIfOneRunOfManyWroteSomethingElse) {
  add({100, 100}, {50, 50});
  compared.add(Contender::baseline, run(100ms), true);
  compared.add(Contender::candidate, run(50ms, "out\n", 2), true);
  EXPECT_EQ(compared.right(), false);
  EXPECT_THAT(compared.right_sentence(), HasSubstr("the result file differs from what it is as it is (other bytes)."));
}

TEST_F(WholeProgramsThatAreCompared, AreRightAsFarAsCanBeToldIfOnlyTheFileIsAlwaysTheSame) {
  compared.add(Contender::baseline, run(100ms, "b\n"), true);
  compared.add(Contender::candidate, run(50ms, "x\n"), true);
  compared.add(Contender::baseline, run(100ms, "c\n"), true);
  EXPECT_EQ(compared.right(), true);
  EXPECT_EQ(compared.right_sentence(),
            "It is right as far as can be told: the exit code and the result file were the same in all 3 runs; not the "
            "same from run to run, as it is, is standard output (line 1: 'b' and 'c').");
}

TEST_F(WholeProgramsThatAreCompared, AreRightIfOnlyLinesDifferThatAreOtherInEachRun) {
  compared.add(Contender::baseline, run(100ms, "a\nb\n"), true);
  compared.add(Contender::candidate, run(50ms, "a\nx\n"), true);
  EXPECT_EQ(compared.right(), false) << "it may be a result";
  compared.add(Contender::baseline, run(100ms, "a\nc\n"), true);
  EXPECT_EQ(compared.right(), true) << "now it is known not to be one";
  EXPECT_THAT(compared.right_sentence(),
              HasSubstr("standard output (but for lines that are other from run to run, such as line 2: 'b' and 'c')"));
  compared.add(Contender::candidate, run(50ms, "n\nx\n"), true);
  EXPECT_EQ(compared.right(), false);
}

/// Seen to fail where the output was judged all the same.
TEST_F(WholeProgramsThatAreCompared, AreNotJudgedByAnOutputThatStraysWhereNoCauseIsKnown) {
  compared.without_cause(false);
  compared.add(Contender::baseline, run(100ms, "a\nb\n"), true);
  compared.add(Contender::candidate, run(50ms, "x\nb\n"), true);
  EXPECT_TRUE(compared.only_output_differs());
  EXPECT_EQ(compared.right(), false) << "it did not stray so far";
  compared.add(Contender::baseline, run(100ms, "a\nc\n"), true);
  EXPECT_EQ(compared.right(), std::nullopt);
  EXPECT_EQ(
      compared.right_sentence(),
      "Whether it is right cannot be told: standard output differs from what it is as it is (line 1: 'a' and 'x'), "
      "but that differs from run to run, too (line 2: 'b' and 'c'), and nothing that was watched needs the legacy "
      "default stream. Name by --result what it writes and what must be the same, or by --ignore the lines that "
      "need not be.");
  compared.add(Contender::baseline, run(100ms, "a\nc\n"), true);
  compared.add(Contender::candidate, run(50ms, "x\nb\n", 2), true);
  EXPECT_FALSE(compared.only_output_differs());
  EXPECT_EQ(compared.right(), false) << "the file differs, too";
}

TEST_F(WholeProgramsThatAreCompared, AreNotJudgedByAnOutputOfWhichTheyCannotBeTheCause) {
  compared.without_cause(true);
  compared.add(Contender::baseline, run(100ms, "a\n"), true);
  compared.add(Contender::candidate, run(50ms, "x\n"), true);
  EXPECT_EQ(compared.right(), std::nullopt);
  EXPECT_THAT(compared.right_sentence(), HasSubstr("(line 1: 'a' and 'x'), but no call of it means a default stream."));
  compared.object("A pair loses its order.");
  EXPECT_EQ(compared.right(), false);
}

TEST(WholeProgramsOfWhichLinesAreIgnored, SaySoAndCannotBeToldRightIfNoneIsLeft) {
  auto const run = [](std::string const& output) {
    WholeRun one;
    one.end.output.add(output);
    return one;
  };
  for (auto const& [pattern, right] :
       {std::pair("^seed", std::optional(true)), std::pair(".", std::optional<bool>())}) {
    WholeComparison compared("as it is", "otherwise", {}, LinePatterns({pattern}));
    compared.add(Contender::baseline, run("seed x\nsum 9\n"), true);
    compared.add(Contender::candidate, run("seed y\nsum 9\n"), true);
    EXPECT_EQ(compared.right(), right);
    EXPECT_THAT(
        compared.right_sentence(),
        HasSubstr(right ? "(but for 1 line that --ignore names)"
                        : "cannot be told: --ignore names each line of standard output. Otherwise the exit code"));
  }
}

TEST_F(WholeProgramsThatAreCompared, AreRightThoughTheyPrintTimes) {
  compared.add(Contender::baseline, run(100ms, "sum 5 in 0.109 s, seed 3\n"), true);
  compared.add(Contender::candidate, run(50ms, "sum 5 in 0.027 s, seed 4\n"), true);
  EXPECT_EQ(compared.right(), false) << "a seed may be a result";
  compared.add(Contender::baseline, run(100ms, "sum 5 in 0.109 s, seed 5\n"), true);
  EXPECT_EQ(compared.right(), true) << "now it is known not to be one";
  EXPECT_THAT(compared.right_sentence(),
              HasSubstr("standard output (but for 2 numbers, each a time or a rate, or other from run to run)"));
  compared.add(Contender::candidate, run(50ms, "sum 4 in 0.027 s, seed 4\n"), true);
  EXPECT_EQ(compared.right(), false);
}

TEST_F(WholeProgramsThatAreCompared, CannotBeToldRightIfNothingIsAlwaysTheSame) {
  compared.add(Contender::baseline, run(100ms, "a\n", 1), true);
  compared.add(Contender::baseline, run(100ms, "b\n", 2), true);
  compared.add(Contender::candidate, run(50ms, "a\n", 1), true);
  EXPECT_EQ(compared.right(), std::nullopt);
  EXPECT_THAT(compared.right_sentence(), HasSubstr("Whether it is right cannot be told"));
}

TEST_F(WholeProgramsThatAreCompared, AreNotRightIfSomethingElseSpeaksAgainstIt) {
  compared.add(Contender::baseline, run(100ms), true);
  compared.add(Contender::candidate, run(50ms), true);
  compared.object("It leans.");
  EXPECT_EQ(compared.right(), false);
  EXPECT_EQ(compared.right_sentence(),
            "It is not right otherwise, though the exit code, standard output and the result file were the same in all "
            "2 runs. It leans.");
  compared.add(Contender::candidate, run(50ms, "other\n"), true);
  EXPECT_THAT(compared.right_sentence(), HasSubstr("It is not right otherwise: standard output differs"));
  EXPECT_THAT(compared.right_sentence(), HasSubstr("It leans."));
}

TEST_F(WholeProgramsThatAreCompared, SayIfAResultWasNotWritten) {
  compared.add(Contender::baseline, run(100ms), true);
  WholeRun without = run(100ms);
  without.results.front().written = false;
  compared.add(Contender::candidate, without, true);
  EXPECT_EQ(compared.right(), false);
  EXPECT_THAT(compared.right_sentence(), HasSubstr("(a run that did not write it)"));
}

TEST_F(WholeProgramsThatAreCompared, CannotBeToldRightByAResultThatNoRunLeftOrWrote) {
  WholeRun without = run(100ms);
  without.results.front() = {};
  compared.add(Contender::baseline, without, true);
  compared.add(Contender::candidate, without, true);
  EXPECT_EQ(compared.right(), std::nullopt);
  EXPECT_EQ(
      compared.right_sentence(),
      "Whether it is right cannot be told: no run left a file as the result file. Let --result name what the "
      "program writes, as it is named from this folder. Otherwise the exit code and standard output were the same "
      "in all 2 runs.");
  WholeComparison old("as it is", "otherwise", {"file"});
  WholeRun untouched = run(100ms);
  untouched.results.front().written = false;
  old.add(Contender::baseline, untouched, true);
  old.add(Contender::candidate, untouched, true);
  EXPECT_EQ(old.right(), std::nullopt);
  EXPECT_THAT(old.right_sentence(), HasSubstr("cannot be told: no run wrote the result file. Let"));
  untouched.end.output.add("more\n");
  old.add(Contender::candidate, untouched, true);
  EXPECT_EQ(old.right(), false) << "what it printed differs";
}

TEST_F(WholeProgramsThatAreCompared, AreNotRightIfOnlyTheCandidateWritesAResult) {
  WholeRun without = run(100ms);
  without.results.front() = {};
  compared.add(Contender::baseline, without, true);
  compared.add(Contender::candidate, run(100ms), true);
  EXPECT_EQ(compared.right(), false);
  EXPECT_THAT(compared.right_sentence(), HasSubstr("(nothing and 8 bytes)"));
}

TEST_F(WholeProgramsThatAreCompared, AreNotComparedIfOneIsEndedByASignalOrRunsTooLong) {
  WholeRun crashed = run(100ms);
  crashed.end.signal = SIGSEGV;
  crashed.end.code = 128 + SIGSEGV;
  crashed.end.complaint.add("first\nno memory\n");
  EXPECT_EQ(compared.right(), std::nullopt) << "without a run";
  compared.add(Contender::baseline, run(100ms), true);
  EXPECT_EQ(compared.right(), std::nullopt) << "without a run of the candidate";
  compared.add(Contender::candidate, crashed, true);
  EXPECT_EQ(compared.failure(), "It is not right otherwise. It was ended by SIGSEGV. It said: no memory");
  EXPECT_EQ(compared.right(), false);
  WholeComparison always("as it is", "otherwise", {"file"});
  always.add(Contender::baseline, crashed, false);
  EXPECT_EQ(always.failure(),
            "It cannot be compared. It was ended by SIGSEGV. It said: no memory (This run was as it is.)");
  EXPECT_EQ(always.right(), std::nullopt);
  WholeComparison other("as it is", "otherwise", {});
  WholeRun longer = run(100ms);
  longer.end.overtime = true;
  longer.results.clear();
  other.add(Contender::baseline, longer, true);
  EXPECT_THAT(other.failure(), HasSubstr("It did not end in its time, as it is: raise --within"));
}

TEST(TextsThatDiffer, AreShownByTheFirstLineThatDoes) {
  auto const heard = [](std::string const& text, std::size_t keep = 100) {
    Heard one(keep);
    one.add(text);
    return one;
  };
  EXPECT_EQ(difference_of(heard("a\nb\n"), heard("a\nb\n")), "");
  EXPECT_EQ(difference_of(heard("a\nb\n"), heard("a\nc\n")), "line 2: 'b' and 'c'");
  EXPECT_EQ(difference_of(heard("a\n"), heard("a\nc\n")), "line 2: '' and 'c'");
  EXPECT_EQ(difference_of(heard("\x1b[1m"), heard("")), "line 1: '?[1m' and ''");
  EXPECT_EQ(difference_of(heard("same first", 4), heard("same other", 4)),
            "10 and 10 bytes, which differ behind the first 4");
}

}  // namespace
}  // namespace penstock::cli
