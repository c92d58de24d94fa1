// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/comparison.hpp"

#include <tuple>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "penstock/core/error.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Results of one round with points at 1 and 16 threads.
struct Round {
  double one;
  double sixteen;
  std::string streams = "default";

  std::string json() const {
    Json json{{"schema", 1},
              {"kind", "bench"},
              {"machine", {{"host", "here"}}},
              {"device", {{"name", "A device"}}},
              {"axes", {{{"name", "threads"}, {"values", {1, 16}}}}},
              {"options", {{"tile", 4096}, {"streams", streams}}},
              {"points", Json::array()},
              {"compare", nullptr}};
    for (auto const& [threads, tiles] : {std::pair{1, one}, std::pair{16, sixteen}}) {
      json["points"].push_back({{"axes", {{"threads", threads}}},
                                {"gb_per_s", {{"median", tiles * 4096 / 1e9}}},
                                {"tiles_per_s", {{"median", tiles}}},
                                {"cpu_s_per_gb", {{"median", 1.0}}},
                                {"error", nullptr}});
    }
    return json.dump();
  }
};

/// Three rounds in which per-thread is as fast with one thread and 3.5 to 3.7 times as fast with sixteen.
struct AComparison : testing::Test {
  Comparison comparison;
  void SetUp() override {
    comparison.add(Round{1000, 1000}.json(), Round{1000, 3500}.json());
    comparison.add(Round{1000, 2000}.json(), Round{1000, 7200}.json());
    comparison.add(Round{1000, 1000}.json(), Round{1000, 3700}.json());
  }
};

TEST_F(AComparison, ComparesRoundByRoundSoThatWhatDriftsMeetsBoth) {
  Json const json = Json::parse(comparison.as_json("2026-01-01T00:00:00Z", "penstock compare"));
  Json const& speed_up = json.at("compare").at("speedups").at(1);
  EXPECT_EQ(speed_up.at("axes").at("threads"), 16);
  EXPECT_DOUBLE_EQ(speed_up.at("median"), 3.6);
  EXPECT_DOUBLE_EQ(speed_up.at("min"), 3.5);
  EXPECT_DOUBLE_EQ(speed_up.at("max"), 3.7);
}

TEST_F(AComparison, HasEachPointOnceForEachFlavour) {
  Json const json = Json::parse(comparison.as_json("2026-01-01T00:00:00Z", "penstock compare"));
  EXPECT_EQ(json.at("kind"), "compare");
  ASSERT_EQ(json.at("points").size(), 4u);
  EXPECT_EQ(json.at("axes").back().at("values"), Json({"legacy", "per-thread"}));
  EXPECT_EQ(json.at("points").at(2).at("axes"), Json({{"threads", 16}, {"flavour", "legacy"}}));
  EXPECT_EQ(json.at("points").at(3).at("tiles_per_s").at("median"), 3700.0);
  EXPECT_EQ(json.at("points").at(3).at("repeats"), 3);
}

TEST_F(AComparison, HoldsAClaimToTheMostThreads) {
  EXPECT_TRUE(comparison.holds(3.6));
  EXPECT_FALSE(comparison.holds(3.61));
}

TEST_F(AComparison, SaysInASentenceWhatItShows) {
  EXPECT_NE(comparison.sentence().find("With 16 threads"), std::string::npos) << comparison.sentence();
  EXPECT_NE(comparison.sentence().find("3.6 times"), std::string::npos) << comparison.sentence();
  EXPECT_NE(comparison.as_text().find(comparison.sentence()), std::string::npos);
}

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
  EXPECT_TRUE(comparison.holds(3.6));
}

TEST_F(AComparison, RefusesAJudgementOfOtherPoints) {
  std::vector<std::size_t> const one{0}, both{0, 1};
  EXPECT_THROW(comparison.judge(Flavour::legacy, judged_at_sixteen(1, 1).dump(), one), Error);
  EXPECT_THROW(comparison.judge(Flavour::legacy, judged_at_sixteen(1, 1).dump(), both), Error);
  EXPECT_THROW(comparison.judge(Flavour::legacy, "nonsense", one), Error);
}

