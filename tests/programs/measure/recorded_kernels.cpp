// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/recorded_kernels.hpp"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basic/busy.hpp"
#include "observe/cupti/activity_log.hpp"
#include "observe/verdict/overlap.hpp"
#include "penstock/observe.hpp"
#include "penstock/pipeline.hpp"

namespace penstock::measure {
namespace {

constexpr std::chrono::milliseconds each{2};
constexpr std::uint64_t tiles = 40;

/// Works on the Stamp that a tile brings along.
class NotingStage final : public Stage {
 public:
  explicit NotingStage(StageContext const&) {}
  void prepare(StreamRef stream) override { busy_prepare(stream); }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    busy(each, 1, tile.input.as<Stamp>().address(), stream);
    return sizeof(Stamp);
  }
};

double sum(std::vector<Interval> const& all) {
  double nanoseconds = 0;
  for (Interval const& one : all) nanoseconds += static_cast<double>(one.end - one.begin);
  return nanoseconds;
}

/// Records lie around the kernels, so never less is recorded than they noted. No other program makes it much more on a
/// GPU, but a sanitizer does; on the CPU device other work of the host comes between a mark and its kernel.
void expect_near(Device& device, double seen, double noted, char const* what) {
  EXPECT_GE(seen / noted, 0.95) << what << ": " << seen << " recorded, " << noted << " noted";
  if (device.info().kind != DeviceKind::cuda || std::getenv("PENSTOCK_ONE_KERNEL_AT_A_TIME") != nullptr) return;
  EXPECT_LE(seen / noted, 1.05) << what << ": " << seen << " recorded, " << noted << " noted";
}

}  // namespace

void expect_recorded_as_noted(Device& device, LaneShape shape, std::uint64_t every, bool cupti) {
  Recorder recorder({.every = every});
  std::size_t wanted = 0;
  for (std::uint64_t tile = 0; tile < tiles; ++tile) wanted += recorder.wants(tile) ? 1U : 0U;
  auto const log = cupti ? ActivityLog::open(recorder) : nullptr;
  Pipeline pipeline(device, {.tile = {.input_bytes = sizeof(Stamp), .output_bytes = sizeof(Stamp), .in_place = true},
                             .producers = 1,
                             .lanes = 2,
                             .tuning = {.tiles = 8, .slots = 2, .streams = StreamMode::own, .shape = shape},
                             .watching = {.recorder = &recorder, .ranges = log.get()}});
  std::mutex mutex;
  std::vector<Interval> noted;
  std::uint64_t given = 0;
  Report const report =
      pipeline.run(serial([&](Tile& tile) -> std::optional<std::size_t> {
                     if (given++ == tiles) return std::nullopt;
                     Stamp const fresh;
                     std::memcpy(tile.input().data(), &fresh, sizeof fresh);
                     return sizeof fresh;
                   }),
                   stage_per_lane<NotingStage>(), [&](Completion& done) {
                     Stamp stamp;
                     std::memcpy(&stamp, done.loan->output().data(), sizeof stamp);
                     if (!recorder.wants(done.loan->sequence)) return;
                     std::scoped_lock const lock(mutex);
                     noted.push_back({static_cast<std::int64_t>(stamp.start), static_cast<std::int64_t>(stamp.end)});
                   });
  ASSERT_TRUE(report.ok()) << describe(report);
  ASSERT_EQ(noted.size(), wanted);
  std::vector<Interval> recorded;
  if (log != nullptr) log->finish();
  Recording const seen = recorder.take();
  for (Passage const& passage : seen.passages) {
    bool const logged = seen.rows.at(passage.row).engine.find("CUPTI") != std::string::npos;
    if (passage.step == Step::stage && logged == cupti) recorded.push_back({passage.begin, passage.end});
  }
  ASSERT_EQ(recorded.size(), wanted);
  expect_near(device, sum(recorded), sum(noted), "all kernels together");
  double const any_recorded = static_cast<double>(Intervals(recorded).length());
  double const any_noted = static_cast<double>(Intervals(noted).length());
  expect_near(device, any_recorded, any_noted, "any kernel");
  if (device.info().kind != DeviceKind::cuda || every != 1) return;
  EXPECT_NEAR(any_recorded / sum(recorded), any_noted / sum(noted), 0.05) << "how much of it was at once";
}

}  // namespace penstock::measure
