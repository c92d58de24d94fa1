// SPDX-License-Identifier: Apache-2.0
// What a lane makes of a device that is healthy and refuses a call now and then.
#include <algorithm>
#include <array>
#include <string>

#include "lane/lane_on_a_faulty_device.hpp"
#include "support/cpu_device_under_test.hpp"

namespace penstock {
namespace {

struct LaneThatIsRefused : LaneOnAFaultyDevice {
  /// Runs six tiles through a new lane whose `nth` call of a kind is refused. False if it made fewer.
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
  /// Each came back once and in its order; the most of them done, with the right content.
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
  for (std::uint64_t nth = 1; nth <= 8 && run_with_refusal(cpu::Fault::refuse_call, nth); ++nth) {
    SCOPED_TRACE(nth);
    expect_nothing_lost(0);
  }
  renew();
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