TEST_F(AComparison, KnowsWhereItShowsMost) {
  EXPECT_EQ(comparison.plainest(), 1u);
  EXPECT_EQ(comparison.measured(), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(comparison.values_of(1), (std::map<std::string, std::string>{{"threads", "16"}}));
}

TEST(Comparison, ExpectsNoDifferenceOfStreamsOfTheWorksOwn) {
  Comparison comparison;
  comparison.add(Round{1, 1, "own"}.json(), Round{1, 1, "own"}.json());
  EXPECT_NE(comparison.sentence().find("no difference is to be expected"), std::string::npos);
}

/// Results at 16 threads, once in the default stream and once in streams of the work's own.
std::string both_streams(double in_default, double in_own) {
  Json json = Json::parse(Round{in_default, in_own}.json());
  json["axes"] = {{{"name", "streams"}, {"values", {"default", "own"}}}};
  json["options"] = {{"threads", 16}, {"tile", 4096}};
  json["points"][0]["axes"] = {{"streams", "default"}};
  json["points"][1]["axes"] = {{"streams", "own"}};
  return json.dump();
}

TEST(Comparison, ClaimsNothingOfStreamsOfTheWorksOwn) {
  Comparison comparison;
  for (int round = 0; round < 3; ++round) comparison.add(both_streams(1000, 5555), both_streams(3000, 5555));
  std::string const sentence = comparison.sentence();
  EXPECT_TRUE(comparison.holds(3));
  EXPECT_NE(sentence.find("3.0 times (streams default, 3.0 to 3.0) the tiles"), std::string::npos) << sentence;
  EXPECT_EQ(sentence.find("1.0 times"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("Points with streams own are left out"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("no difference is to be expected of them"), std::string::npos) << sentence;
}

TEST(Comparison, HoldsNoClaimWhereThereIsNothingToClaim) {
  Comparison comparison;
  comparison.add(Round{1, 1, "own"}.json(), Round{1, 9, "own"}.json());
  EXPECT_FALSE(comparison.holds(1));
}

TEST(Comparison, DoesNotMakeADifferenceOfNoise) {
  Comparison comparison;
  for (int round = 0; round < 3; ++round) comparison.add(Round{1000, 1000}.json(), Round{1000, 1040}.json());
  EXPECT_NE(comparison.sentence().find("no difference"), std::string::npos) << comparison.sentence();
  Comparison straying;
  straying.add(Round{1000, 1000}.json(), Round{1000, 500}.json());
  straying.add(Round{1000, 1000}.json(), Round{1000, 1500}.json());
  straying.add(Round{1000, 1000}.json(), Round{1000, 2500}.json());
  EXPECT_NE(straying.sentence().find("stray"), std::string::npos) << straying.sentence();
}

TEST(Comparison, MakesNothingOfASingleRound) {
  Comparison comparison;
  comparison.add(Round{1000, 1000}.json(), Round{1000, 3000}.json());
  EXPECT_NE(comparison.sentence().find("too few runs to tell"), std::string::npos) << comparison.sentence();
}

TEST(Comparison, KeepsAPointThatFailedWithItsReason) {
  Comparison comparison;
  std::string const good = Round{1, 1}.json();
  Json bad = Json::parse(good);
  bad["points"][1]["error"] = "It is too large.";
  comparison.add(bad.dump(), good);
  EXPECT_FALSE(comparison.holds(0.1));
  EXPECT_NE(comparison.as_text().find("It is too large."), std::string::npos);
  Json const json = Json::parse(comparison.as_json("", ""));
  EXPECT_EQ(json.at("points").at(3).at("error"), "It is too large.");
  EXPECT_TRUE(json.at("points").at(3).at("tiles_per_s").is_null());
}

TEST(Comparison, SaysInASentenceWhichPointsFailedWhere) {
  std::string const good = Round{1, 1}.json();
  Json bad = Json::parse(good);
  bad["points"][1]["error"] = "It is too large.";
  std::string const failed = bad.dump();
  for (auto const& [legacy, per_thread, where] :
       {std::tuple(failed, good, "legacy build"), std::tuple(good, failed, "per-thread build"),
        std::tuple(failed, failed, "both builds")}) {
    Comparison comparison;
    comparison.add(good, good);
    EXPECT_TRUE(comparison.all_measured());
    EXPECT_EQ(comparison.what_failed(), "");
    comparison.add(legacy, per_thread);
    EXPECT_FALSE(comparison.all_measured());
    EXPECT_EQ(comparison.what_failed(), "1 of 2 points was not measured: threads 16 in " +
                                            std::string(where == std::string("both builds") ? "" : "the ") + where +
                                            ".");
    EXPECT_FALSE(comparison.holds(0.1));
    EXPECT_EQ(comparison.sentence(), "With 16 threads, nothing was measured in both builds.");
  }
}

TEST(Comparison, RefusesWhatIsNoResult) {
  Comparison comparison;
  EXPECT_THROW(comparison.add("nonsense", "{}"), Error);
  EXPECT_THROW(comparison.add("{}", "{}"), Error);
  comparison.add(Round{1, 1}.json(), Round{1, 1}.json());
  Json other = Json::parse(Round{1, 1}.json());
  other["points"][0]["axes"]["threads"] = 2;
  EXPECT_THROW(comparison.add(other.dump(), Round{1, 1}.json()), Error) << "another point";
}

}  // namespace
}  // namespace penstock::cli
