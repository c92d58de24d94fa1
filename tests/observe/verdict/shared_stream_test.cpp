// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/verdict/a_recording.hpp"
#include "observe/verdict/a_run_of_one_second.hpp"
#include "observe/verdict/overlap.hpp"
#include "observe/verdict/run_figures.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// Lanes that share a stream: each upload of one has a kernel of the other between its events.
TEST(StepsInASharedStream, HaveNoTimes) {
  ARecording recording;
  std::array const rows{recording.row("upload", RecordRow::Kind::stream),
                        recording.row("stage", RecordRow::Kind::stream),
                        recording.row("download", RecordRow::Kind::stream)};
  std::uint64_t tile = 0;
  auto const put = [&](Step step, std::int64_t begin_us, std::int64_t end_us) {
    recording.put(tile, rows[static_cast<std::size_t>(step) - static_cast<std::size_t>(Step::upload)], step,
                  1000 * begin_us, 1000 * end_us);
  };
  put(Step::upload, 0, 30);
  put(Step::stage, 20, 60);
  put(Step::download, 50, 80);
  tile = 1;
  put(Step::upload, 90, 100);
  Overlap const all = overlap_of(recording, SharedStream::all);
  EXPECT_DOUBLE_EQ(all.overlap.value(), 0);
  EXPECT_FALSE(all.speed_of_light);
  EXPECT_EQ(all.shared, std::chrono::microseconds(90));
  EXPECT_EQ(all.uploading + all.downloading + all.computing, std::chrono::nanoseconds(0));
  DeviceTimes const none = device_times(recording, SharedStream::all).value();
  EXPECT_FALSE(none.upload || none.kernel || none.download || none.speedup || none.possible_speedup);
  EXPECT_DOUBLE_EQ(none.overlap.value(), 0);

  Overlap const stage = overlap_of(recording, SharedStream::stage);
  EXPECT_FALSE(stage.overlap || stage.speed_of_light);
  EXPECT_EQ(stage.shared, std::chrono::microseconds(40));
  EXPECT_EQ(stage.uploading, std::chrono::microseconds(40));
  EXPECT_EQ(stage.computing, std::chrono::nanoseconds(0));
  DeviceTimes const some = device_times(recording, SharedStream::stage).value();
  EXPECT_DOUBLE_EQ(some.download.value(), 30e-6) << "copies have streams of their own";
  EXPECT_FALSE(some.kernel || some.overlap || some.speedup);
}

TEST_F(ARunOfOneSecond, SerialisesInTheLegacyStreamIfKernelsCouldGoOnAtOnce) {
  compute_in_the_legacy_stream();
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::serialising_stream);
  EXPECT_THAT(seen.evidence.at(0), HasSubstr("8 lanes computed in the one legacy default stream"));
  EXPECT_EQ(seen.advice.at(0).change, "--streams own");
  EXPECT_THAT(seen.advice.at(1).change, HasSubstr("penstock-legacy"));
  EXPECT_NEAR(seen.advice.at(0).gain, mostly(4 / 1.2), 0.01) << "what the producers can fill";
  EXPECT_FALSE(seen.streams_will_not_help);
  alone.kernel = 10'300;
  EXPECT_EQ(verdict().bound, Bound::kernel) << "it reaches what it reaches alone, in as many streams as it takes";
  alone.kernel.reset();
  EXPECT_EQ(verdict().bound, Bound::serialising_stream);
  EXPECT_TRUE(verdict().advice.empty()) << "what kernels would come to in other streams is not known";
}

TEST_F(ARunOfOneSecond, SerialisesInTheLegacyStreamAsFarAsOneCanTellWithoutATimeline) {
  run.shares = SharedStream::stage;
  run.overlap.reset();
  EXPECT_EQ(verdict().bound, Bound::serialising_stream);
  run.shares = SharedStream::none;
  EXPECT_EQ(verdict().bound, Bound::too_few_tiles);
}

/// Lanes of the legacy flavour that upload, compute and download in one stream each have one for all of them.
TEST_F(ARunOfOneSecond, SerialisesInTheLegacyStreamIfAllWorkOfAllLanesIsThere) {
  run.lanes = 4;
  run.lane_idle = 3.6;
  run.in_flight = 15.8;
  run.single_stream = true;
  run.shares = SharedStream::all;
  run.overlap = Overlap{.busy = long_of(0.97), .window = long_of(1), .shared = long_of(0.97), .overlap = 0};
  run.device_times = DeviceTimes{.overlap = 0};
  Verdict seen = verdict();
  EXPECT_EQ(seen.bound, Bound::serialising_stream) << describe(seen);
  EXPECT_EQ(seen.evidence.at(0),
            "4 lanes did all in the one legacy default stream, which had work 97 % of the time: nothing overlaps.");
  EXPECT_TRUE(seen.advice.empty()) << "neither lanes nor slots help, and of other streams nothing is known";
  EXPECT_EQ(describe(seen.device_times.value()), "Overlap is 0 %: all work waits in one stream.");
  alone.upload = alone.download = 40'000;
  alone.both = 38'000;
  alone.kernel = 60'000;
  seen = verdict();
  EXPECT_EQ(seen.advice.at(0).change, "--streams own");
  EXPECT_NEAR(seen.advice.at(0).gain, mostly(4 / 1.2), 0.01) << "what the producers can fill";
  alone.both = 10'300;
  EXPECT_EQ(verdict().bound, Bound::upload) << "the link is as full as it can be, in whatever streams";
}

TEST_F(ARunOfOneSecond, IsOfferedNoLanesWhereAllOfThemShareAStream) {
  run.shares = SharedStream::stage;
  run.overlap->shared = long_of(0.3);
  run.in_flight = 7.8;
  ASSERT_EQ(verdict().bound, Bound::too_few_tiles);
  for (Advice const& advice : verdict().advice) EXPECT_EQ(advice.change.find("--lanes"), std::string::npos);
  run.shares = SharedStream::none;
  EXPECT_EQ(verdict().advice.at(1).change, "--lanes 4");
}

/// Kernels of the CPU device take the host's CPUs. Seen to fail if only the device's part counts.
TEST_F(ARunOfOneSecond, IsNotToldToComputeAtOnceWhereTheHostHasNoCpuLeft) {
  compute_in_the_legacy_stream();
  run.cpus = 2;
  run.cpu_time = 1.98;
  EXPECT_EQ(verdict().bound, Bound::serialising_stream);
  for (Advice const& advice : verdict().advice) EXPECT_NE(advice.change, "--streams own");
  run.cpu_time = 0.2;
  EXPECT_EQ(verdict().advice.at(0).change, "--streams own");
}

}  // namespace
}  // namespace penstock
