// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <ctime>
#include <map>
#include <random>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "observe/verdict/a_recording.hpp"
#include "penstock/observe/recording.hpp"
#include "penstock/report.hpp"

namespace penstock {
namespace {

using Json = nlohmann::json;
using Kind = RecordRow::Kind;

Json trace_of(Recording const& recording, TraceFacts const& facts = {}) {
  std::ostringstream out;
  write_trace(out, recording, facts);
  return Json::parse(out.str());
}

std::vector<Json> of_phase(Json const& trace, std::string const& phases) {
  std::vector<Json> found;
  for (Json const& event : trace.at("traceEvents")) {
    if (phases.find(event.at("ph").get<std::string>()) != std::string::npos) found.push_back(event);
  }
  return found;
}

/// Times in whole nanoseconds, so that they can be compared.
std::int64_t nanoseconds_of(Json const& time) {
  return std::llround(time.get<double>() * 1000);
}
std::int64_t begin_of(Json const& event) {
  return nanoseconds_of(event.at("ts"));
}
std::int64_t end_of(Json const& event) {
  return begin_of(event) + nanoseconds_of(event.at("dur"));
}

void expect_time_order(Json const& trace) {
  std::int64_t previous = 0;
  for (Json const& event : trace.at("traceEvents")) {
    if (!event.contains("ts")) continue;
    EXPECT_GE(begin_of(event), previous) << event;
    previous = begin_of(event);
  }
}

void expect_nesting(Json const& trace) {
  std::map<int, std::vector<std::int64_t>> open;
  for (Json const& event : of_phase(trace, "X")) {
    auto& ends = open[event.at("tid")];
    while (!ends.empty() && ends.back() <= begin_of(event)) ends.pop_back();
    EXPECT_TRUE(ends.empty() || end_of(event) <= ends.back()) << event;
    ends.push_back(end_of(event));
  }
}

/// Each flow begins once and ends once, and each of its events is where a passage of its tile begins.
void expect_flows(Json const& trace) {
  std::map<std::uint64_t, std::string> phases;
  std::map<std::tuple<int, std::int64_t, std::uint64_t>, int> passages;
  for (Json const& event : of_phase(trace, "Xstf")) {
    if (event.at("ph") == "X") {
      ++passages[{event.at("tid"), begin_of(event), event.at("args").at("tile")}];
    } else {
      EXPECT_GE((passages[{event.at("tid"), begin_of(event), event.at("id")}]), 1) << event;
      phases[event.at("id")] += event.at("ph");
    }
  }
  for (auto const& [tile, seen] : phases) {
    ASSERT_GE(seen.size(), 2u) << tile;
    EXPECT_EQ(seen, "s" + std::string(seen.size() - 2, 't') + "f") << tile;
  }
}

void expect_queued_end(Json const& trace) {
  std::map<std::string, int> open;
  for (Json const& event : of_phase(trace, "be")) {
    int& count = open[event.at("cat").get<std::string>() + event.at("id").get<std::string>()];
    count += event.at("ph") == "b" ? 1 : -1;
    EXPECT_GE(count, 0) << event;
  }
  for (auto const& [id, count] : open) EXPECT_EQ(count, 0) << id;
}

/// The greatest value of each counter.
std::map<std::string, int> expect_counters_to_return(Json const& trace) {
  std::map<std::string, int> value, greatest;
  for (Json const& event : of_phase(trace, "C")) {
    int const now = value[event.at("name")] = event.at("args").at("tiles");
    EXPECT_GE(now, 0) << event;
    greatest[event.at("name")] = std::max(greatest[event.at("name")], now);
  }
  for (auto const& [name, last] : value) EXPECT_EQ(last, 0) << name;
  return greatest;
}

void expect_sound(Json const& trace) {
  expect_time_order(trace);
  expect_nesting(trace);
  expect_flows(trace);
  expect_queued_end(trace);
  expect_counters_to_return(trace);
}

TEST(ATrace, ShowsEachPassageOfAnOrderlyRunOnItsRow) {
  Json const trace = trace_of(orderly_run(5));
  expect_sound(trace);
  EXPECT_EQ(of_phase(trace, "X").size(), 5u * 7);
  EXPECT_EQ(of_phase(trace, "b").size(), 5u * 3);
  EXPECT_EQ(of_phase(trace, "s").size(), 5u);
  EXPECT_EQ(of_phase(trace, "t").size(), 5u * 5);
  std::map<int, std::string> names;
  for (Json const& event : of_phase(trace, "M")) {
    if (event.at("name") == "thread_name") names[event.at("tid")] = event.at("args").at("name");
  }
  EXPECT_EQ(names,
            (std::map<int, std::string>{
                {1, "ps-fill-0"}, {2, "ps-lane-0"}, {3, "consumer"}, {4, "upload"}, {5, "compute"}, {6, "download"}}));
  Json const first = of_phase(trace, "X").at(1);
  EXPECT_EQ(first.at("name"), "fill");
  EXPECT_DOUBLE_EQ(first.at("ts"), 0.2);
  EXPECT_DOUBLE_EQ(first.at("dur"), 0.8);
}

TEST(ATrace, CountsTilesInFlightAndAwayFromHome) {
  // Tiles are in flight for 4.5 us, away for 8.8, and one sets out each microsecond.
  EXPECT_EQ(expect_counters_to_return(trace_of(orderly_run(100))),
            (std::map<std::string, int>{{"tiles in flight", 5}, {"tiles away from home", 9}}));
}

TEST(ATrace, CountsTilesHomeIfItKnowsThePool) {
  ARecording run = orderly_run(100);
  run.tiles = 12;
  int least = 12, last = 0;
  Json const trace = trace_of(run);
  for (Json const& event : of_phase(trace, "C")) {
    if (event.at("name") != "tiles home") continue;
    last = event.at("args").at("tiles");
    least = std::min(least, last);
  }
  EXPECT_EQ(least, 3) << "of 12, nine are away at the most";
  EXPECT_EQ(last, 12);
  expect_time_order(trace);
  run.every = 2;
  for (Json const& event : of_phase(trace_of(run), "C")) {
    EXPECT_NE(event.at("name"), "tiles home, of 1 in 2") << "of the others nothing is known";
  }
}

TEST(ATrace, HasARowForEachEngineThatSaysWhenAnyStreamHadItAtWork) {
  ARecording run;
  auto const one = run.row("lane 0 upload", Kind::stream, "GPU 0 upload"),
             other = run.row("lane 1 upload", Kind::stream, "GPU 0 upload"),
             stage = run.row("lane 0 stage", Kind::stream, "GPU 0 stage");
  run.put(0, one, Step::upload, 0, 100);
  run.put(1, other, Step::upload, 50, 150);
  run.put(2, one, Step::upload, 200, 300);
  run.put(0, stage, Step::stage, 100, 220);
  Json const trace = trace_of(run);
  expect_time_order(trace);
  expect_nesting(trace);
  std::map<int, std::string> names;
  for (Json const& event : of_phase(trace, "M")) {
    if (event.at("name") == "thread_name") names[event.at("tid")] = event.at("args").at("name");
  }
  EXPECT_EQ(names.at(4), "GPU 0 upload, by any stream");
  EXPECT_EQ(names.at(5), "GPU 0 stage, by any stream");
  std::vector<std::tuple<int, std::int64_t, std::int64_t>> work;
  for (Json const& event : of_phase(trace, "X")) {
    if (event.at("cat") == "engine") work.emplace_back(event.at("tid"), begin_of(event), end_of(event));
  }
  EXPECT_EQ(work,
            (std::vector<std::tuple<int, std::int64_t, std::int64_t>>{{4, 0, 150}, {5, 100, 220}, {4, 200, 300}}));
}

TEST(ATrace, OfSomeTilesSaysSo) {
  ARecording run = orderly_run(3);
  run.every = 16;
  run.missed = 7;
  Json const trace = trace_of(run);
  expect_sound(trace);
  EXPECT_EQ(trace.at("otherData").at("tiles looked at"), "1 in 16");
  EXPECT_EQ(trace.at("otherData").at("passages missed"), "7");
  EXPECT_TRUE(expect_counters_to_return(trace).count("tiles in flight, of 1 in 16"));
}

TEST(ATrace, SaysWhereItIsFromInWhateverCharacters) {
  ARecording run;
  run.put(0, run.row("a \"row\"\n", Kind::thread), Step::fill, 0, 10);
  run.put(0, run.row("\xff", Kind::queue), Step::inbox, 10, 20);
  Json const trace = trace_of(run, {.process = "penstock \\ bench", .facts = {{"machine", "two \"cores\""}}});
  EXPECT_EQ(trace.at("otherData").at("machine"), "two \"cores\"");
  EXPECT_EQ(trace.at("traceEvents").at(0).at("args").at("name"), "penstock \\ bench");
  EXPECT_EQ(of_phase(trace, "M").at(2).at("args").at("name"), "a \"row\"\n");
}

TEST(ATrace, ShowsSpansUnderWhateverNamesWithinTheStepsOfTheirThread) {
  std::vector<std::string> const names{"", std::string(5'000, 'x'), "\"q\" \\ \n", "\xc3\xa9t\xc3\xa9", "\xff"};
  ARecording run = orderly_run(1);
  for (std::string const& name : names) run.span(name, 0, 300, 800, 0);
  run.span("of no tile", 0, -100, 200);
  Json const trace = trace_of(run);
  expect_time_order(trace);
  expect_nesting(trace);
  std::vector<std::string> shown;
  for (Json const& event : of_phase(trace, "X")) {
    if (event.at("cat") != "span") continue;
    shown.push_back(event.at("name"));
    bool const of_none = shown.back() == "of no tile";
    EXPECT_EQ(event.contains("args"), !of_none) << event;
    EXPECT_EQ(end_of(event) - begin_of(event), of_none ? 300 : 500);
  }
  EXPECT_EQ(shown, (std::vector<std::string>{"of no tile", "\xef\xbf\xbd", names[3], names[2], names[1], ""}));
}

TEST(ATrace, OfNothingIsOneThatCanBeOpened) {
  Json const trace = trace_of({});
  EXPECT_EQ(trace.at("traceEvents").size(), of_phase(trace, "M").size());
  EXPECT_FALSE(trace.at("traceEvents").empty());
}

TEST(ATrace, BeginsAtZeroEvenIfADeviceWasEarlier) {
  ARecording run;
  auto const stream = run.row("upload", Kind::stream);
  run.put(0, stream, Step::upload, -1500, -500);
  run.put(1, stream, Step::upload, 500, 1500);
  Json const trace = trace_of(run);
  expect_sound(trace);
  EXPECT_EQ(begin_of(of_phase(trace, "X").at(0)), 0);
  EXPECT_EQ(begin_of(of_phase(trace, "X").at(1)), 2000);
}

TEST(ATrace, IsSoundWhateverWasRecorded) {
  std::mt19937 chance(11);
  auto const number = [&](int most) { return std::uniform_int_distribution<int>(0, most)(chance); };
  for (int round = 0; round < 200; ++round) {
    ARecording run;
    int const rows = 1 + number(5);
    for (int row = 0; row < rows; ++row) run.row("row", static_cast<Kind>(number(2)));
    for (int k = number(60); k > 0; --k) {
      auto const begin = number(100) - 20;
      run.put(static_cast<std::uint64_t>(number(8)), static_cast<std::uint32_t>(number(rows - 1)),
              static_cast<Step>(number(static_cast<int>(step_count) - 1)), begin, begin + number(30));
    }
    auto const thread = run.row("thread", Kind::thread);
    for (int k = number(20); k > 0; --k) {
      auto const begin = number(100) - 20;
      run.span("span", thread, begin, begin + number(30), 0);
    }
    Json const trace = trace_of(run);
    expect_sound(trace);
    ASSERT_EQ(of_phase(trace, "Xb").size(), run.passages.size() + run.spans.size());
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

/// Keeps nothing, but how much came and the most at once.
struct Scales : std::streambuf {
  std::streamsize all = 0, most_at_once = 0;
  std::streamsize xsputn(char const* /*text*/, std::streamsize size) override {
    all += size;
    most_at_once = std::max(most_at_once, size);
    return size;
  }
};

TEST(ATrace, OfAHundredThousandPassagesIsWrittenPieceByPieceAndSoon) {
  ARecording const run = orderly_run(10'000);
  Scales scales;
  std::ostream out(&scales);
  std::clock_t const start = std::clock();
  write_trace(out, run);
  double const seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(scales.all / 100'000, 300);
  EXPECT_LT(scales.most_at_once, 70'000);
  EXPECT_LT(seconds, 6) << "of a CPU; a fiftieth of that is usual without a sanitizer";
}

}  // namespace
}  // namespace penstock
