// SPDX-License-Identifier: Apache-2.0
// Tests what a pipeline tells a recorder.
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <stdexcept>
#include <thread>

#include "engine/flow/pipeline_contract.hpp"
#include "penstock/observe.hpp"

namespace penstock {
namespace {

/// Passages by tile and step.
using Ways = std::map<std::uint64_t, std::map<Step, Passage>>;

constexpr std::array whole_way{Step::borrow, Step::fill,     Step::host,   Step::inbox,   Step::enqueue, Step::upload,
                               Step::stage,  Step::download, Step::notice, Step::deliver, Step::sink};

Ways ways_of(Recording const& recording) {
  Ways ways;
  for (Passage const& passage : recording.passages) {
    auto const [place, fresh] = ways[passage.tile].try_emplace(passage.step, passage);
    EXPECT_TRUE(fresh) << "tile " << passage.tile << " was twice in " << step_name(passage.step);
    EXPECT_LE(passage.begin, passage.end) << step_name(passage.step);
    EXPECT_LT(passage.row, recording.rows.size());
  }
  return ways;
}

/// Most that the clocks of host and device may differ by.
constexpr std::int64_t clocks = 200'000;

TEST_P(PipelineContract, TellsARecorderEachTilesWayFromBorrowToSink) {
  for (LaneShape const shape : all_lane_shapes) {
    Recorder recorder({.capacity = 1 << 14});
    auto options = usual();
    options.tuning.shape = shape;
    options.tuning.transport = Transport::copies;
    options.watching.recorder = &recorder;
    options.host_stages = {{.name = "decode", .body = [](Tile&) {}}};
    open(options);
    CountingSource source(60);
    EXPECT_TRUE(pipeline().run(source, add_one(), note()).ok());
    Recording const seen = recorder.take();
    EXPECT_EQ(seen.missed, 0u);
    Ways const ways = ways_of(seen);
    ASSERT_EQ(ways.size(), 60u);
    for (auto const& [tile, way] : ways) {
      ASSERT_EQ(way.size(), whole_way.size()) << "tile " << tile;
      for (std::size_t i = 1; i < whole_way.size(); ++i) {
        Passage const& before = way.at(whole_way[i - 1]);
        Passage const& after = way.at(whole_way[i]);
        // The device may start before the lane has given it all, and what it does is on its own clock.
        if (whole_way[i] == Step::upload) {
          EXPECT_GE(after.begin, before.begin - clocks) << "tile " << tile;
        } else {
          bool const device = happens_on_device(whole_way[i]) || happens_on_device(whole_way[i - 1]);
          EXPECT_GE(after.begin, before.end - (device ? clocks : 0))
              << "tile " << tile << ": " << step_name(whole_way[i]) << " before " << step_name(whole_way[i - 1]);
        }
      }
    }
    destroy_pipeline();
  }
}

TEST_P(PipelineContract, SaysThatARecorderIsFull) {
  for (std::size_t const capacity : {std::size_t{10}, std::size_t{1} << 14}) {
    Recorder recorder({.capacity = capacity});
    auto options = usual();
    options.watching.recorder = &recorder;
    open(options);
    CountingSource source(60);
    Report const report = pipeline().run(source, add_one(), note());
    std::string const full = "The recorder was full: " + std::to_string(recorder.missed()) + " passages";
    auto const said = std::count_if(report.remarks.begin(), report.remarks.end(),
                                    [&](std::string const& remark) { return remark.starts_with(full); });
    EXPECT_EQ(said, recorder.missed() > 0 ? 1 : 0);
    EXPECT_EQ(recorder.missed() > 0, capacity == 10);
    destroy_pipeline();
  }
}

TEST_P(PipelineContract, TellsARecorderOfTheTilesItWantsAndNoOthers) {
  Recorder recorder({.capacity = 1 << 14, .every = 4});
  auto options = usual();
  options.tuning.transport = Transport::copies;
  options.watching.recorder = &recorder;
  open(options);
  CountingSource source(40);
  EXPECT_TRUE(pipeline().run(source, add_one(), note()).ok());
  Ways const ways = ways_of(recorder.take());
  std::size_t wanted = 0;
  for (std::uint64_t tile = 0; tile < 40; ++tile) wanted += recorder.wants(tile) ? 1U : 0U;
  EXPECT_GT(wanted, 0u);
  EXPECT_EQ(ways.size(), wanted);
  for (auto const& [tile, way] : ways) {
    EXPECT_TRUE(recorder.wants(tile));
    EXPECT_EQ(way.size(), whole_way.size() - 1) << "no host stage";
  }
}

TEST_P(PipelineContract, TellsARecorderThatAMappedTileHadNoCopies) {
  for (LaneShape const shape : all_lane_shapes) {
    Recorder recorder({.capacity = 1 << 14});
    auto options = usual();
    options.tuning.shape = shape;
    options.tuning.transport = Transport::mapped;
    options.watching.recorder = &recorder;
    open(options);
    CountingSource source(60);
    EXPECT_TRUE(pipeline().run(source, add_one(), note()).ok());
    Ways const ways = ways_of(recorder.take());
    ASSERT_EQ(ways.size(), 60u);
    for (auto const& [tile, way] : ways) {
      EXPECT_EQ(way.size(), whole_way.size() - 3) << "no host stage, and no copies of tile " << tile;
      EXPECT_FALSE(way.contains(Step::upload) || way.contains(Step::download));
      ASSERT_TRUE(way.contains(Step::stage) && way.contains(Step::notice));
      EXPECT_GE(way.at(Step::stage).begin, way.at(Step::enqueue).begin - clocks);
      EXPECT_GE(way.at(Step::notice).begin, way.at(Step::stage).end - clocks);
    }
    destroy_pipeline();
  }
}

TEST_P(PipelineContract, TellsARecorderHowFarAFailedTileCame) {
  Recorder recorder({.capacity = 1 << 14});
  auto options = usual();
  options.tuning.transport = Transport::copies;
  options.watching.recorder = &recorder;
  open(options);
  CountingSource source(20);
  static_cast<void>(pipeline().run(source, add_one([](DeviceTile const& tile, StreamRef) {
                                     if (tile.sequence == 7) throw std::runtime_error("not this one");
                                   }),
                                   note()));
  Ways const ways = ways_of(recorder.take());
  ASSERT_EQ(ways.size(), 20u);
  EXPECT_FALSE(ways.at(7).contains(Step::download));
  EXPECT_TRUE(ways.at(7).contains(Step::fill) && ways.at(7).contains(Step::sink));
  EXPECT_TRUE(ways.at(8).contains(Step::download));
}

/// A source with a span for each tile.
class SpanningSource final : public CountingSource {
 public:
  SpanningSource(std::uint64_t count, Watching const& watching) : CountingSource(count), watching_(watching) {}
  std::size_t fill(Tile& tile) override {
    Span const span(watching_, step_name(Step::fill), tile.sequence);
    return CountingSource::fill(tile);
  }

