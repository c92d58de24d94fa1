// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/verdict/a_run_of_one_second.hpp"
#include "penstock/report.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST_F(ARunOfOneSecond, IsBoundByProducersThatFillAllTheTime) {
  run.fill = 3.9;
  run.borrow_wait = 0.05;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::fill);
  EXPECT_EQ(seen.advice.at(0).change, "--producers 8");
  EXPECT_NEAR(seen.advice.at(0).gain, mostly(2), 0.01) << "twice as many fill no more than twice as much";
  EXPECT_THAT(seen.streams_will_not_help.value().sentence, HasSubstr("the device waits for the host"));
  EXPECT_THAT(seen.evidence.at(1), HasSubstr("producers waited for tiles 1 % of the time"));
}

TEST_F(ARunOfOneSecond, WhoseTilesComeOneByOneTakesNoTurns) {
  run.lanes = 1;
  run.producers = 1;
  run.fill = 0.99;
  run.borrow_wait = 0;
  run.lane_idle = 0.8;
  run.in_flight = 0.9;
  run.overlap = device_use(0.3, 0.3, 0.25, 0.85);
  EXPECT_EQ(verdict().bound, Bound::fill) << describe(verdict());
  run.fill = 0.2;
  run.sink = 0.95;
  EXPECT_EQ(verdict().bound, Bound::sink) << describe(verdict());
  run.sink = 0.2;
  EXPECT_EQ(verdict().bound, Bound::serialising_stream) << describe(verdict());
}

TEST_F(ARunOfOneSecond, IsBoundByASinkThatNeverWaits) {
  run.sink = 0.97;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::sink);
  EXPECT_THAT(seen.advice.at(0).change, HasSubstr("--consumers 2 and a sink that they may call at once"));
  EXPECT_THAT(seen.streams_will_not_help.value().sentence, HasSubstr("the sink is at its limit"));
}

TEST_F(ARunOfOneSecond, IsBoundBySubmissionIfTilesAreTooSmall) {
  run.bytes_up = run.bytes_down = run.tile_bytes = 4096;
  run.tiles = 200'000;
  run.enqueue = 1.9;
  run.lane_idle = 0.02;
  run.in_flight = 7;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::submission);
  EXPECT_THAT(seen.streams_will_not_help.value().sentence,
              HasSubstr("tiles of 4 KiB are too small: a lane is busy with one for 9.9 us"));
  EXPECT_EQ(seen.advice.at(0).change, "--tile 16KiB");
  EXPECT_EQ(seen.advice.at(1).change, "--lanes 4");
}

TEST_F(ARunOfOneSecond, IsToldToFillItsTilesIfTheyAreNearlyEmpty) {
  run.bytes_up = 4096;
  run.bytes_down = 32;
  run.enqueue = 1.9;
  run.lane_idle = 0.02;
  run.in_flight = 7;
  run.overlap = device_use(0.1, 0.1, 0.1, 0.3);
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::submission);
  bool const fuller = std::any_of(seen.advice.begin(), seen.advice.end(),
                                  [](Advice const& advice) { return advice.change == "fuller tiles"; });
  EXPECT_TRUE(fuller);
}

TEST_F(ARunOfOneSecond, IsBoundByCompletionsIfLanesAreBusyTakingTilesBack) {
  run.enqueue = 0.3;
  run.lane_idle = 0.1;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::completion);
  EXPECT_FALSE(seen.streams_will_not_help);
}

TEST_F(ARunOfOneSecond, IsBoundByCompletionsIfTilesWaitToBeNoticed) {
  run.in_flight = 8;
  run.notice = 6;  // Tiles are in flight for 8 tile-seconds.
  run.signal = "callback_in_stream";
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::completion);
  EXPECT_THAT(seen.evidence.at(0), HasSubstr("Of 800 us in flight a tile was done for 600 us"));
  EXPECT_EQ(seen.advice.at(0).change, "--signal event_poll");
  EXPECT_NEAR(seen.advice.at(0).gain, mostly(1.6), 0.01);
  EXPECT_EQ(seen.advice.at(1).change, "--slots 8 --tiles 25");
  EXPECT_NEAR(seen.advice.at(1).gain, mostly(2 / 1.3), 0.01) << "a part is busy for three tenths of the time";
  run.slots = 32;
  run.in_flight = 64;
  run.notice = 48;
  run.pool = 80;
  for (Advice const& advice : verdict().advice) EXPECT_EQ(advice.change.find("--slots"), std::string::npos);
}

TEST_F(ARunOfOneSecond, WhoseSmallTilesWaitToBeNoticedIsOfferedBatchesOnAGpu) {
  run.bytes_up = run.bytes_down = run.tile_bytes = 4096;
  run.in_flight = 8;
  run.notice = 6;
  run.gpu = true;
  run.usual_batch = 128;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::completion);
  EXPECT_THAT(seen.advice.at(0).change, testing::StartsWith("--batch 128 "));
  for (Advice const& advice : seen.advice) EXPECT_FALSE(advice.change.starts_with("--slots")) << advice.change;
}

