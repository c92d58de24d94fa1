// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/run_figures.hpp"

#include <gtest/gtest.h>

#include "observe/verdict/a_recording.hpp"
#include "penstock/observe/recording.hpp"

namespace penstock {
namespace {

TEST(RunFigures, TakeFromARecordingWhatItTells) {
  RunFigures run;
  add_recording(run, orderly_run(1000));
  EXPECT_NEAR(run.enqueue.value(), 1000 * 0.6e-6, 1e-12);
  EXPECT_NEAR(run.meanwhile.value(), 1000 * 0.2e-6, 1e-12);
  EXPECT_NEAR(run.notice.value(), 1000 * 1.7e-6, 1e-12);
  EXPECT_NEAR(run.in_flight.value(), 4.5, 0.05);
  EXPECT_EQ(run.overlap.value().uploading, std::chrono::milliseconds(1));
  EXPECT_NEAR(run.device_times.value().upload.value(), 1e-6, 1e-12);
  run.wall = 1;
  run.tiles = 1000;
  EXPECT_TRUE(judge(run).device_times) << "a verdict passes them on";
}

TEST(RunFigures, LetTheTilesThatWereLookedAtStandForAll) {
  RunFigures run;
  ARecording some = orderly_run(10);
  some.every = 4;
  add_recording(run, some);
  EXPECT_NEAR(run.enqueue.value(), 40 * 0.6e-6, 1e-12);
  EXPECT_FALSE(run.overlap);
}

TEST(RunFigures, TakeNoSumsFromARecordingThatMissedSomething) {
  RunFigures run;
  ARecording most = orderly_run(10);
  most.missed = 1;
  add_recording(run, most);
  EXPECT_FALSE(run.enqueue || run.meanwhile || run.notice);
  EXPECT_TRUE(run.overlap && run.in_flight);
}

TEST(RunFigures, AreLeftAsTheyAreByARecordingOfNothing) {
  RunFigures run;
  run.enqueue = 7;
  add_recording(run, {});
  EXPECT_EQ(run.enqueue, 7);
  EXPECT_FALSE(run.overlap || run.in_flight || run.notice);
}

}  // namespace
}  // namespace penstock