 private:
  Watching const& watching_;
};

/// Spans have the names of the steps that they are in.
TEST_P(PipelineContract, HasSpansOfTheProgramWithinTheirSteps) {
  Recorder recorder({.capacity = 1 << 14});
  Watching const watching{.recorder = &recorder};
  auto options = usual();
  options.tuning.transport = Transport::copies;
  options.tuning.batch = 1;
  options.tuning.graphs = Graphs::never;
  options.watching = watching;
  options.host_stages = {
      {.name = "decode", .body = [&](Tile& tile) { Span const span(watching, step_name(Step::host), tile.sequence); }}};
  open(options);
  auto const sink = note();
  EXPECT_TRUE(pipeline()
                  .run(SpanningSource(60, watching), add_one([&](DeviceTile const& tile, StreamRef) {
                         Span const span(watching, step_name(Step::enqueue), tile.sequence);
                       }),
                       [&](Completion& done) {
                         Span const span(watching, step_name(Step::sink), done.loan->sequence);
                         sink(done);
                       })
                  .ok());
  Recording const seen = recorder.take();
  Ways const ways = ways_of(seen);
  for (RecordedSpan const& span : seen.spans) {
    for (auto const& [step, passage] : ways.at(span.tile.value())) {
      if (step_name(step) != seen.span_names.at(span.name)) continue;
      EXPECT_EQ(span.row, passage.row) << step_name(step);
      EXPECT_GE(span.begin, passage.begin) << step_name(step);
      EXPECT_LE(span.end, passage.end) << step_name(step);
    }
  }
  auto const times = span_times(seen);
  EXPECT_EQ(times.size(), 4u);
  for (SpanTimes const& one : times) {
    EXPECT_EQ(one.calls, 60u) << one.name;
    EXPECT_EQ(one.kernel.has_value(), one.name == step_name(Step::enqueue)) << one.name;
  }
}

/// Counts ranges by their steps, and those that are open.
struct CountedRanges final : Ranges {
  std::array<std::atomic<int>, step_count> begun{};
  std::atomic<int> open{0};
  void begin(Step step, std::optional<std::uint64_t> tile) noexcept override {
    ++begun[static_cast<std::size_t>(step)];
    ++open;
    EXPECT_EQ(tile.has_value(), step != Step::borrow) << step_name(step);
  }
  void end(Step /*step*/) noexcept override { --open; }
};

TEST_P(PipelineContract, ShowsRangesWhatItsThreadsAreAt) {
  CountedRanges ranges;
  auto options = usual();
  options.watching.ranges = &ranges;
  options.host_stages = {{.name = "decode", .body = [](Tile&) {}}};
  open(options);
  CountingSource source(60);
  EXPECT_TRUE(pipeline().run(source, add_one(), note()).ok());
  auto const begun = [&](Step step) { return ranges.begun[static_cast<std::size_t>(step)].load(); };
  EXPECT_GE(begun(Step::borrow), 60);
  for (Step const step : {Step::fill, Step::host, Step::enqueue, Step::sink}) EXPECT_EQ(begun(step), 60);
  for (Step const step : {Step::inbox, Step::upload, Step::stage, Step::download, Step::notice, Step::deliver}) {
    EXPECT_EQ(begun(step), 0) << step_name(step) << " is no thread's";
  }
  EXPECT_EQ(ranges.open, 0);
}

/// Lets no producer fill a tile alone: the first two are filled at the same time, so each by a producer of its own.
class SourceForTwo final : public CountingSource {
 public:
  using CountingSource::CountingSource;
  std::size_t fill(Tile& tile) override {
    if (tile.sequence < 2) inside_.fetch_add(1);
    while (inside_ < 2) std::this_thread::yield();
    return CountingSource::fill(tile);
  }

 private:
  std::atomic<int> inside_{0};
};

TEST_P(PipelineContract, NamesTheThreadsAndStreamsThatARecordersRowsAre) {
  Recorder recorder({.capacity = 1 << 14});
  auto options = usual();
  options.watching.recorder = &recorder;
  open(options);
  SourceForTwo source(60);
  static_cast<void>(pipeline().run(source, add_one(), note()));
  std::vector<std::string> names;
  for (RecordRow const& row : recorder.take().rows) names.push_back(row.name);
  for (char const* name :
       {"ps-fill-0", "ps-fill-1", "ps-lane-0", "ps-lane-1", "lane 0 upload", "lane 1 stage", "lane 1 download"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

}  // namespace
}  // namespace penstock
