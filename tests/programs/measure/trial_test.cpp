// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/trial.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/error.hpp"
#include "programs/measure/judged_run.hpp"
#include "programs/measure/open_loop.hpp"

namespace penstock::measure {
namespace {

/// Notes which threads borrow, and how many of them are at a tile of theirs at once.
class Watcher final : public Ranges {
 public:
  std::function<void()> on_fill = {};

  void begin(Step step, std::optional<std::uint64_t>) noexcept override {
    std::scoped_lock const lock(mutex_);
    if (step == Step::borrow) borrowers_.insert(std::this_thread::get_id());
    if (step != Step::fill) return;
    ++fills_;
    most_at_once_ = std::max(most_at_once_, ++filling_);
    if (on_fill) on_fill();
  }
  void end(Step step) noexcept override {
    std::scoped_lock const lock(mutex_);
    if (step == Step::fill) --filling_;
  }
  std::size_t borrowers() const { return borrowers_.size(); }
  std::uint64_t fills() const { return fills_; }
  int most_at_once() const { return most_at_once_; }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> borrowers_;
  std::uint64_t fills_ = 0;
  int filling_ = 0;
  int most_at_once_ = 0;
};

/// A load for a CPU device: tiles of 4 KiB, a millisecond apart.
struct ALoad : testing::Test {
  cpu::CpuDevice device{{.compute_threads = 1}};
  Setting setting{
      .pipeline = {.producers = 4, .lanes = 1, .tuning = {.slots = 4}}, .tile = 4096, .values = {{"work", "copy"}}};
  Watcher watcher;
  TrialOptions options{
      .warm_up = std::chrono::milliseconds(1), .window = std::chrono::milliseconds(5), .ranges = &watcher};
  std::stop_source stop;

  std::optional<Latency> latency() { return run_open_loop(device, setting, 1000, options, stop.get_token()); }
};

/// Seen to fail with as many producers as the setting says.
TEST_F(ALoad, ThatNothingIsFilledForHasOneProducer) {
  ASSERT_TRUE(latency());
  EXPECT_EQ(watcher.borrowers(), 1U);
}

/// Seen to fail with a source that waits in `next`, where the others wait for its lock.
TEST_F(ALoad, IsWaitedForByEachProducerForItself) {
  setting.values.set("fill", "memcpy");
  ASSERT_TRUE(latency());
  EXPECT_GE(watcher.borrowers(), 2U);
  EXPECT_GE(watcher.most_at_once(), 2);
}

/// Seen to fail with a load that has no tiles for the pipeline to settle by.
TEST_F(ALoad, ComesBeforeItCounts) {
  ASSERT_TRUE(latency());
  EXPECT_EQ(watcher.fills(), settling_tiles({.lanes = 1, .tuning = {.slots = 4}}) + 100) << "as many as quantiles want";
}

/// Seen to fail with a pipeline that is given all the time that it wants.
TEST_F(ALoad, ThatIsTooMuchIsAnErrorAndSoonOver) {
  setting.values.set("work", "busy:20000us");
  options.window = std::chrono::hours(1);
  options.most_late = std::chrono::milliseconds(100);
  try {
    latency();
    FAIL() << "it kept up";
  } catch (Error const& error) {
    EXPECT_NE(std::string(error.what()).find("does not keep up with tiles that come each 1.0 ms"), std::string::npos)
        << error.what();
  }
}

TEST_F(ALoad, EndsSoonOnceItsDeviceIsLost) {
  options.window = std::chrono::hours(1);
  watcher.on_fill = [&] { device.abandon(Error(ErrorKind::device_lost, "It fell off.")); };
  EXPECT_THROW(latency(), Error);
}

TEST_F(ALoad, HasNoMoreProducersThanItsSetting) {
  setting.values.set("fill", "memcpy");
  setting.pipeline.producers = 1;
  ASSERT_TRUE(latency());
  EXPECT_EQ(watcher.borrowers(), 1U);
}

/// Seen to fail with a meter that is told of no tiles to settle by.
TEST(ATrial, CountsNothingUntilItsLanesHaveCapturedInAllSlots) {
  cpu::CpuDevice device({.compute_threads = 1});
  Setting const setting{.pipeline = {.producers = 1, .lanes = 1, .tuning = {.slots = 64, .graphs = Graphs::always}},
                        .tile = 4096};
  TrialOptions options{.warm_up = {}, .settling = std::chrono::hours(1), .window = {}};
  auto const trial = run_trial(device, setting, options, {});
  ASSERT_TRUE(trial);
  EXPECT_GT(trial->report.tiles_done, settling_tiles(trial->options));
  EXPECT_GT(settling_tiles(trial->options), 64U);
}

/// A job of a user's: it adds up the bytes of nine tiles and a half, of which each has its number in all bytes.
struct AJobOfAUsers : testing::Test {
  /// Each lane's sum, by a kernel.
  struct Sum final : Stage {
    explicit Sum(StageContext const&) {}
    std::size_t run(DeviceTile const& tile, StreamRef stream) override {
      stream.launch(1, [this, input = tile.input](KernelBlock block) {
        for (std::byte const byte : input.in(block)) sum += std::to_integer<std::uint64_t>(byte);
      });
      return 0;
    }
    std::uint64_t sum = 0;
  };

