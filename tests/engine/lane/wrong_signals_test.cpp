// SPDX-License-Identifier: Apache-2.0
// Tests what a lane makes of signals that are late, early, doubled, lost, from elsewhere, or untrue.
#include <thread>

#include "engine/lane/lane_on_a_faulty_device.hpp"

namespace penstock {
namespace {

struct LaneWithALostSignal : LaneOnAFaultyDevice {};

TEST_P(LaneWithALostSignal, FindsItsTileAllTheSame) {
  expect_all_done(run_with(Wrong::lost), count);
}

// A lane that happens to look as a tile ends has found it itself. So there are several tiles, each of which ends while
// its lane sleeps, and where threads are held up often, several lanes.
TEST_P(LaneWithALostSignal, CountsTheTilesThatOnlyItsWatchdogFound) {
  constexpr std::uint64_t most = 50 * count;
  Holding held;
  for (std::uint64_t i = 0; i < most; ++i) held.at.insert(i);
  std::uint64_t found = 0;
  for (std::uint64_t submitted = 0; found == 0 && submitted < most; submitted += count) {
    if (submitted > 0) renew();
    open_lane(add_one_and_hold(held), watchful());
    for (std::uint64_t nth = 1; nth <= count; ++nth) make_wrong(Wrong::lost, nth);
    for (std::uint64_t i = 0; i < count; ++i) submit_and_end_asleep(held, submitted + i);
    lane().close();
    found = lane().summary().found.by_watchdog;
  }
  EXPECT_GE(found, 1u);
  EXPECT_LE(found, count);
}

TEST_P(LaneWithALostSignal, FindsItsTilesThoughNoneComesAtAll) {
  open_lane(add_one(), watchful());
  for (std::uint64_t nth = 1; nth <= count; ++nth) make_wrong(Wrong::lost, nth);
  for (std::uint64_t i = 0; i < count; ++i) submit(i);
  expect_all_done(await_seen(count), count);
}

struct LaneWithADoubledSignal : LaneOnAFaultyDevice {};

TEST_P(LaneWithADoubledSignal, RetiresItsTileOnce) {
  expect_all_done(run_with(Wrong::doubled), count);
}

TEST_P(LaneWithADoubledSignal, RetiresEachTileOnceIfAllAre) {
  open_lane(add_one(), watchful());
  for (std::uint64_t nth = 1; nth <= 100; ++nth) make_wrong(Wrong::doubled, nth);
  for (std::uint64_t i = 0; i < 100; ++i) submit(i);
  expect_all_done(await_seen(100), 100);
}

struct LaneWithAStraySignal : LaneOnAFaultyDevice {};

TEST_P(LaneWithAStraySignal, TakesItFromAnyThread) {
  expect_all_done(run_with(Wrong::stray), count);
}

struct LaneWithAnUntrueSignal : LaneOnAFaultyDevice {};

TEST_P(LaneWithAnUntrueSignal, BelievesItsDeviceThatNothingFailed) {
  expect_all_done(run_with(Wrong::alarm), count);
  EXPECT_FALSE(lane().lost());
}

TEST_P(LaneWithAnUntrueSignal, IsSignalledToAfterwardsAsBefore) {
  Holding held{.at = {0, 2, 3, 4, 5}};
  open_lane(add_one_and_hold(held), {.watchdog = no_honest_delay});
  make_wrong(Wrong::alarm);
  submit(0);
  // An alarm about tile 0 is worth nothing; what is said of tile 1 is true of both.
  for (std::uint64_t i = 1; i < 6; ++i) submit_and_end_asleep(held, i);
  lane().close();
  EXPECT_EQ(lane().summary().found.by_watchdog, 0u) << "no watchdog was needed";
}

struct LaneWithASignalOfDoom : LaneOnAFaultyDevice {};

TEST_P(LaneWithASignalOfDoom, BelievesItsDeviceThatItIsNotLost) {
  expect_all_done(run_with(Wrong::loss), count);
  EXPECT_FALSE(lane().lost());
  lane().close();
  EXPECT_NE(lane().finished_stage(), nullptr);
}

struct LaneWithAnEarlySignal : LaneOnAFaultyDevice {};

TEST_P(LaneWithAnEarlySignal, FindsItsTileAllTheSame) {
  expect_all_done(run_with(Wrong::early), count);
}

TEST_P(LaneWithAnEarlySignal, CompletesNothingBecauseOfIt) {
  Holding held;
  open_lane(add_one_and_hold(held), watchful());
  for (std::uint64_t nth = 1; nth <= 3; ++nth) make_wrong(Wrong::early, nth);
  // They come one after the other, so that the lane has heard of each before it sleeps again.
  for (std::uint64_t i = 0; i < 3; ++i) {
    submit(i);
    held.await_came(i + 1);
    while (cpu().armed_faults() > 2 - i) std::this_thread::yield();
    held.await_asleep();
    EXPECT_TRUE(seen().empty()) << "tile 0 is held on the device";
  }
  held.hold->open();
  expect_all_done(await_seen(3), 3);
}

struct LaneWithALateSignal : LaneOnAFaultyDevice {
  /// Returns true if the signal holds back tiles that come after its own, as one in the tiles' own stream does.
  bool holds_tiles() const { return GetParam().signal == SignalKind::callback_in_stream; }
  void await_late_one() {
    while (cpu().late_callbacks() == 0) std::this_thread::yield();
  }
};

TEST_P(LaneWithALateSignal, DoesNotWaitForItNorIsMisledByIt) {
  open_and_spoil_the_third(Wrong::late);
  std::uint64_t const before = holds_tiles() ? 3 : count;
  for (std::uint64_t i = 3; i < before; ++i) submit(i);
  expect_all_done(await_seen(before), before);
  await_late_one();
  std::uint64_t const meanwhile = before + tiles / 2;
  for (std::uint64_t i = before; i < meanwhile; ++i) submit(i);
  if (!holds_tiles()) await_seen(meanwhile);
  cpu().deliver_late_callbacks();
  for (std::uint64_t i = meanwhile; i < 2 * count; ++i) submit(i);
  expect_all_done(await_seen(2 * count), 2 * count);
}

TEST_P(LaneWithALateSignal, EndsWithoutItsHarm) {
  open_lane(add_one(), watchful());
  make_wrong(Wrong::late);
  submit(0);
  await_seen(1);
  await_late_one();
  std::jthread const deliverer([&] {
    // A stream beside the tiles' delivers it when it dies; for others the lane waits.
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    cpu().deliver_late_callbacks();
  });
  close_lane();
  expect_all_done(seen(), 1);
}

TEST_P(LaneWithALateSignal, IsNotReachedByItOnceItHasEndedOnALostDevice) {
  open_lane(add_one(), watchful());
  make_wrong(Wrong::late);
  submit(0);
  await_seen(1);
  await_late_one();
  {
    Stream const doomed = device().make_stream();
    cpu().inject(cpu::Fault::break_kernel);
    doomed.launch(1, [](std::uint32_t) {});
  }
  submit(1);
  EXPECT_EQ(await_seen(2).back().outcome, Outcome::failed);
  // Closing a lane waits for its thread that waits for an event.
  if (GetParam().signal == SignalKind::event_block) cpu().deliver_late_callbacks();
  close_lane();
  cpu().deliver_late_callbacks();
  EXPECT_EQ(seen().size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Cpu, LaneWithALostSignal, testing::ValuesIn(lanes_that_can_be(Wrong::lost)), name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cpu, LaneWithADoubledSignal, testing::ValuesIn(lanes_that_can_be(Wrong::doubled)),
                         name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cpu, LaneWithAStraySignal, testing::ValuesIn(lanes_that_can_be(Wrong::stray)), name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cpu, LaneWithAnUntrueSignal, testing::ValuesIn(lanes_that_can_be(Wrong::alarm)), name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cpu, LaneWithASignalOfDoom, testing::ValuesIn(lanes_that_can_be(Wrong::loss)), name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cpu, LaneWithAnEarlySignal, testing::ValuesIn(lanes_that_can_be(Wrong::early)), name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cpu, LaneWithALateSignal, testing::ValuesIn(lanes_that_can_be(Wrong::late)), name_of_lane);

}  // namespace
}  // namespace penstock
