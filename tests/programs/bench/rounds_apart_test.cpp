// SPDX-License-Identifier: Apache-2.0
#include "programs/bench/rounds_apart.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "penstock/error.hpp"
#include "programs/command/program.hpp"
#include "programs/command/unreadable_results.hpp"

namespace penstock::cli {
namespace {

/// Two points, and processes that print what they are told to have measured.
struct TwoPointsApart : testing::Test {
  std::vector<measure::Point> points{{.setting = {.pipeline = {.producers = 1}, .tile = 1'000'000}},
                                     {.setting = {.pipeline = {.producers = 2}, .tile = 1'000'000}}};
  ApartOptions options{.least = 3, .most = 5};
  std::stop_source stop;
  std::vector<std::vector<std::size_t>> asked_for;  ///< Points by round; none means all.
  std::vector<double> steady{1000, 1001, 1002, 1003, 1004};
  std::vector<double> other{1000, 1001, 1002, 1003, 1004};
  int code = 0;
  std::string complaint;
  int failing_round = -1;             ///< Round in which the second point fails.
  std::vector<unsigned> late_rounds;  ///< Rounds in which the clock was late for the second point.

  static std::string point(double tiles, bool late = false) {
    return std::string(R"({"error":null,"remarks":[)") +
           (late ? R"("This machine is too slow for its clock: 7 % were late.")" : "") +
           R"(],"tiles_per_s":{"median":)" + std::to_string(tiles) + R"(},"gb_per_s":{"median":)" +
           std::to_string(tiles / 1000) + R"(},"cpu_s_per_gb":{"median":0.5}})";
  }
  std::vector<std::string> command(unsigned round, std::span<std::size_t const> only) {
    asked_for.emplace_back(only.begin(), only.end());
    auto const wanted = [&](std::size_t i) {
      return only.empty() || std::find(only.begin(), only.end(), i) != only.end();
    };
    std::string list;
    if (wanted(0)) list += point(steady[round]);
    if (only.empty()) list += ",";
    if (wanted(1))
      list +=
          static_cast<int>(round) == failing_round ? R"({"error":"no memory"})" : point(other[round], is_late(round));
    std::string const json = R"({"points":[)" + list + "]}";
    return {"/bin/sh", "-c",      "[ -z \"$1\" ] && echo '" + json + "'; [ -z \"$1\" ] || echo \"$1\" >&2; exit $2",
            "sh",      complaint, std::to_string(code)};
  }
  bool is_late(unsigned round) const { return std::ranges::find(late_rounds, round) != late_rounds.end(); }
  Apart run() {
    return rounds_apart(
        points, options, [this](unsigned round, std::span<std::size_t const> only) { return command(round, only); },
        stop.get_token());
  }
};

TEST_F(TwoPointsApart, AreMeasuredInAProcessEachTime) {
  Apart const apart = run();
  EXPECT_EQ(asked_for, (std::vector<std::vector<std::size_t>>{{}, {}, {}}));
  ASSERT_EQ(apart.results.size(), 2u);
  for (measure::PointResult const& result : apart.results) {
    EXPECT_EQ(result.tiles_per_second, (std::vector<double>{1000, 1001, 1002}));
    EXPECT_EQ(result.apart, 3u);
    ASSERT_EQ(result.cpu_s_per_tile.size(), 3u);
    EXPECT_DOUBLE_EQ(result.cpu_s_per_tile[0], 0.0005);
    EXPECT_EQ(result.error, "");
  }
  EXPECT_EQ(apart.results[1].point.setting.pipeline.producers, 2u);
  EXPECT_FALSE(apart.lost);
}

TEST_F(TwoPointsApart, GetMoreProcessesOnlyIfTheyStray) {
  other = {1000, 1100, 1200, 1100, 1050};
  Apart const apart = run();
  EXPECT_EQ(asked_for, (std::vector<std::vector<std::size_t>>{{}, {}, {}, {1}, {1}}));
  EXPECT_EQ(apart.results[0].tiles_per_second.size(), 3u);
  EXPECT_EQ(apart.results[1].tiles_per_second, other);
}

TEST_F(TwoPointsApart, AreLeftOutOnceTheyFailed) {
  failing_round = 1;
  Apart const apart = run();
  EXPECT_EQ(asked_for, (std::vector<std::vector<std::size_t>>{{}, {}, {0}}));
  EXPECT_EQ(apart.results[0].tiles_per_second.size(), 3u);
  EXPECT_EQ(apart.results[1].error, "no memory");
}

TEST_F(TwoPointsApart, CountOnlyRoundsInWhichNoClockWasLate) {
  late_rounds = {0, 2};
  Apart const apart = run();
  EXPECT_EQ(apart.results[1].tiles_per_second, (std::vector<double>{1001}));
  EXPECT_EQ(apart.results[1].cpu_s_per_tile.size(), 1u);
  EXPECT_EQ(apart.results[1].apart, 1u);
  EXPECT_TRUE(apart.results[1].judged_by_its_clock());
}

TEST_F(TwoPointsApart, AreLeftOutOnceTheirClockWasLateTwice) {
  late_rounds = {0, 1, 2};
  Apart const apart = run();
  EXPECT_EQ(asked_for, (std::vector<std::vector<std::size_t>>{{}, {}, {0}}));
  EXPECT_EQ(apart.results[1].tiles_per_second.size(), 2u) << "what was measured is kept";
  EXPECT_EQ(apart.results[1].too_slow, "This machine is too slow for its clock: 7 % were late.");
}

TEST_F(TwoPointsApart, BeginAgainIfTheClockWasLateInTheFirstRound) {
  bool late = true;
  std::vector<std::string> said;
  options.begins_again = [&](std::string const& remark) {
    said.push_back(remark);
    late = said.size() < 2;
    return true;
  };
  Apart const apart = rounds_apart(
      points, options,
      [&](unsigned round, std::span<std::size_t const> only) {
        late_rounds = late ? std::vector{0U} : std::vector<unsigned>();
        return command(round, only);
      },
      stop.get_token());
  EXPECT_EQ(said, std::vector<std::string>(2, "This machine is too slow for its clock: 7 % were late."));
  EXPECT_EQ(asked_for.size(), 5u) << "two that do not count";
  for (measure::PointResult const& result : apart.results) {
    EXPECT_EQ(result.tiles_per_second, (std::vector<double>{1000, 1001, 1002}));
    EXPECT_TRUE(result.judged_by_its_clock());
  }
}

TEST_F(TwoPointsApart, ContinueIfTheClockCannotBeSlower) {
  late_rounds = {0, 1, 2};
  unsigned asked = 0;
  options.begins_again = [&](std::string const&) {
    ++asked;
    return false;
  };
  EXPECT_FALSE(run().results[1].judged_by_its_clock());
  EXPECT_EQ(asked, 1u) << "the rest would be as late";
}

TEST_F(TwoPointsApart, SayWhichOfThemLostItsDevice) {
  code = 4;
  EXPECT_TRUE(run().lost);
}

TEST_F(TwoPointsApart, PassOnWhyAProcessDoesNotRun) {
  code = 2;
  complaint = std::string(program_name()) + ": There is no device of that name.";
  try {
    run();
    ADD_FAILURE() << "it ran";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_STREQ(error.what(), "There is no device of that name.");
  }
}

TEST_F(TwoPointsApart, RefuseWhatIsNoResult) {
  code = 0;
  expect_unreadable([this] {
    auto const nonsense = [](unsigned, std::span<std::size_t const>) {
      return std::vector<std::string>{"/bin/echo", "nonsense"};
    };
    rounds_apart(points, options, nonsense, stop.get_token());
  });
  points.pop_back();
  EXPECT_THROW(run(), Error) << "two points for one";
}

TEST_F(TwoPointsApart, AreLeftAsTheyAreWhenSomebodyInterrupts) {
  Apart const apart = rounds_apart(
      points, options,
      [this](unsigned round, std::span<std::size_t const> only) {
        if (round == 1) stop.request_stop();
        return round == 1 ? std::vector<std::string>{"/bin/sh", "-c", "exec tail -f /dev/null"} : command(round, only);
      },
      stop.get_token());
  for (measure::PointResult const& result : apart.results) EXPECT_EQ(result.tiles_per_second.size(), 1u);
}

}  // namespace
}  // namespace penstock::cli
