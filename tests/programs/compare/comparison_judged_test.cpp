// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "penstock/error.hpp"
#include "programs/command/unreadable_results.hpp"
#include "programs/compare/compared_rounds.hpp"
#include "programs/compare/comparison.hpp"

namespace penstock::cli {
namespace {

/// Results of the run that was made for all but throughput, of the point with 16 threads.
Json judged_at_sixteen(double tiles, std::size_t passages) {
  Json json = Json::parse(Round{1, tiles}.json());
  json["points"].erase(0);
  json["points"][0].update({{"latency_us", {{"p50", 7}}},
                            {"ceilings", {{"gb_per_s", 9.0}}},
                            {"verdict", {{"bound", "upload"}, {"judged_part", 0.5}}},
                            {"remarks", {"It rained."}}});
  json["timeline"] = {{"point", 0}, {"rows", {{{"name", "lane 0"}, {"kind", "thread"}}}}, {"passages", Json::array()}};
  for (std::size_t i = 0; i < passages; ++i) json["timeline"]["passages"].push_back({0, 5, i, 10 * i, 10 * i + 10});
  // As of a span of no tile.
  for (std::size_t i = 1; i < passages; i += 2) json["timeline"]["passages"][i][2] = nullptr;
  return json;
}

TEST_F(AComparison, TakesAllButThroughputOfTheRunThatWasJudged) {
  std::vector<std::size_t> const sixteen{1};
  comparison.judge(Flavour::legacy, judged_at_sixteen(500, 2).dump(), sixteen);
  comparison.judge(Flavour::per_thread, judged_at_sixteen(7400, 1).dump(), sixteen);
  Json const json = Json::parse(comparison.as_json("", ""));
  for (std::size_t const i : {2U, 3U}) {
    Json const& point = json.at("points").at(i);
    EXPECT_EQ(point.at("latency_us").at("p50"), 7);
    EXPECT_EQ(point.at("ceilings").at("gb_per_s"), 9.0);
    EXPECT_EQ(point.at("verdict").at("bound"), "upload");
    EXPECT_EQ(point.at("remarks"), Json({"It rained."}));
    EXPECT_EQ(point.at("repeats"), 3);
  }
  EXPECT_EQ(json.at("points").at(2).at("tiles_per_s").at("median"), 1000.0);
  EXPECT_EQ(json.at("points").at(3).at("tiles_per_s").at("max"), 7200.0);
  // Half of 500, of a median of 1000; half of 7400, of one of 3700.
  EXPECT_DOUBLE_EQ(json.at("points").at(2).at("verdict").at("judged_part").get<double>(), 0.25);
  EXPECT_DOUBLE_EQ(json.at("points").at(3).at("verdict").at("judged_part").get<double>(), 1);
  EXPECT_FALSE(json.at("points").at(0).contains("verdict")) << "the point with one thread was not judged";
  EXPECT_EQ(json.at("timeline").at("point"), 3);
  EXPECT_EQ(json.at("timeline").at("passages").size(), 1u);
  EXPECT_EQ(json.at("compare").at("baseline_timeline").at("point"), 2);
  EXPECT_EQ(json.at("compare").at("baseline_timeline").at("passages").size(), 2u);
}

/// Seen to fail if the verdict's own guess stays.
TEST_F(AComparison, AdvisesPerThreadStreamsByWhatItMeasured) {
  std::vector<std::size_t> const sixteen{1};
  Json judged = judged_at_sixteen(500, 1);
  judged["points"][0]["verdict"]["advice"] = {
      {{"change", "--streams own"}, {"gain", 2.0}, {"why", "As guessed."}},
      {{"change", "penstock instead of penstock-legacy"}, {"gain", 2.0}, {"why", "As guessed."}}};
  comparison.judge(Flavour::legacy, judged.dump(), sixteen);
  Json const json = Json::parse(comparison.as_json("", ""));
  Json const& advice = json.at("points").at(2).at("verdict").at("advice");
  EXPECT_EQ(advice.at(0).at("gain"), 2.0);
  EXPECT_EQ(advice.at(1).at("gain"), json.at("compare").at("speedups").at(1).at("median"));
  EXPECT_EQ(advice.at(1).at("why").get<std::string>().find("Measured here: "), 0u);
}

TEST(Comparison, JudgesNoPointOfALateClockAndSaysWhichThatIs) {
  std::string const late = "This machine is too slow for its clock: 7 % were late.";
  Comparison comparison("penstock");
  Json slow = Json::parse(Round{1000, 1000}.json());
  slow["points"][1]["remarks"] = {late};
  for (int round = 0; round < 3; ++round) add(comparison, slow.dump(), Round{1000, 9000}.json());
  std::string const text = comparison.as_text();
  std::size_t const at = text.find("Not judged: 1 of 2 points (producers 16). " + late);
  ASSERT_NE(at, text.npos) << text;
  EXPECT_EQ(text.find(late, at + 60), text.npos) << "it is said once";
  EXPECT_NE(text.find("not judged: late"), text.npos);
  EXPECT_EQ(comparison.sentence(),
            "With 16 threads, nothing is judged: this machine was too slow for the clock of its model.");
  EXPECT_FALSE(comparison.holds(at_least(1.5)));
  EXPECT_EQ(comparison.plainest(), 0u);
  Json const json = Json::parse(comparison.as_json("", ""));
  EXPECT_EQ(json.at("compare").at("speedups").size(), 1u);
  EXPECT_EQ(json.at("points").at(2).at("too_slow"), late);
  EXPECT_EQ(json.at("points").at(3).at("too_slow"), late) << "the build that it is compared with has nothing to say";
}

TEST(Comparison, CountsOnlyRoundsInWhichNoClockWasLate) {
  Comparison comparison("penstock");
  Json slow = Json::parse(Round{1000, 1000}.json());
  for (Json& point : slow["points"]) point["remarks"] = {"This machine is too slow for its clock: 7 % were late."};
  std::string const good = Round{1000, 1000}.json(), fast = Round{1000, 3000}.json();
  add(comparison, slow.dump(), Round{1000, 9000}.json());
  add(comparison, good, fast);
  add(comparison, slow.dump(), Round{1000, 9000}.json());
  add(comparison, good, fast);
  Json const json = Json::parse(comparison.as_json("", ""));
  EXPECT_EQ(json.at("points").at(3).at("samples").at("tiles_per_s"), (Json{3000.0, 3000.0}));
  EXPECT_TRUE(json.at("points").at(3).at("too_slow").is_null());
  EXPECT_EQ(json.at("compare").at("speedups").at(1).at("max"), 3.0);
}

TEST_F(AComparison, ShowsTheMiddleOfALongTimeline) {
  std::vector<std::size_t> const sixteen{1};
  comparison.judge(Flavour::per_thread, judged_at_sixteen(3700, 9000).dump(), sixteen);
  Json const json = Json::parse(comparison.as_json("", ""));
  Json const& passages = json.at("timeline").at("passages");
  EXPECT_LE(passages.size(), 5000u);
  EXPECT_GE(passages.size(), 4900u);
  EXPECT_EQ(passages.at(0).at(1), 5);
  EXPECT_EQ(passages.at(0).at(3).get<int>() + 10, passages.at(0).at(4).get<int>());
  EXPECT_NEAR(passages.at(0).at(2).get<double>(), 2000, 100);
  EXPECT_TRUE(passages.at(1).at(2).is_null());
  EXPECT_TRUE(json.at("compare").at("baseline_timeline").is_null());
}

TEST_F(AComparison, RemarksWhatCouldNotBeJudgedAndStaysAsItIs) {
  Json failed = judged_at_sixteen(3700, 1);
  failed["points"][0]["error"] = "It is too large.";
  failed["timeline"] = nullptr;
  std::vector<std::size_t> const sixteen{1};
  comparison.judge(Flavour::per_thread, failed.dump(), sixteen);
  comparison.remark(Flavour::legacy, "It is gone.", sixteen);
  Json const json = Json::parse(comparison.as_json("", ""));
  EXPECT_NE(json.at("points").at(2).at("remarks").dump().find("It is gone."), std::string::npos);
  EXPECT_NE(json.at("points").at(3).at("remarks").dump().find("It is too large."), std::string::npos);
  EXPECT_TRUE(json.at("points").at(3).at("error").is_null());
  EXPECT_TRUE(comparison.all_measured());
  EXPECT_TRUE(comparison.holds(at_least(3.6)));
}

TEST_F(AComparison, RefusesAJudgementOfOtherPoints) {
  std::vector<std::size_t> const one{0}, both{0, 1};
  EXPECT_THROW(comparison.judge(Flavour::legacy, judged_at_sixteen(1, 1).dump(), one), Error);
  EXPECT_THROW(comparison.judge(Flavour::legacy, judged_at_sixteen(1, 1).dump(), both), Error);
  expect_unreadable([&] { comparison.judge(Flavour::legacy, "nonsense", one); });
}

}  // namespace
}  // namespace penstock::cli
