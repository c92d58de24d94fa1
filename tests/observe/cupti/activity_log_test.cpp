// SPDX-License-Identifier: Apache-2.0
#include "observe/cupti/activity_log.hpp"

#include <cstdlib>
#include <map>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "observe/cupti/activity_records.hpp"
#include "penstock/error.hpp"
#include "penstock/observe.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// The library that tests/observe/cupti/stand_in.cpp is made to.
std::string const fake = PENSTOCK_STAND_IN_CUPTI;

std::string refusal(std::string const& library) {
  Recorder recorder({.capacity = 1 << 14});
  try {
    ActivityLog::open(recorder, library);
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    return error.what();
  }
  return "";
}

TEST(AnActivityLog, LeavesARecordingWithoutWhatItTold) {
  Recorder recorder({.capacity = 1 << 14});
  auto const log = ActivityLog::open(recorder, fake);
  auto const row = recorder.add_row("lane 0 upload", RecordRow::Kind::stream, "GPU 0 upload");
  recorder.note(row, Step::upload, 0, Recorder::Clock::now(), Recorder::Clock::now());
  { RangeHere const range(log.get(), Step::enqueue, 0); }
  log->finish();
  Recording const all = recorder.take();
  ASSERT_GT(all.passages.size(), 1U);
  Recording const rest = without_activities(all);
  ASSERT_EQ(rest.passages.size(), 1U);
  EXPECT_EQ(rest.passages[0].row, row);
}

TEST(AnActivityLog, TellsWhenTheWorkOfEachWantedTileRan) {
  Recorder recorder({.capacity = 1 << 14, .every = 2});
  auto const log = ActivityLog::open(recorder, fake);
  constexpr std::uint64_t each = 50;
  std::vector<std::thread> lanes;
  for (std::uint64_t lane = 0; lane < 2; ++lane) {
    lanes.emplace_back([&, lane] {
      for (std::uint64_t i = 0; i < each; ++i) {
        RangeHere const filled(log.get(), Step::fill, i);
        RangeHere const range(log.get(), Step::enqueue, lane * each + i);
      }
    });
  }
  for (auto& lane : lanes) lane.join();
  log->finish();
  std::int64_t const finished = recorder.since_start(Recorder::Clock::now());
  Recording const seen = recorder.take();
  std::map<std::uint64_t, std::map<Step, Passage>> ways;
  for (Passage const& passage : seen.passages) {
    EXPECT_TRUE(ways[passage.tile].try_emplace(passage.step, passage).second);
    EXPECT_LE(0, passage.begin);
    EXPECT_LE(passage.begin, passage.end);
    EXPECT_LE(passage.end, finished);
  }
  std::size_t wanted = 0;
  for (std::uint64_t tile = 0; tile < 2 * each; ++tile) wanted += recorder.wants(tile) ? 1U : 0U;
  ASSERT_GT(wanted, 0u);
  ASSERT_EQ(ways.size(), wanted);
  for (auto const& [tile, way] : ways) {
    EXPECT_TRUE(recorder.wants(tile));
    ASSERT_EQ(way.size(), 3u) << tile;
    EXPECT_EQ(way.at(Step::upload).end, way.at(Step::stage).begin);
    EXPECT_EQ(way.at(Step::stage).end, way.at(Step::download).begin);
  }
  ASSERT_EQ(seen.rows.size(), 3u);
  RecordRow const& row = seen.rows.at(ways.at(0).at(Step::upload).row);
  EXPECT_EQ(row.name, "GPU 0 upload, CUPTI's stream 7");
  EXPECT_EQ(row.engine, "GPU 0 upload, as CUPTI logged it");
}

TEST(AnActivityLog, IsOneOfAProcessAtATime) {
  Recorder recorder({.capacity = 1 << 14});
  auto log = ActivityLog::open(recorder, fake);
  EXPECT_THAT(refusal(fake), HasSubstr("one at a time"));
  log.reset();
  EXPECT_EQ(refusal(fake), "");
}

TEST(AnActivityLog, SaysWhyItCannotBe) {
  EXPECT_THAT(refusal("nowhere/libcupti.so.13"), HasSubstr("There is no CUPTI: nowhere/libcupti.so.13"));
  EXPECT_THAT(refusal("nowhere/libcupti.so.13"), HasSubstr("Install the CUDA toolkit"));
  EXPECT_THAT(refusal("libdl.so.2"), HasSubstr("none of CUDA 12 or 13"));
  setenv("STAND_IN_CUPTI_REFUSES", "35", 1);
  EXPECT_THAT(refusal(fake), HasSubstr("only administrators may profile here"));
  setenv("STAND_IN_CUPTI_REFUSES", "999", 1);
  EXPECT_THAT(refusal(fake), HasSubstr("error 999"));
  EXPECT_THAT(refusal(fake), HasSubstr("NVIDIA's driver is installed"));
  unsetenv("STAND_IN_CUPTI_REFUSES");
  EXPECT_EQ(refusal(fake), "") << "what was refused is no hindrance later";
}

}  // namespace
}  // namespace penstock
