// SPDX-License-Identifier: Apache-2.0
#include "course/lab_command.hpp"

#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "course/lab_record.hpp"

namespace penstock::cli {
namespace {

using namespace std::chrono_literals;

lab::Experiment const question{.name = "a-question",
                               .expectation = "Two run at once.",
                               .why = "So it is.",
                               .claim = lab::Claim::must,
                               .run = nullptr};
lab::Observation const answer{.intervals = {{"stream A", "A", 0ms, 5ms}, {"stream B", "B", 1ms, 6ms}},
                              .figures = {{"upload", 12.345, "GB/s"}},
                              .verdict = {true, "both ran for 4 ms"}};

TEST(LabOutput, TellsTheWholeStory) {
  EXPECT_EQ(as_text(question, answer, 60),
            "a-question\n"
            "  Two run at once.\n"
            "\n"
            "  stream A  [A=====================================]\n"
            "  stream B          [B=====================================]\n"
            "            0                                        6.00 ms\n"
            "\n"
            "  upload: 12.3 GB/s\n"
            "  As expected: both ran for 4 ms.\n"
            "  So it is.\n");
}

TEST(LabOutput, SaysLoudlyWhatWasNotAsExpected) {
  auto other = answer;
  other.verdict.as_expected = false;
  EXPECT_NE(as_text(question, other, 60).find("  NOT as expected: both ran"), std::string::npos);
}

TEST(LabOutput, IsOneObjectInJson) {
  DeviceInfo device;
  device.name = "model of a GPU";
  device.model = "mine.json";
  auto const text = as_json({device, "legacy"}, question, answer);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  auto const json = nlohmann::json::parse(text);
  EXPECT_EQ(json["name"], "a-question");
  EXPECT_EQ(json["device"], "model of a GPU");
  EXPECT_EQ(json["model"], "mine.json");
  EXPECT_TRUE(json["slower"].is_number());
  EXPECT_EQ(json["as_expected"], true);
  EXPECT_EQ(json["intervals"].size(), 2u);
  EXPECT_EQ(json["intervals"][1]["start_ns"], 1'000'000);
  EXPECT_EQ(json["figures"][0]["unit"], "GB/s");
}

/// An answer whose figures a text has, too.
lab::Observation compared() {
  auto seen = answer;
  seen.figures.push_back({"one stream", 2, "ms", 1.945, 1.95});
  seen.figures.push_back({"two streams", 1.0625, "ms", {}, 1});
  seen.figures.push_back({"copy engines", 2, ""});
  return seen;
}

TEST(LabOutput, HasWhatATextSaysAndWhatIsPossibleBesideWhatWasMeasured) {
  EXPECT_NE(as_text(question, compared(), 60)
                .find("  upload: 12.3 GB/s\n"
                      "                  text  possible  measured\n"
                      "  one stream   1.95 ms   1.95 ms      2 ms\n"
                      "  two streams               1 ms   1.06 ms\n"
                      "  copy engines: 2\n"),
            std::string::npos)
      << as_text(question, compared(), 60);
}

TEST(LabOutput, HasALineForEachWhereTheTableDoesNotFit) {
  auto const text = as_text(question, compared(), 40);
  EXPECT_NE(text.find("  one stream: 2 ms, possible 1.95, in\n  the text 1.95\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  two streams: 1.06 ms, possible 1\n"), std::string::npos) << text;
}

TEST(LabOutput, HasWhatATextSaysInJsonOnlyWhereThereIsOne) {
  auto const json = nlohmann::json::parse(as_json({DeviceInfo(), "legacy"}, question, compared()));
  EXPECT_EQ(json["figures"][1]["text"], 1.945);
  EXPECT_EQ(json["figures"][1]["possible"], 1.95);
  EXPECT_FALSE(json["figures"][2].contains("text"));
  EXPECT_FALSE(json["figures"][0].contains("possible"));
}

TEST(LabOutput, HasFurtherColumnsOfATableInJson) {
  auto seen = answer;
  seen.figures[0].beside = {{"A done", "yes"}};
  EXPECT_EQ(nlohmann::json::parse(as_json({DeviceInfo(), "legacy"}, question, seen))["figures"][0]["beside"]["A done"],
            "yes");
}

TEST(LabOutput, HasALineForEachFigureAndTheSameLinesInItsPage) {
  BenchFacts facts;
  facts.device.name = "a GPU";
  LabRecord record(std::move(facts));
  std::string const object = as_json({DeviceInfo(), "per-thread"}, question, answer);
  EXPECT_EQ(record.add(question, answer, object),
            "name,as_expected,late,device,flavour,what,value,unit,text,possible\n"
            "a-question,yes,no,a GPU,per-thread,upload,12.345,GB/s,,\n");
  auto without = answer;
  without.figures.clear();
  EXPECT_EQ(record.add(question, without, object), "a-question,yes,no,a GPU,per-thread,,,,,\n");
  auto const page = nlohmann::json::parse(record.results("2 of 2 went as expected\n"));
  EXPECT_EQ(page["kind"], "lab");
  EXPECT_EQ(page["experiments"].size(), 2u);
  EXPECT_EQ(page["experiments"][0]["intervals"].size(), 2u);
  EXPECT_EQ(page["lines"].size(), 2u);
  EXPECT_EQ(page["lines"][0]["value"], 12.345);
  EXPECT_EQ(page["sentences"][0], "2 of 2 went as expected\n");
}

TEST(LabOutput, CountsWhatWentAsExpected) {
  EXPECT_EQ(summary_text(3, 3), "3 of 3 went as expected\n");
  EXPECT_EQ(summary_text(1, 3), "2 of 3 did NOT go as expected\n");
  EXPECT_EQ(summary_text(1, 3, 1), "1 of 3 did NOT go as expected, 1 of 3 could not be told\n");
  EXPECT_EQ(summary_text(0, 1, 1), "1 of 1 could not be told\n");
}

}  // namespace
}  // namespace penstock::cli