  cpu::CpuDevice device{{.compute_threads = 1}};
  std::atomic<std::uint64_t> most_place{0};
  Job job{
      .options = {number_option("more", "Is added to the sum", 0, 0, 100)},
      .make =
          [this](JobPoint const& point) {
            auto const sum = std::make_shared<std::uint64_t>(point.values.number("more"));
            std::size_t const full = point.tile_bytes;
            auto const fill = [full](TilePlace place, std::span<std::byte> input) {
              std::ranges::fill(input, static_cast<std::byte>(place.index));
              return place.index == 9 ? full / 2 : full;
            };
            return JobWork{
                .source =
                    [fill](Pool const&) { return std::make_unique<decltype(generate(10, fill))>(generate(10, fill)); },
                .stages = stage_per_lane<Sum>([sum](Sum& lane) { *sum += lane.sum; }),
                .sink = [this](Completion& done) { most_place = std::max(most_place.load(), done.loan->sequence); },
                .digest = [sum] { return *sum; }};
          },
      .item = "byte",
      .items = [](Tile const& tile) { return tile.filled; }};
  Setting setting{.pipeline = {.producers = 2, .lanes = 2}, .tile = 4096, .job = &job};
  TrialOptions options{.warm_up = {}, .window = std::chrono::milliseconds(5)};
};

TEST_F(AJobOfAUsers, IsRunOnceFromBeginningToEnd) {
  JobRun const whole = run_whole(device, setting, options, {});
  ASSERT_TRUE(whole.report.ok()) << describe(whole.report);
  EXPECT_EQ(whole.report.tiles_done, 10U);
  EXPECT_EQ(whole.items, 9 * 4096U + 2048);
  EXPECT_EQ(whole.digest, 36 * 4096U + 9 * 2048U);
  setting.values.set("more", "7");
  EXPECT_EQ(digest_of(device, setting, options, {}), 36 * 4096U + 9 * 2048U + 7);
}

/// Seen to fail with a sink that sees the places of the whole input.
TEST_F(AJobOfAUsers, IsMeasuredPassAfterPass) {
  auto const trial = run_trial(device, setting, options, {});
  ASSERT_TRUE(trial);
  EXPECT_GT(trial->report.tiles_done, 10U);
  EXPECT_EQ(most_place, 9U);
  EXPECT_GT(trial->bytes_per_tile, 4096 * 0.9);
  EXPECT_LT(trial->bytes_per_tile, 4096);
  EXPECT_DOUBLE_EQ(trial->items_per_tile, trial->bytes_per_tile);
  ASSERT_TRUE(run_open_loop(device, setting, 1000, options, {}));
  EXPECT_EQ(most_place, 9U);
}

/// Seen to fail where a repeated input says nothing of what its passes left out.
TEST_F(AJobOfAUsers, IsNotMeasuredIfItsInputIsLost) {
  struct Lossy final : Source {
    bool next(Tile& tile) override { return tile.sequence < 3; }
    std::size_t fill(Tile& tile) override { return tile.input().size(); }
    std::vector<LeftOut> left_out() const override {
      return {{.unit = "record", .reason = "too long for a tile", .count = 2, .remedy = "make tiles larger"}};
    }
  };
  Job const lossy{.make = [](JobPoint const&) {
    return JobWork{.source = [](Pool const&) { return std::make_unique<Lossy>(); },
                   .stages = on_device([](DeviceTile const&, StreamRef) {}),
                   .sink = {}};
  }};
  setting.job = &lossy;
  auto const expect_refused = [](auto const& measure) {
    try {
      measure();
      ADD_FAILURE() << "it is measured";
    } catch (Error const& error) {
      EXPECT_THAT(error.what(),
                  testing::HasSubstr("2 records, too long for a tile: make tiles larger than 4 KiB with --tile"));
    }
  };
  expect_refused([&] { run_trial(device, setting, options, {}); });
  expect_refused([&] { run_open_loop(device, setting, 1000, options, {}); });
}

/// Seen to fail with timed runs that are made as whole ones.
TEST_F(AJobOfAUsers, KnowsWhetherItsDigestIsAskedFor) {
  std::set<bool> digested;
  auto const make = job.make;
  job.make = [make, &digested](JobPoint const& point) {
    digested.insert(point.digested);
    return make(point);
  };
  run_whole(device, setting, options, {});
  EXPECT_EQ(digested, std::set{true});
  digested.clear();
  ASSERT_TRUE(run_trial(device, setting, options, {}));
  ASSERT_TRUE(run_open_loop(device, setting, 1000, options, {}));
  EXPECT_EQ(digested, std::set{false});
}

/// Seen to fail with a source that goes on: the meter counts no tile.
TEST_F(AJobOfAUsers, EndsIfItsSinkThrows) {
  auto const make = job.make;
  job.make = [make](JobPoint const& point) {
    JobWork work = make(point);
    work.sink = [](Completion&) { throw Error(ErrorKind::system, "The disk is full."); };
    return work;
  };
  EXPECT_THROW(run_trial(device, setting, options, {}), Error);
  EXPECT_THROW(run_open_loop(device, setting, 1000, options, {}), Error);
}

/// A short run of 64 KiB tiles on the CPU device.
struct AJudgedRun : testing::Test {
  cpu::CpuDevice device{{.compute_threads = 1}};
  Setting setting{.pipeline = {.producers = 1, .lanes = 1}, .tile = std::size_t{64} << 10};
  std::stop_source source;
  JudgedRunOptions options{.cpus = 2};
  std::optional<JudgedRun> judged() { return judged_run(device, setting, options, source.get_token()); }
};

TEST_F(AJudgedRun, SaysWhatBoundedItAndWhatTheDeviceDid) {
  setting.pipeline.tuning.transport = Transport::copies;
  auto const run = judged();
  ASSERT_TRUE(run);
  EXPECT_NE(run->verdict.bound, Bound::nothing_measured) << describe(run->verdict);
  EXPECT_GT(run->verdict.bytes_per_second, 0);
  DeviceTimes const times = run->verdict.device_times.value();
  EXPECT_TRUE(times.upload && times.kernel && times.download);
  EXPECT_LE(times.speedup.value(), times.possible_speedup.value() + 1e-9);
}

/// Seen to fail if they count all the same.
TEST_F(AJudgedRun, OfGraphsIsNotJudgedByWhatIsLaunchedCallByCall) {
  setting.values.set("work", "busy:200us");
  setting.pipeline.tuning.batch = 1;
  setting.pipeline.tuning.transport = Transport::copies;
  options.ceilings = {.kernel = 1e9, .submission = 1e9};
  auto const tells_of_kernels_alone = [&](Graphs graphs) {
    setting.pipeline.tuning.graphs = graphs;
    auto const run = judged();
    return run && describe(run->verdict).find("ernels alone") != std::string::npos;
  };
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(tells_of_kernels_alone(Graphs::always));
  // Another part may be the bound on a busy machine, so it is told of in one of many runs.
  bool told = false;
  for (int i = 0; i < 100 && !told; ++i) told = tells_of_kernels_alone(Graphs::never);
  EXPECT_TRUE(told);
}

/// Seen to fail if the window stays at 50 ms: that has ten tiles of 5 ms.
TEST_F(AJudgedRun, IsLongEnoughToBeJudged) {
  setting.values.set("work", "busy:5000us");
  auto const run = judged();
  ASSERT_TRUE(run);
  EXPECT_THAT(describe(run->verdict), testing::Not(testing::HasSubstr("too short to be judged")));
}

TEST_F(AJudgedRun, ForWhichThereIsNoRoomIsAnError) {
  options.room = 1;
  EXPECT_THROW(judged(), Error);
}

TEST_F(AJudgedRun, ThatIsStoppedHasNoVerdict) {
  source.request_stop();
  EXPECT_FALSE(judged());
}

}  // namespace
}  // namespace penstock::measure
