// SPDX-License-Identifier: Apache-2.0
#include "programs/compare/sweep_case.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The results of one program in two cases.
struct ASweepInTwoCases : testing::Test {
  std::vector<SweepCase> cases{{bare_case, {}}, {used_case, {}}};

  static std::string results(std::string const& signal, Json const& timeline = nullptr) {
    Json points = Json::array();
    for (int const producers : {1, 2}) points.push_back({{"axes", {{"producers", producers}}}, {"error", nullptr}});
    return Json{{"axes", Json::array({{{"name", "producers"}, {"values", {1, 2}}}})},
                {"options", {{"tile", 4096}, {"signal", signal}}},
                {"points", points},
                {"timeline", timeline}}
        .dump();
  }
};

TEST_F(ASweepInTwoCases, IsOneWithAnAxisMoreThatComesFirst) {
  Json const all = Json::parse(with_cases(cases, {results("event_poll"), results("callback")}));
  EXPECT_EQ(all.at("axes").at(0), (Json{{"name", "case"}, {"values", {"bare", "as used"}}}));
  EXPECT_EQ(all.at("axes").at(1).at("name"), "producers");
  ASSERT_EQ(all.at("points").size(), 4u);
  EXPECT_EQ(all.at("points").at(1).at("axes").dump(), R"({"case":"bare","producers":2})");
  EXPECT_EQ(all.at("points").at(2).at("axes").dump(), R"({"case":"as used","producers":1})");
}

TEST_F(ASweepInTwoCases, HasTheOptionsThatBothHaveInCommon) {
  Json const all = Json::parse(with_cases(cases, {results("event_poll"), results("callback")}));
  EXPECT_EQ(all.at("options").dump(), R"({"tile":4096})");
}

TEST_F(ASweepInTwoCases, HasTheTimelineOfItsPoint) {
  Json const all = Json::parse(with_cases(cases, {results("a"), results("b", {{"point", 1}})}));
  EXPECT_EQ(all.at("timeline").at("point"), 3);
}

TEST_F(ASweepInTwoCases, IsAsItWasIfThereIsOneCase) {
  std::vector<SweepCase> const one{{used_case, {}}};
  EXPECT_EQ(with_cases(one, {results("callback")}), results("callback"));
  EXPECT_EQ(in_case(one[0], false, results("callback")), results("callback"));
}

}  // namespace
}  // namespace penstock::cli
