// SPDX-License-Identifier: Apache-2.0
// Promises of `run` when what the user gave it fails.
#include <stdexcept>

#include "engine/core/pool.hpp"
#include "engine/flow/pipeline_contract.hpp"

namespace penstock {
namespace {

/// Throws where it is told to.
class BrokenSource final : public CountingSource {
 public:
  BrokenSource(std::uint64_t next_throws_at, std::uint64_t fill_throws_at)
      : CountingSource(1000), next_at_(next_throws_at), fill_at_(fill_throws_at) {}
  bool next(Tile& tile) override {
    if (tile.sequence == next_at_) throw std::runtime_error("the input is broken");
    return CountingSource::next(tile);
  }
  std::size_t fill(Tile& tile) override {
    if (tile.sequence == fill_at_) throw std::runtime_error("cannot read");
    return CountingSource::fill(tile);
  }

 private:
  std::uint64_t const next_at_, fill_at_;
};

TEST_P(PipelineContract, EndsTheInputWhereTheSourceThrowsAndSaysWhy) {
  open();
  BrokenSource source(40, 1000);
  Report const report = pipeline().run(source, add_one(), note());
  expect_each_once(40);
  EXPECT_EQ(report.tiles_done, 40u);
  EXPECT_FALSE(report.ok());
  ASSERT_TRUE(report.first_failure);
  EXPECT_EQ(report.first_failure->failure.stage, "source");
  EXPECT_EQ(report.first_failure->failure.reason, "the input is broken");
  EXPECT_FALSE(report.first_failure->sequence);
}

TEST_P(PipelineContract, FailsTheTileThatTheSourceCannotFillInItsPlace) {
  auto options = usual();
  options.ordered = true;
  open(options);
  BrokenSource source(100, 17);
  Report const report = pipeline().run(source, add_one(), note());
  auto const all = sunk();
  ASSERT_EQ(all.size(), 100u);
  EXPECT_EQ(all[17].sequence, 17u);
  EXPECT_EQ(all[17].outcome, Outcome::failed);
  EXPECT_EQ(all[17].stage, "source");
  EXPECT_EQ(report.tiles_failed, 1u);
  EXPECT_EQ(report.first_failure->failure.reason, "cannot read") << "the first in time";
}

TEST_P(PipelineContract, SurvivesASinkThatThrowsAndBringsItsTileHome) {
  open();
  CountingSource source(50);
  Report const report = pipeline().run(source, add_one(), note([](Completion& completion) {
                                         if (completion.loan->sequence % 10 == 0)
                                           throw std::runtime_error("the sink is full");
                                       }));
  expect_each_once(50);
  EXPECT_EQ(report.tiles_done, 50u);
  EXPECT_EQ(report.sink_failures, 5u);
  EXPECT_EQ(report.first_failure->failure.stage, "sink");
  EXPECT_EQ(pipeline().pool().on_loan(), 0u);
}

/// Computes nothing.
struct MuteStage : Stage {
  explicit MuteStage(StageContext const&) {}
  std::size_t run(DeviceTile const&, StreamRef) override { return 0; }
};

TEST_P(PipelineContract, SurvivesAMergeThatThrowsAndIsFitForAnotherRun) {
  open();
  CountingSource source(10);
  Report const report = pipeline().run(source, stage_per_lane<MuteStage>([](MuteStage&) { throw 4; }), note());
  EXPECT_EQ(report.tiles_done, 10u);
  ASSERT_TRUE(report.first_failure);
  EXPECT_EQ(report.first_failure->failure.stage, "merge");
  CountingSource again(10);
  EXPECT_TRUE(pipeline().run(again, add_one(), note()).ok());
}

struct UnfinishedStage final : MuteStage {
  using MuteStage::MuteStage;
  void finish(StreamRef) override { throw std::runtime_error("nothing to bring home"); }
};

TEST_P(PipelineContract, SurvivesAFinishThatThrowsAndMergesNothingOfIt) {
  open();
  CountingSource source(10);
  int merged = 0;
  Report const report =
      pipeline().run(source, stage_per_lane<UnfinishedStage>([&](UnfinishedStage&) { ++merged; }), note());
  EXPECT_EQ(report.tiles_done, 10u);
  ASSERT_TRUE(report.first_failure);
  EXPECT_EQ(report.first_failure->failure.stage, "finish");
  EXPECT_EQ(report.first_failure->failure.reason, "nothing to bring home");
  EXPECT_EQ(merged, 0);
  CountingSource again(10);
  EXPECT_TRUE(pipeline().run(again, add_one(), note()).ok());
}

TEST_P(PipelineContract, ThrowsIfNoStageCanBeMadeAndIsFitForAnotherRun) {
  open();
  CountingSource source(10);
  EXPECT_THROW(
      static_cast<void>(pipeline().run(
          source,
          {.make = [](StageContext const&) -> std::unique_ptr<Stage> { throw std::runtime_error("no"); }, .merge = {}},
          note())),
      std::runtime_error);
  EXPECT_EQ(pipeline().run(source, add_one(), note()).tiles_done, 10u);
}

TEST_P(PipelineContract, SaysWhyTheRunFailedAlsoIfATileFailedBefore) {
  auto options = usual();
  options.ordered = true;
  open(options);
  BrokenSource source(20, 0);
  Stages stages = stage_per_lane<MuteStage>([](MuteStage&) { throw std::runtime_error("cannot add up"); });
  Report const report = pipeline().run(source, stages, note([](Completion& completion) {
                                         if (completion.loan->sequence != 7) return;
                                         completion.loan.give_back();
                                         throw std::runtime_error("the sink is full");
                                       }));
  EXPECT_EQ(report.first_failure->failure.reason, "cannot read");
  ASSERT_TRUE(report.first_sink_failure);
  EXPECT_EQ(report.first_sink_failure->failure.reason, "the sink is full");
  EXPECT_EQ(report.first_sink_failure->sequence, 7u) << "although its tile had gone home";
  std::vector<std::string> reasons;
  for (Failure const& failure : report.run_failures) reasons.push_back(failure.stage + ": " + failure.reason);
  EXPECT_EQ(reasons,
            (std::vector<std::string>{"source: the input is broken", "merge: cannot add up", "merge: cannot add up"}));
  std::string const text = describe(report);
  EXPECT_NE(text.find("the input is broken"), std::string::npos) << text;
}

TEST_P(PipelineContract, SaysWhatIsMissingInsteadOfRunningWithoutIt) {
  open();
  CountingSource source(10);
  EXPECT_THROW(static_cast<void>(pipeline().run(source, Stages{}, note())), Error);
  EXPECT_THROW(static_cast<void>(pipeline().run(source, add_one(), Sink{})), Error);
  EXPECT_THROW(
      static_cast<void>(pipeline().run(serial(std::function<std::optional<std::size_t>(Tile&)>{}), add_one(), note())),
      Error);
  EXPECT_THROW(pipeline().start(Stages{}, note()), Error);
  EXPECT_EQ(pipeline().run(source, add_one(), note()).tiles_done, 10u) << "it is fit for another run";
  auto options = usual();
  options.host_stages = {{.name = "decode"}};
  EXPECT_THROW(Pipeline(device(), options), Error);
  EXPECT_THROW(Pipeline(DeviceGroup(std::vector<Device*>{}), usual()), Error);
  for (auto const member : {&PipelineOptions::producers, &PipelineOptions::lanes, &PipelineOptions::consumers}) {
    options = usual();
    options.*member = PipelineOptions::most_threads + 1;
    EXPECT_THROW(Pipeline(device(), options), Error);
  }
  options = usual();
  options.tile = {.input_bytes = ~std::size_t{255}, .output_bytes = 100};
  EXPECT_THROW(Pipeline(device(), options), Error);
  EXPECT_THROW(Pipeline(DeviceGroup{&device(), nullptr}, usual()), Error);
}

/// Claims more than fits into its third tile, and meddles with the places of all.
class LyingSource final : public CountingSource {
 public:
  using CountingSource::CountingSource;
  std::size_t fill(Tile& tile) override {
    bool const third = tile.sequence == 2;
    std::size_t const filled = CountingSource::fill(tile);
    tile.sequence = 7;
    return third ? filled + 1 : filled;
  }
};

TEST_P(PipelineContract, HoldsTheSourceToTheRoomAndThePlaceOfItsTiles) {
  auto options = usual();
  options.ordered = true;
  open(options);
  LyingSource source(20);
  Report const report = pipeline().run(source, add_one(), note());
  auto const all = sunk();
  ASSERT_EQ(all.size(), 20u);
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_EQ(all[i].stage, i == 2 ? "source" : "");
  }
  EXPECT_NE(report.first_failure->failure.reason.find("4097"), std::string::npos)
      << report.first_failure->failure.reason;
}

TEST_P(PipelineContract, HoldsHostStagesToTheRoomAndThePlaceOfTheirTiles) {
  auto options = usual();
  options.ordered = true;
  options.host_stages = {{.name = "inflate", .body = [](Tile& tile) {
                            if (tile.sequence == 2) tile.filled = tile.input().size() + 1;
                            tile.sequence = 7;
                          }}};
  open(options);
  CountingSource source(20);
  static_cast<void>(pipeline().run(source, add_one(), note()));
  auto const all = sunk();
  ASSERT_EQ(all.size(), 20u);
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_EQ(all[i].stage, i == 2 ? "inflate" : "");
  }
}

}  // namespace
}  // namespace penstock
