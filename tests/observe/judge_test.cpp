// SPDX-License-Identifier: Apache-2.0
#include "observe/judge.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>

#include "support/says_it_is_a_gpu.hpp"
#include <gtest/gtest.h>

#include "models/modelled_time.hpp"
#include "penstock/observe.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/report.hpp"

namespace penstock {
namespace {

using std::chrono::steady_clock;

/// Counts, and lets others wait until it has come that far.
class Counter {
 public:
  void count() {
    std::lock_guard const lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void await(std::uint64_t least) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= least; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t count_ = 0;
};

void be_busy(std::chrono::nanoseconds time) {
  for (auto const until = steady_clock::now() + time; steady_clock::now() < until;) {
  }
}

/// Busy nine times as long as it was not: whatever the machine stops meanwhile, nothing else is in use as much.
class Slow {
 public:
  void take() {
    auto const begun = steady_clock::now();
    idle_ += begun - ended_;
    be_busy(std::max<std::chrono::nanoseconds>(std::chrono::milliseconds(1), 9 * idle_ - busy_));
    ended_ = steady_clock::now();
    busy_ += ended_ - begun;
  }

 private:
  steady_clock::time_point ended_ = steady_clock::now();
  std::chrono::nanoseconds idle_{0}, busy_{0};
};

/// Computes for so much CPU time of its thread; that of others does not count.
void compute(std::chrono::nanoseconds time) {
  auto const used = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  for (auto const until = used() + time; used() < until;) {
  }
}

/// All that an embedding program has: a device, a pipeline with a recorder, a report. Tiles of `bytes` go up and down.
struct ARunOfAnEmbeddingProgram : testing::Test {
  static constexpr std::uint64_t tiles = 40;
  cpu::CpuDevice device{{.compute_threads = 1}};
  Recorder recorder{{.capacity = 1 << 14}};
  PipelineOptions options{.producers = 1,
                          .lanes = 1,
                          .consumers = 1,
                          .tuning = {.tiles = 8, .slots = 4},
                          .watching = {.recorder = &recorder}};
  RunFigures figures;

  ARunOfAnEmbeddingProgram() { set_bytes(std::size_t{64} << 10); }
  void set_bytes(std::size_t bytes) { options.tile = {.input_bytes = bytes, .output_bytes = bytes, .in_place = true}; }

  /// The source's part, and the sink's, for each tile.
  Verdict judged(std::function<void(Tile&)> const& filling, std::function<void()> const& taking) {
    class Filling final : public Source {
     public:
      explicit Filling(std::function<void(Tile&)> const& how) : how_(how) {}
      bool next(Tile& tile) override { return tile.sequence < tiles; }
      std::size_t fill(Tile& tile) override {
        how_(tile);
        return tile.input().size();
      }

     private:
      std::function<void(Tile&)> const& how_;
    };
    Filling source(filling);
    Pipeline pipeline(device, options);
    Report const report =
        pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}), [&](Completion const&) { taking(); });
    EXPECT_TRUE(report.ok()) << describe(report);
    figures = figures_of(report, pipeline.options(), recorder.take(), device);
    // This holds whatever else this machine does.
    RunFigures quiet = figures;
    quiet.cpus = 16;
    quiet.cpu_of_others = 0;
    return judge(quiet);
  }
};

