// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "observe/verdict/a_recording.hpp"
#include "observe/verdict/passages.hpp"

namespace penstock {
namespace {

using Kind = RecordRow::Kind;
using std::chrono::nanoseconds;

/// A thread and its spans, which are noted as they end.
struct SomeSpans : testing::Test {
  ARecording run;
  std::uint32_t const thread = run.row("ps-fill-0", Kind::thread);

  std::map<std::string, SpanTimes> by_name() const {
    std::map<std::string, SpanTimes> all;
    for (SpanTimes& one : span_times(run)) all[one.name] = one;
    return all;
  }
};

TEST_F(SomeSpans, HaveTheirOwnTimeWithoutThatOfTheSpansWithinThem) {
  run.span("parse", thread, 10, 40);
  run.span("check", thread, 50, 60);
  run.span("decode", thread, 0, 100);
  run.span("decode", thread, 100, 130);
  auto const all = by_name();
  EXPECT_EQ(all.at("decode").calls, 2u);
  EXPECT_EQ(all.at("decode").total, nanoseconds(130));
  EXPECT_EQ(all.at("decode").self, nanoseconds(90));
  EXPECT_EQ(all.at("parse").self, nanoseconds(30));
  EXPECT_EQ(all.at("check").total, nanoseconds(10));
}

TEST_F(SomeSpans, AreTakenFromTheNextOuterOneOnly) {
  run.span("c", thread, 20, 30);
  run.span("b", thread, 10, 40);
  run.span("a", thread, 0, 100);
  auto const all = by_name();
  EXPECT_EQ(all.at("a").self, nanoseconds(70));
  EXPECT_EQ(all.at("b").self, nanoseconds(20));
  EXPECT_EQ(all.at("c").self, nanoseconds(10));
}

TEST_F(SomeSpans, OfOneNameWithinAnotherCountOnceInTotal) {
  run.span("walk", thread, 20, 50);
  run.span("look", thread, 10, 60);
  run.span("walk", thread, 0, 100);
  run.span("walk", thread, 200, 210);
  auto const all = by_name();
  EXPECT_EQ(all.at("walk").calls, 3u);
  EXPECT_EQ(all.at("walk").total, nanoseconds(110));
  EXPECT_EQ(all.at("walk").self, nanoseconds(90));
  EXPECT_EQ(all.at("look").self, nanoseconds(20));
}

/// Of two with the same times the one that was noted later is the outer one.
TEST_F(SomeSpans, NestByTheirEndsWhereTheClockIsCoarse) {
  run.span("inner", thread, 0, 100);
  run.span("outer", thread, 0, 100);
  auto const all = by_name();
  EXPECT_EQ(all.at("outer").self, nanoseconds(0));
  EXPECT_EQ(all.at("inner").self, nanoseconds(100));
}

TEST_F(SomeSpans, OfOtherThreadsAreNotWithinThem) {
  auto const other = run.row("ps-fill-1", Kind::thread);
  run.span("decode", thread, 0, 100);
  run.span("check", other, 10, 40);
  EXPECT_EQ(by_name().at("decode").self, nanoseconds(100));
}

TEST_F(SomeSpans, OfAPartOfARecordingAreCutToIt) {
  run.span("parse", thread, 10, 40);
  run.span("decode", thread, 0, 100);
  run.span("check", thread, 200, 300);
  static_cast<Recording&>(run) = within(run, 20, 90);
  auto const all = by_name();
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(all.at("decode").total, nanoseconds(70));
  EXPECT_EQ(all.at("decode").self, nanoseconds(50));
}

TEST_F(SomeSpans, CountAmongThePassagesForWhichAPageHasRoom) {
  for (int i = 0; i < 100; ++i) {
    run.put(static_cast<std::uint64_t>(i), thread, Step::fill, 10 * i, 10 * i + 9);
    run.span("decode", thread, 10 * i + 1, 10 * i + 8);
  }
  Recording const some = middle_of(run, 50);
  EXPECT_LE(some.passages.size() + some.spans.size(), 50u);
  EXPECT_GT(some.spans.size(), 15u);
  EXPECT_EQ(some.span_names, run.span_names);
  EXPECT_LE(middle_of(run, 150).spans.size(), 75u);
  EXPECT_EQ(middle_of(run, 200).spans.size(), 100u);
}

/// A lane that enqueues tiles 1 and 2, one after the other, which the device then computes.
struct SpansOfALane : SomeSpans {
  std::uint32_t const lane = run.row("ps-lane-0", Kind::thread);
  std::uint32_t const stream = run.row("lane 0 stage", Kind::stream);
  SpansOfALane() {
    for (std::uint64_t const tile : {1U, 2U}) {
      auto const begin = static_cast<std::int64_t>(100 * tile);
      run.put(tile, lane, Step::enqueue, begin, begin + 100);
      run.put(tile, stream, Step::stage, 1000 * begin, 1000 * begin + 500);
    }
  }
};

TEST_F(SpansOfALane, HaveTheTimeOfTheKernelOfTheirTile) {
  run.span("launch", lane, 110, 120, 1);
  run.span("launch", lane, 130, 140, 1);
  run.span("bind", lane, 125, 145, 2);
  run.span("both", lane, 150, 260);
  run.span("one", lane, 210, 260);
  run.span("decode", thread, 110, 120, 1);
  run.span("beyond", lane, 250, 350, 2);
  auto const all = by_name();
  EXPECT_EQ(all.at("launch").kernel, nanoseconds(500)) << "once for the tile";
  EXPECT_EQ(all.at("bind").kernel, nanoseconds(500)) << "as it says, whenever the batch was enqueued";
  EXPECT_EQ(all.at("both").kernel, nanoseconds(1000));
  EXPECT_EQ(all.at("one").kernel, nanoseconds(500));
  EXPECT_EQ(all.at("decode").kernel, std::nullopt) << "a source launches nothing";
  EXPECT_EQ(all.at("beyond").kernel, std::nullopt);
}

TEST_F(SpansOfALane, HaveThatTimeOnceIfAnotherLogHasItToo) {
  run.put(1, run.row("CUPTI", Kind::stream), Step::stage, 100'100, 100'400);
  run.span("launch", lane, 110, 120, 1);
  EXPECT_EQ(by_name().at("launch").kernel, nanoseconds(500));
}

std::vector<std::string> names_by(Recording const& run, SpanOrder order) {
  std::vector<std::string> names;
  for (SpanTimes const& one : span_times(run, order)) names.push_back(one.name);
  return names;
}

TEST_F(SpansOfALane, AreInTheOrderThatIsAskedFor) {
  run.span("inner", thread, 10, 100);
  run.span("outer", thread, 0, 110);
  for (int i = 0; i < 3; ++i) run.span("launch", lane, 110 + i, 111 + i, 1);
  EXPECT_EQ(names_by(run, SpanOrder::self), (std::vector<std::string>{"inner", "outer", "launch"}));
  EXPECT_EQ(names_by(run, SpanOrder::total), (std::vector<std::string>{"outer", "inner", "launch"}));
  EXPECT_EQ(names_by(run, SpanOrder::calls), (std::vector<std::string>{"launch", "inner", "outer"}));
  EXPECT_EQ(names_by(run, SpanOrder::kernel), (std::vector<std::string>{"launch", "inner", "outer"}));
}

TEST_F(SpansOfALane, MakeATable) {
  run.span("parse", thread, 1'000'000, 1'250'000);
  run.span("decode", thread, 0, 2'000'000);
  run.span("launch", lane, 110, 120, 1);
  EXPECT_EQ(span_table(run),
            "span    calls  self ms  total ms   mean us  kernel ms\n"
            "decode      1    1.750     2.000  2000.000          -\n"
            "parse       1    0.250     0.250   250.000          -\n"
            "launch      1    0.000     0.000     0.010      0.001\n");
}

TEST_F(SomeSpans, MakeATableWithALineForEachNameWhateverIsInIt) {
  for (std::string const& name : {std::string(), std::string(300, 'x'), std::string("two\nlines"), std::string("\xff"),
                                  std::string("\"q\""), std::string("\xe2\x86\x92 go")})
    run.span(name, thread, 0, 1'000'000);
  std::string const table = span_table(run);
  EXPECT_EQ(std::ranges::count(table, '\n'), 7);
  EXPECT_NE(table.find("\n\"\"  "), std::string::npos);
  EXPECT_NE(table.find("\ntwo\\nlines  "), std::string::npos);
  EXPECT_NE(table.find("\n\\\"q\\\"  "), std::string::npos);
  EXPECT_NE(table.find("\n" + std::string(48, 'x') + "...  "), std::string::npos);
  // In characters, not in bytes, each line ends at the same place.
  EXPECT_NE(table.find("\n\xe2\x86\x92 go" + std::string(47, ' ') + "  "), std::string::npos);
}

TEST_F(SomeSpans, SayWhatTheTableLacks) {
  EXPECT_EQ(span_table(run), "");
  run.span("decode", thread, 0, 1'000'000);
  run.every = 4;
  run.spans_missed = 7;
  std::string const table = span_table(run);
  EXPECT_NE(table.find("\nOf tiles one in 4 was recorded.\n"), std::string::npos);
  EXPECT_NE(table.find("\nThe recorder was full: 7 spans are missing.\n"), std::string::npos);
}

}  // namespace
}  // namespace penstock
