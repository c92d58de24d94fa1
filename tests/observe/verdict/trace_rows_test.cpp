// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/trace_rows.hpp"

#include <gtest/gtest.h>

#include "observe/verdict/a_recording.hpp"

namespace penstock {
namespace {

using Kind = RecordRow::Kind;

std::vector<std::string> names_of(TraceRows const& drawn) {
  std::vector<std::string> names;
  for (auto const& row : drawn.rows) names.push_back(row.name);
  return names;
}

TEST(TraceRows, AreThreadsThenStreamsEachAsOftenAsItTakes) {
  ARecording run;
  auto const stream = run.row("upload", Kind::stream), queue = run.row("inbox", Kind::queue),
             thread = run.row("ps-lane-0", Kind::thread);
  run.row("idle", Kind::thread);
  run.put(1, stream, Step::upload, 0, 10);
  run.put(2, stream, Step::upload, 5, 15);
  run.put(3, stream, Step::upload, 10, 20);
  run.put(4, queue, Step::inbox, 0, 10);
  run.put(5, thread, Step::enqueue, 0, 10);
  TraceRows const drawn = trace_rows(run);
  EXPECT_EQ(names_of(drawn), (std::vector<std::string>{"ps-lane-0", "upload", "upload (2)"}));
  EXPECT_EQ(drawn.row_of, (std::vector<std::uint32_t>{2, 3, 2, TraceRows::nowhere, 1}));
}

TEST(TraceRows, LetAThreadDoOneThingWithinAnother) {
  ARecording run;
  auto const thread = run.row("thread", Kind::thread), stream = run.row("stream", Kind::stream);
  for (auto const row : {thread, stream}) {
    run.put(1, row, Step::enqueue, 0, 10);
    run.put(2, row, Step::sink, 2, 10);
  }
  EXPECT_EQ(trace_rows(run).row_of, (std::vector<std::uint32_t>{1, 1, 2, 3}));
}

TEST(TraceRows, HaveSpansBehindThePassagesEachWithinItsStep) {
  ARecording run;
  auto const thread = run.row("thread", Kind::thread);
  run.span("inner", thread, 2, 10);
  run.span("outer", thread, 2, 10);
  run.span("outside", thread, 5, 12);
  run.put(1, thread, Step::fill, 2, 10);
  TraceRows const drawn = trace_rows(run);
  EXPECT_EQ(drawn.order, (std::vector<std::uint32_t>{0, 2, 1, 3}));
  EXPECT_EQ(drawn.row_of, (std::vector<std::uint32_t>{1, 1, 1, 2}));
}

TEST(TraceRows, KeepApartWhatIsNeitherApartNorWithin) {
  ARecording run;
  auto const thread = run.row("thread", Kind::thread);
  run.put(1, thread, Step::fill, 0, 10);
  run.put(2, thread, Step::fill, 5, 15);
  run.put(3, thread, Step::fill, 15, 20);
  EXPECT_EQ(trace_rows(run).row_of, (std::vector<std::uint32_t>{1, 2, 1}));
}

}  // namespace
}  // namespace penstock
