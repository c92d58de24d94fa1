// SPDX-License-Identifier: Apache-2.0
// Tests what a lane makes of a device that is healthy and refuses a call now and then.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "support/cpu_device_under_test.hpp"

#include "engine/lane/lane_on_a_faulty_device.hpp"
#include "observe/flight_clock.hpp"
#include "penstock/observe.hpp"

namespace penstock {
namespace {

struct LaneThatIsRefused : LaneOnAFaultyDevice {
  /// Runs six tiles through a new lane whose `nth` call of a kind is refused. Returns false if it made fewer.
  bool run_with_refusal(cpu::Fault fault, std::uint64_t nth) {
    std::size_t const before = seen().size();
    open_lane(add_one(), {.flight = {.slots = 2}, .watchdog = std::chrono::milliseconds(1)});
    cpu().inject(fault, nth);
    for (std::uint64_t i = 0; i < six; ++i) submit(i);
    close_lane();
    auto const all = seen();
    EXPECT_EQ(all.size(), before + six);
    last.assign(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
    return cpu().armed_faults() == 0;
  }
  std::size_t failed() const {
    return static_cast<std::size_t>(
        std::count_if(last.begin(), last.end(), [](Seen const& tile) { return tile.outcome == Outcome::failed; }));
  }
  /// Expects each tile once and in its order, with the right content if it is done; at most `most_failed` failed.
  void expect_nothing_lost(std::size_t most_failed) {
    ASSERT_EQ(last.size(), six);
    for (std::size_t i = 0; i < six; ++i) {
      EXPECT_EQ(last[i].sequence, i);
      EXPECT_NE(last[i].outcome, Outcome::cancelled);
      EXPECT_TRUE(last[i].content_right) << "tile " << i;
      EXPECT_EQ(last[i].outcome == Outcome::failed, !last[i].reason.empty()) << last[i].reason;
    }
    EXPECT_LE(failed(), most_failed);
    EXPECT_FALSE(device().lost());
  }
  /// The first call of each kind that the signal makes for a lane's first tile, whatever the lane does meanwhile.
  static std::vector<std::pair<cpu::Fault, std::uint64_t>> calls_of_the_signal() {
    bool const split = GetParam().shape == LaneShape::split;
    // A lane with split streams waits twice and records three events itself before that.
    std::pair const wait{cpu::Fault::refuse_wait, std::uint64_t{split ? 3U : 1U}};
    std::pair const record{cpu::Fault::refuse_record, std::uint64_t{split ? 4U : 2U}};
    std::pair const call{cpu::Fault::refuse_call, std::uint64_t{1}};
    switch (GetParam().signal) {
      case SignalKind::callback:
      case SignalKind::host_func:
        return {wait, call};
      case SignalKind::event_block:
        return {wait, record};
      case SignalKind::callback_in_stream:
      case SignalKind::flag:
        return {call};
      case SignalKind::event_poll:
        break;
    }
    return {};
  }
  static constexpr std::size_t six = 6;
  std::vector<Seen> last;
};

TEST_P(LaneThatIsRefused, LosesNoTileAndFailsOneAtTheMostWhicheverCallItIs) {
  for (auto const fault : {cpu::Fault::refuse_upload, cpu::Fault::refuse_download, cpu::Fault::refuse_launch,
                           cpu::Fault::drop_launch, cpu::Fault::refuse_record, cpu::Fault::refuse_wait}) {
    for (std::uint64_t nth = 1; nth <= 8 && run_with_refusal(fault, nth); ++nth) {
      SCOPED_TRACE("fault " + std::to_string(static_cast<int>(fault)) + ", call " + std::to_string(nth));
      expect_nothing_lost(1);
    }
    renew();
  }
}

TEST_P(LaneThatIsRefused, FailsNoTileIfItIsItsSignalThatIsRefused) {
  if (calls_of_the_signal().empty()) GTEST_SKIP() << "It makes no calls.";
  for (auto const& [fault, first] : calls_of_the_signal()) {
    SCOPED_TRACE("fault " + std::to_string(static_cast<int>(fault)));
    EXPECT_TRUE(run_with_refusal(fault, first)) << "no call was refused";
    expect_nothing_lost(0);
  }
  for (std::uint64_t nth = 2; nth <= 8 && run_with_refusal(cpu::Fault::refuse_call, nth); ++nth) {
    SCOPED_TRACE(nth);
    expect_nothing_lost(0);
  }
  renew();
}

/// Seen to fail if FlightClock::begin lets the refusal through.
TEST_P(LaneThatIsRefused, FailsNoTileForWantOfItsTimes) {
  // Records for a lane's first tile: with split streams a mark before each step and an event behind it.
  bool const split = GetParam().shape == LaneShape::split;
  auto const nths = split ? std::array{1U, 3U, 5U} : std::array{1U, 2U, 3U};
  int held_up = 0;
  for (std::size_t round = 0; round < nths.size();) {
    auto const nth = nths.at(round);
    Recorder recorder({.capacity = 1 << 14});
    auto const start = std::chrono::steady_clock::now();
    std::atomic<std::chrono::steady_clock::duration> took{};  // Time until the first tile was taken to its upload.
    auto const note_time = [&](DeviceTile const& tile, StreamRef) {
      if (tile.sequence == 0) took = std::chrono::steady_clock::now() - start;
    };
    open_lane(add_one(note_time),
              {.flight = {.slots = 2, .recorder = &recorder}, .watchdog = std::chrono::milliseconds(1)});
    std::size_t const before = seen().size();
    cpu().inject(cpu::Fault::refuse_record, nth);
    for (std::uint64_t i = 0; i < six; ++i) submit(i);
    close_lane();
    EXPECT_EQ(cpu().armed_faults(), 0u);
    auto const all = seen();
    last.assign(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
    if (took.load() >= FlightClock::usual_reach) {
      // The two clocks were compared anew by then, which is one record more: another call than meant was refused.
      ASSERT_LT(++held_up, 20) << "so slow a machine comes to no judgement";
      renew();
      continue;
    }
    expect_nothing_lost(0);
    std::size_t stages = 0;
    for (Passage const& passage : recorder.take().passages) stages += passage.step == Step::stage ? 1 : 0;
    EXPECT_EQ(stages, six - 1);
    ++round;
    renew();
  }
}

TEST_P(LaneThatIsRefused, AsksOnceMoreForACallThatWasRefused) {
  SignalKind const signal = GetParam().signal;
  if (signal != SignalKind::callback && signal != SignalKind::host_func && signal != SignalKind::event_block)
    GTEST_SKIP() << "It asks for a tile's call when the tile is put, or for none.";
  for (auto const& [fault, first] : calls_of_the_signal()) {
    SCOPED_TRACE("fault " + std::to_string(static_cast<int>(fault)));
    std::size_t const before = seen().size();
    Holding held;
    open_lane(add_one_and_hold(held), {.watchdog = no_honest_delay});
    cpu().inject(fault, first);
    submit(0);
    held.await_came(1);
    held.await_asleep();
    held.hold->open();
    expect_all_done(await_seen(before + 1), 1, before);
    lane().close();
    EXPECT_EQ(cpu().armed_faults(), 0u) << "no call was refused";
    EXPECT_EQ(lane().summary().found.by_watchdog, 0u) << "it was not called";
  }
}

TEST_P(LaneThatIsRefused, FailsNoMoreThanWhatIsInFlightIfItCannotAskHowFarItsDeviceIs) {
  for (std::uint64_t nth = 1; nth <= 8 && run_with_refusal(cpu::Fault::refuse_query, nth); ++nth) {
    SCOPED_TRACE(nth);
    expect_nothing_lost(2);
    for (Seen const& tile : last) EXPECT_EQ(tile.stage, tile.outcome == Outcome::failed ? "signal" : "");
  }
  renew();
}

INSTANTIATE_TEST_SUITE_P(Cpu, LaneThatIsRefused, testing::ValuesIn(every_lane_on(support::cpu_device_under_test())),
                         name_of_lane);

}  // namespace
}  // namespace penstock