TEST_F(ARunOfOneSecond, OfFewTilesIsTooShortForAVerdict) {
  run.fill = 3.9;
  run.borrow_wait = 0.05;
  ASSERT_EQ(verdict().bound, Bound::fill);
  run.tiles = 31;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::too_few_tiles);
  EXPECT_THAT(seen.evidence.at(0), HasSubstr("The run had 31 tiles for 8 slots: too short to be judged."));
  EXPECT_FALSE(seen.ceiling || seen.next || seen.streams_will_not_help);
  EXPECT_THAT(seen.advice, SizeIs(0));
  run.tiles = 32;
  EXPECT_EQ(verdict().bound, Bound::fill);
  run.batch = 9;
  EXPECT_EQ(verdict().bound, Bound::too_few_tiles) << "each of two lanes had fewer than two batches";
}

/// Seen to fail with "too few tiles": one producer of a model's window has fewer tiles than two batches of 128.
TEST_F(ARunOfOneSecond, IsBoundByItsOnlyProducerHoweverLargeABatchMayBe) {
  run.producers = 1;
  run.fill = 0.98;
  run.borrow_wait = 0;
  run.tiles = 357;
  run.batch = 128;
  run.slots = 512;
  run.pool = 1152;
  run.in_flight = 3;
  EXPECT_EQ(verdict().bound, Bound::fill);
  run.in_flight = 30;
  EXPECT_EQ(verdict().bound, Bound::too_few_tiles) << "it had twelve times as many tiles as were in flight";
  run.in_flight.reset();
  EXPECT_EQ(verdict().bound, Bound::too_few_tiles) << "how many were in flight is not known";
}

TEST_F(ARunOfOneSecond, HasTooFewTilesIfAllSlotsAreInUseAndNobodyIsBusy) {
  run.in_flight = 7.6;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::too_few_tiles);
  EXPECT_THAT(seen.evidence.at(0), HasSubstr("7.6 of 8 slots"));
  EXPECT_EQ(seen.advice.at(0).change, "--slots 8 --tiles 25");
  EXPECT_DOUBLE_EQ(seen.advice.at(0).gain, mostly(2));
}

TEST_F(ARunOfOneSecond, HasTooFewTilesIfItsPoolIsSmallerThanItsSlots) {
  run.pool = 4;
  run.in_flight = 2;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::too_few_tiles);
  EXPECT_THAT(seen.evidence.at(0), HasSubstr("4 tiles for 8 slots and 4 producers"));
  EXPECT_EQ(seen.advice.at(0).change, "--tiles 17");
  run.pool = 10;
  run.in_flight = 7.5;
  EXPECT_EQ(verdict().advice.at(0).change, "--slots 8 --tiles 25") << "if all slots are full, more tiles find none";
}

TEST_F(ARunOfOneSecond, IsToldThatAllSlotsAreInUseOnlyIfTheyAre) {
  run.in_flight = 7.6;
  EXPECT_EQ(verdict().advice.at(0).why, "All slots are in use, and no part is busy.");
  run.in_flight = 2;
  EXPECT_EQ(verdict().bound, Bound::too_few_tiles);
  EXPECT_TRUE(verdict().advice.empty()) << "six of eight slots are free, and more would be";
}

TEST_F(ARunOfOneSecond, OfNoMoreTilesThanSlotsIsNotToldToHaveMoreOfThem) {
  run.slots = 20;
  run.in_flight = 38;
  run.tiles = 41;
  ASSERT_FALSE(verdict().advice.empty());
  run.tiles = 40;
  ASSERT_EQ(verdict().bound, Bound::too_few_tiles);
  EXPECT_TRUE(verdict().advice.empty());
}

TEST_F(ARunOfOneSecond, WithOneProducerIsToldOfTheOnlyOne) {
  run.producers = 1;
  run.fill = 0.95;
  run.borrow_wait = 0.05;
  EXPECT_EQ(verdict().advice.at(0).why, "The only one fills 95 % of the time, and there are 16 CPUs.");
}

TEST_F(ARunOfOneSecond, OfAHandfulOfTilesIsTooShortToBeJudged) {
  run.tiles = 7;
  EXPECT_EQ(verdict().bound, Bound::too_few_tiles);
  EXPECT_THAT(verdict().evidence.at(0), HasSubstr("too short to be judged"));
  EXPECT_THAT(verdict().advice, SizeIs(0));
  EXPECT_GT(verdict().bytes_per_second, 0);
  run.bytes_up = run.bytes_down = 0;
  EXPECT_EQ(verdict().bytes_per_second, 0) << "no bytes, no rate";
  EXPECT_EQ(describe(verdict()), "bound: nothing measured\n  There was nothing to read: no tile had bytes.");
}

