// SPDX-License-Identifier: Apache-2.0
#include "programs/compare/comparison.hpp"

#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "penstock/error.hpp"
#include "programs/command/unreadable_results.hpp"
#include "programs/compare/compared_rounds.hpp"

namespace penstock::cli {
namespace {

TEST_F(AComparison, ComparesRoundByRoundSoThatWhatDriftsMeetsBoth) {
  Json const json = Json::parse(comparison.as_json("2026-01-01T00:00:00Z", "penstock compare"));
  Json const& speed_up = json.at("compare").at("speedups").at(1);
  EXPECT_EQ(speed_up.at("axes").at("producers"), 16);
  EXPECT_DOUBLE_EQ(speed_up.at("median"), 3.6);
  EXPECT_DOUBLE_EQ(speed_up.at("min"), 3.5);
  EXPECT_DOUBLE_EQ(speed_up.at("max"), 3.7);
}

TEST_F(AComparison, HasEachPointOnceForEachFlavour) {
  Json const json = Json::parse(comparison.as_json("2026-01-01T00:00:00Z", "penstock compare"));
  EXPECT_EQ(json.at("kind"), "compare");
  ASSERT_EQ(json.at("points").size(), 4u);
  EXPECT_EQ(json.at("axes").back().at("values"), Json({"legacy", "per-thread"}));
  EXPECT_EQ(json.at("points").at(2).at("axes"), Json({{"producers", 16}, {"flavour", "legacy"}}));
  EXPECT_EQ(json.at("points").at(3).at("tiles_per_s").at("median"), 3700.0);
  EXPECT_EQ(json.at("points").at(3).at("repeats"), 3);
}

TEST_F(AComparison, SaysOnEachLineWhatItWasMeasuredOnAndWith) {
  std::string const names =
      "producers,repeats,legacy_gb_per_s,per_thread_gb_per_s,legacy_tiles_per_s,per_thread_tiles_per_s,"
      "legacy_cpu_s_per_gb,per_thread_cpu_s_per_gb,speed_up,speed_up_min,speed_up_max,error,tile,streams,host,cpu,cpus,"
      "device_name,driver,version,commit,date\n";
  std::string const all = ",4096,default,here,\"A CPU, fast\",8,A device,,0.1.0,abc,2026-01-01\n";
  EXPECT_EQ(comparison.as_csv("2026-01-01"), names + "1,3,0.004096,0.004096,1000.0,1000.0,1.0,1.0,1.0,1.0,1.0," + all +
                                                 "16,3,0.004096,0.0151552,1000.0,3700.0,1.0,1.0,3.6,3.5,3.7," + all);
}

TEST(Comparison, LeavesThePlacesOfFiguresEmptyOnALineOfAPointThatFailed) {
  Comparison comparison;
  Json bad = Json::parse(Round{1, 1}.json());
  bad["points"][1]["error"] = "It is \"too large\".";
  add(comparison, bad.dump(), Round{1, 1}.json());
  std::string const csv = comparison.as_csv("");
  EXPECT_NE(csv.find("\n16,,,,,,,,,,,\"It is \"\"too large\"\".\",4096,"), std::string::npos) << csv;
}

TEST_F(AComparison, HoldsAClaimToTheMostThreads) {
  EXPECT_TRUE(comparison.holds(at_least(3.6)));
  EXPECT_FALSE(comparison.holds(at_least(3.61)));
}

TEST_F(AComparison, SaysInASentenceWhatItShows) {
  EXPECT_NE(comparison.sentence().find("With 16 threads"), std::string::npos) << comparison.sentence();
  EXPECT_NE(comparison.sentence().find("3.6 times"), std::string::npos) << comparison.sentence();
  EXPECT_NE(comparison.as_text().find(comparison.sentence()), std::string::npos);
}

TEST_F(AComparison, KnowsWhereItShowsMost) {
  EXPECT_EQ(comparison.plainest(), 1u);
  EXPECT_EQ(comparison.measured(), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(comparison.values_of(1), (std::map<std::string, std::string>{{"producers", "16"}}));
}

TEST(Comparison, ExpectsNoDifferenceOfStreamsOfTheWorksOwn) {
  Comparison comparison;
  add(comparison, Round{1, 1, "own"}.json(), Round{1, 1, "own"}.json());
  EXPECT_NE(comparison.sentence().find("no difference is to be expected"), std::string::npos);
}

/// Results at 16 threads, once in the default stream and once in streams of the work's own.
std::string both_streams(double in_default, double in_own) {
  Json json = Json::parse(Round{in_default, in_own}.json());
  json["axes"] = {{{"name", "streams"}, {"values", {"default", "own"}}}};
  json["options"] = {{"producers", 16}, {"tile", 4096}};
  json["points"][0]["axes"] = {{"streams", "default"}};
  json["points"][1]["axes"] = {{"streams", "own"}};
  return json.dump();
}

TEST(Comparison, ClaimsNothingOfStreamsOfTheWorksOwn) {
  Comparison comparison;
  for (int round = 0; round < 3; ++round) add(comparison, both_streams(1000, 5555), both_streams(3000, 5555));
  std::string const sentence = comparison.sentence();
  EXPECT_TRUE(comparison.holds(at_least(3)));
  EXPECT_NE(sentence.find("3.0 times (streams default, 3.0 to 3.0) the tiles"), std::string::npos) << sentence;
  EXPECT_EQ(sentence.find("1.0 times"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("Points with streams own are left out"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("no difference is to be expected of them"), std::string::npos) << sentence;
}

TEST(Comparison, HoldsNoClaimWhereThereIsNothingToClaim) {
  Comparison comparison;
  add(comparison, Round{1, 1, "own"}.json(), Round{1, 9, "own"}.json());
  EXPECT_FALSE(comparison.holds(at_least(1)));
}

TEST(Comparison, DoesNotMakeADifferenceOfNoise) {
  Comparison comparison;
  for (int round = 0; round < 3; ++round) add(comparison, Round{1000, 1000}.json(), Round{1000, 1040}.json());
  EXPECT_NE(comparison.sentence().find("no difference"), std::string::npos) << comparison.sentence();
  Comparison straying;
  add(straying, Round{1000, 1000}.json(), Round{1000, 500}.json());
  add(straying, Round{1000, 1000}.json(), Round{1000, 1500}.json());
  add(straying, Round{1000, 1000}.json(), Round{1000, 2500}.json());
  EXPECT_NE(straying.sentence().find("stray"), std::string::npos) << straying.sentence();
}

TEST(Comparison, MakesNothingOfASingleRound) {
  Comparison comparison;
  add(comparison, Round{1000, 1000}.json(), Round{1000, 3000}.json());
  EXPECT_NE(comparison.sentence().find("too few runs to tell"), std::string::npos) << comparison.sentence();
}

/// Results at 16 threads, in the bare case and in that of the framework as it is used.
std::string both_cases(double bare, double used) {
  Json json = Json::parse(Round{bare, used}.json());
  json["axes"] = {{{"name", "case"}, {"values", {"bare", "as used"}}}};
  json["options"] = {{"producers", 16}, {"tile", 4096}};
  json["points"][0]["axes"] = {{"case", "bare"}};
  json["points"][1]["axes"] = {{"case", "as used"}};
  return json.dump();
}

/// The sentence after these rounds, of which each is the tiles of the per-thread build as it is used, by a thousand of
/// the legacy one.
std::string sentence_as_used(std::vector<double> const& rounds) {
  Comparison comparison;
  for (double const tiles : rounds) add(comparison, both_cases(1000, 1000), both_cases(3000, tiles));
  return comparison.sentence();
}

TEST(Comparison, SaysOfTheFrameworkAsItIsUsedWhatTheRoundsAllow) {
  using testing::HasSubstr;
  EXPECT_THAT(
      sentence_as_used({2000, 2000, 2100}),
      HasSubstr(
          "the framework as it is used, per-thread default streams come to 2.0 times (case as used, 2.0 to 2.1) the "
          "tiles of the legacy one."));
  EXPECT_THAT(sentence_as_used({2000}),
              HasSubstr("came to 2.0 times (case as used, 2.0 to 2.0) the tiles of the legacy "
                        "one, but those are too few runs to tell."));
  EXPECT_THAT(
      sentence_as_used({500, 1500, 2500}),
      HasSubstr("came to 1.5 times (case as used, 0.5 to 2.5) the tiles of the legacy one, but those runs stray "
                "too far to tell."));
  EXPECT_THAT(sentence_as_used({1000, 1040, 1040}),
              HasSubstr("make no difference: they come to 1.0 times (case as used, 1.0 to 1.0) the tiles of the legacy "
                        "one."));
}

TEST(Comparison, SaysWhyTheFrameworkGainsNothingAndWhichSettingDoes) {
  auto const sentence = [](unsigned lanes, std::string const& shape) {
    Comparison comparison;
    Json fresh = Json::parse(both_cases(3000, 1000));
    if (!shape.empty()) fresh["options"]["shape"] = shape;
    fresh["points"][1]["threads"] = {{"producers", 16}, {"lanes", lanes}, {"consumers", 1}};
    for (int round = 0; round < 3; ++round) add(comparison, both_cases(1000, 1000), fresh.dump());
    return comparison.sentence();
  };
  EXPECT_THAT(
      sentence(1, ""),
      testing::EndsWith("One lane drives the device there, and copies have streams of their own, so next to "
                        "nothing waits in the default stream. With --lanes 16 --shape single each lane does all "
                        "in it, as in the case bare, and they may gain."));
  EXPECT_THAT(sentence(2, ""), testing::HasSubstr("The lanes there compute in the default stream"));
  EXPECT_THAT(sentence(2, "single"), testing::Not(testing::HasSubstr("they may gain")));
}

TEST(Comparison, KeepsAPointThatFailedWithItsReason) {
  Comparison comparison;
  std::string const good = Round{1, 1}.json();
  Json bad = Json::parse(good);
  bad["points"][1]["error"] = "It is too large.";
  add(comparison, bad.dump(), good);
  EXPECT_FALSE(comparison.holds(at_least(0.1)));
  EXPECT_NE(comparison.as_text().find("It is too large."), std::string::npos);
  Json const json = Json::parse(comparison.as_json("", ""));
  EXPECT_EQ(json.at("points").at(3).at("error"), "It is too large.");
  EXPECT_TRUE(json.at("points").at(3).at("tiles_per_s").is_null());
}

/// Seen to fail without the comparison of digests.
TEST(Comparison, KeepsAPointWhoseResultsDifferAsOneThatFailed) {
  auto const with_digests = [](std::string const& first, std::string const& second) {
    Json json = Json::parse(Round{1000, 2000}.json());
    json["points"][0]["digest"] = first;
    json["points"][1]["digest"] = second;
    return json.dump();
  };
  Comparison comparison;
  add(comparison, with_digests("0x1", "0x2"), with_digests("0x1", "0x3"));
  add(comparison, Round{1000, 2000}.json(), Round{1000, 2000}.json());
  EXPECT_FALSE(comparison.all_measured());
  EXPECT_EQ(comparison.measured(), (std::vector<std::size_t>{0}));
  EXPECT_NE(comparison.as_text().find("0x3 instead of 0x2"), std::string::npos) << comparison.as_text();
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
    add(comparison, good, good);
    EXPECT_TRUE(comparison.all_measured());
    EXPECT_EQ(comparison.what_failed(), "");
    add(comparison, legacy, per_thread);
    EXPECT_FALSE(comparison.all_measured());
    EXPECT_EQ(comparison.what_failed(), "1 of 2 points was not measured: producers 16 in " +
                                            std::string(where == std::string("both builds") ? "" : "the ") + where +
                                            ".");
    EXPECT_FALSE(comparison.holds(at_least(0.1)));
    EXPECT_EQ(comparison.sentence(), "With 16 threads, nothing was measured in both builds.");
  }
}

/// Results of another build.
std::string of_build(char const* name, Json const& value) {
  Json json = Json::parse(Round{1, 1}.json());
  json["penstock"][name] = value;
  return json.dump();
}

TEST(Comparison, RefusesProgramsOfTwoBuilds) {
  std::string const here = Round{1, 1}.json();
  for (auto const& [name, value] : {std::pair("version", "0.0.9"), {"commit", "def"}}) {
    Comparison comparison;
    try {
      add(comparison, of_build(name, value), here);
      ADD_FAILURE() << name << " differs, and it was compared";
    } catch (Error const& error) {
      std::string const said = error.what();
      EXPECT_NE(said.find(std::string("penstock-legacy is of ") + name + " " + value), std::string::npos) << said;
      EXPECT_NE(said.find("build both from one source"), std::string::npos) << said;
    }
  }
  Comparison comparison;
  EXPECT_THROW(comparison.add(here, here), Error) << "both are the per-thread program";
}

TEST(Comparison, DoubtsABuildThatDoesNotSayWhichItIs) {
  std::string const here = Round{1, 1}.json(), unknown = of_build("commit", nullptr);
  Comparison one, other, none, both;
  add(one, unknown, here);
  EXPECT_EQ(one.doubt().find("penstock-legacy does not say of which commit it is, and penstock is of abc"), 0u)
      << one.doubt();
  add(other, here, unknown);
  EXPECT_EQ(other.doubt().find("penstock does not say of which commit it is, and penstock-legacy is of abc"), 0u)
      << other.doubt();
  add(none, unknown, unknown);
  EXPECT_EQ(none.doubt(), "");
  add(both, here, here);
  EXPECT_EQ(both.doubt(), "");
}

TEST(Comparison, RefusesWhatIsNoResult) {
  Comparison comparison;
  expect_unreadable([&] { comparison.add("nonsense", "{}"); });
  EXPECT_THROW(comparison.add("{}", "{}"), Error);
  add(comparison, Round{1, 1}.json(), Round{1, 1}.json());
  Json other = Json::parse(Round{1, 1}.json());
  other["points"][0]["axes"]["producers"] = 2;
  EXPECT_THROW(add(comparison, other.dump(), Round{1, 1}.json()), Error) << "another point";
}

}  // namespace
}  // namespace penstock::cli
