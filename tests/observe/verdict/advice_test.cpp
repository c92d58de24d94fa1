// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/advice.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "observe/verdict/model_run.hpp"
#include "observe/verdict/run_figures.hpp"

namespace penstock {
namespace {

enum class Promise { met, met_or_exceeded };

/// Follows the first advice, and expects the bound that is named and the gain that it promised, to a third.
void expect_advice_to_hold(ModelRun const& model, Bound bound, Ceilings const& ceilings = {},
                           Promise promise = Promise::met) {
  Verdict const verdict = judge(model.figures(), ceilings);
  EXPECT_EQ(bound_name(verdict.bound), bound_name(bound)) << describe(verdict);
  ASSERT_FALSE(verdict.advice.empty()) << describe(verdict);
  Advice const& advice = verdict.advice.front();
  double const gained = model.with(advice.change).bytes_per_second() / model.bytes_per_second();
  EXPECT_GE(gained - 1, (advice.gain - 1) * 2 / 3) << describe(verdict);
  EXPECT_TRUE(promise == Promise::met_or_exceeded || gained - 1 <= (advice.gain - 1) * 4 / 3) << describe(verdict);
}

TEST(Advice, HoldsForAModelWithTooFewProducers) {
  expect_advice_to_hold({.producers = 1}, Bound::fill);
}

TEST(Advice, HoldsForAModelWithTooFewProducersAndALinkThatIsNextToFull) {
  expect_advice_to_hold({.producers = 3, .down = false}, Bound::fill);
}

TEST(Advice, HoldsForAModelWithASlowSink) {
  expect_advice_to_hold({.producers = 8, .sink_time = 60e-6}, Bound::sink);
}

TEST(Advice, HoldsForAModelWithTilesTooSmallForItsLanes) {
  // A larger tile is less work for the sink, too, which no figure tells.
  expect_advice_to_hold({.lanes = 1, .slots = 16, .pool = 64, .tile_bytes = 4096}, Bound::submission, {},
                        Promise::met_or_exceeded);
}

TEST(Advice, HoldsForAModelWithTooFewSlots) {
  expect_advice_to_hold({.producers = 8, .lanes = 1, .slots = 1, .notice_time = 60e-6}, Bound::too_few_tiles);
}

TEST(Advice, HoldsForAModelWithTooFewTiles) {
  expect_advice_to_hold({.producers = 2, .slots = 8, .pool = 2, .fill_per_byte = 1 / 100e9}, Bound::too_few_tiles);
}

TEST(Advice, HoldsForAModelWhoseKernelsTakeTurnsInTheLegacyStream) {
  ModelRun const model{
      .producers = 16, .lanes = 4, .cpus = 32, .kernel_per_byte = 1 / 10e9, .kernels_at_once = 4, .legacy = true};
  expect_advice_to_hold(model, Bound::serialising_stream, {.kernel = 4 / model.kernel()});
}

TEST(Advice, HoldsForAModelWhoseOnlyLaneRunsOneSmallKernelAfterTheOther) {
  ModelRun const model{.producers = 16, .lanes = 1, .cpus = 32, .kernel_per_byte = 1 / 10e9, .kernels_at_once = 4};
  expect_advice_to_hold(model, Bound::serialising_stream, {.kernel = 4 / model.kernel()});
}

TEST(Advice, HoldsForAModelWithTilesTooSmallForTheLink) {
  ModelRun const model{.producers = 16,
                       .lanes = 4,
                       .slots = 32,
                       .cpus = 32,
                       .pool = 200,
                       .tile_bytes = 65536,
                       .sink_time = 0.5e-6,
                       .enqueue_time = 4e-6};
  expect_advice_to_hold(
      model, Bound::upload,
      {.upload = 1 / model.copy(), .download = 1 / model.copy(), .link_up = model.link, .link_down = model.link});
}

/// Neighbours are one copy and one launch, as on a GPU.
struct ModelOfSmallTiles : ModelRun {
  ModelOfSmallTiles() {
    producers = 16;
    lanes = 1;
    slots = 32;
    pool = 65;
    cpus = 32;
    tile_bytes = 16384;
    usual_batch = 128;
    sink_time = 0.3e-6;
    retire_time = 0.6e-6;
    enqueue_time = 10e-6;
  }
  Ceilings copies_alone() const {
    return {.upload = 1 / copy(), .download = 1 / copy(), .link_up = link, .link_down = link};
  }
};

TEST(Advice, IsToPutMoreTilesAtOnceWhereCallsAreTheBound) {
  ModelOfSmallTiles const model;
  expect_advice_to_hold(model, Bound::submission, model.copies_alone());
  EXPECT_EQ(judge(model.figures()).advice.front().change, "--batch 128 --slots 512 --tiles 640");
}

TEST(Advice, IsToPutMoreTilesAtOnceWhereTheLinkIsTheBound) {
  ModelOfSmallTiles model;
  model.enqueue_time = 0.8e-6;
  Ceilings const alone = model.copies_alone();
  expect_advice_to_hold(model, Bound::upload, alone);
  EXPECT_EQ(judge(model.figures(), alone).advice.front().change.find("--batch "), 0u);
  // Larger tiles are left where that would be of no use any more.
  model.usual_batch = 1;
  EXPECT_EQ(judge(model.figures(), alone).advice.front().change.find("--tile "), 0u);
}

TEST(Advice, OfALaneThatTakesBackOneTileAfterTheOtherIsNotToPutMoreAtOnce) {
  ModelOfSmallTiles model;
  model.batch = 16;
  model.retire_time = 3e-6;
  expect_advice_to_hold(model, Bound::completion, {}, Promise::met_or_exceeded);
  for (Advice const& advice : judge(model.figures()).advice)
    EXPECT_EQ(advice.change.find("--batch"), std::string::npos);
}

TEST(Advice, HoldsForAModelWithTilesTooSmallForTheWayBack) {
  ModelRun const model{.producers = 16,
                       .lanes = 4,
                       .slots = 32,
                       .cpus = 32,
                       .pool = 200,
                       .tile_bytes = 65536,
                       .sink_time = 0.5e-6,
                       .enqueue_time = 4e-6,
                       .up = false};
  expect_advice_to_hold(model, Bound::download, {.download = 1 / model.copy(), .link_down = model.link});
}

TEST(Advice, HoldsForAModelWhoseKernelsLeaveRoomForThoseOfMoreLanes) {
  ModelRun const model{.producers = 16,
                       .lanes = 2,
                       .slots = 8,
                       .cpus = 32,
                       .pool = 60,
                       .kernel_per_byte = 1 / 10e9,
                       .kernels_at_once = 8,
                       .gpu = true};
  expect_advice_to_hold(model, Bound::kernel, {.kernel = 8 / model.kernel()});
}

/// Seen to fail if advice does not ask what the stage needs: more lanes would not be used.
TEST(Advice, IsNoMoreLanesWhereTheStageSeesAllTilesInTheirSequence) {
  ModelRun const model{
      .producers = 16, .lanes = 1, .cpus = 32, .kernel_per_byte = 1 / 10e9, .kernels_at_once = 8, .gpu = true};
  RunFigures figures = model.figures();
  auto const names_lanes = [&] {
    Verdict const verdict = judge(figures, {.kernel = 8 / model.kernel()});
    return std::ranges::any_of(verdict.advice,
                               [](auto const& one) { return one.change.find("--lanes") != std::string::npos; });
  };
  ASSERT_TRUE(names_lanes());
  figures.one_lane = true;
  EXPECT_FALSE(names_lanes());
}

TEST(Advice, HoldsForAModelWhoseCpusCopyInVain) {
  expect_advice_to_hold({.producers = 4, .lanes = 2, .cpus = 2, .copy_set_up = 1e-6, .link = 12e9, .on_host = true},
                        Bound::cpus);
}

TEST(Advice, HoldsForAModelWhoseTilesWaitToBeNoticed) {
  expect_advice_to_hold({.producers = 8, .lanes = 1, .slots = 2, .notice_time = 300e-6, .notices = true},
                        Bound::completion, {}, Promise::met_or_exceeded);
}

TEST(Advice, HoldsForAModelWithOneStreamInAll) {
  ModelRun const model{.producers = 8, .lanes = 1, .kernel_per_byte = 1 / 60e9, .single = true};
  expect_advice_to_hold(model, Bound::serialising_stream);
}

TEST(Advice, HoldsForAModelWhoseLanesHaveAllTheirWorkInTheLegacyStream) {
  ModelRun const model{.producers = 16,
                       .lanes = 4,
                       .cpus = 32,
                       .kernel_per_byte = 1 / 60e9,
                       .kernels_at_once = 4,
                       .legacy = true,
                       .single = true};
  Ceilings const alone{
      .upload = 1 / model.copy(), .download = 1 / model.copy(), .both = 1 / model.copy(), .kernel = 4 / model.kernel()};
  expect_advice_to_hold(model, Bound::serialising_stream, alone);
  EXPECT_TRUE(judge(model.figures()).advice.empty()) << "events tell nothing of a step in such a stream";
}

/// None of these can be followed by an option, or nothing is known to help.
TEST(Advice, IsNoneOfOptionsWhereTheSourceWaitsOrTheRunIsShort) {
  ModelRun const model{.producers = 4};
  RunFigures waits = model.figures();
  waits.fill = 1;
  waits.borrow_wait = 0.1;
  waits.sink = waits.enqueue.emplace(0.1);
  waits.lane_idle = 1.8;
  waits.overlap.reset();
  ASSERT_EQ(judge(waits).bound, Bound::source_waits);
  EXPECT_TRUE(judge(waits).advice.empty());
  RunFigures brief = model.figures();
  brief.tiles = 7;
  EXPECT_TRUE(judge(brief).advice.empty());
}

TEST(Advice, IsOnlyToWorkLessWhereTheLinkIsFull) {
  ModelRun const model{.producers = 16, .cpus = 32};
  Verdict const verdict = judge(model.figures(), {.upload = 1 / model.copy(), .link_up = model.link});
  EXPECT_EQ(verdict.bound, Bound::upload);
  ASSERT_EQ(verdict.advice.size(), 1u) << describe(verdict);
  EXPECT_EQ(verdict.advice.front().change.find("--"), std::string::npos);
}

}  // namespace
}  // namespace penstock