TEST_F(ARunOfOneSecond, IsBoundByASourceThatOthersWaitFor) {
  run.fill = 1;
  run.borrow_wait = 0.1;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::source_waits);
  EXPECT_THAT(seen.advice, SizeIs(0));
  EXPECT_THAT(seen.streams_will_not_help.value().sentence, HasSubstr("there is nothing to send"));
}

TEST_F(ARunOfOneSecond, IsBoundByAnApplicationThatPushesTooLittle) {
  run.producers = 0;
  run.fill = run.borrow_wait = 0;
  EXPECT_EQ(verdict().bound, Bound::source_waits);
  run.in_flight = 7.9;
  EXPECT_EQ(verdict().bound, Bound::too_few_tiles) << "if all slots are full it pushes enough";
}

TEST_F(ARunOfOneSecond, IsNotBoundByAnApplicationThatWaitsForTiles) {
  run.producers = 0;
  run.fill = 0;
  run.borrow_wait = 0.4;
  Verdict seen = verdict();
  EXPECT_EQ(seen.bound, Bound::source_waits);
  EXPECT_THAT(seen.evidence.at(0), HasSubstr("its threads waited for one 40 % of the time, all together"));
  run.borrow_wait = 1.5;  // Sum of two threads, say.
  seen = verdict();
  EXPECT_EQ(seen.bound, Bound::too_few_tiles);
  EXPECT_THAT(seen.evidence.at(0), HasSubstr("waited for a tile 150 % of the time"));
}

TEST_F(ARunOfOneSecond, WithFewTilesIsNotBoundByTheSourceThatHasThemMostOfTheTime) {
  run.producers = 1;
  run.pool = 1;
  run.fill = 0.67;
  run.borrow_wait = 0.33;
  run.sink = 0.3;
  Verdict const seen = verdict();
  EXPECT_EQ(seen.bound, Bound::too_few_tiles) << describe(seen);
  ASSERT_THAT(seen.advice, SizeIs(1)) << describe(seen);
  EXPECT_THAT(seen.advice[0].change, HasSubstr("--tiles"));
  EXPECT_NEAR(seen.advice[0].gain, mostly(1 / 0.67), 0.01);
}

TEST_F(ARunOfOneSecond, IsOfferedNoMoreProducersThanTiles) {
  run.producers = 2;
  run.fill = 1.95;
  run.borrow_wait = 0.02;
  run.pool = 3;
  ASSERT_EQ(verdict().bound, Bound::fill) << describe(verdict());
  EXPECT_EQ(verdict().advice.at(0).change, "--producers 3");
}

TEST_F(ARunOfOneSecond, IsOfferedAnotherDeviceOnlyWhereThatBringsMore) {
  auto const offers_another = [](Verdict const& of) {
    return std::ranges::any_of(of.advice, [](Advice const& one) { return one.change.starts_with("a second GPU"); });
  };
  run.overlap = Overlap{.computing = std::chrono::milliseconds(980),
                        .busy = std::chrono::milliseconds(980),
                        .window = std::chrono::seconds(1),
                        .speed_of_light = 0.98};
  ASSERT_EQ(verdict().bound, Bound::kernel) << describe(verdict());
  EXPECT_FALSE(offers_another(verdict())) << "CPU devices share the CPUs of the host";
  run.gpu = true;
  EXPECT_TRUE(offers_another(verdict()));
  run.cpus = 4;
  run.cpu_time = 3.95;
  EXPECT_FALSE(offers_another(verdict())) << "the host could not feed it";
}

TEST_F(ARunOfOneSecond, WithoutFiguresIsNotJudged) {
  for (RunFigures const& nothing :
       {RunFigures{}, RunFigures{.wall = 1}, RunFigures{.wall = 1, .tiles = 5, .producers = 2}}) {
    Verdict const seen = judge(nothing);
    EXPECT_EQ(seen.bound, Bound::nothing_measured);
    EXPECT_FALSE(seen.ceiling || seen.next || seen.streams_will_not_help);
    EXPECT_THAT(seen.advice, SizeIs(0));
  }
}

TEST_F(ARunOfOneSecond, IsDescribedInAFewPlainLines) {
  run.fill = 3.9;
  run.borrow_wait = 0.05;
  EXPECT_EQ(describe(verdict()),
            "bound: fill; 10.5 GB/s of 10.8 GB/s, the source without a pause; next 35.0 GB/s, uploads without a pause\n"
            "  4 producers spent 98 % of the time in the source, all together.\n"
            "  Next in use: uploads, 30 % of what is possible; producers waited for tiles 1 % of the time.\n"
            "  try --producers 8: 1.85 x. All 4 fill 98 % of the time, and there are 16 CPUs.\n"
            "  try a source that takes half the time: 2.0 x. Filling is the bound.\n"
            "  Streams will not help here, because the device waits for the host: the source is at its limit.");
}

}  // namespace
}  // namespace penstock
