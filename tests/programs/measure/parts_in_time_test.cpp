// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/parts_in_time.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>

#include "support/late_device.hpp"
#include <gtest/gtest.h>

namespace penstock::measure {
namespace {

/// Parts of one thread, on a model whose clock is late when the test says.
struct PartsOnALateClock : testing::Test {
  support::LateDevice device;
  DeviceGroup const devices{device};
  std::stop_source stop;
  std::stop_token const token = stop.get_token();
  PartsInTime parts{devices, std::chrono::nanoseconds(1), token};
  std::atomic<unsigned> tries{0};

  double rate(std::optional<double> others = {}) {
    return parts.rate(1, others, [this](unsigned) -> std::function<std::size_t()> {
      ++tries;
      return [] { return std::size_t{1}; };
    });
  }
};

TEST_F(PartsOnALateClock, AreMeasuredOnceWhereTheClockIsInTime) {
  device.late = false;
  EXPECT_GT(rate(), 0);
  EXPECT_EQ(tries, 1u);
  EXPECT_EQ(parts.late(), "");
}

TEST_F(PartsOnALateClock, AreMeasuredAgainWhereItWasLate) {
  device.late_only_at = {1, 2, 3};
  EXPECT_GT(rate(), 0);
  EXPECT_EQ(tries, 4u);
  EXPECT_EQ(parts.late(), "");
}

TEST_F(PartsOnALateClock, AreMeasuredNoMoreOnceOneWasLateEachTime) {
  device.late_only_at = {1, 2, 3, 4};
  EXPECT_EQ(rate(), 0);
  EXPECT_EQ(tries, 4u);
  EXPECT_EQ(parts.late(), support::LateDevice::sentence());
  EXPECT_EQ(rate(), 0) << "the ceilings are not known without it";
  EXPECT_EQ(tries, 4u);
}

/// Seen to fail if such a part is measured again, and if it counts as late.
TEST_F(PartsOnALateClock, CountIfTheyAreFarAboveTheOthersAllTheSame) {
  constexpr double far_below = 1e-6;
  EXPECT_GT(rate(far_below), 0);
  EXPECT_EQ(tries, 1u);
  EXPECT_EQ(parts.late(), "");
}

TEST_F(PartsOnALateClock, DoNotCountIfTheyAreNotFarAboveTheOthers) {
  constexpr double far_beyond = 1e18;
  EXPECT_EQ(rate(far_beyond), 0);
  EXPECT_EQ(tries, 4u);
  EXPECT_EQ(parts.late(), support::LateDevice::sentence());
}

/// Seen to fail if the warm-up counts.
TEST_F(PartsOnALateClock, AreNotCalledLateForTheirWarmUp) {
  device.modelled = true;
  device.late_only_at = {1};
  EXPECT_GT(rate(), 0);
  EXPECT_EQ(tries, 1u);
}

TEST_F(PartsOnALateClock, AreNotMeasuredAgainAfterAStop) {
  stop.request_stop();
  rate();
  EXPECT_EQ(tries, 1u);
}

}  // namespace
}  // namespace penstock::measure