TEST_F(ARunOfAnEmbeddingProgram, WhoseSourceIsSlowIsBoundByIt) {
  Counter done;
  auto const fill_slowly = [&](Tile const& tile) {
    done.await(tile.sequence);  // The one before it is through then.
    be_busy(std::chrono::milliseconds(5));
  };
  Verdict const seen = judged(fill_slowly, [&] { done.count(); });
  EXPECT_EQ(seen.bound, Bound::fill) << describe(seen);
  EXPECT_EQ(seen.streams_will_not_help.value().reason, NoStreams::host) << describe(seen);
  EXPECT_EQ(figures.producers, 1U);
  EXPECT_EQ(figures.tiles, tiles);
  EXPECT_DOUBLE_EQ(figures.bytes_up, 65'536);
  EXPECT_DOUBLE_EQ(figures.bytes_down, 65'536);
}

TEST_F(ARunOfAnEmbeddingProgram, WhoseSinkIsSlowIsBoundByIt) {
  Slow sink;
  Verdict const seen = judged([](Tile const&) {}, [&] { sink.take(); });
  ASSERT_EQ(seen.bound, Bound::sink) << describe(seen);
  EXPECT_EQ(seen.streams_will_not_help.value().reason, NoStreams::host);
}

TEST_F(ARunOfAnEmbeddingProgram, WithOneSlotHasTooFewTiles) {
  options.tuning.slots = 1;
  set_bytes(std::size_t{16} << 20);
  Verdict seen;  // A machine that stops a thread in its copies makes these the bound.
  for (int turn = 0; turn < 5 && seen.bound != Bound::too_few_tiles; ++turn) seen = judged([](Tile const&) {}, [] {});
  EXPECT_EQ(seen.bound, Bound::too_few_tiles) << describe(seen);
  // A lane that had to wait for a CPU had its slot empty meanwhile, and no use of another.
  bool const in_use = figures.in_flight.value() >= 0.8;
  EXPECT_EQ(seen.advice.empty() ? "" : seen.advice.at(0).change, in_use ? "--slots 2" : "") << describe(seen);
}

TEST_F(ARunOfAnEmbeddingProgram, ThatPushesHasNoProducers) {
  Pipeline pipeline(device, options);
  pipeline.start(on_device([](DeviceTile const&, StreamRef) {}), [](Completion const&) {});
  for (std::uint64_t k = 0; k < tiles; ++k) {
    Loan tile = pipeline.feed().borrow();
    tile->filled = tile->input().size();
    pipeline.feed().submit(std::move(tile));
  }
  Report const report = pipeline.drain();
  Recording const recording = recorder.take();
  figures = figures_of(report, pipeline.options(), recording, device);
  EXPECT_EQ(figures.producers, 0U);
  EXPECT_TRUE(figures.overlap && figures.in_flight && figures.enqueue && figures.lane_idle);
  EXPECT_NE(judge(figures).bound, Bound::nothing_measured);
  EXPECT_LE(figures.wall, std::chrono::duration<double>(report.wall).count()) << "lanes are made before the first tile";
}

TEST_F(ARunOfAnEmbeddingProgram, KnowsItsCpuTimeAndItsCpus) {
  judged([](Tile const&) { compute(std::chrono::milliseconds(1)); }, [] {});
  EXPECT_GT(figures.cpus, 0U);
  ASSERT_TRUE(figures.cpu_time);
  EXPECT_GE(*figures.cpu_time, 0.75e-3 * tiles) << "that one thread was busy for";
}

TEST_F(ARunOfAnEmbeddingProgram, HasNoCpuTimeOnAModelledMachine) {
  cpu::CpuDevice const modelled{{.compute_threads = 1, .time = cpu::modelled_time(cpu::DeviceModel{})}};
  Report report;
  report.wall = std::chrono::milliseconds(1);
  report.cpu = std::chrono::milliseconds(20);
  EXPECT_FALSE(figures_of(report, options, Recording{}, modelled).cpu_time);
  EXPECT_FALSE(
      figures_of(report, options, Metered{.seconds = 1e-3, .cpu_seconds = 20e-3}, Recording{}, modelled, 1).cpu_time);
  EXPECT_TRUE(figures_of(report, options, Recording{}, device).cpu_time);
}

/// Seen to fail if the number of GPUs does not count.
TEST_F(ARunOfAnEmbeddingProgram, IsToldOfLargerBatchesOnlyWhereItsGpusGainByThem) {
  support::SaysItIsAGpu const gpu;
  Metered const metered{.seconds = 1e-3, .cpu_seconds = 1e-3};
  Report report;
  report.devices.resize(1);
  EXPECT_EQ(figures_of(report, options, metered, Recording{}, gpu, 1).usual_batch, 128U);
  EXPECT_EQ(figures_of(report, options, metered, Recording{}, device, 1).usual_batch, 1U);
  report.devices.resize(4);
  EXPECT_EQ(figures_of(report, options, metered, Recording{}, gpu, 1).usual_batch, 32U);
  set_bytes(std::size_t{4} << 20);
  EXPECT_EQ(figures_of(report, options, metered, Recording{}, gpu, 1).usual_batch, 1U) << "more would not fit";
}

/// Seen to fail if the reserve counts.
TEST_F(ARunOfAnEmbeddingProgram, HasNoMoreTilesThanItsProducersAtWorkWereLent) {
  options.producers = 6;
  options.tuning.tiles = 20;
  Metered const metered{.seconds = 1, .cpu_seconds = 1};
  Report report;
  report.wall = std::chrono::seconds(2);
  report.pool_reserve = 8;
  EXPECT_EQ(figures_of(report, options, metered, Recording{}, device, 1).pool, 20U);
  report.producers_rest = std::chrono::seconds(5 * 2);
  EXPECT_EQ(figures_of(report, options, metered, Recording{}, device, 1).pool, 12U);
}

TEST_F(ARunOfAnEmbeddingProgram, ThatPushesSaysHowLongItWaitedForTiles) {
  Pipeline pipeline(device, options);
  std::chrono::nanoseconds waited{0};
  Counter asked;
  std::uint64_t before = 0;
  auto const hold_all = [&](Completion const&) {
    asked.await(std::min(options.tuning.tiles + ++before, tiles));  // One more than there are, but for the last.
    be_busy(std::chrono::milliseconds(2));
  };
  pipeline.start(on_device([](DeviceTile const&, StreamRef) {}), hold_all);
  for (std::uint64_t k = 0; k < tiles; ++k) {
    auto const since = steady_clock::now();
    asked.count();
    Loan tile = pipeline.feed().borrow();
    waited += steady_clock::now() - since;
    tile->filled = tile->input().size();
    pipeline.feed().submit(std::move(tile));
  }
  Report const report = pipeline.drain();
  EXPECT_GT(report.borrow_wait, std::chrono::milliseconds(20));
  EXPECT_LE(report.borrow_wait, waited);
  pipeline.start(on_device([](DeviceTile const&, StreamRef) {}), [](Completion const&) {});
  EXPECT_EQ(pipeline.drain().borrow_wait.count(), 0) << "of this run";
}

TEST_F(ARunOfAnEmbeddingProgram, CountsFromItsFirstTileAndItsDeviceForAsLong) {
  auto const at = [](double milliseconds) { return static_cast<std::int64_t>(milliseconds * 1e6); };
  Recording recording;
  recording.rows = {{"one"}};
  for (auto const& [step, begin, end] :
       {std::tuple{Step::fill, 10, 20}, {Step::upload, 20, 25}, {Step::download, 25, 30}, {Step::sink, 40, 50}}) {
    recording.passages.push_back({.tile = 0, .row = 0, .step = step, .begin = at(begin), .end = at(end)});
  }
  Report report;
  report.tiles_done = 1;
  report.wall = std::chrono::milliseconds(100);
  report.lanes.emplace_back();
  report.lanes[0].served = std::chrono::milliseconds(80);
  report.lanes[0].idle = std::chrono::milliseconds(60);
  options.lanes = 1;
  figures = figures_of(report, options, recording, device, 6);
  EXPECT_DOUBLE_EQ(figures.wall, 0.04);
  EXPECT_DOUBLE_EQ(figures.lane_idle.value(), 0.03);
  EXPECT_EQ(figures.overlap.value().window, std::chrono::milliseconds(40));
  EXPECT_EQ(figures.cpus, 6U);
  recording.missed = 1;
  figures = figures_of(report, options, recording, device);
  EXPECT_DOUBLE_EQ(figures.wall, 0.1) << "nobody knows when the last was through";
  EXPECT_EQ(figures.overlap.value().window, std::chrono::milliseconds(10));
}

TEST_F(ARunOfAnEmbeddingProgram, HasItsVerdictInItsReportIfThePipelineIsWatched) {
  options.watching.recorder = nullptr;
  options.watching.hooks = {verdicts()};
  Pipeline pipeline(device, options);
  auto const fill = [](TilePlace, std::span<std::byte> input) {
    be_busy(std::chrono::milliseconds(1));
    return input.size();
  };
  auto const stage = on_device([](DeviceTile const&, StreamRef) {});
  for (int run = 0; run < 2; ++run) {
    Report const report = pipeline.run(generate(tiles, fill), stage, [](Completion&) {});
    ASSERT_NE(report.verdict, nullptr) << "run " << run;
    EXPECT_NE(report.verdict->bound, Bound::nothing_measured);
    EXPECT_GT(report.verdict->bytes_per_second, 0);
    EXPECT_NE(describe(report).find(describe(*report.verdict)), std::string::npos);
    for (Advice const& advice : report.verdict->advice) {
      EXPECT_EQ(advice.change.find("--"), std::string::npos) << "options are for users of commands";
    }
  }
  Report const empty = pipeline.run(generate(0, fill), stage, [](Completion&) {});
  EXPECT_EQ(empty.verdict, nullptr) << "nothing was done";
}

TEST_F(ARunOfAnEmbeddingProgram, HasNoVerdictUnlessThatIsAskedFor) {
  options.watching.recorder = nullptr;
  Pipeline pipeline(device, options);
  auto const stage = on_device([](DeviceTile const&, StreamRef) {});
  auto const fill = [](TilePlace, std::span<std::byte> input) { return input.size(); };
  EXPECT_EQ(pipeline.run(generate(3, fill), stage, [](Completion&) {}).verdict, nullptr);
}

TEST_F(ARunOfAnEmbeddingProgram, IsNotWatchedBesideARecorderOfTheProgram) {
  options.watching.hooks = {verdicts()};
  EXPECT_THROW(Pipeline(device, options), Error);
}

}  // namespace
}  // namespace penstock
