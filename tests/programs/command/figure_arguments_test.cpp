// SPDX-License-Identifier: Apache-2.0
#include "programs/command/figure_arguments.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Two rows with a cell of each kind.
struct RowsOfFigures : testing::Test {
  std::vector<Json> rows{
      {{"name", "a, \"b\""}, {"wall_s", 0.5}, {"bytes", 18446744073709551615U}, {"best", true}, {"error", nullptr}},
      {{"name", ""}, {"wall_s", nullptr}, {"bytes", 0}, {"best", false}, {"error", "none\nat all"}}};
};

TEST_F(RowsOfFigures, AreLinesWithTheNamesOfTheirMembersFirst) {
  EXPECT_EQ(csv_of(rows),
            "name,wall_s,bytes,best,error\n"
            "\"a, \"\"b\"\"\",0.5,18446744073709551615,yes,\n"
            ",,0,no,\"none\nat all\"\n");
}

TEST_F(RowsOfFigures, CanFollowOthers) {
  EXPECT_EQ(csv_of(std::span(rows).last(1), false), ",,0,no,\"none\nat all\"\n");
  EXPECT_EQ(csv_of({}), "");
}

TEST_F(RowsOfFigures, StandInAPageAsTheyAre) {
  std::vector<std::string> const sentences{"It gains."};
  Json const page = Json::parse(with_lines(R"({"schema": 1, "kind": "tune"})", rows, sentences));
  EXPECT_EQ(page.at("kind"), "tune");
  EXPECT_EQ(page.at("lines"), Json(rows));
  EXPECT_EQ(page.at("sentences"), Json(sentences));
  Json const without = Json::parse(with_lines(R"({"sentences": ["It loses."]})", rows));
  EXPECT_EQ(without.at("sentences").at(0), "It loses.") << "what the results say stays";
}

TEST(FigureArguments, RefuseTwoFormsOfDataAtOnceAndAPageWithoutAName) {
  auto const parsed = [](std::vector<std::string> words) {
    CLI::App command;
    FigureArguments figures;
    figures.add_to(command, "Print JSON", "each point");
    std::ranges::reverse(words);  // As CLI11 takes them.
    command.parse(words);
    return figures;
  };
  FigureArguments const figures = parsed({"--csv", "--html", "page"});
  EXPECT_TRUE(figures.csv && figures.as_data() && !figures.json);
  EXPECT_EQ(figures.page().option, "--html");
  EXPECT_EQ(figures.page().path, "page");
  EXPECT_FALSE(parsed({"--html", "page"}).as_data());
  EXPECT_THROW(parsed({"--csv", "--json"}), CLI::ParseError);
  EXPECT_THROW(parsed({"--html", "-"}), CLI::ParseError);
}

}  // namespace
}  // namespace penstock::cli
